"""How far a release is from the raw data, one measure after another: see docs/measures.md."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pathveil.analysis.flows import LengthCounts, LocationCounts, PairCounts
from pathveil.analysis.patterns import Pattern
from pathveil.core.paths import Paths, WeightedPaths
from pathveil.errors import InputError

SANITY_SHARE = 0.001
"""The sanity bound s as a share of |D| (section V-B)."""


# The relative error of count queries (section III-D of the paper).


def average_relative_error(
    truth: NDArray[np.int64], released: NDArray[np.int64], database_size: int
) -> float:
    """The mean of |Q(D̃) − Q(D)| / max{Q(D), s} with s = 0.1% of |D|.

    Args:
        truth: Q(D), int64, shape (n,), n ≥ 1.
        released: Q(D̃), int64, shape (n,).
        database_size: |D|, the number of raw trajectories.

    Raises:
        InputError: if the database is empty: there is nothing to be relative to.
    """
    if database_size < 1:
        raise InputError("The raw data holds no trajectory: there is nothing to compare with.")
    bound = np.maximum(truth, SANITY_SHARE * database_size)
    return float(np.mean(np.abs(released - truth) / bound))


# The Jensen-Shannon divergence of two distributions, given by their non-zero counts.


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Histogram:
    """Counts by key; what is not listed has none.

    Attributes:
        keys: int64, shape (n,), distinct.
        counts: int64, shape (n,), not negative.
    """

    keys: NDArray[np.int64]
    counts: NDArray[np.int64]

    @classmethod
    def of_pairs(cls, pairs: PairCounts, universe_size: int) -> "Histogram":
        """By pair of locations."""
        return cls(pairs.first.astype(np.int64) * universe_size + pairs.second, pairs.counts)

    @classmethod
    def of_locations(cls, locations: LocationCounts) -> "Histogram":
        """By location."""
        return cls(np.arange(len(locations.counts), dtype=np.int64), locations.counts)

    @classmethod
    def of_lengths(cls, lengths: LengthCounts) -> "Histogram":
        """By length."""
        return cls(lengths.lengths, lengths.counts)


def jensen_shannon(one: Histogram, other: Histogram) -> float:
    """½ KL(p ‖ m) + ½ KL(q ‖ m) with m = ½(p + q), in bits: from 0 (equal) to 1 (disjoint).

    p and q are the counts divided by their sums. A side without any count has no distribution;
    it shares nothing with the other, so the divergence is taken as 1 (and as 0 if both have none).
    """
    totals = int(one.counts.sum()), int(other.counts.sum())
    if not all(totals):
        return float(any(totals))
    keys = np.union1d(one.keys, other.keys)
    p, q = (
        _shares(histogram, keys, total)
        for histogram, total in zip((one, other), totals, strict=True)
    )
    mixture = (p + q) / 2
    divergence = (_relative_entropy(p, mixture) + _relative_entropy(q, mixture)) / 2
    return min(max(divergence, 0.0), 1.0)  # rounding may leave it at −10⁻¹⁷


def _shares(histogram: Histogram, keys: NDArray[np.int64], total: int) -> NDArray[np.float64]:
    shares = np.zeros(len(keys))
    shares[np.searchsorted(keys, histogram.keys)] = histogram.counts / total
    return shares


def _relative_entropy(p: NDArray[np.float64], mixture: NDArray[np.float64]) -> float:
    positive = p > 0
    return float(np.sum(p[positive] * np.log2(p[positive] / mixture[positive])))


# Kendall's τ: do two lists of counts put the same things in the same order?


def kendall_tau(one: NDArray[np.int64], other: NDArray[np.int64]) -> float:
    """Kendall's τ-b, in O(n log n).

    (C − D) / √((n₀ − n₁)(n₀ − n₂)) over all n₀ pairs: C in the same order on both sides, D in
    opposite orders, n₁ and n₂ tied on one side. If one side ties all pairs it orders nothing,
    and τ, undefined then, is taken as 0 (an empty release scores 0).

    Args:
        one: int64, shape (n,).
        other: int64, shape (n,).
    """
    pairs = _pairs(len(one))
    order = np.lexsort((other, one))
    first, second = _ranks(one[order]), _ranks(other[order])
    tied_first, tied_second = _tied(first), _tied(second)
    tied_twice = _tied(first * (len(one) + 1) + second)
    if pairs in (tied_first, tied_second):
        return 0.0
    # Pairs tied on the first side stand in rising order of the second: no inversions.
    discordant = _inversions(second)
    concordant = pairs - tied_first - tied_second + tied_twice - discordant
    return float(
        (concordant - discordant) / np.sqrt(float(pairs - tied_first) * float(pairs - tied_second))
    )


def _pairs(count: int) -> int:
    return count * (count - 1) // 2


def _ranks(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Dense ranks from 0: small numbers in the same order."""
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


