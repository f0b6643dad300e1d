"""Which questions validate a release: drawn by public numbers from what was published before.

Questions that nobody answers say nothing, and people ask for what is large. So half of the
questions of a kind are drawn in proportion to noisy counts that a table lists, where one does
(pairs, moves, trips), and half by the noisy popularity of their locations, which also finds what no
table lists. Given what was published, they are the same for two neighbouring databases, and the
numbers that draw them are the same in every run. A kind stops when its questions are expected to
take their part of the trajectories: each answers only one, and who has answered is lost to others.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pathveil.statistics.constants import (
    DRAWN_QUERIES,
    FEW_TAKE,
    FEWEST_LARGE,
    FEWEST_MOVERS,
    FEWEST_QUERIES,
    LARGE_QUERIES,
    LARGE_STEP,
    MOST_QUERIES,
    QUERIES_TAKE,
    QUERY_POWERS,
    QUERY_SHARES,
    SANITY,
    SMALL_QUERIES,
)
from pathveil.statistics.measurements import Measurements
from pathveil.statistics.moves import MOVES
from pathveil.statistics.pairs import PAIRS
from pathveil.statistics.shapes import DISTINCT_BINS, LENGTH_BINS, SHAPES
from pathveil.statistics.statistic import Statistic
from pathveil.statistics.total import TOTAL
from pathveil.statistics.trips import TRIPS
from pathveil.statistics.validation import (
    MOVE,
    ORDERED,
    ORDERED_TRIPLE,
    PAIR,
    PREFIX,
    QUERY_KINDS,
    TRIP,
    TRIPLE,
    VALIDATION,
    Queries,
    scattered,
)
from pathveil.statistics.visits import VISITS

# The tables that list two locations for a kind: the first that lists any.
_LISTED_BY: dict[int, tuple[Statistic, ...]] = {
    PAIR: (PAIRS, MOVES), TRIPLE: (PAIRS, MOVES),
    ORDERED: (PAIRS, MOVES), ORDERED_TRIPLE: (PAIRS, MOVES),
    MOVE: (MOVES,), TRIP: (TRIPS,), PREFIX: (MOVES,),
}  # fmt: skip
_IN_EITHER_ORDER = (ORDERED, ORDERED_TRIPLE)
# Of those whom a table lists so many do it in an order, or first of all. About.
_OF_LISTED = {ORDERED: 0.5, ORDERED_TRIPLE: 0.25, PREFIX: 0.3}


ORDER = 9  # a stream of public numbers by which nothing else is drawn


class _Listed(NamedTuple):
    """Two locations each, and how many trajectories visit them so, by a noisy table."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    counts: NDArray[np.float64]

    def beside(self, locations: NDArray[np.int64], place: NDArray[np.float64]) -> NDArray[np.int64]:
        """A location that is listed with each of these, which are listed; by numbers in [0, 1)."""
        ends = np.concatenate((self.first, self.second))
        order = np.argsort(ends, kind="stable")
        others = np.concatenate((self.second, self.first))[order]
        begin, end = (np.searchsorted(ends[order], locations, side) for side in ("left", "right"))
        chosen: NDArray[np.int64] = others[begin + (place * (end - begin)).astype(np.int64)]
        return chosen


def drawn_queries(seen: Measurements) -> Queries:
    """The questions for what was published; none if the plan has no share for them."""
    named = seen.scope.named
    total = float(seen[TOTAL].counts[0])
    if VALIDATION not in seen.plan or named < 2 or total < 1:  # noqa: PLR2004
        return Queries(np.zeros(0, dtype=np.int8), np.zeros((0, 3), dtype=np.int32))
    visitors = np.maximum(seen[VISITS].counts[seen.candidates].astype(np.float64), 1.0)
    parts = [_of_kind(kind, seen, visitors, total) for kind in QUERY_KINDS]
    kind = np.repeat(np.array(QUERY_KINDS, dtype=np.int8), [len(part.expected) for part in parts])
    locations = np.concatenate([part.locations for part in parts]).astype(np.int32)
    expected = np.concatenate([part.expected for part in parts])
    # What fewer answer stands first: it can spare the fewest.
    order = np.lexsort((scattered(len(kind), ORDER), expected))
    return Queries(kind[order], locations[order])


