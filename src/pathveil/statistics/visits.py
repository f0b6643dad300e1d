"""Visits with their multiplicity: the first, second, third and fourth visit to each location.

Cell (m − 1)·|L| + x is "an m-th visit to x". A trajectory adds at most 1 to a cell, and it stops
adding after its first ``cap`` cells: it adds at most ``cap`` in all. The first visits are how many
trajectories visit x at all; the later ones say how often people come back.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

MULTIPLICITIES = 4


@njit(cache=True, nogil=True)
def visit_cells(
    offsets: NDArray[np.int64], codes: NDArray[np.int32], universe_size: int, cap: int
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The (row, cell) pairs; at most ``cap`` per row."""
    most = 0
    for row in range(len(offsets) - 1):
        most += min(cap, offsets[row + 1] - offsets[row])
    rows = np.empty(most, dtype=np.int32)
    cells = np.empty(most, dtype=np.int64)
    times = np.zeros(universe_size, dtype=np.int64)
    found = 0
    for row in range(len(offsets) - 1):
        taken = 0
        i = offsets[row]
        while i < offsets[row + 1] and taken < cap:
            code = codes[i]
            i += 1
            if code == universe_size:  # takes a turn but has no cell
                taken += 1
                continue
            times[code] += 1
            if times[code] <= MULTIPLICITIES:
                rows[found] = row
                cells[found] = (times[code] - 1) * universe_size + code
                found += 1
                taken += 1
        for j in range(offsets[row], i):
            if codes[j] < universe_size:
                times[codes[j]] = 0
    return rows[:found], cells[:found]
