"""From real-valued weights to whole ones (systematic rounding, as in `release.generate`)."""

import numpy as np
from numpy.typing import NDArray


def whole_weights(weights: NDArray[np.float64], offset: float) -> NDArray[np.int64]:
    """Whole numbers whose sum over any run of consecutive rows is off by less than 1.

    Args:
        weights: float64, ≥ 0.
        offset: U in [0, 1). If it is uniform, the mean of every result is its weight.
    """
    reached = np.floor(np.cumsum(weights) + offset).astype(np.int64)
    return np.diff(reached, prepend=np.int64(0))
