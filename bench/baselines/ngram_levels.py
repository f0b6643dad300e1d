"""The exploration tree's values: expanded nodes, their purses, and their noisy children."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from bench.baselines.ngram_plan import NGramPlan
from pathveil.raw.engines.protocol import Survivors


@dataclass(frozen=True, slots=True)
class Purse:
    """What a path from the root may still spend, and what its last node spends of it.

    Attributes:
        left: what the path has left, before its last node spends.
        budget: ε_v, spent on the children of the last node; at most ``left``.
    """

    left: Fraction
    budget: Fraction

    def after(self, levels: int) -> "Purse":
        """The purse of a child that is expected to grow so many levels: equal parts of the rest."""
        rest = self.left - self.budget
        return Purse(rest, rest / levels)


@dataclass(frozen=True, slots=True, eq=False)
class Expanded:
    """The nodes of one level whose children are counted. Noisy, so no longer private.

    Attributes:
        nodes: their parents and symbols, as the counting engine wants them.
        count: float64, shape (n,); their noisy counts (the root has none: 0).
        suffix: int64, shape (n,); the expanded node of the level above that stands for the
            n-gram without its first symbol, or -1.
        decay: float64, shape (n,); the probability of the likeliest next symbol, as the suffix
            predicts it.
        purse: int64, shape (n,); positions in ``purses``.
        purses: the distinct purses.
    """

    nodes: Survivors
    count: NDArray[np.float64]
    suffix: NDArray[np.int64]
    decay: NDArray[np.float64]
    purse: NDArray[np.int64]
    purses: tuple[Purse, ...]

    @classmethod
    def root(cls, plan: NGramPlan) -> "Expanded":
        """The empty n-gram. Nothing is known yet, so it saves for paths of full depth."""
        return cls(
            nodes=Survivors.root(),
            count=np.zeros(1),
            suffix=np.full(1, -1, dtype=np.int64),
            decay=np.ones(1),
            purse=np.zeros(1, dtype=np.int64),
            purses=(Purse(plan.epsilon, plan.epsilon / plan.longest),),
        )

    def __len__(self) -> int:
        return len(self.count)


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """The children of the expanded nodes that passed θ, sorted by (node, symbol).

    Attributes:
        expanded: the nodes.
        node: int64, shape (m,); positions in ``expanded``.
        symbol: int64, shape (m,).
        count: int64, shape (m,); noisy counts.
        rest: float64, shape (len(expanded),), ≥ 0; what they leave over of their node's count, for
            the children that did not pass. Unknown, and taken as 0, at the root.
    """

    expanded: Expanded
    node: NDArray[np.int64]
    symbol: NDArray[np.int64]
    count: NDArray[np.int64]
    rest: NDArray[np.float64]
