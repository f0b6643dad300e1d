"""Distances: how far moves are, in steps of distance.

The moves are those of `statistics.moves`: for every first visit but the very first, from the
location before it; both must be candidates. A cell is how far it is. So some forty cells tell how
much people rather go somewhere near, also where every single move is too rare to be counted. Where
a timetable tells that one line serves both ends (`universe.lines`), a cell is by how many stops
they are apart, and not how far. A trajectory adds at most ``cap`` − 1, and all of it may be one
cell.

Floats decide in which cell a move is. That is a public function of its ends: whatever it says, a
move is in one cell, and the bound holds.
"""

from collections.abc import Iterator, Sequence
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import compiled
from pathveil.statistics.constants import DECAY_STEP, MOST_DISTINCT
from pathveil.statistics.denoise import Estimates, posterior_means
from pathveil.statistics.first_visits import spread_after_first
from pathveil.statistics.noisy_table import NoisyTable
from pathveil.statistics.outlook import Outlook
from pathveil.statistics.pairs import LEAST_MEAN_DISTINCT
from pathveil.statistics.statistic import (
    HABITS,
    Bound,
    Known,
    RowCells,
    Rows,
    Scope,
    Statistic,
    Visit,
)
from pathveil.universe.lines import LINE_STEPS, Lines

NEAREST = 0.05  # km: below that is step 0
# Squares of the distances at which a step ends; the last one is beyond any two points on Earth.
STEP_ENDS = (NEAREST * np.exp(DECAY_STEP * np.arange(43))) ** 2
UNKNOWN = len(STEP_ENDS)  # an end of the move is not on the map, or there is none
# Of so few candidates the steps between any two are found once, if there are enough moves.
TABLED, TABLED_FOR = 1 << 21, 32
_ONE_FINDS = Lock()  # threads that count other blocks wait for what they need as well


class Distances(Statistic):
    """See above."""

    name = "distances"
    words = "how far it is to a location that is visited for the first time, in steps"
    adds = "k − 1"
    because = "one for each of at most k of its distinct locations but the first"
    stage = HABITS
    repeats = True
    of_candidates = True

    def cap(self, height: int, distinct: int) -> int:
        """The distinct locations that are looked at: d."""
        return distinct

    def bound(self, cap: int) -> Bound:
        """All moves may be equally far."""
        return Bound(cap - 1, (cap - 1) ** 2)

    def size(self, scope: Scope) -> int:
        """The same for every universe, but for that of a timetable."""
        return UNKNOWN + 1 + (0 if scope.lines is None else LINE_STEPS)

    def row_cells(self, rows: Rows, scope: Scope, cap: int) -> RowCells:
        """Of at most ``cap`` distinct locations of each row."""
        found, moves = rows.first_moves(cap, scope.named)
        cells: NDArray[np.integer]
        if scope.named**2 <= min(TABLED, TABLED_FOR * len(moves)):
            cells = _steps(scope)[moves]
        else:
            cells = _distance_cells(moves, _places(scope), STEP_ENDS)
        lines = scope.lines_among
        if lines is None or not len(lines.first):
            return found, cells
        return found, _by_lines(moves, cells, lines, scope.named)

    def oracle(self, visits: Sequence[Visit], scope: Scope, cap: int) -> Iterator[int]:
        """Moves from or to other locations have no cell."""
        locations, places = [visit.location for visit in visits], _places(scope)
        distinct, lines = dict.fromkeys(locations), scope.lines_among
        served = () if lines is None else (lines.first, lines.second, lines.step)
        stops_apart = {
            (int(one), int(other)): int(step) for one, other, step in zip(*served, strict=True)
        }
        for location in spread_after_first(list(distinct), cap)[1:]:
            before = scope.position_of(locations[locations.index(location) - 1])
            there = scope.position_of(location)
            if before is not None and there is not None:
                far = float(((places[before] - places[there]) ** 2).sum())
                if (before, there) in stops_apart:
                    yield UNKNOWN + 1 + stops_apart[before, there]
                    continue
                yield UNKNOWN if np.isnan(far) else sum(float(end) <= far for end in STEP_ENDS)

    def caps(self, outlook: Outlook) -> range:
        """As of moves."""
        return range(2, max(min(MOST_DISTINCT, outlook.height), 2) + 1)

    def added(self, outlook: Outlook, cap: int) -> NDArray[np.float64]:
        """Distinct locations but the first."""
        return np.minimum(outlook.distinct, cap) - 1.0

    def typical(self, outlook: Outlook) -> float:
        """A dozen cells matter."""
        return outlook.total * outlook.mean(outlook.few_distinct - 1.0) / 12.0

    def worth(self, outlook: Outlook, usual: float) -> float:
        """Nothing without a map, or if nobody goes anywhere."""
        is_told = outlook.has_map and outlook.mean_distinct > LEAST_MEAN_DISTINCT
        return usual if is_told else 0.0

    def denoise(self, table: NoisyTable, scope: Scope, known: Known) -> Estimates:
        """What is left in steps that nobody makes does no harm: few pairs are so near or so far."""
        return posterior_means(table.counts, table.noise)


def _places(scope: Scope) -> NDArray[np.float64]:
    """Where each candidate lies, shape (n + 1, 3); NaN for all others, and without a map."""
    places = np.full((scope.named + 1, 3), np.nan)
    if scope.points is not None:
        places[:-1] = scope.points[scope.candidates]
    return places


def _steps(scope: Scope) -> NDArray[np.uint8]:
    """The cell of a move between any two candidates, from·n + to."""
    with _ONE_FINDS:
        if "steps" not in scope.numbered:
            moves = np.arange(scope.named**2)
            cells = _distance_cells(moves, _places(scope), STEP_ENDS)
            scope.numbered["steps"] = cells.astype(np.uint8)
        steps: NDArray[np.uint8] = scope.numbered["steps"]
    return steps


def _by_lines(
    moves: NDArray[np.int64], cells: NDArray[np.integer], lines: Lines, named: int
) -> NDArray[np.int32]:
    """The same cells; of moves that a line serves, that of the stops they are apart."""
    served = lines.first.astype(np.int64) * named + lines.second
    at = np.minimum(np.searchsorted(served, moves), len(served) - 1)
    step = UNKNOWN + 1 + lines.step[at].astype(np.int32)
    return np.where(served[at] == moves, step, cells.astype(np.int32))


@compiled
def _distance_cells(
    moves: NDArray[np.int64], places: NDArray[np.float64], ends: NDArray[np.float64]
) -> NDArray[np.int32]:
    """The cell of each move, from·n + to."""
    cells = np.empty(len(moves), dtype=np.int32)
    named = len(places) - 1
    for i in range(len(moves)):
        here, there = moves[i] // named, moves[i] % named
        far = 0.0
        for axis in range(3):
            far += (places[here, axis] - places[there, axis]) ** 2
        step, left = 0, len(ends)
        if np.isnan(far):
            step, left = left, 0
        while left > 0:  # halves without a branch: nobody could foresee it
            half = (left + 1) >> 1
            step += half * (ends[step + half - 1] <= far)
            left -= half
        cells[i] = step
    return cells


DISTANCES = Distances()
