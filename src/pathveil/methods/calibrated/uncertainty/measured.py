"""How far answers are off, read from the tables that count the same.

Of every cell that a table lists both the noisy count y and the released one e are known, and
y = T + z with noise z of known law. So

    T − e = (y − e) − z

for every cell, however wrong the model is, and though the release was fitted to y. Say the release
follows a part a of the noise, from none to all, and is off by u for reasons of its own:
e = T + a·z + u. Then (y − e) varies by (1 − a)²·Z + U and T − e by a²·Z + U, which is at most the
sum of what y − e and z vary by: the worst is a = 1, that all noise was followed. So a residual and
noise are drawn independently of each other, and added. Of a cell that a table does not list y is
between nobody and the threshold: both ends are taken.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pathveil.core.paths import Paths
from pathveil.methods.calibrated.uncertainty.popularity_prior import simulated
from pathveil.methods.calibrated.uncertainty.table_rows import HALF_DECADES
from pathveil.statistics.constants import (
    CONJUNCTION_DRAWS,
    ENOUGH_MOVES,
    MOST_COUNTED_PAIRS,
    OFFERED_ERRORS,
    STANDS_OUT,
    STEEPNESS,
)
from pathveil.statistics.measurement_plan import MeasurementPlan
from pathveil.statistics.measurements import Measurements
from pathveil.statistics.moves import MOVES
from pathveil.statistics.noisy_table import NoisyTable
from pathveil.statistics.pairs import PAIRS
from pathveil.statistics.statistic import Rows, Statistic
from pathveil.statistics.trips import TRIPS
from pathveil.statistics.visited_sets import VISITED_SETS

Draws = list[tuple[int, NDArray[np.float64]]]
"""Released counts, each with true ones."""


class Residuals(NamedTuple):
    """What a table says of released counts: its noisy ones less these, at least and at most.

    Attributes:
        released: float64; counts of cells.
        least, most: float64; the same if the table lists the cell. Of one that it does not list the
            noisy count is below the threshold, and not known.
    """

    released: NDArray[np.float64]
    least: NDArray[np.float64]
    most: NDArray[np.float64]

    def at(self, cells: NDArray[np.bool_]) -> "Residuals":
        """Of some cells."""
        return Residuals(*(column[cells] for column in self))


class TripResiduals(NamedTuple):
    """Of trips that end where they began, and of all others: two kinds of answers.

    Who stays is mostly counted well, and who goes elsewhere may be made up: together, the many of
    the one kind would hide the few of the other.
    """

    round_trips: Residuals
    others: Residuals


def trip_residuals(measurements: Measurements, released: Paths) -> TripResiduals | None:
    """Of every trip that is released or listed; None if the table of trips does not tell any.

    It does if it was counted as it is (not clipped, and scaled again). Trips from or to a location
    that it does not name are left out: few visit such a location at all.

    Args:
        measurements: the noisy tables.
        released: the released trajectories, over location codes.
    """
    if TRIPS not in measurements or measurements.trips_per_weight != 1 or not len(released):
        return None
    table, scope = measurements[TRIPS], measurements.scope
    rows = Rows(released.offsets, released.codes, scope.universe_size)
    cell = TRIPS.cell(rows.among(measurements.candidates), scope)[rows.not_empty]
    weights = released.weights[rows.not_empty][cell >= 0]
    cell = cell[cell >= 0]
    if table.threshold is None:
        counts = np.bincount(cell, weights, table.cells).astype(np.float64)
        left = table.counts - counts
        return _by_ends(np.arange(table.cells), Residuals(counts, left, left), scope.named)
    keys, at = np.unique(np.concatenate((cell, table.keys)), return_inverse=True)
    counts = np.bincount(at[: len(cell)], weights, len(keys)).astype(np.float64)
    noisy = np.full((2, len(keys)), [[0.0], [float(table.threshold)]])
    noisy[:, np.searchsorted(keys, table.keys)] = table.counts
    # A trip that is neither released nor listed may be as frequent as the threshold lets it be.
    least, most = np.append(noisy - counts, [[0.0], [float(table.threshold)]], axis=1)
    # The cell that stands for these leads from the first candidate to the second.
    return _by_ends(np.append(keys, 1), Residuals(np.append(counts, 0.0), least, most), scope.named)


def _by_ends(keys: NDArray[np.integer], found: Residuals, named: int) -> TripResiduals:
    first, last = np.divmod(keys, max(named, 1))
    return TripResiduals(found.at(first == last), found.at(first != last))


class Tail(NamedTuple):
    """How many cells have how large true counts: f(T) ∝ T^−(a + 1) from some count on, none below.

    Most cells of a table of two locations are small and few are large. So of two cells whose noisy
    counts stand at the top of a list the noise has made more too large than too small: Bayes' rule
    with this prior says by how much. a is told by the cells that stand out of the noise (Hill), and
    where the counts begin by all cells having to be somewhere.

    Attributes:
        steepness: a.
        least: the smallest count.
    """

    steepness: float
    least: float

    @classmethod
    def of(cls, table: NoisyTable) -> "Tail":
        """Of the counts of a table."""
        from_here = float(table.threshold or STANDS_OUT * table.noise.deviation)
        out = table.counts[table.counts >= from_here].astype(np.float64)
        if len(out) < ENOUGH_MOVES:
            return cls(0.0, 0.0)  # nothing tells: all counts are alike
        steepness = len(out) / float(np.log((out + 1.0) / from_here).sum())
        steepness = min(max(steepness, STEEPNESS[0]), STEEPNESS[1])
        return cls(steepness, from_here * (len(out) / table.cells) ** (1.0 / steepness))

    def errors(
        self, noisy: NDArray[np.float64], noise: NDArray[np.float64], draw: np.random.Generator
    ) -> NDArray[np.float64]:
        """What true counts are more than noisy ones, an error for each of these.

        Args:
            noisy: the noisy counts.
            noise: simulated.
            draw: randomness.
        """
        if not self.steepness:
            return noise[: len(noisy)]
        offered = np.quantile(noise, (np.arange(OFFERED_ERRORS) + 0.5) / OFFERED_ERRORS)
        true = noisy[:, None] + offered
        chances = np.maximum(true, max(self.least, 1.0)) ** -(self.steepness + 1.0)
        # None of them, where all would be less than there is: then it is as small as can be.
        chances[(true < self.least) & (true.max(axis=1) >= self.least)[:, None]] = 0.0
        reached = np.cumsum(chances, axis=1)
        place = draw.random(len(noisy)) * reached[:, -1]
        result: NDArray[np.float64] = offered[
            np.minimum((reached < place[:, None]).sum(axis=1), OFFERED_ERRORS - 1)
        ]
        return result


def residual_draws(
    found: Residuals,
    noise: NDArray[np.float64],
    draw: np.random.Generator,
    tail: Tail | None = None,
) -> Draws:
    """True counts of cells by their size: at the smallest and the largest cell of each group.

    Args:
        found: of every cell.
        noise: simulated.
        draw: randomness.
        tail: how large the counts of the table are, if cells are picked for being large.
    """
    place = draw.permutation((np.arange(len(noise)) + 0.5) / len(noise))
    group_of = np.searchsorted(HALF_DECADES, found.released, side="right")
    draws: Draws = []
    for group in np.unique(group_of):
        inside = group_of == group
        either = np.concatenate((found.least[inside], found.most[inside]))
        which = (place * len(either)).astype(np.int64)
        error = either[which] + noise
        sizes = found.released[inside]
        if tail is not None:
            listed = (found.least == found.most)[inside]
            told = np.tile(listed, 2)[which]
            noisy = (np.tile(sizes, 2) + either)[which]
            error[told] = either[which][told] + tail.errors(noisy[told], noise, draw)
        ends = {int(sizes.min()), int(sizes.max())}
        draws.extend((end, np.maximum(np.round(end + error), 0.0)) for end in sorted(ends))
    return draws


# Some locations in any order: all visited sets that hold them.


def set_draws(
    measurements: Measurements, released: Paths, draw: np.random.Generator
) -> list[Draws]:
    """Of 1, 2, 3 … locations in any order, if every visited set is counted; else nothing.

    How many visit all of some locations is the sum of the sets that hold them, and so is its noise.
    """
    scope = measurements.scope
    if VISITED_SETS not in measurements or measurements.trips_per_weight != 1 or not len(released):
        return []
    table, many = measurements[VISITED_SETS], len(scope.popular)
    if table.threshold is not None or many < scope.named:
        return []
    rows = Rows(released.offsets, released.codes, scope.universe_size)
    cell = VISITED_SETS.cell(rows.among(measurements.candidates), scope)
    counts = np.bincount(cell[cell >= 0], released.weights[cell >= 0], 1 << many)
    noisy, plain = (_holding(each.astype(np.float64), many) for each in (table.counts, counts))
    size = np.array([int(each).bit_count() for each in range(1 << many)])
    result = []
    for locations in range(1, many + 1):
        noise = _summed_noise(table, 1 << (many - locations), draw)
        e, y = plain[size == locations], noisy[size == locations]
        result.append(residual_draws(Residuals(e, y - e, y - e), noise, draw))
    return result


def _holding(by_set: NDArray[np.float64], many: int) -> NDArray[np.float64]:
    """Of each set, the sum over all that hold it."""
    table = by_set.reshape((2,) * many).copy()
    for axis in range(many):
        without, having = (tuple(np.s_[:] if i != axis else b for i in range(many)) for b in (0, 1))
        table[without] += table[having]
    return table.ravel()


def _summed_noise(table: NoisyTable, cells: int, draw: np.random.Generator) -> NDArray[np.float64]:
    """Of the sum of so many cells."""
    noise = np.zeros(CONJUNCTION_DRAWS)
    for _ in range(cells):
        noise += simulated(table.noise, CONJUNCTION_DRAWS, draw)
    return noise


# Moves and pairs: their tables look at some locations of a trajectory only, and at moves that lead
# to one for the first time. So there are more than they count. By how much more is released, cell
# by cell.


def move_draws(
    measurements: Measurements, plan: MeasurementPlan, released: Paths, draw: np.random.Generator
) -> Draws:
    """True counts of moves by their size, as far down as the table counts every released one."""
    if not _can_be_compared(MOVES, measurements, released):
        return []
    like, made = _Summed.nothing(), _Summed.nothing()
    scope = measurements.scope
    for block in released.blocks():
        named = _named(block, measurements)
        row, cell = MOVES.row_cells(named, scope, plan[MOVES].cap)
        like = like.and_of(cell, block.weights[row])
        made = made.and_of(
            *_all_moves(Paths(block.offsets, named.positions, block.weights), scope.named)
        )
    return _scaled_draws(measurements[MOVES], like, made, draw)


def pair_draws(
    measurements: Measurements, plan: MeasurementPlan, released: Paths, draw: np.random.Generator
) -> Draws:
    """The same of pairs that a trajectory visits in any order; not if there are too many."""
    if not _can_be_compared(PAIRS, measurements, released):
        return []
    pairs, most = 0, 1
    for block in released.blocks():
        distinct = np.diff(_named(block, measurements).distinct[0])
        pairs += int(np.dot(distinct, distinct))
        most = max(most, int(distinct.max(initial=1)))
    if pairs > MOST_COUNTED_PAIRS:
        return []
    sums = [_Summed.nothing(), _Summed.nothing()]
    for block in released.blocks():
        named = _named(block, measurements)
        for which, cap in enumerate((plan[PAIRS].cap, most)):
            row, cell = PAIRS.row_cells(named, measurements.scope, cap)
            sums[which] = sums[which].and_of(cell, block.weights[row])
    like, made = sums
    return _scaled_draws(measurements[PAIRS], like, made, draw)


def _named(block: Paths, measurements: Measurements) -> Rows:
    """Some released paths, among the candidates: those of all would be many times the release."""
    rows = Rows(block.offsets, block.codes, measurements.universe_size)
    return rows.among(measurements.candidates)


def _can_be_compared(statistic: Statistic, measurements: Measurements, released: Paths) -> bool:
    """Whether a table was counted as it is: not clipped, and scaled again."""
    return statistic in measurements and measurements.trips_per_weight == 1 and len(released) > 0


def _scaled_draws(
    table: NoisyTable, like: "_Summed", made: "_Summed", draw: np.random.Generator
) -> Draws:
    """True counts by size, of what a table counts in part.

    Of a cell the noisy count y, the released one c that was counted likewise and the released count
    e of all are known, so T = e/c·(y − z)·w, where w is how much more often it is done, by its
    count in the table, than the release says. If the release knows nothing of what is done more
    often than the table counts, log w varies by √2 of what log(e/c) does among cells of this size.

    Args:
        table: the noisy one.
        like: released counts, as the table counts.
        made: the whole ones.
        draw: randomness.
    """
    counted, everything = like.at(made.cells), made.counts
    listed = np.isin(made.cells, table.keys)
    noisy = _Summed(table.keys, table.counts.astype(np.float64)).at(made.cells)
    most = np.where(listed, noisy, float(table.threshold or 0))
    noise = simulated(table.noise, CONJUNCTION_DRAWS, draw)
    more = draw.standard_normal(CONJUNCTION_DRAWS)
    place = draw.permutation((np.arange(CONJUNCTION_DRAWS) + 0.5) / CONJUNCTION_DRAWS)
    group_of = np.searchsorted(HALF_DECADES, everything, side="right")
    draws: Draws = []
    inside = np.zeros(len(listed), dtype=np.bool_)
    for group in np.unique(group_of)[::-1]:
        inside |= group_of == group  # a size of few cells is told with the next smaller one
        if not counted[inside].all():
            break
        if np.count_nonzero(inside) < ENOUGH_MOVES:
            continue
        e, c = np.tile(everything[inside], 2), np.tile(counted[inside], 2)
        y = np.concatenate((noisy[inside], most[inside]))
        which = (place * len(e)).astype(np.int64)
        # What few cells scatter by is told by them with an error of its own.
        few = np.sqrt((len(e) + 2.0) / (len(e) - 2.0))
        left = (y - c).mean() + few * (y - c - (y - c).mean())
        error = (e / c)[which] * (left[which] + noise)
        uncounted = ((e - c) / e)[which]
        times = 1.0 + uncounted * (np.exp(_scatter(e - c, c) * more) - 1.0)
        ends = sorted({int(e.min()), int(e.max())})
        draws.extend((end, np.round(np.maximum(end + error, 0.0) * times)) for end in ends)
        inside = np.zeros(len(listed), dtype=np.bool_)
    return draws


def _scatter(rest: NDArray[np.float64], counted: NDArray[np.float64]) -> float:
    """√2 of what the logarithm of rest over counted varies by, cells by their share of the rest."""
    some = rest > 0
    if not some.any():
        return 0.0
    ratio, weights = np.log(rest[some] / counted[some]), rest[some]
    mean = np.average(ratio, weights=weights)
    return float(np.sqrt(2.0 * np.average((ratio - mean) ** 2, weights=weights)))


class _Summed(NamedTuple):
    """Counts of some cells, in their order."""

    cells: NDArray[np.int64]
    counts: NDArray[np.float64]

    @classmethod
    def nothing(cls) -> "_Summed":
        return cls(np.zeros(0, dtype=np.int64), np.zeros(0))

    def and_of(self, cells: NDArray[np.integer], weights: NDArray[np.int64]) -> "_Summed":
        """With more of them: whole numbers below 2⁵³, so that their order does not matter."""
        everything = np.concatenate((self.cells, cells.astype(np.int64)))
        found, at = np.unique(everything, return_inverse=True)
        counts = np.bincount(at, np.concatenate((self.counts, weights)), len(found))
        return _Summed(found, counts.astype(np.float64))

    def at(self, cells: NDArray[np.int64]) -> NDArray[np.float64]:
        """The counts of these cells; 0 where there is none."""
        position = np.searchsorted(self.cells, cells)
        found = np.append(self.cells, -1)[position] == cells
        return np.where(found, np.append(self.counts, 0.0)[position], 0.0)


def _all_moves(paths: Paths, named: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Each move between different named locations that is made, and how often its path is."""
    row = np.repeat(np.arange(len(paths)), paths.lengths)
    codes = paths.codes.astype(np.int64)
    first, second = codes[:-1], codes[1:]
    moves = (row[1:] == row[:-1]) & (first != second) & (first < named) & (second < named)
    cells = first[moves] * named + second[moves]
    return cells, paths.weights[row[:-1][moves]]
