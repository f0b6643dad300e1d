"""How far the movement model is off where nothing corrected it, read from noisy measurements.

The synthesis predicts the cells of a table before it is calibrated to them. What the noisy table
then says differently, beyond its noise, is the model's own error; and that is what remains in all
that was never measured: conjunctions of three locations and more, pairs below the threshold, visits
beyond the caps. A true count is modelled as

    T = p·W,   log W normal, E[W] = 1, variance s² = α² + β²/p

for a prediction p: relative errors shrink with the size of a cell as they do in over-dispersed
counts (β), down to a floor that all cells share (α). Every pair (α, β) of a grid is weighed by how
likely it makes the noisy tables; the tail of that posterior is used, not just its peak.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pathveil.statistics.constants import (
    CELLS_PER_SIZE,
    LEAST_DEVIATION,
    MISFIT_FLOORS,
    MISFIT_SPREADS,
    MOST_DEVIATION,
    SMOOTH_AFTER,
)
from pathveil.statistics.noisy_table import NoisyTable

_DEVIATIONS = np.geomspace(LEAST_DEVIATION, MOST_DEVIATION, 24)
_NODES = np.linspace(-3.0, 3.0, 31)
_NODE_WEIGHTS = np.exp(-(_NODES**2) / 2) / np.exp(-(_NODES**2) / 2).sum()
SIZES = 10.0 ** np.arange(0.0, 8.1, 0.5)
_UNLIKELY = 1e-12  # one cell in a million millions may be anything


@dataclass(frozen=True, slots=True, eq=False)
class Prediction:
    """A measured table beside what the synthesis made of it before it was calibrated.

    Attributes:
        predicted: float64; the cells' predicted counts.
        noisy: float64; their noisy counts, nan where the threshold hid them.
        table: where they come from.
        independent: how many of the cells are worth an observation of their own; cells that
            share a location err together.
    """

    predicted: NDArray[np.float64]
    noisy: NDArray[np.float64]
    table: NoisyTable
    independent: int


@dataclass(frozen=True, slots=True, eq=False)
class Misfit:
    """Relative errors of the uncalibrated model: a posterior over (α, β).

    Attributes:
        floors, spreads: float64; α and β of each pair.
        chances: float64; they sum to 1.
    """

    floors: NDArray[np.float64]
    spreads: NDArray[np.float64]
    chances: NDArray[np.float64]

    @classmethod
    def fit(cls, predictions: list[Prediction], thinning: float) -> "Misfit":
        """Weigh all pairs (α, β) by how likely they make the noisy tables.

        Args:
            predictions: of one or several tables.
            thinning: how many more trajectories there are than were looked at, per one of them;
                predictions from a sample of trajectories err by so much more: β² + thinning.
        """
        floors, spreads = (grid.ravel() for grid in np.meshgrid(MISFIT_FLOORS, MISFIT_SPREADS))
        log_chances = np.zeros(len(floors))
        for prediction in predictions:
            cells, weights = _representatives(prediction)
            sizes = prediction.predicted[cells]
            if not len(cells):
                continue
            fits = _log_likelihoods(sizes, prediction.noisy[cells], prediction.table)
            variance = floors[:, None] ** 2 + (spreads[:, None] ** 2 + thinning) / sizes
            log_chances += _at(np.sqrt(variance), fits) @ weights
        chances = np.exp(log_chances - log_chances.max())
        return cls(floors, spreads, chances / chances.sum())

    def draw(self, times: int, draw: np.random.Generator) -> tuple[NDArray[np.float64], ...]:
        """α and β, ``times`` of each."""
        which = draw.choice(len(self.chances), times, p=self.chances)
        return self.floors[which], self.spreads[which]


def deviation(
    floors: NDArray[np.float64], spreads: NDArray[np.float64], sizes: NDArray[np.float64] | float
) -> NDArray[np.float64]:
    """The standard deviation s of log W for predictions of these sizes."""
    variance = floors**2 + spreads**2 / np.maximum(sizes, 1.0)
    result: NDArray[np.float64] = np.clip(np.sqrt(variance), LEAST_DEVIATION, MOST_DEVIATION)
    return result


def _representatives(
    prediction: Prediction,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Some cells of each size, listed or hidden, and how many each stands for.

    Cells predicted below the scale of the noise say nothing about relative errors.
    """
    large = prediction.predicted >= max(prediction.table.scale, 1.0)
    hidden = np.isnan(prediction.noisy)
    size = np.searchsorted(SIZES, prediction.predicted)
    chosen, stands_for = [np.zeros(0, np.int64)], [np.zeros(0)]
    for kind in (large & hidden, large & ~hidden):
        for decade in np.unique(size[kind]):
            cells = np.flatnonzero(kind & (size == decade))
            kept = cells[:: -(-len(cells) // CELLS_PER_SIZE)]
            chosen.append(kept)
            stands_for.append(np.full(len(kept), len(cells) / len(kept)))
    weights = np.concatenate(stands_for)
    worth = min(1.0, prediction.independent / max(weights.sum(), 1.0))
    return np.concatenate(chosen), weights * worth


def _log_likelihoods(
    sizes: NDArray[np.float64], noisy: NDArray[np.float64], table: NoisyTable
) -> NDArray[np.float64]:
    """For each cell and each s of `_DEVIATIONS`, shape (cells, deviations)."""
    noise, hidden = table.noise.at_least(0.5), np.isnan(noisy)
    scale = noise.scale
    seen = np.where(hidden, 0.0, noisy)[:, None]
    result = np.empty((len(sizes), len(_DEVIATIONS)))
    for column, spread in enumerate(_DEVIATIONS):
        true = sizes[:, None] * np.exp(spread * _NODES - spread**2 / 2)
        chance = noise.weight(seen - true) / noise.mass
        if table.threshold is not None:
            chance = np.where(hidden[:, None], noise.below(table.threshold - true), chance)
        likelihood = chance @ _NODE_WEIGHTS
        smooth = (sizes * spread > SMOOTH_AFTER * scale) & ~hidden
        likelihood[smooth] = _lognormal_density(noisy[smooth], sizes[smooth], spread, scale)
        result[:, column] = np.log(np.maximum(likelihood, _UNLIKELY / scale))
    return result


def _lognormal_density(
    noisy: NDArray[np.float64], sizes: NDArray[np.float64], spread: float, scale: float
) -> NDArray[np.float64]:
    """The density of noisy counts if the noise is much smaller than the misfit."""
    total = np.sqrt(spread**2 + 2 * (scale / sizes) ** 2)
    values = np.maximum(noisy, 0.1 * scale)
    standard = (np.log(values / sizes) + total**2 / 2) / total
    result: NDArray[np.float64] = np.exp(-(standard**2) / 2) / (total * values * np.sqrt(2 * np.pi))
    return result


def _at(spreads: NDArray[np.float64], fits: NDArray[np.float64]) -> NDArray[np.float64]:
    """The log-likelihoods at other s, shape (pairs, cells), by interpolation."""
    step = np.log(_DEVIATIONS[1] / _DEVIATIONS[0])
    position = np.clip(
        np.log(np.maximum(spreads, LEAST_DEVIATION) / LEAST_DEVIATION) / step,
        0,
        len(_DEVIATIONS) - 1.001,
    )
    left = position.astype(np.int64)
    cells = np.arange(fits.shape[0])
    share = position - left
    result: NDArray[np.float64] = (1 - share) * fits[cells, left] + share * fits[cells, left + 1]
    return result
