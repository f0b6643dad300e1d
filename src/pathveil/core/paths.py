"""A weighted multiset of paths: what counting and mining need to know, and nothing more.

A release and a trajectory database both are one, so `analysis` serves both without importing
either, and the evaluation can ask raw data and release the same question with the same code.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from pathveil.universe.universe import Universe

VISITS_AT_ONCE: Final = 1 << 21


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

    def blocks(self) -> Iterator["Paths"]:
        """The same, some whole paths at a time: of about `VISITS_AT_ONCE`, or a path's more.

        For sums over paths: what is made of a block on the way need not be held for all.
        """
        ends = np.arange(VISITS_AT_ONCE, int(self.offsets[-1]), VISITS_AT_ONCE)
        bounds = np.unique([0, *np.searchsorted(self.offsets, ends), len(self)])
        for first, last in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
            offsets = self.offsets[first : last + 1]
            codes = self.codes[offsets[0] : offsets[-1]]
            yield Paths(offsets - offsets[0], codes, self.weights[first:last])

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
