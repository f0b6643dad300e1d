"""A noisy table: what the gate publishes of one statistic."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pathveil.core.noise import Noise


@dataclass(frozen=True, slots=True, eq=False)
class NoisyTable:
    """Noisy counts of the cells of one statistic.

    Attributes:
        keys: int64, sorted; which cells are listed. All of them if ``threshold`` is None, else
            those whose noisy count reached it.
        counts: int64; their noisy counts.
        cells: how many cells there are, listed or not.
        noise: the law of the noise on each count.
        threshold: θ, or None if every cell is listed.
    """

    keys: NDArray[np.int64]
    counts: NDArray[np.int64]
    cells: int
    noise: Noise
    threshold: int | None = None

    @property
    def scale(self) -> float:
        """The noise is about this large; its variance is 2·scale²."""
        return self.noise.scale

    def above(self, threshold: int) -> "NoisyTable":
        """What it would be if it listed only the cells whose noisy counts reach θ."""
        listed = self.counts >= threshold
        return NoisyTable(self.keys[listed], self.counts[listed], self.cells, self.noise, threshold)

    @property
    def hidden(self) -> int:
        """How many cells are not listed."""
        return self.cells - len(self.keys)