def _tied(values: NDArray[np.int64]) -> int:
    counts = np.unique(values, return_counts=True)[1].astype(np.int64)
    return int((counts * (counts - 1) // 2).sum())


def _inversions(ranks: NDArray[np.int64]) -> int:
    """The pairs i < j with ranks[i] > ranks[j].

    By the highest bit in which the two differ: for each bit, among the numbers that agree in
    all higher bits (kept together, in their original order), the ones that precede zeros.
    """
    total = 0
    sequence = ranks
    for bit in reversed(range(int(ranks.max(initial=0)).bit_length())):
        higher, ones = sequence >> (bit + 1), (sequence >> bit) & 1
        before = np.cumsum(ones) - ones
        starts = np.flatnonzero(np.diff(higher, prepend=-1))
        sizes = np.diff(starts, append=len(sequence))
        ones_before = before - np.repeat(before[starts], sizes)
        total += int(ones_before[ones == 0].sum())
        sequence = sequence[np.argsort(sequence >> bit, kind="stable")]
    return total


# Hotspots: does the release name the busiest locations, the busiest first?


def hotspot_ndcg(raw: NDArray[np.int64], released: NDArray[np.int64], k: int) -> float:
    """The normalised discounted cumulative gain of the release's k busiest locations.

    The gain of a location is its raw count, the discount of place i is log₂(i + 1), and the
    norm is the gain of the k locations that are busiest in truth. Only locations with a
    released count can be named; equal counts are taken in the order of the universe.

    Args:
        raw: trajectories that visit each location, int64, shape (|L|,).
        released: the same in the release, int64, shape (|L|,).
        k: how many hotspots.

    Returns:
        From 0 (nothing named) to 1 (the true order); 1 if nobody visits anything in truth.
    """
    best = _gain(raw, _busiest(raw, k))
    return _gain(raw, _busiest(released, k)) / best if best else 1.0


def _busiest(counts: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    order = np.argsort(-counts, kind="stable")[:k]
    return order[counts[order] > 0]


def _gain(raw: NDArray[np.int64], named: NDArray[np.int64]) -> float:
    return float(np.sum(raw[named] / np.log2(np.arange(len(named)) + 2)))


# The top k sequential patterns of the raw data against those of a release (section III-D).


@dataclass(frozen=True, slots=True)
class PatternMatch:
    """How many patterns two lists of top k share.

    Attributes:
        true_positives: patterns in both.
        false_positives: patterns of the release's list only.
        false_drops: patterns of the raw list only. Equal to the false positives unless one side
            has fewer than k patterns.
    """

    true_positives: int
    false_positives: int
    false_drops: int

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall; 1 if both lists are empty."""
        listed = 2 * self.true_positives + self.false_positives + self.false_drops
        return 2 * self.true_positives / listed if listed else 1.0


def match_patterns(raw: Sequence[Pattern], released: Sequence[Pattern]) -> PatternMatch:
    """Compare two lists of patterns as sets; supports do not matter."""
    truth = {pattern.locations for pattern in raw}
    found = {pattern.locations for pattern in released}
    return PatternMatch(len(truth & found), len(found - truth), len(truth - found))


def support_error(raw: Sequence[Pattern], released_supports: NDArray[np.int64]) -> float:
    """The mean over the raw top k of |support in D̃ − support in D| / support in D.

    Args:
        raw: the raw top k, each with a support of at least 1.
        released_supports: the support of the same patterns in the release, int64, shape (k,).

    Returns:
        0 if there are no patterns.
    """
    if not raw:
        return 0.0
    truth = supports(raw)
    return float(np.mean(np.abs(released_supports - truth) / truth))


def supports(patterns: Sequence[Pattern]) -> NDArray[np.int64]:
    """Their supports, int64, shape (k,)."""
    return np.fromiter((pattern.support for pattern in patterns), dtype=np.int64)


# Invented paths: released journeys that nobody's trajectory begins with.


def invented_share(raw: WeightedPaths, released: WeightedPaths) -> float:
    """The share of released trajectories whose path is not a prefix of any raw trajectory.

    A prefix, not a whole trajectory: the method cuts what is longer than h, and a cut journey is
    still somebody's. An empty release invents nothing: 0.
    """
    paths = released.paths()
    total = int(paths.weights.sum())
    if total == 0:
        return 0.0
    return float(paths.weights[~_begun(raw.paths(), paths, len(raw.universe))].sum() / total)


def _begun(raw: Paths, released: Paths, universe_size: int) -> NDArray[np.bool_]:
    """Whether some raw path begins with each released path, bool, shape (len(released),).

    Both sides walk down the released paths' prefix tree together, one level a step; a raw path
    drops out where it leaves the tree, a released one where no raw path is left beside it.
    """
    ours, theirs = np.arange(len(released)), np.flatnonzero(raw.weights)
    node, raw_node = np.zeros(len(ours), np.int64), np.zeros(len(theirs), np.int64)
    found = np.full(len(released), len(theirs) > 0)
    for level in range(int(released.lengths.max(initial=0))):
        longer, raw_longer = released.lengths[ours] > level, raw.lengths[theirs] > level
        ours, node = ours[longer], node[longer]
        theirs, raw_node = theirs[raw_longer], raw_node[raw_longer]
        children, node = np.unique(
            node * universe_size + released.codes[released.offsets[ours] + level],
            return_inverse=True,
        )
        if len(children) == 0:
            break
        keys = raw_node * universe_size + raw.codes[raw.offsets[theirs] + level]
        raw_node = np.minimum(np.searchsorted(children, keys), len(children) - 1)
        on_tree = children[raw_node] == keys
        theirs, raw_node = theirs[on_tree], raw_node[on_tree]
        visited = np.zeros(len(children), dtype=np.bool_)
        visited[raw_node] = True
        found[ours[~visited[node]]] = False
        ours, node = ours[visited[node]], node[visited[node]]
    return found
