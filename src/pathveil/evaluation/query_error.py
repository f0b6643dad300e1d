"""The relative error of count queries (section III-D of the paper)."""

import numpy as np
from numpy.typing import NDArray

from pathveil.errors import InputError

SANITY_SHARE = 0.001
"""The sanity bound s as a share of |D| (section V-B)."""


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
