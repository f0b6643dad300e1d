"""What a noisy count of a table of two locations says about the true one: by Bayes' rule.

Most cells of such a table are empty or small, so of those whose noisy counts are large the noise
has made more too large than too small. How large counts are before one looks says by how much. A
guess is at hand that this table's noise is no part of: were locations visited independently of each
other, a cell would have its share of the visits to either end, by the table of visits. So the true
count is the guess times a factor, and factors have a log-logistic law with a share of empty cells,
as the popularity of single locations has (`popularity_prior`). All such laws are averaged, as
likely as they make the table. Frequent cells may have another law than rare ones: a table with many
listed cells is cut into a few parts by the size of the guess, and each has its own.

Nothing of this looks at the released trajectories. So what is drawn holds whichever way a cell was
picked by its noisy count.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pathveil.core.noise import Noise
from pathveil.methods.calibrated.uncertainty.popularity_prior import (
    PopularityPrior,
    grid_up_to,
    log_fits,
    log_logistic,
)
from pathveil.statistics.constants import (
    FACTOR_CENTRES,
    FACTOR_SPREADS,
    FACTOR_STEP,
    FLAT_AFTER,
    GRID_MARGIN,
    GRID_STEP,
    LISTED_OF_A_PART,
    MOST_PARTS,
    PRIOR_UNVISITED,
)


@dataclass(frozen=True, slots=True, eq=False)
class NoisyCells:
    """The cells of a noisy table that can be occupied.

    Attributes:
        noisy: float64; the noisy counts that are known.
        steps: int64; their guesses, by steps of `FACTOR_STEP` of the logarithm.
        is_listed: bool; whether the noisy counts reach the threshold.
        cells: how many cells there are, known or not, of each guess.
        threshold: what is not known is below it.
    """

    noisy: NDArray[np.float64]
    steps: NDArray[np.int64]
    is_listed: NDArray[np.bool_]
    cells: Mapping[int, int]
    threshold: int


@dataclass(frozen=True, slots=True, eq=False)
class FactorPrior:
    """The prior of the cells of each guess."""

    by_step: Mapping[int, PopularityPrior]

    @classmethod
    def fit(cls, known: NoisyCells, noise: Noise) -> "FactorPrior":
        """From a table, part by part."""
        noise = noise.at_least(0.5)
        top = known.threshold + FLAT_AFTER * noise.scale
        # Each cell is told by itself, so counts are told apart as finely as the noise lets them be.
        even = np.round(np.arange(0.0, top + GRID_MARGIN * noise.scale, GRID_STEP * noise.scale))
        grid = np.unique(np.concatenate((grid_up_to(top), even)))
        centres, spreads = (v.ravel() for v in np.meshgrid(FACTOR_CENTRES, FACTOR_SPREADS))
        listed = known.steps[known.is_listed]
        parts = int(np.clip(len(listed) // LISTED_OF_A_PART, 1, MOST_PARTS))
        borders = np.quantile(listed, np.arange(1, parts) / parts) if parts > 1 else np.zeros(0)
        steps = np.array(sorted(known.cells), dtype=np.int64)
        part_of = np.searchsorted(borders, steps)
        by_step: dict[int, PopularityPrior] = {}
        for part in np.unique(part_of):
            priors, fits = {}, np.zeros(len(centres) * len(PRIOR_UNVISITED))
            for step in steps[part_of == part].tolist():
                priors[step] = log_logistic(
                    grid, centres + step * FACTOR_STEP, spreads, PRIOR_UNVISITED
                )
                noisy = known.noisy[known.steps == step]
                fits += log_fits(
                    priors[step],
                    grid,
                    noisy,
                    noise,
                    hidden=known.cells[step] - len(noisy),
                    threshold=known.threshold,
                )
            weights = np.exp(fits - fits.max())
            weights /= weights.sum()
            for step, each in priors.items():
                by_step[step] = PopularityPrior(grid, weights @ each, noise)
        return cls(by_step)

    def draw(
        self,
        noisy: NDArray[np.float64],
        steps: NDArray[np.int64],
        times: int,
        draw: np.random.Generator,
    ) -> NDArray[np.float64]:
        """True counts given noisy ones, shape (len(noisy), times)."""
        drawn = np.empty((len(noisy), times))
        for step in np.unique(steps).tolist():
            rows = np.flatnonzero(steps == step)
            drawn[rows] = self.by_step[step].draw(noisy[rows], times, draw)
        return np.maximum(drawn, 0.0)


def steps_of(visits: NDArray[np.float64]) -> NDArray[np.int64]:
    """The guess of a cell is the sum of what its ends have, less that of all visits; in steps."""
    return np.round(np.log(np.maximum(visits, 1.0)) / FACTOR_STEP).astype(np.int64)


def cells_by_step(first: NDArray[np.int64], second: NDArray[np.int64]) -> dict[int, int]:
    """How many cells (first, second) have each sum of steps."""
    if not len(first) or not len(second):
        return {}
    low = int(first.min()), int(second.min())
    counts = np.convolve(np.bincount(first - low[0]), np.bincount(second - low[1]))
    return {step + sum(low): int(many) for step, many in enumerate(counts.tolist()) if many}