def _of_kind(kind: int, seen: Measurements, visitors: NDArray[np.float64], total: float) -> "_Pool":
    """Questions of one kind, anywhere and among what a table lists, of all sizes, no repeats."""
    tables = [_listed(seen, statistic) for statistic in _LISTED_BY[kind]]
    listed = next((table for table in tables if len(table.counts)), tables[-1])
    pools = [_anywhere(kind, visitors, total)]
    if len(listed.counts):
        pools.append(_among_listed(kind, listed, visitors, total))
    unit = max(SANITY * total, seen.plan[VALIDATION].noise.scale)
    all_may_take = QUERIES_TAKE * _movers(seen, total)
    most = QUERY_SHARES[kind] * all_may_take / len(pools), FEW_TAKE * all_may_take
    chosen = []
    for pool in pools:
        different = pool.at(_first_of_each(kind, pool.locations, len(visitors)))
        chosen.append(different.at(_of_all_sizes(different.expected, unit, *most)))
    both = _Pool(*(np.concatenate(column) for column in zip(*chosen, strict=True)))
    return both.at(_first_of_each(kind, both.locations, len(visitors)))


def _movers(seen: Measurements, total: float) -> float:
    """About how many trajectories visit two locations or more: others answer nothing."""
    stay = seen[SHAPES].counts.reshape(LENGTH_BINS, DISTINCT_BINS)[:, 0].sum()
    return max(total - float(stay), FEWEST_MOVERS * total)


class _Pool(NamedTuple):
    """Questions that may be asked, and about how many trajectories answer each."""

    locations: NDArray[np.int64]
    expected: NDArray[np.float64]

    def at(self, rows: NDArray[np.int64] | NDArray[np.bool_]) -> "_Pool":
        return _Pool(self.locations[rows], self.expected[rows])

    def that_can_be_asked(self, kind: int) -> "_Pool":
        kinds = np.full(len(self.locations), kind, dtype=np.int8)
        return self.at(Queries(kinds, self.locations.astype(np.int32)).can_be_asked)


def _anywhere(kind: int, visitors: NDArray[np.float64], total: float) -> _Pool:
    """About any locations. Of those with the same expected answer each is as likely as another."""
    locations = np.stack(
        [_by_weight(visitors, DRAWN_QUERIES, 10 * (kind + 1) + i, QUERY_POWERS) for i in range(3)],
        axis=1,
    )
    expected = visitors[locations[:, 0]] * visitors[locations[:, 1]] / total
    expected *= _of_visitors(kind, max(float(visitors.sum()) / total, 2.0))
    return _Pool(
        locations, _with_third(kind, expected, locations, visitors, total)
    ).that_can_be_asked(kind)


def _of_visitors(kind: int, many: float) -> float:
    """The part of those who visit two of so many different locations who do it so."""
    if kind == MOVE:
        return 1.0 / many
    if kind in (TRIP, PREFIX):
        return 1.0 / (many * (many - 1.0))
    return _OF_LISTED.get(kind, 1.0)


def _among_listed(kind: int, listed: _Listed, visitors: NDArray[np.float64], total: float) -> _Pool:
    """About two locations that a noisy table lists; a third one is anywhere, or listed, too."""
    stream = 10 * (kind + 1)
    chosen = (scattered(DRAWN_QUERIES, stream + 3) * len(listed.counts)).astype(np.int64)
    third = _by_weight(visitors, DRAWN_QUERIES, stream + 5, QUERY_POWERS)
    third[::2] = listed.beside(listed.second[chosen], scattered(DRAWN_QUERIES, stream + 6))[::2]
    turned = (scattered(DRAWN_QUERIES, stream + 4) < 0.5) & (kind in _IN_EITHER_ORDER)  # noqa: PLR2004
    ends = listed.first[chosen], listed.second[chosen]
    locations = np.stack(
        [np.where(turned, ends[1], ends[0]), np.where(turned, ends[0], ends[1]), third], axis=1
    )
    together = listed.counts[chosen] * _OF_LISTED.get(kind, 1.0)
    expected = _with_third(kind, together, locations, visitors, total)
    return _Pool(locations, expected).that_can_be_asked(kind)


