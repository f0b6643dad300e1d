"""Flows: where trajectories begin and end, what follows what, what is visited, how long they are.

Tables hold only what occurs, in ascending order of their location codes (or lengths), so two
equal multisets of paths give equal arrays. Counts are sums of weights. A path of length 0 (raw
data can hold one) has no origin, no transition and no visit; only the lengths count it.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pathveil.analysis.visit_index import order_by_code, row_of_visits
from pathveil.core.paths import Paths, WeightedPaths
from pathveil.universe.universe import Universe


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class PairCounts:
    """Counts of ordered pairs of locations, each pair that occurs once, in ascending order.

    Attributes:
        first: int32, shape (n,); location codes.
        second: int32, shape (n,); location codes.
        counts: int64, shape (n,).
    """

    first: NDArray[np.int32]
    second: NDArray[np.int32]
    counts: NDArray[np.int64]

    def largest(self, limit: int | None = None) -> "PairCounts":
        """The largest counts, highest first; of equals by location codes."""
        order = np.argsort(-self.counts, kind="stable")[:limit]
        return PairCounts(self.first[order], self.second[order], self.counts[order])

    def to_rows(
        self, universe: Universe, *, limit: int | None = None
    ) -> list[tuple[str, str, int]]:
        """The pairs with their labels: highest count first, then by location codes."""
        labels = universe.labels
        return [
            (labels[self.first[i]], labels[self.second[i]], int(self.counts[i]))
            for i in _highest_first(self.counts, limit)
        ]


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class LocationCounts:
    """One count per location of the universe.

    Attributes:
        counts: int64, shape (|L|,), indexed by location code; 0 where nobody comes.
    """

    counts: NDArray[np.int64]

    def to_rows(self, universe: Universe, *, limit: int | None = None) -> list[tuple[str, int]]:
        """The visited locations with their labels: highest count first, then by code."""
        return [
            (universe.labels[i], int(self.counts[i]))
            for i in _highest_first(self.counts, limit)
            if self.counts[i]
        ]


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class LengthCounts:
    """How many trajectories have each length that occurs.

    Attributes:
        lengths: int64, shape (n,), ascending; a length is a number of visits.
        counts: int64, shape (n,).
    """

    lengths: NDArray[np.int64]
    counts: NDArray[np.int64]

    def to_rows(self) -> list[tuple[int, int]]:
        """(length, count), shortest first."""
        return list(zip(self.lengths.tolist(), self.counts.tolist(), strict=True))


def origin_destination(paths: WeightedPaths) -> PairCounts:
    """How many trajectories lead from each first location to each last one.

    A trajectory of one visit begins and ends in the same place.
    """
    multiset = paths.paths()
    not_empty = np.flatnonzero(multiset.lengths > 0)
    first = multiset.codes[multiset.offsets[not_empty]]
    last = multiset.codes[multiset.offsets[not_empty + 1] - 1]
    return _count_pairs(first, last, multiset.weights[not_empty], len(paths.universe))


def transitions(paths: WeightedPaths) -> PairCounts:
    """How often each location directly follows each other, over all trajectories.

    A trajectory counts as often as it makes the transition; staying (A, A) is one.
    """
    size = len(paths.universe)
    parts = [_transitions(block, size) for block in paths.paths().blocks()]
    if len(parts) == 1:
        return parts[0]
    none = np.zeros(0, dtype=np.int32)
    return _count_pairs(
        np.concatenate([none, *(part.first for part in parts)]),
        np.concatenate([none, *(part.second for part in parts)]),
        np.concatenate([none.astype(np.int64), *(part.counts for part in parts)]),
        size,
    )


def _transitions(multiset: Paths, size: int) -> PairCounts:
    row = row_of_visits(multiset)
    step = np.flatnonzero(row[1:] == row[:-1])
    codes = multiset.codes
    return _count_pairs(codes[step], codes[step + 1], multiset.weights[row[step]], size)


def visits(paths: WeightedPaths) -> LocationCounts:
    """How many trajectories visit each location at least once (presence)."""
    counts = np.zeros(len(paths.universe), dtype=np.int64)
    for block in paths.paths().blocks():
        counts += _visits(block, len(counts))
    return LocationCounts(counts)


def _visits(multiset: Paths, size: int) -> NDArray[np.int64]:
    order = order_by_code(multiset.codes, size)
    codes, row = multiset.codes[order], row_of_visits(multiset)[order]
    # The order is stable, so the visits of one path to one location lie side by side.
    new = np.ones(len(codes), dtype=np.bool_)
    new[1:] = (codes[1:] != codes[:-1]) | (row[1:] != row[:-1])
    return _count_locations(codes[new], multiset.weights[row[new]], size)


def visit_counts(paths: WeightedPaths) -> LocationCounts:
    """How often each location is visited, every visit of a trajectory counted."""
    counts = np.zeros(len(paths.universe), dtype=np.int64)
    for block in paths.paths().blocks():
        weights = np.repeat(block.weights, block.lengths)
        counts += _count_locations(block.codes, weights, len(counts))
    return LocationCounts(counts)


def length_distribution(paths: WeightedPaths) -> LengthCounts:
    """How many trajectories have each length, 0 included (Fig. 4 of the paper)."""
    multiset = paths.paths()
    order = np.argsort(multiset.lengths, kind="stable")
    lengths, weights = multiset.lengths[order], multiset.weights[order]
    starts = np.flatnonzero(np.diff(lengths, prepend=-1))
    counts = _sums_from(starts, weights)
    return LengthCounts(lengths[starts][counts > 0], counts[counts > 0])


def _count_pairs(
    first: NDArray[np.int32],
    second: NDArray[np.int32],
    weights: NDArray[np.int64],
    universe_size: int,
) -> PairCounts:
    # Sorting by the second location and then, stably, by the first: never a table of |L|² cells.
    order = order_by_code(second, universe_size)
    order = order[order_by_code(first[order], universe_size)]
    first, second, weights = first[order], second[order], weights[order]
    changes = (np.diff(first, prepend=-1) != 0) | (np.diff(second, prepend=-1) != 0)
    starts = np.flatnonzero(changes)
    counts = _sums_from(starts, weights)
    starts, counts = starts[counts > 0], counts[counts > 0]
    return PairCounts(first[starts], second[starts], counts)


def _count_locations(
    codes: NDArray[np.int32], weights: NDArray[np.int64], universe_size: int
) -> NDArray[np.int64]:
    counts = np.zeros(universe_size, dtype=np.int64)
    np.add.at(counts, codes, weights)
    return counts


def _sums_from(starts: NDArray[np.int64], weights: NDArray[np.int64]) -> NDArray[np.int64]:
    """The sum of the weights from each start up to the next, int64, the shape of starts."""
    if len(starts) == 0:  # reduceat refuses to reduce nothing
        return np.zeros(0, dtype=np.int64)
    return np.add.reduceat(weights, starts)


def _highest_first(counts: NDArray[np.int64], limit: int | None) -> list[int]:
    return [int(i) for i in np.argsort(-counts, kind="stable")[:limit]]
