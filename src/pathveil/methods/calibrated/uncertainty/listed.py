"""Intervals of the cells that noisy tables list, each by itself.

A table of moves, pairs, trips or beginnings that lists a cell has measured it: the noisy count is
the true one plus noise of known law, whatever the synthesis made of it. So what the table counts of
the cell needs neither questions nor a model: it is drawn given its noisy count (`factor_prior`).

Trips and beginnings are counted whole. Moves and pairs are counted in part: within a cap, and moves
to where somebody was before not at all. Who makes such a move, or visits both locations at all, is
then counted in the table, or belongs to a rest of which the release alone knows:

    T = (what is counted) + r·w,   r = e − c

for the released answer e, of which c are counted as the table counts. How far r is off, w, nothing
measures. Its logarithm is taken to vary by `REST_SCATTER`, or by √2 of what c is off by in cells
alike, if that is more; and r by its square root besides, as numbers of people do. Where hardly
anything is counted the interval is so wide that the one by kind and size is the shorter one, and
then that one is taken: for all cells of a size together, so that no interval is short because of
its own noise.

Who visits both locations of a pair may be counted by the table of pairs or by that of moves: nobody
makes two first visits of one pair, so the two directions add up. And a first visit to B straight
from A is A before B: so moves count ordered pairs in part, too.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import compiled
from pathveil.core.error_table import (
    ANY,
    KINDS,
    LEVELS,
    MOVE,
    ORDERED,
    PREFIX,
    TRIP,
    USUAL_LEVEL,
    ErrorTable,
)
from pathveil.core.listed_cells import ListedCells
from pathveil.core.paths import Paths
from pathveil.methods.calibrated.uncertainty.factor_prior import (
    FactorPrior,
    NoisyCells,
    cells_by_step,
    steps_of,
)
from pathveil.methods.calibrated.uncertainty.sample import Evidence
from pathveil.methods.calibrated.uncertainty.table_rows import HALF_DECADES
from pathveil.statistics.constants import (
    AS_GOOD_AS_NOBODY,
    FACTOR_STEP,
    LISTED_DRAWS,
    LISTED_TAIL,
    MOST_LISTED,
    REST_SCATTER,
    SANITY,
)
from pathveil.statistics.measurements import Measurements
from pathveil.statistics.moves import MOVES
from pathveil.statistics.pairs import PAIRS
from pathveil.statistics.prefix_tree import LEVELS as TREE_LEVELS
from pathveil.statistics.statistic import Rows, Statistic, places_among
from pathveil.statistics.trips import TRIPS
from pathveil.statistics.visits import VISITS

_AT_ONCE = 2048  # cells; by memory
_SECOND = TREE_LEVELS[1]


class _Table(NamedTuple):
    """What a table of two locations says.

    Attributes:
        statistic: which one.
        keys: int64, ascending; cells of which the noisy counts are known.
        first, second: int64; their locations, as positions among the candidates.
        known: their noisy counts, and how many others there are.
        prior: of true counts.
    """

    statistic: Statistic
    keys: NDArray[np.int64]
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    known: NoisyCells
    prior: FactorPrior

    def largest(self, released: NDArray[np.float64], least: float) -> NDArray[np.int64]:
        """Where the cells stand that are listed, or that are released as so many; in order.

        The largest noisy counts, if there are too many.
        """
        some = np.flatnonzero(self.known.is_listed | (released >= least))
        order = np.argsort(-self.known.noisy[some], kind="stable")
        return np.sort(some[order[:MOST_LISTED]])

    def drawn(self, at: NDArray[np.int64], draw: np.random.Generator) -> NDArray[np.float64]:
        """True counts of some cells, shape (cells, draws)."""
        return self.prior.draw(self.known.noisy[at], self.known.steps[at], LISTED_DRAWS, draw)


class _Cells(NamedTuple):
    """Cells that are asked for in one way.

    Attributes:
        kind: of question.
        first, second: int64; positions among the candidates.
        is_listed: bool; whether their noisy counts reach the threshold.
        counted: float64, shape (cells, draws); true counts of what the table counts of them.
        like: float64; the released counts of that.
        released: float64; the released answers.
    """

    kind: str
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    is_listed: NDArray[np.bool_]
    counted: NDArray[np.float64]
    like: NDArray[np.float64]
    released: NDArray[np.float64]

    def at(self, rows: NDArray[np.bool_]) -> "_Cells":
        """Some of them."""
        return _Cells(
            self.kind,
            self.first[rows],
            self.second[rows],
            self.is_listed[rows],
            self.counted[rows],
            self.like[rows],
            self.released[rows],
        )

    @property
    def alike(self) -> NDArray[np.int64]:
        """A number for each half-decade of released answers; listed cells apart from others."""
        size = np.searchsorted(HALF_DECADES, self.released, side="right")
        result: NDArray[np.int64] = 2 * size + self.is_listed
        return result

    def keys(self, named: int) -> NDArray[np.int64]:
        """One number for each."""
        return self.first * named + self.second


def listed_cells(
    evidence: Evidence, released: Paths, table: ErrorTable, draw: np.random.Generator
) -> ListedCells:
    """The intervals of listed cells, where they are shorter than those of their kind and size.

    Args:
        evidence: the noisy measurements.
        released: the released trajectories, over location codes.
        table: the intervals by kind and size.
        draw: randomness.
    """
    measurements, candidates = evidence.measurements, evidence.measurements.candidates
    found: list[ListedCells] = []
    seen: dict[str, NDArray[np.int64]] = {}
    if measurements.trips_per_weight == 1 and len(released):  # else tables were clipped
        for cells in _all_cells(evidence, _Released(measurements, released), draw):
            keys, before = cells.keys(len(candidates)), seen.get(cells.kind)
            new = cells if before is None else cells.at(~np.isin(keys, before))
            bounds, best = _intervals(new, draw)
            short = _shorter(new, bounds, table)
            kept = new.at(short)
            seen[cells.kind] = keys if before is None else np.union1d(before, keys)
            kind = np.full(len(kept.first), KINDS.index(cells.kind), dtype=np.int64)
            ends = candidates[kept.first], candidates[kept.second]
            found.append(ListedCells(kind, *ends, best[short], bounds[short]))
    return _in_order(found)


def _in_order(found: list[ListedCells]) -> ListedCells:
    if not found:
        return ListedCells.nothing(len(LEVELS))
    columns = [
        np.concatenate([getattr(one, name) for one in found])
        for name in ("kind", "first", "second", "best", "bounds")
    ]
    order = np.lexsort(columns[2::-1])
    return ListedCells(*(column[order] for column in columns))


def _all_cells(
    evidence: Evidence, released: "_Released", draw: np.random.Generator
) -> Iterator[_Cells]:
    """Of each kind; of pairs first those that their own table lists."""
    measurements, plan = evidence.measurements, evidence.plan
    least = SANITY * released.total
    for kind, statistic in ((TRIP, TRIPS), (PREFIX, _SECOND), (ANY, PAIRS)):
        table = _told(measurements, statistic)
        if table is not None:
            like = released.like(statistic, plan[statistic].cap, table.keys)
            at = table.largest(like, least)
            first, second, like = table.first[at], table.second[at], like[at]
            everything = released.together(first, second)[0] if kind == ANY else like
            listed, counted = table.known.is_listed[at], table.drawn(at, draw)
            yield _Cells(kind, first, second, listed, counted, like, everything)
    table = _told(measurements, MOVES)
    if table is None:
        return
    made, named = released.moves(table.keys), measurements.scope.named
    at = table.largest(made, least)
    first, second, counted = table.first[at], table.second[at], table.drawn(at, draw)
    all_like = released.like(MOVES, plan[MOVES].cap, table.keys)
    like, listed = all_like[at], table.known.is_listed[at]
    yield _Cells(MOVE, first, second, listed, counted, like, made[at])
    in_order = released.together(first, second)[1]
    yield _Cells(ORDERED, first, second, listed, counted, like, in_order)
    if len(table.keys) == sum(table.known.cells.values()):  # so the way back is known, too
        keys = np.unique(np.minimum(first, second) * named + np.maximum(first, second))
        first, second = np.divmod(keys, max(named, 1))
        back = second * named + first
        ways = [np.searchsorted(table.keys, one) for one in (keys, back)]
        counted = table.drawn(ways[0], draw) + table.drawn(ways[1], draw)
        like, listed = all_like[ways[0]] + all_like[ways[1]], table.known.is_listed
        listed = listed[ways[0]] | listed[ways[1]]
        either = released.together(first, second)[0]
        yield _Cells(ANY, first, second, listed, counted, like, either)


class _Layout(NamedTuple):
    """Which locations the keys of a table stand for, and their guesses.

    Attributes:
        first, second: int64; positions among the candidates.
        possible: bool; whether the cell can be occupied, and is asked for.
        steps: int64; the guess of each, by steps of `FACTOR_STEP`.
        cells: how many such cells have each guess, in the table or not.
    """

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    possible: NDArray[np.bool_]
    steps: NDArray[np.int64]
    cells: dict[int, int]


def _told(measurements: Measurements, statistic: Statistic) -> _Table | None:
    """What a table says of its cells; None if it was not measured, or lists nothing."""
    if statistic not in measurements or not measurements.scope.named:
        return None
    table = measurements[statistic]
    whole = measurements.whole.get(statistic, table)
    layout = _LAYOUTS[statistic](whole.keys, measurements)
    threshold = table.threshold
    if threshold is None:
        threshold = table.noise.threshold(table.cells, statistic.invented(measurements.scope))
    asked = layout.possible
    noisy = whole.counts[asked].astype(np.float64)
    known = NoisyCells(noisy, layout.steps[asked], noisy >= threshold, layout.cells, threshold)
    if not known.is_listed.any():
        return None
    prior = FactorPrior.fit(known, table.noise)
    return _Table(
        statistic, whole.keys[asked], layout.first[asked], layout.second[asked], known, prior
    )


def _places(measurements: Measurements) -> NDArray[np.int64]:
    """The share of each candidate in all visits, by the noisy table of visits; in steps."""
    visits = measurements[VISITS].counts[measurements.candidates].astype(np.float64)
    return steps_of(visits)


def _all_visits(places: NDArray[np.int64]) -> int:
    return int(steps_of(np.exp(FACTOR_STEP * places).sum(keepdims=True))[0])


def _two_different(keys: NDArray[np.int64], measurements: Measurements) -> _Layout:
    """Any two candidates, in this order."""
    places = _places(measurements)
    first, second = np.divmod(keys, len(places))
    cells, less = cells_by_step(places, places), _all_visits(places)
    for step in (2 * places).tolist():
        cells[step] -= 1  # who stays
    cells = {step - less: many for step, many in cells.items() if many}
    return _Layout(first, second, first != second, places[first] + places[second] - less, cells)


def _unordered(keys: NDArray[np.int64], measurements: Measurements) -> _Layout:
    """Any two candidates, the smaller first."""
    both = _two_different(keys, measurements)
    halves = {step: many // 2 for step, many in both.cells.items()}
    return both._replace(possible=both.first < both.second, cells=halves)


def _first_two(keys: NDArray[np.int64], measurements: Measurements) -> _Layout:
    """A node of the first level of the tree, and where it goes on to."""
    places, above = _places(measurements), measurements[TREE_LEVELS[0]]
    label = above.keys % (len(places) + 1)
    goes_on = label != len(places)
    begins = steps_of(above.counts[goes_on].astype(np.float64))
    node, second = np.divmod(keys, len(places) + 1)
    possible, less = second < len(places), _all_visits(places)
    cells = {step - less: many for step, many in cells_by_step(begins, places).items()}
    steps = begins[node] + np.append(places, 0)[second] - less
    return _Layout(label[goes_on][node], second, possible, steps, cells)


_LAYOUTS: dict[Statistic, Callable[[NDArray[np.int64], Measurements], _Layout]] = {
    MOVES: _two_different,
    TRIPS: _two_different,
    PAIRS: _unordered,
    _SECOND: _first_two,
}


class _Released:
    """What the released trajectories say of cells, over the candidates."""

    def __init__(self, measurements: Measurements, paths: Paths) -> None:
        self._scope, self._paths = measurements.scope, paths
        self.total = float(paths.weights.sum())

    def _blocks(self) -> Iterator[tuple[Rows, NDArray[np.int64]]]:
        for block in self._paths.blocks():
            rows = Rows(block.offsets, block.codes, self._scope.universe_size)
            yield rows.among(self._scope.candidates), block.weights

    def like(self, statistic: Statistic, cap: int, keys: NDArray[np.int64]) -> NDArray[np.float64]:
        """How many a table would count in each of some cells, which ascend."""
        counts = np.zeros(len(keys))
        for rows, weights in self._blocks():
            row, cell = statistic.row_cells(rows, self._scope, cap)
            at = places_among(keys, cell, statistic.size(self._scope))
            counts += np.bincount(at[at >= 0], weights[row[at >= 0]], len(keys))
        return counts

    def moves(self, keys: NDArray[np.int64]) -> NDArray[np.float64]:
        """How often moves are made."""
        counts, named = np.zeros(len(keys)), self._scope.named
        for rows, weights in self._blocks():
            codes = rows.positions.astype(np.int64)
            row = np.repeat(np.arange(len(weights)), np.diff(rows.offsets))
            moves = (row[1:] == row[:-1]) & (np.maximum(codes[:-1], codes[1:]) < named)
            cell = codes[:-1][moves] * named + codes[1:][moves]
            at = places_among(keys, cell, named**2)
            counts += np.bincount(at[at >= 0], weights[row[:-1][moves][at >= 0]], len(keys))
        return counts

    def together(
        self, first: NDArray[np.int64], second: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """How many visit both in any order, and the first before the second; cells ascend."""
        starts = np.searchsorted(first, np.arange(self._scope.named + 1))
        either, in_order = np.zeros(len(first)), np.zeros(len(first))
        for rows, weights in self._blocks():
            visited_together(
                rows.offsets, rows.positions, weights, starts, second, either, in_order
            )
        return either, in_order


@compiled
def visited_together(
    offsets: NDArray[np.int64],
    codes: NDArray[np.int32],
    weights: NDArray[np.int64],
    starts: NDArray[np.int64],
    partners: NDArray[np.int64],
    either: NDArray[np.float64],
    in_order: NDArray[np.float64],
) -> None:
    """Add how many rows visit each location and some partners of it.

    Args:
        offsets: where each row begins, and the end.
        codes: positions among the candidates; of others, as large as there are candidates.
        weights: how often each row counts.
        starts: where the partners of each location begin, and the end.
        partners: of all locations.
        either: added to, for each partner: who visits both.
        in_order: likewise: who visits the location, and later the partner.
    """
    size = len(starts) - 1
    seen_in = np.full(size, -1, dtype=np.int64)
    first_at = np.zeros(size, dtype=np.int64)
    last_at = np.zeros(size, dtype=np.int64)
    for row in range(len(offsets) - 1):
        for i in range(offsets[row], offsets[row + 1]):
            if codes[i] < size:
                if seen_in[codes[i]] != row:
                    seen_in[codes[i]] = row
                    first_at[codes[i]] = i
                last_at[codes[i]] = i
        for i in range(offsets[row], offsets[row + 1]):
            here = codes[i]
            if here >= size or first_at[here] != i:
                continue
            for k in range(starts[here], starts[here + 1]):
                there = partners[k]
                if seen_in[there] == row:
                    either[k] += weights[row]
                    if last_at[there] > i:
                        in_order[k] += weights[row]


def compile_together() -> None:
    """Count in one made-up row: for a rehearsal, in which no table may list anything."""
    none, counts = np.zeros(0, dtype=np.int64), np.zeros(0)
    offsets, codes, starts = np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(2, np.int64)
    visited_together(offsets, codes, none, starts, none, counts, counts)


def _intervals(
    cells: _Cells, draw: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Bounds for each level, shape (cells, levels, 2), and medians."""
    bounds = np.zeros((len(cells.first), len(LEVELS), 2), dtype=np.int64)
    best = np.zeros(len(cells.first), dtype=np.int64)
    rest = np.maximum(cells.released - cells.like, 0.0)
    scatter = _scatter(cells, rest)
    for begin in range(0, len(rest), _AT_ONCE):
        some = slice(begin, begin + _AT_ONCE)
        true = cells.counted[some].copy()
        if rest[some].any():
            off = draw.standard_normal((2, *true.shape))
            r = rest[some, None]
            more = r * np.exp(scatter[some, None] * off[0]) + np.sqrt(r) * off[1]
            true += np.maximum(more, 0.0)
        true = np.sort(np.round(true), axis=1)
        bounds[some] = _quantiles(true)
        best[some] = np.round(np.median(true, axis=1))
    return bounds, best


