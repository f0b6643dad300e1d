"""Visited sets: which of a few popular locations a trajectory visits at all.

A set is a whole number whose bit b says whether the b-th of those locations is visited. Every
trajectory has exactly one set, however long it is, so it adds 1 to the table of sets. No other
statistic knows so much about a trajectory for so little: all conjunctions of popular locations.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True, nogil=True)
def visited_sets(
    offsets: NDArray[np.int64], codes: NDArray[np.int32], bit: NDArray[np.int8]
) -> NDArray[np.int64]:
    """The set of each row, int64.

    Args:
        offsets: int64; where each row begins, and the end.
        codes: int32; the locations of all rows.
        bit: int8; the bit of each code, −1 if it has none.
    """
    sets = np.zeros(len(offsets) - 1, dtype=np.int64)
    for row in range(len(sets)):
        visited = 0
        for i in range(offsets[row], offsets[row + 1]):
            place = bit[codes[i]]
            if place >= 0:
                visited |= 1 << place
        sets[row] = visited
    return sets


def bits_of(popular: NDArray[np.int64], size: int) -> NDArray[np.int8]:
    """The bit of each of ``size`` codes: its place among the popular ones, or −1."""
    bit = np.full(size, -1, dtype=np.int8)
    bit[popular] = np.arange(len(popular), dtype=np.int8)
    return bit
