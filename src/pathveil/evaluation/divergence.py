"""The Jensen-Shannon divergence of two distributions, given by their non-zero counts."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pathveil.analysis.flows import LengthCounts, LocationCounts, PairCounts


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
    p, q = (_shares(side, keys, total) for side, total in zip((one, other), totals, strict=True))
    mixture = (p + q) / 2
    divergence = (_relative_entropy(p, mixture) + _relative_entropy(q, mixture)) / 2
    return min(max(divergence, 0.0), 1.0)  # rounding may leave it at −10⁻¹⁷


def _shares(side: Histogram, keys: NDArray[np.int64], total: int) -> NDArray[np.float64]:
    shares = np.zeros(len(keys))
    shares[np.searchsorted(keys, side.keys)] = side.counts / total
    return shares


def _relative_entropy(p: NDArray[np.float64], mixture: NDArray[np.float64]) -> float:
    some = p > 0
    return float(np.sum(p[some] * np.log2(p[some] / mixture[some])))
