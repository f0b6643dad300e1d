"""Theorem 4: the empty children that pass the threshold, without looking at each of them.

Every (node, location) pair of a level with no trajectory would get noise and a test. All tests are
independent and succeed with the same probability p_θ, so it is the same to walk over the pairs in
order and jump from one success to the next: the number of failures in between is geometric with
ratio 1 − p_θ. A success has count θ + J with J geometric with ratio α, because the noise's tail
forgets where it began. The result has the law of the explicit tests exactly, in time proportional
to the number of successes; |L| only appears in the arithmetic.
"""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import njit
from pathveil.mechanism.geometric import noise_geometric, skip_geometric
from pathveil.mechanism.randomness import Randomness


def passing_empty_nodes(
    occupied: NDArray[np.int64],
    pairs: int,
    level_epsilon: Fraction,
    threshold: int,
    randomness: Randomness,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The empty pairs of a level that pass θ, and their noisy counts.

    Args:
        occupied: int64, sorted; the pairs (node · |L| + location) that have trajectories.
        pairs: number of all pairs, occupied or not.
        level_epsilon: ε̄, the noise parameter of one count.
        threshold: θ ≥ 0.
        randomness: where the words come from.

    Returns:
        The passing pairs, sorted, and their counts; both int64.
    """
    ranks = _walk(pairs - len(occupied), level_epsilon, threshold, randomness)
    counts = threshold + noise_geometric(level_epsilon).draw(len(ranks), randomness)
    return rank_to_pair(ranks, occupied), counts


def rank_to_pair(ranks: NDArray[np.int64], occupied: NDArray[np.int64]) -> NDArray[np.int64]:
    """The pair that is the ``rank``-th empty one, for sorted occupied pairs.

    Before the j-th occupied pair lie ``occupied[j] - j`` empty ones, so the number of occupied
    pairs before a rank is found with one binary search.
    """
    empties_before = occupied - np.arange(len(occupied))
    return ranks + np.searchsorted(empties_before, ranks, side="right")


def _walk(
    length: int, level_epsilon: Fraction, threshold: int, randomness: Randomness
) -> NDArray[np.int64]:
    """The successes among ``length`` independent tests of probability p_θ, as sorted ranks."""
    skips = skip_geometric(level_epsilon, threshold)
    batches: list[NDArray[np.int64]] = []
    position, batch = -1, 16
    while True:
        ranks, position = _advance(skips.draw(batch, randomness), position, length)
        batches.append(ranks)
        if position >= length:
            return np.concatenate(batches)
        batch = min(4 * batch, 1 << 20)


@njit(cache=True)
def _advance(skips: NDArray[np.int64], position: int, length: int) -> tuple[NDArray[np.int64], int]:
    """Jump from ``position`` over the skips until ``length`` is passed; the landings within it."""
    ranks = np.empty(len(skips), dtype=np.int64)
    for i in range(len(skips)):
        position = position + 1 + skips[i]  # at most 2^62 + 2^62: the skips saturate
        if position >= length:
            return ranks[:i], position
        ranks[i] = position
    return ranks, position
