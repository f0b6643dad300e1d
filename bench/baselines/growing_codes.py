"""Room for trajectories whose lengths are not known before they are drawn."""

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import njit

USUAL_LENGTH = 8  # a first guess of the mean


def first_codes(rows: int, height: int) -> NDArray[np.int32]:
    """An array for so many trajectories, if they are of usual length."""
    return np.empty(USUAL_LENGTH * rows + height, dtype=np.int32)


@njit(cache=True)
def with_room(codes: NDArray[np.int32], written: int, height: int) -> NDArray[np.int32]:
    """The same array, or a copy twice as long, with room for one more trajectory."""
    if written + height <= len(codes):
        return codes
    longer = np.empty(2 * len(codes), dtype=np.int32)
    longer[:written] = codes[:written]
    return longer
