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
from A is A before B: so moves count ordered pairs in part, too. Who goes by way of others is
counted nowhere, and a model that mixes up the order makes all of it up: where that is more than
half of the released answer, ordered pairs have the interval of their kind and size.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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
from pathveil.methods.calibrated.uncertainty.counted_tables import SECOND, told_by
from pathveil.methods.calibrated.uncertainty.released_cells import ReleasedCells
from pathveil.methods.calibrated.uncertainty.sample import Evidence
from pathveil.methods.calibrated.uncertainty.table_rows import HALF_DECADES
from pathveil.statistics.constants import (
    AS_GOOD_AS_NOBODY,
    LISTED_TAIL,
    REST_SCATTER,
    SANITY,
)
from pathveil.statistics.moves import MOVES
from pathveil.statistics.pairs import PAIRS
from pathveil.statistics.trips import TRIPS

_AT_ONCE = 2048  # cells; by memory


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
        for cells in _all_cells(evidence, ReleasedCells(measurements, released), draw):
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
    evidence: Evidence, released: ReleasedCells, draw: np.random.Generator
) -> Iterator[_Cells]:
    """Of each kind; of pairs first those that their own table lists."""
    measurements, plan = evidence.measurements, evidence.plan
    least = SANITY * released.total
    for kind, statistic in ((TRIP, TRIPS), (PREFIX, SECOND), (ANY, PAIRS)):
        table = told_by(measurements, statistic)
        if table is not None:
            like = released.like(statistic, plan[statistic].cap, table.keys)
            at = table.largest(like, least)
            first, second, like = table.first[at], table.second[at], like[at]
            everything = released.together(first, second)[0] if kind == ANY else like
            listed, counted = table.known.is_listed[at], table.drawn(at, draw)
            yield _Cells(kind, first, second, listed, counted, like, everything)
    table = told_by(measurements, MOVES)
    if table is None:
        return
    made, named = released.moves(table.keys), measurements.scope.named
    at = table.largest(made, least)
    first, second, counted = table.first[at], table.second[at], table.drawn(at, draw)
    all_like = released.like(MOVES, plan[MOVES].cap, table.keys)
    like, listed = all_like[at], table.known.is_listed[at]
    yield _Cells(MOVE, first, second, listed, counted, like, made[at])
    in_order = released.together(first, second)[1]
    cells = _Cells(ORDERED, first, second, listed, counted, like, in_order)
    yield cells.at(2.0 * like >= in_order)
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
