"""A plain weighted multiset of paths: the least that satisfies the WeightedPaths protocol."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pathveil.core.paths import Paths
from pathveil.universe.universe import Universe


@dataclass(frozen=True)
class Multiset:
    universe: Universe
    stored: Paths

    def paths(self) -> Paths:
        return self.stored


def coded_multiset(
    universe: Universe, rows: Sequence[Sequence[int]], weights: Sequence[int]
) -> Multiset:
    """Paths as lists of location codes, with their weights."""
    return Multiset(
        universe,
        Paths(
            np.cumsum([0, *map(len, rows)], dtype=np.int64),
            np.array([code for row in rows for code in row], dtype=np.int32),
            np.array(weights, dtype=np.int64),
        ),
    )
