"""A noisy table: what the gate publishes of one statistic."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class NoisyTable:
    """Noisy counts of the cells of one statistic.

    Attributes:
        keys: int64, sorted; which cells are listed. All of them if ``threshold`` is None, else
            those whose noisy count reached it.
        counts: int64; their noisy counts.
        cells: how many cells there are, listed or not.
        epsilon: the noise parameter: P[noise = x] ∝ e^(−epsilon·|x|).
        threshold: θ, or None if every cell is listed.
    """

    keys: NDArray[np.int64]
    counts: NDArray[np.int64]
    cells: int
    epsilon: Fraction
    threshold: int | None = None

    @property
    def scale(self) -> float:
        """1/epsilon: the noise is about this large."""
        return float(1 / self.epsilon)

    @property
    def hidden(self) -> int:
        """How many cells are not listed."""
        return self.cells - len(self.keys)
