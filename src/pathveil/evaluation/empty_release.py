"""The null baseline: a release that says nothing, whose score every measure must beat."""

from dataclasses import dataclass

import numpy as np

from pathveil.model.paths import Paths
from pathveil.model.universe import Universe


@dataclass(frozen=True, slots=True)
class EmptyRelease:
    """No trajectories over a universe.

    Attributes:
        universe: the public universe.
    """

    universe: Universe

    def paths(self) -> Paths:
        """No paths."""
        return Paths(np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0, np.int64))