def _scatter(cells: _Cells, rest: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far the rest of each cell may be off, in logarithms.

    √2 of what is counted of cells alike is off by: that is known, and the release was fitted to it.
    """
    off = np.log1p(np.median(cells.counted, axis=1)) - np.log1p(cells.like)
    alike = cells.alike
    squares = np.bincount(alike, rest * off**2) / np.maximum(np.bincount(alike, rest), 1.0)
    result: NDArray[np.float64] = np.maximum(np.sqrt(2.0 * squares), REST_SCATTER)[alike]
    return result


def _quantiles(true: NDArray[np.float64]) -> NDArray[np.int64]:
    """Low and high of each cell for each level, by the rule of `table_rows`, of sorted draws."""
    draws = true.shape[1]
    by_trajectories = np.cumsum(true, axis=1)
    bounds = np.zeros((len(true), len(LEVELS), 2), dtype=np.int64)

    def above(outside: float) -> NDArray[np.float64]:
        """What so much of all draws, and of all trajectories, lies above."""
        reached = (by_trajectories < (1.0 - outside) * by_trajectories[:, -1:]).sum(axis=1)
        row = np.clip(reached, draws - 1 - int(outside * draws), draws - 1)
        result: NDArray[np.float64] = np.take_along_axis(true, row[:, None], axis=1)[:, 0]
        return result

    for column, per_cent in enumerate(LEVELS):
        outside = LISTED_TAIL * (100 - per_cent) / 200
        low, high = true[:, int(outside * draws)], above(outside)
        from_nobody = low < AS_GOOD_AS_NOBODY * high
        bounds[:, column, 0] = np.where(from_nobody, 0.0, low)
        bounds[:, column, 1] = np.where(from_nobody, above(2 * outside), high)
    bounds[..., 0] = np.minimum.accumulate(bounds[..., 0], axis=1)
    bounds[..., 1] = np.maximum.accumulate(bounds[..., 1], axis=1)
    return bounds


def _shorter(cells: _Cells, bounds: NDArray[np.int64], table: ErrorTable) -> NDArray[np.bool_]:
    """Which cells keep an interval of their own: all of a size, if these are shorter together."""
    two = np.full(len(cells.first), 2, dtype=np.int64)
    if not table.tells(cells.kind, 2):
        return two > 0
    released = cells.released.astype(np.int64)
    low, high = table.intervals(two, released, two > 0, kind=cells.kind)
    own = bounds[:, LEVELS.index(round(100 * USUAL_LEVEL))]
    own_low, own_high = np.minimum(own[:, 0], released), np.maximum(own[:, 1], released)
    saved = np.bincount(cells.alike, (high - low) - (own_high - own_low))
    result: NDArray[np.bool_] = saved[cells.alike] > 0
    return result
