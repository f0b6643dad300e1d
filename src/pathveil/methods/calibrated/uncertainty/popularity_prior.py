"""A smooth prior for how many trajectories visit a location: log-logistic, rounded.

`statistics.denoise` lets the data choose any prior, which is right for estimates of single cells.
For the quantiles of counts far below the noise it is too free: nothing tells 2 from 20 there but
the shape of the whole. The popularity of locations is bell-shaped on a logarithmic scale with a
power-law tail (Zipf), which is what a log-logistic distribution has; and some share of a universe
is never visited at all. Three numbers say which such prior it is. Far below the noise they can't be
told apart (few locations with some visits, or many with fewer), so all of them are averaged, as
likely as they make the table.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pathveil.core.noise import Gaussian, Noise
from pathveil.statistics.constants import (
    BIN_STEP,
    EXACT_COUNTS,
    FLAT_AFTER,
    GRID_RATIO,
    PRIOR_CENTRES,
    PRIOR_SPREADS,
    PRIOR_UNVISITED,
)

_TINY = 1e-300


@dataclass(frozen=True, slots=True, eq=False)
class PopularityPrior:
    """The prior of a table of counts with noise.

    Attributes:
        grid: float64; counts, 0 first.
        chances: float64, shape of ``grid``; they sum to 1.
        noise: its law.
    """

    grid: NDArray[np.float64]
    chances: NDArray[np.float64]
    noise: Noise

    @classmethod
    def fit(cls, noisy: NDArray[np.float64], noise: Noise) -> "PopularityPrior":
        """The average of all such priors, weighed by how likely they make the noisy counts."""
        scale = noise.scale
        top = FLAT_AFTER * scale
        steps = np.log(max(2.0 * top, 2.0 * EXACT_COUNTS) / EXACT_COUNTS) / np.log(GRID_RATIO)
        ratios = GRID_RATIO ** np.arange(np.ceil(steps) + 1)
        small, large = np.arange(EXACT_COUNTS), np.round(EXACT_COUNTS * ratios)
        grid = np.unique(np.concatenate((small, large))).astype(np.float64)
        priors = _priors(grid)
        counts, centres = _bins(noisy[noisy < top], BIN_STEP * scale)
        # The whole bin, not its centre: the peak of the likelihood must favour no count.
        half = BIN_STEP * scale / 2
        gap = centres[:, None] - grid
        likelihood = noise.below(gap + half) - noise.below(gap - half)
        above = 1.0 - noise.below(top - grid)
        fits = np.log(priors @ likelihood.T + _TINY) @ counts + np.count_nonzero(
            noisy >= top
        ) * np.log(priors @ above + _TINY)
        weights = np.exp(fits - fits.max())
        return cls(grid, weights @ priors / weights.sum(), noise)

    def draw(
        self, noisy: NDArray[np.float64], times: int, draw: np.random.Generator
    ) -> NDArray[np.float64]:
        """True counts given noisy ones, shape (len(noisy), times)."""
        scale = self.noise.scale
        top, step = FLAT_AFTER * scale, BIN_STEP * scale
        # Below −10 scales the likelihood does not change any more.
        bins = np.round(np.clip(noisy, -10 * scale, top) / step).astype(np.int64)
        drawn = np.empty((len(noisy), times))
        for number in np.unique(bins):
            rows = np.flatnonzero(bins == number)
            edges = (number - 0.5) * step, (number + 0.5) * step
            first, last = (self.noise.below(edge - self.grid) for edge in edges)
            weights = (last - first) * self.chances
            upto = np.cumsum(weights + _TINY)
            found = np.searchsorted(upto, draw.random((len(rows), times)) * upto[-1])
            drawn[rows] = self.grid[np.minimum(found, len(self.grid) - 1)]
        large = np.flatnonzero(noisy >= top)
        drawn[large] = np.round(
            noisy[large, None] + simulated(self.noise, (len(large), times), draw)
        )
        return drawn


def simulated(
    noise: Noise, size: int | tuple[int, ...], draw: np.random.Generator
) -> NDArray[np.float64]:
    """Continuous noise of a law, for simulations: it protects nobody."""
    if isinstance(noise, Gaussian):
        return draw.normal(0.0, noise.deviation, size)
    return draw.laplace(0.0, noise.scale, size)


def _priors(grid: NDArray[np.float64]) -> NDArray[np.float64]:
    """The chances of the counts of the grid under every prior, shape (priors, grid)."""
    edges = np.log((grid[1:] + grid[:-1]) / 2)
    centres, spreads = (values.ravel() for values in np.meshgrid(PRIOR_CENTRES, PRIOR_SPREADS))
    below = 1.0 / (1.0 + np.exp((centres[:, None] - edges) / spreads[:, None]))
    visited = np.diff(below, axis=1, prepend=0.0, append=1.0)
    priors = (1.0 - PRIOR_UNVISITED[:, None, None]) * visited
    priors[..., 0] += PRIOR_UNVISITED[:, None]
    table: NDArray[np.float64] = priors.reshape(-1, len(grid))
    return table


def _bins(
    values: NDArray[np.float64], step: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How many values are near each multiple of ``step``, and those multiples."""
    numbers, counts = np.unique(np.round(values / step), return_counts=True)
    return counts.astype(np.float64), numbers * step
