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

from pathveil.statistics.constants import FEWEST_QUERIES, MOST_QUERIES, QUERIES_TAKE, QUERY_SHARES
from pathveil.statistics.measurements import Measurements
from pathveil.statistics.moves import MOVES
from pathveil.statistics.pairs import PAIRS
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
    Queries,
    scattered,
)
from pathveil.statistics.visits import VISITS

_LISTED_BY: dict[int, Statistic] = {
    PAIR: PAIRS, TRIPLE: PAIRS, ORDERED: PAIRS, ORDERED_TRIPLE: PAIRS,
    MOVE: MOVES, TRIP: TRIPS, PREFIX: MOVES,
}  # fmt: skip
_IN_EITHER_ORDER = (ORDERED, ORDERED_TRIPLE)
# Of those who visit some locations so many do it in an order, as a trip, or first of all. About.
_OF_VISITORS = {ORDERED: 0.5, ORDERED_TRIPLE: 0.25, TRIP: 0.3, PREFIX: 0.3}


ORDER = 9  # a stream of public numbers by which nothing else is drawn


class _Listed(NamedTuple):
    """Two locations each, and how many trajectories visit them so, by a noisy table."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    counts: NDArray[np.float64]


def drawn_queries(seen: Measurements) -> Queries:
    """The questions for what was published."""
    named = seen.scope.named
    total = float(seen[TOTAL].counts[0])
    if named < 2 or total < 1:  # noqa: PLR2004
        return Queries(np.zeros(0, dtype=np.int8), np.zeros((0, 3), dtype=np.int32))
    visitors = np.maximum(seen[VISITS].counts[seen.candidates].astype(np.float64), 1.0)
    parts = [_of_kind(kind, seen, visitors, total) for kind in QUERY_KINDS]
    kind = np.concatenate([part.kind for part in parts])
    locations = np.concatenate([part.locations for part in parts])
    order = np.argsort(scattered(len(kind), ORDER), kind="stable")
    return Queries(kind[order], locations[order])


def _of_kind(kind: int, seen: Measurements, visitors: NDArray[np.float64], total: float) -> Queries:
    """Questions of one kind until they take their part, without repeats."""
    named, stream = len(visitors), 10 * (kind + 1)
    three = kind in (TRIPLE, ORDERED_TRIPLE)
    powers = (1.0, 1.0, 1.0, 0.5) if three else (1.0, 0.5, 0.5, 0.5)
    locations = np.stack(
        [_by_weight(visitors, 2 * MOST_QUERIES, stream + i, powers) for i in range(3)], axis=1
    )
    expected = visitors[locations[:, 0]] * visitors[locations[:, 1]] / total
    listed = _listed(seen, _LISTED_BY[kind])
    if len(listed.counts):
        # Every other question is a listed one.
        chosen = _by_weight(listed.counts, MOST_QUERIES, stream + 3, powers)
        ends = listed.first[chosen], listed.second[chosen]
        turned = scattered(MOST_QUERIES, stream + 4) < 0.5  # noqa: PLR2004
        turned &= kind in _IN_EITHER_ORDER
        locations[::2, 0] = np.where(turned, ends[1], ends[0])
        locations[::2, 1] = np.where(turned, ends[0], ends[1])
        expected[::2] = listed.counts[chosen]
    expected *= _OF_VISITORS.get(kind, 1.0)
    if three:
        expected *= np.minimum(3.0 * visitors[locations[:, 2]] / total, 1.0)
    found = Queries(np.full(len(locations), kind, dtype=np.int8), locations.astype(np.int32))
    kept = np.flatnonzero(found.can_be_asked)
    asked = locations[kept]
    if kind in (PAIR, TRIPLE):
        asked = np.sort(asked if three else asked[:, :2], axis=1)
    keys = asked[:, 0] * named + asked[:, 1]
    keys = keys * named + asked[:, 2] if three else keys
    kept = kept[np.sort(np.unique(keys, return_index=True)[1])]
    taken = np.cumsum(expected[kept]) > QUERY_SHARES[kind] * QUERIES_TAKE * total
    most = int(np.clip(len(taken) - taken.sum(), FEWEST_QUERIES, MOST_QUERIES))
    kept = kept[:most]
    return Queries(found.kind[kept], found.locations[kept])


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
