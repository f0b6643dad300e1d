"""First visits: the first ``most`` distinct locations of a trajectory, and how they were reached.

Moves and pairs are made of them, and the discovery of labels.
"""

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import compiled


@compiled
def first_visits(
    offsets: NDArray[np.int64], codes: NDArray[np.int32], universe_size: int, most: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The first distinct locations of each row, and the location before each; -1 where none.

    Both int32, shape (rows, most).
    """
    rows = len(offsets) - 1
    visited = np.full((rows, most), -1, dtype=np.int32)
    reached_from = np.full((rows, most), -1, dtype=np.int32)
    for row in range(rows):
        found = 0
        for i in range(offsets[row], offsets[row + 1]):
            if found == most:
                break
            code = codes[i]
            is_new = True
            if code < universe_size:
                for j in range(found):
                    if visited[row, j] == code:
                        is_new = False
                        break
            if is_new:
                visited[row, found] = code
                if found > 0:
                    reached_from[row, found] = codes[i - 1]
                found += 1
    return visited, reached_from


@compiled
def to_positions(codes: NDArray[np.int32], position: NDArray[np.int32]) -> None:
    """Write a location's position in place of its code; −1 is the last of them, and stays."""
    for row in range(codes.shape[0]):
        for i in range(codes.shape[1]):
            codes[row, i] = position[codes[row, i]]
