"""The noisy prefix tree: noisy counts alone, as Procedure 1 lets them out of the gate."""

from dataclasses import dataclass, fields
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pathveil.core.parameters import Parameters


@dataclass(frozen=True, slots=True, eq=False)
class NoisyPrefixTree:
    """The nodes that passed the threshold, level by level (the paper's 𝒫𝒯; Figure 3).

    Nodes are ordered by (level, parent, location), so the children of a node are neighbours and
    parents come first. The virtual root is not stored. With a taxonomy nodes are zones (codes from
    |L| on) and locations, which stand below their zone: levels go up to 2h.

    Attributes:
        parent: int64, shape (n,); index of the parent node, -1 on level 1.
        location: int32, shape (n,); location code.
        level: int32, shape (n,); from 1 to h.
        noisy_count: int64, shape (n,); c(v), the exact count plus noise.
        parameters: the public parameters that made it.
        is_private: False if the noise came from an injected generator.
    """

    parent: NDArray[np.int64]
    location: NDArray[np.int32]
    level: NDArray[np.int32]
    noisy_count: NDArray[np.int64]
    parameters: Parameters
    is_private: bool

    def __len__(self) -> int:
        return len(self.parent)

    def __repr__(self) -> str:
        stamp = "" if self.is_private else ", NOT PRIVATE"
        return f"{type(self).__name__}({len(self)} nodes, {self.depth} levels{stamp})"

    @property
    def depth(self) -> int:
        """The deepest level that has a node, 0 for an empty tree."""
        return int(self.level[-1]) if len(self) else 0

    def level_slices(self) -> list[slice]:
        """The nodes of level 1, 2, …, as slices of the arrays."""
        bounds = np.searchsorted(self.level, np.arange(1, self.depth + 2))
        return [slice(int(a), int(b)) for a, b in pairwise(bounds)]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class EstimatedTree(NoisyPrefixTree):
    """A noisy prefix tree with the counts that are published.

    Attributes:
        estimate: int64, shape (n,); released number of trajectories with the node's prefix:
            ≥ 0, and the children of a node sum to at most its own.
    """

    estimate: NDArray[np.int64]

    @classmethod
    def of(cls, tree: NoisyPrefixTree, estimate: NDArray[np.int64]) -> "EstimatedTree":
        """Attach estimates to a tree."""
        values = {field.name: getattr(tree, field.name) for field in fields(NoisyPrefixTree)}
        return cls(**values, estimate=estimate)

    def terminal(self) -> NDArray[np.int64]:
        """How many released trajectories end at each node: its count less its children's."""
        inner = self.parent >= 0
        children = np.zeros(len(self), dtype=np.int64)
        np.add.at(children, self.parent[inner], self.estimate[inner])
        return self.estimate - children
