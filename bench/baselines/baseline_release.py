"""What baselines have in common: their public parameters, and synthetic trajectories."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pathveil.core.methods import FULL
from pathveil.core.parameters import Parameters
from pathveil.core.paths import Paths
from pathveil.raw.database import TrajectoryDatabase
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


def baseline_parameters(database: TrajectoryDatabase, epsilon: object, height: int) -> Parameters:
    """The public parameters of a baseline, checked.

    Args:
        database: only its universe and c are looked at.
        epsilon: the total budget, as text or an exact number.
        height: h: trajectories are cut after h locations; it fixes the sensitivities.

    Raises:
        ParameterError: if a parameter can't be used; nothing has been spent then.
    """
    return Parameters.choose(
        epsilon=epsilon,
        height=height,
        universe_size=len(database.universe),
        max_trajectories_per_unit=database.max_trajectories_per_unit,
        method=FULL.name,
    )
