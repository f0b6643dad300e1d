"""Kendall's τ: do two lists of counts put the same things in the same order?"""

import numpy as np
from numpy.typing import NDArray


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
    tied_both = _tied(first * (len(one) + 1) + second)
    if pairs in (tied_first, tied_second):
        return 0.0
    # Pairs tied on the first side stand in rising order of the second: no inversions.
    discordant = _inversions(second)
    concordant = pairs - tied_first - tied_second + tied_both - discordant
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
