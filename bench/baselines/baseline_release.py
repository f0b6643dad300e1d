"""What a baseline returns: synthetic trajectories over the public universe."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pathveil.core.paths import Paths
from pathveil.universe.universe import Universe


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class BaselineRelease:
    """Synthetic trajectories of a peer's method. Satisfies `WeightedPaths`.

    Attributes:
        universe: the public universe.
        offsets: int64, shape (n + 1,); trajectory i is ``codes[offsets[i]:offsets[i + 1]]``.
        codes: int32, location codes.
        is_private: False if a generator was injected, so that the noise can be predicted.
    """

    universe: Universe
    offsets: NDArray[np.int64]
    codes: NDArray[np.int32]
    is_private: bool

    def paths(self) -> Paths:
        """The synthetic trajectories, each of weight 1."""
        return Paths(self.offsets, self.codes, np.ones(len(self.offsets) - 1, dtype=np.int64))
