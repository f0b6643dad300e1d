"""Canonical order: distinct trajectories sorted by their location codes, shorter ones first."""

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import njit
from pathveil.model.paths import Paths


def in_canonical_order(paths: Paths) -> bool:
    """Whether each path is not empty and comes strictly before the next."""
    return bool(np.all(paths.lengths > 0)) and bool(_rises(paths.offsets, paths.codes))


@njit(cache=True)
def _rises(offsets: NDArray[np.int64], codes: NDArray[np.int32]) -> bool:
    for i in range(len(offsets) - 2):
        a, a_end, b, b_end = offsets[i], offsets[i + 1], offsets[i + 1], offsets[i + 2]
        while a < a_end and b < b_end and codes[a] == codes[b]:
            a += 1
            b += 1
        if b == b_end or (a < a_end and codes[a] > codes[b]):
            return False
    return True
