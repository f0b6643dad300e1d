"""First visits: the first ``most`` distinct locations of a trajectory, and how they were reached.

Two statistics come from them. **Moves**: for every first visit but the first, the pair (location
before it, it): a trajectory adds at most ``most`` − 1. **Pairs**: every unordered pair of the first
``most`` distinct locations: a trajectory adds at most ``most``·(``most`` − 1)/2, each cell once.
A cell is a·|L| + b.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def move_cells(
    visited: NDArray[np.int32], reached_from: NDArray[np.int32], universe_size: int
) -> NDArray[np.int64]:
    """The moves of all rows, from·|L| + to; those from or to an unnamed place have no cell."""
    cells = np.empty(visited.size, dtype=np.int64)
    found = 0
    for row in range(visited.shape[0]):
        for i in range(1, visited.shape[1]):
            there = visited[row, i]
            if there < 0:
                break
            here = reached_from[row, i]
            if here < universe_size and there < universe_size:
                cells[found] = np.int64(here) * universe_size + there
                found += 1
    return cells[:found]


@njit(cache=True, nogil=True)
def pair_cells(
    visited: NDArray[np.int32], universe_size: int
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The (row, cell) pairs, smaller code first: min·|L| + max."""
    most = 0
    for row in range(visited.shape[0]):
        count = 0
        while count < visited.shape[1] and visited[row, count] >= 0:
            count += 1
        most += count * (count - 1) // 2
    rows = np.empty(most, dtype=np.int32)
    cells = np.empty(most, dtype=np.int64)
    found = 0
    for row in range(visited.shape[0]):
        for i in range(visited.shape[1]):
            if visited[row, i] < 0:
                break
            for j in range(i):
                low = np.int64(min(visited[row, i], visited[row, j]))
                high = np.int64(max(visited[row, i], visited[row, j]))
                if high < universe_size:
                    rows[found] = row
                    cells[found] = low * universe_size + high
                    found += 1
    return rows[:found], cells[:found]
