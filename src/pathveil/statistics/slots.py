"""When visits happen: four statistics of trajectories with times, T slots.

**First slots**: the slot of the first visit; a trajectory adds 1. **Pauses**: how many slots lie
between two visits in a row, among the first ``most`` visits; it adds at most ``most`` − 1.
**Slots**: the slot of each of the first ``most`` visits; it adds at most ``most``. **Visit slots**:
their place as well, place·T + slot; it adds at most ``most``.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True, nogil=True)
def pauses(offsets: NDArray[np.int64], slots: NDArray[np.int32], most: int) -> NDArray[np.int64]:
    """The pauses of all rows, int64, in slots.

    Args:
        offsets: int64; where each row begins, and the end.
        slots: int32; the slot of each visit, never decreasing in a row.
        most: how many visits of a row are looked at.
    """
    found = np.empty(len(slots), dtype=np.int64)
    number = 0
    for row in range(len(offsets) - 1):
        for i in range(offsets[row] + 1, min(offsets[row] + most, offsets[row + 1])):
            found[number] = slots[i] - slots[i - 1]
            number += 1
    return found[:number].copy()


@njit(cache=True, nogil=True)
def first_values(
    offsets: NDArray[np.int64], values: NDArray[np.int32], most: int
) -> NDArray[np.int64]:
    """The first ``most`` values of every row, one after another; int64."""
    found = np.empty(len(values), dtype=np.int64)
    number = 0
    for row in range(len(offsets) - 1):
        for i in range(offsets[row], min(offsets[row] + most, offsets[row + 1])):
            found[number] = values[i]
            number += 1
    return found[:number].copy()


@njit(cache=True, nogil=True)
def visit_slots(
    offsets: NDArray[np.int64],
    places: NDArray[np.int32],
    slots: NDArray[np.int32],
    named: int,
    count: int,
    most: int,
) -> NDArray[np.int64]:
    """The visit slots of all rows, int64; visits to unnamed places have no cell.

    Args:
        offsets: int64; where each row begins, and the end.
        places: int32; positions among the candidates, or ``named`` for any other place.
        slots: int32; the slot of each visit.
        named: the number of candidates.
        count: T.
        most: how many visits of a row are looked at.
    """
    cells = np.empty(len(slots), dtype=np.int64)
    found = 0
    for row in range(len(offsets) - 1):
        for i in range(offsets[row], min(offsets[row] + most, offsets[row + 1])):
            if places[i] < named:
                cells[found] = np.int64(places[i]) * count + slots[i]
                found += 1
    return cells[:found].copy()
