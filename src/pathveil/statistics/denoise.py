"""What a noisy count says about the true one: empirical Bayes.

Noise makes empty cells look occupied and, where a threshold was used, lists mostly the counts
whose noise was high. Both are mended by Bayes' rule, given how large the counts of a table are in
general: many empty cells, some small, few large. That prior can be read off the noisy table itself
(it is the one under which the table is likeliest, found by EM), so it costs nothing. A cell that
a threshold hid is known to have had a noisy count below it: that enters the likelihood too.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pathveil.core.noise import Noise
from pathveil.statistics.constants import (
    BIN_STEP,
    EM_ROUNDS,
    EMPTY_AT_FIRST,
    FLAT_AFTER,
    GRID_MARGIN,
    GRID_STEP,
    SMALLEST_SCALE,
    SMALLEST_VARIANCE,
)

_POSSIBLE = 1e-9  # no count is impossible
_TINY = 1e-300


@dataclass(frozen=True, slots=True, eq=False)
class Estimates:
    """Estimated counts and how uncertain they are.

    Attributes:
        value: float64, ≥ 0.
        variance: float64, ≥ 1; the posterior variance. Same shape.
        keys: int64, ascending; which cells they are of. None: of all, in their order.
    """

    value: NDArray[np.float64]
    variance: NDArray[np.float64]
    keys: NDArray[np.int64] | None = None

    @property
    def listed_keys(self) -> NDArray[np.int64]:
        """The cells they are of."""
        return np.arange(self.value.size) if self.keys is None else self.keys

    def listed(self, keys: NDArray[np.int64]) -> "Estimates":
        """Those above 0, of the cells ``keys``."""
        occupied = self.value > 0
        return Estimates(self.value[occupied], self.variance[occupied], keys[occupied])


@dataclass(frozen=True, slots=True, eq=False)
class Posterior:
    """What is known about each true count after the noisy one.

    Attributes:
        mean: float64, ≥ 0.
        median: float64; of the posterior weighted by 1/max(count, floor), which makes it the
            estimate with the least expected relative error.
        variance: float64, ≥ 1.
    """

    mean: NDArray[np.float64]
    median: NDArray[np.float64]
    variance: NDArray[np.float64]


def posterior(
    noisy: NDArray[np.integer],
    noise: Noise,
    *,
    hidden: int = 0,
    threshold: int | None = None,
    floor: float = 1.0,
    doubt: float = 0.0,
) -> Posterior:
    """The posterior of counts x ≥ 0 that were measured as x + noise.

    Args:
        noisy: the noisy counts of the listed cells of one table.
        noise: its law.
        hidden: how many more cells the table has, whose noisy counts are below ``threshold``.
        threshold: θ, if the table lists only what reached it.
        floor: counts below it are all the same to a relative error.
        doubt: how many nats likelier than noise alone the best prior must make the table; if it
            does not, every cell is taken for empty.
    """
    values, scale = noisy.astype(np.float64), noise.scale
    if scale < SMALLEST_SCALE or not len(values):
        exact = np.maximum(values, 0.0)
        return Posterior(exact, exact, np.full(len(values), SMALLEST_VARIANCE))
    top = (threshold or 0) + FLAT_AFTER * scale
    grid = _grid(scale, top + GRID_MARGIN * scale)
    # All noisy counts in a bin share one posterior, so the work does not grow with the table.
    step = BIN_STEP * scale
    shown = np.minimum(values, top)
    bins = np.round(shown / step).astype(np.int64)
    lowest = bins.min()
    bins -= lowest
    cells = np.bincount(bins, minlength=bins.max() + 2).astype(np.float64)
    centres = (np.arange(len(cells)) + lowest) * step
    likelihood = noise.weight(centres[:, None] - grid) * step / noise.mass
    hiding = noise.below(float(threshold or 0) - grid)
    prior = _likeliest_prior(cells, likelihood, float(hidden), hiding)
    alone = np.maximum(likelihood[:, 0], _TINY)
    gained = cells @ np.log(np.maximum(likelihood @ prior, _TINY) / alone)
    if gained + hidden * np.log(hiding @ prior / hiding[0]) < doubt:
        prior = _nothing(len(grid))
    chances = _normalised(likelihood * prior)
    mean = chances @ grid
    variance = chances @ grid**2 - mean**2
    median = _weighted_median(chances, grid, max(floor, 1.0))
    # Within a bin the mean moves with the noisy count.
    slope = np.clip(np.gradient(mean, step), 0.0, 1.0)
    moved = np.maximum(mean[bins] + slope[bins] * (shown - centres[bins]), 0.0)
    flat = values >= top
    return Posterior(
        np.where(flat, values, moved),
        np.where(flat, values, median[bins]),
        np.where(flat, 2 * scale**2, np.maximum(variance[bins], SMALLEST_VARIANCE)),
    )


def posterior_means(noisy: NDArray[np.integer], noise: Noise) -> Estimates:
    """Plain posterior means, for tables of which hardly a cell is quite empty."""
    known = posterior(noisy, noise)
    return Estimates(known.mean, known.variance)


def sparse_estimates(
    noisy: NDArray[np.integer],
    noise: Noise,
    *,
    hidden: int = 0,
    threshold: int | None = None,
    floor: float = 1.0,
    doubt: float = 0.0,
) -> Estimates:
    """Posterior means, but 0 stays 0; the arguments are those of `posterior`.

    The mean of a cell that is probably empty is still above 0. Summed over a large table those
    crumbs would be many visits that nobody made, so where the median is next to nothing it is
    taken instead.
    """
    known = posterior(noisy, noise, hidden=hidden, threshold=threshold, floor=floor, doubt=doubt)
    negligible = known.median < noise.scale / 2
    value = np.where(negligible, np.minimum(known.median, known.mean), known.mean)
    return Estimates(value, known.variance)


def named_estimates(noisy: NDArray[np.integer], noise: Noise, *, floor: float = 1.0) -> Estimates:
    """Posterior medians; what is below one noise scale counts as 0, because it can't be named.

    The median is the estimate with the least expected relative error: a table of rare locations is
    judged by each of them, and not by its sum. What it misses of the sum is known, and kept apart
    (`methods.calibrated.synthesis.estimates`).
    """
    known = posterior(noisy, noise, floor=floor)
    return Estimates(np.where(known.median < noise.scale, 0.0, known.median), known.variance)


def _grid(scale: float, end: float) -> NDArray[np.float64]:
    """True counts: 0, the powers of two below the scale, and then in steps of half a scale."""
    powers = 2.0 ** np.arange(np.log2(max(scale, 2.0)))
    steps = np.arange(GRID_STEP * scale, end, GRID_STEP * scale)
    return np.unique(np.concatenate((np.zeros(1), powers, steps)))


def _likeliest_prior(
    cells: NDArray[np.float64],
    likelihood: NDArray[np.float64],
    hidden: float,
    hiding: NDArray[np.float64],
) -> NDArray[np.float64]:
    """EM for the share of cells at each true count of the grid."""
    size = likelihood.shape[1]
    prior = np.full(size, (1.0 - EMPTY_AT_FIRST) / (size - 1))
    prior[0] = EMPTY_AT_FIRST
    for _ in range(EM_ROUNDS):
        expected = cells @ _normalised(likelihood * prior)
        if hidden > 0:
            expected += hidden * hiding * prior / (hiding @ prior)
        prior = expected + _POSSIBLE
        prior /= prior.sum()
    return prior


def _nothing(size: int) -> NDArray[np.float64]:
    """The prior of a table whose cells are all empty."""
    prior = np.full(size, _POSSIBLE)
    prior[0] = 1.0
    return prior


def _normalised(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    result: NDArray[np.float64] = weights / np.maximum(weights.sum(1, keepdims=True), _TINY)
    return result


def _weighted_median(
    chances: NDArray[np.float64], grid: NDArray[np.float64], floor: float
) -> NDArray[np.float64]:
    weighted = _normalised(chances / np.maximum(grid, floor))
    result: NDArray[np.float64] = grid[np.argmax(np.cumsum(weighted, axis=1) >= 0.5, axis=1)]  # noqa: PLR2004
    return result
