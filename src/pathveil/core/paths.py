"""A weighted multiset of paths: what counting and mining need to know, and nothing more.

A release and a trajectory database both are one, so `analysis` serves both without importing
either, and the evaluation can ask raw data and release the same question with the same code.
"""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from pathveil.universe.universe import Universe


@dataclass(frozen=True, slots=True, repr=False)
class Paths:
    """Paths over location codes, with multiplicities, in compressed rows.

    Attributes:
        offsets: int64, shape (n + 1,); path i is ``codes[offsets[i]:offsets[i + 1]]``.
        codes: int32, location codes into the universe.
        weights: int64, shape (n,); how many trajectories take path i.
    """

    offsets: NDArray[np.int64]
    codes: NDArray[np.int32]
    weights: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Number of locations on each path, int64, shape (n,)."""
        return np.diff(self.offsets)

    def __repr__(self) -> str:
        # Paths may be raw: their number is a fact about people, so it is not shown.
        return "Paths(<redacted>)"


@runtime_checkable
class WeightedPaths(Protocol):
    """Anything that can be read as paths over a universe: a release, a trajectory database."""

    @property
    def universe(self) -> Universe:
        """The public universe that the codes index."""
        ...

    def paths(self) -> Paths:
        """The multiset of paths."""
        ...
