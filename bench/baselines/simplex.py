"""Noisy counts made consistent: the nearest ones that are not negative and have a given sum.

Post-processing. Setting negative counts to 0 would make a long list of empty cells look busy; the
projection takes the same amount from every count that stays, and so has no such bias.
"""

import numpy as np
from numpy.typing import NDArray


def project(counts: NDArray[np.int64], total: float) -> NDArray[np.float64]:
    """The nearest counts ≥ 0 with this sum, in the Euclidean distance.

    Args:
        counts: int64, shape (n,), n ≥ 1; noisy counts.
        total: their sum; below 0 it counts as 0.

    Returns:
        float64, shape (n,).
    """
    falling = np.sort(counts)[::-1]
    # If only the j largest stay, each is lowered by this much; they do stay while they exceed it.
    lowered = (np.cumsum(falling) - max(total, 0.0)) / np.arange(1, len(counts) + 1)
    staying = max(int(np.count_nonzero(falling > lowered)), 1)
    projected: NDArray[np.float64] = np.maximum(counts - lowered[staying - 1], 0.0)
    return projected