def _with_third(
    kind: int,
    expected: NDArray[np.float64],
    locations: NDArray[np.int64],
    visitors: NDArray[np.float64],
    total: float,
) -> NDArray[np.float64]:
    """About how many answer, if so many do as far as the first two locations go."""
    if kind not in (TRIPLE, ORDERED_TRIPLE):
        return expected
    return expected * np.minimum(3.0 * visitors[locations[:, 2]] / total, 1.0)


def _of_all_sizes(
    expected: NDArray[np.float64], unit: float, most: float, most_of_few: float
) -> NDArray[np.int64]:
    """Positions of questions of all sizes.

    Small ones until they take as many trajectories as they may. Large ones are asked of who
    answered none of these, so they take nothing from them: some of each size, up to the largest.

    Args:
        expected: about how many answer each.
        unit: what is below three of it is small.
        most: trajectories that the small ones take, and the large ones.
        most_of_few: trajectories that a few large ones may take; where each takes much, as in a
            city of six stops, more of them would leave nothing of each other.
    """
    units = np.maximum(expected, 1e-9) / unit
    size = np.searchsorted(SMALL_QUERIES, units, side="right")
    is_large = size == len(SMALL_QUERIES)
    finer = np.log(np.maximum(units / SMALL_QUERIES[-1], 1.0)) / np.log(LARGE_STEP)
    rank = _ranks(size + np.floor(finer).astype(np.int64))
    small = np.flatnonzero(~is_large & (rank < MOST_QUERIES))
    small = small[np.argsort(rank[small], kind="stable")]
    taken = np.cumsum(expected[small])
    small = small[: max(np.searchsorted(taken, most), FEWEST_QUERIES)]
    large = np.flatnonzero(is_large & (rank < LARGE_QUERIES))
    large = large[np.argsort(rank[large], kind="stable")]
    taken = np.cumsum(expected[large])
    few = int(np.clip(np.searchsorted(taken, most_of_few), *FEWEST_LARGE))
    return np.concatenate((small, large[: max(int(np.searchsorted(taken, most)), few)]))


def _ranks(groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """The how many-th of its group each is, from 0."""
    order = np.argsort(groups, kind="stable")
    ordered = groups[order]
    rank = np.empty(len(groups), dtype=np.int64)
    rank[order] = np.arange(len(groups)) - np.searchsorted(ordered, ordered)
    return rank


def _first_of_each(kind: int, locations: NDArray[np.int64], named: int) -> NDArray[np.int64]:
    """Positions of the questions that none before asks."""
    many = 3 if kind in (TRIPLE, ORDERED_TRIPLE) else 2
    asked = locations[:, :many]
    if kind in (PAIR, TRIPLE):
        asked = np.sort(asked, axis=1)
    keys = asked[:, 0]
    for column in asked.T[1:]:
        keys = keys * named + column
    return np.sort(np.unique(keys, return_index=True)[1])


def _listed(seen: Measurements, statistic: Statistic) -> _Listed:
    """The cells of a table of two locations that stand out of its noise."""
    if statistic not in seen:
        nothing = np.zeros(0, dtype=np.int64)
        return _Listed(nothing, nothing, nothing.astype(np.float64))
    table = seen[statistic]
    first, second = np.divmod(table.keys, seen.scope.named)
    out = (first != second) & (table.counts > 2.0 * table.scale)
    return _Listed(first[out], second[out], table.counts[out].astype(np.float64))


def _by_weight(
    weights: NDArray[np.float64], count: int, stream: int, powers: Sequence[float]
) -> NDArray[np.int64]:
    """Positions, by turns in proportion to these powers of their weights."""
    place = scattered(count, stream)
    drawn = np.empty(count, dtype=np.int64)
    for turn, power in enumerate(powers):
        reached = np.cumsum(weights**power)
        drawn[turn :: len(powers)] = np.searchsorted(
            reached, place[turn :: len(powers)] * reached[-1], side="right"
        )
    positions: NDArray[np.int64] = np.minimum(drawn, len(weights) - 1)
    return positions
