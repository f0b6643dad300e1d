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
_CENTRES, _SPREADS = (each.ravel() for each in np.meshgrid(PRIOR_CENTRES, PRIOR_SPREADS))


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
        grid = grid_up_to(FLAT_AFTER * noise.scale)
        priors = log_logistic(grid, _CENTRES, _SPREADS, PRIOR_UNVISITED)
        fits = log_fits(priors, grid, noisy, noise)
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


def grid_up_to(top: float) -> NDArray[np.float64]:
    """Counts: small ones exactly, then by a ratio up to twice as many as ``top``."""
    steps = np.log(max(2.0 * top, 2.0 * EXACT_COUNTS) / EXACT_COUNTS) / np.log(GRID_RATIO)
    ratios = GRID_RATIO ** np.arange(np.ceil(steps) + 1)
    small, large = np.arange(EXACT_COUNTS), np.round(EXACT_COUNTS * ratios)
    return np.unique(np.concatenate((small, large))).astype(np.float64)


def log_logistic(
    grid: NDArray[np.float64],
    centres: NDArray[np.float64],
    spreads: NDArray[np.float64],
    unvisited: NDArray[np.float64],
) -> NDArray[np.float64]:
    """The chances of the counts of the grid under every prior, shape (priors, grid).

    Args:
        grid: counts, 0 first.
        centres: logarithms; one for each log-logistic law.
        spreads: likewise.
        unvisited: shares of what is 0; each is combined with each law.
    """
    edges = np.log((grid[1:] + grid[:-1]) / 2)
    below = 1.0 / (1.0 + np.exp((centres[:, None] - edges) / spreads[:, None]))
    visited = np.diff(below, axis=1, prepend=0.0, append=1.0)
    priors = (1.0 - unvisited[:, None, None]) * visited
    priors[..., 0] += unvisited[:, None]
    table: NDArray[np.float64] = priors.reshape(-1, len(grid))
    return table


def log_fits(
    priors: NDArray[np.float64],
    grid: NDArray[np.float64],
    noisy: NDArray[np.float64],
    noise: Noise,
    *,
    hidden: int = 0,
    threshold: int = 0,
) -> NDArray[np.float64]:
    """How likely each prior makes noisy counts; logarithms.

    Args:
        priors: shape (priors, grid).
        grid: counts.
        noisy: the noisy ones; all that are ≥ threshold + `FLAT_AFTER` scales are alike.
        noise: its law.
        hidden: so many more have noisy counts that are below the threshold, and not known.
        threshold: see there.
    """
    top, step = threshold + FLAT_AFTER * noise.scale, BIN_STEP * noise.scale
    counts, centres = _bins(noisy[noisy < top], step)
    # The whole bin, not its centre: the peak of the likelihood must favour no count.
    gap = centres[:, None] - grid
    likelihood = noise.below(gap + step / 2) - noise.below(gap - step / 2)
    above = 1.0 - noise.below(top - grid)
    fits = np.log(priors @ likelihood.T + _TINY) @ counts
    fits += np.count_nonzero(noisy >= top) * np.log(priors @ above + _TINY)
    if hidden:
        fits += hidden * np.log(priors @ noise.below(threshold - grid) + _TINY)
    result: NDArray[np.float64] = fits
    return result


def _bins(
    values: NDArray[np.float64], step: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How many values are near each multiple of ``step``, and those multiples."""
    numbers, counts = np.unique(np.round(values / step), return_counts=True)
    return counts.astype(np.float64), numbers * step
