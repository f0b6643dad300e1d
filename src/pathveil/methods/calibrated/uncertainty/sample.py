"""A sample of the synthetic trajectories, before and after calibration, and what it predicts."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import njit
from pathveil.core.paths import Paths
from pathveil.methods.calibrated.synthesis.canonical import take_rows
from pathveil.methods.calibrated.synthesis.complete import rounded_weights
from pathveil.methods.calibrated.uncertainty.misfit import Prediction
from pathveil.statistics.constants import ERROR_SAMPLE
from pathveil.statistics.measurement_plan import MeasurementPlan
from pathveil.statistics.measurements import Measurements
from pathveil.statistics.noisy_table import NoisyTable
from pathveil.statistics.pairs import PAIRS
from pathveil.statistics.statistic import Rows
from pathveil.statistics.visited_sets import VISITED_SETS
from pathveil.statistics.visits import VISITS, visit_cells


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Synthetic trajectories over positions of candidates, weighed to stand for all of them.

    Attributes:
        paths: the rows; their own weights count for nothing.
        before: float64; the model's weights.
        after: float64; the calibrated weights.
        thinning: how many more trajectories there are than the sample has, per one of it.
    """

    paths: Paths
    before: NDArray[np.float64]
    after: NDArray[np.float64]
    thinning: float

    @classmethod
    def of(cls, paths: Paths, weights: NDArray[np.float64], most: int = ERROR_SAMPLE) -> "Sample":
        """Every so-many-th trajectory.

        Args:
            paths: all of them, distinct, with the model's whole weights.
            weights: the calibrated ones.
            most: how many trajectories the sample has.
        """
        total = float(paths.weights.sum())
        share = min(1.0, most / max(total, 1.0))
        shares = paths.weights.astype(np.float64) * share
        kept = rounded_weights(shares, 0.5) if share < 1.0 else paths.weights
        rows = np.flatnonzero(kept)
        before = kept[rows] / share
        after = weights[rows] * before / paths.weights[rows]
        scaling = weights.sum() / max(after.sum(), 1.0)
        return cls(
            take_rows(paths, rows, kept[rows]),
            before * (weights.sum() / max(before.sum(), 1.0)),
            after * scaling,
            1.0 / share - 1.0,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """All that the error model sees.

    Attributes:
        measurements: the noisy tables.
        plan: the public caps.
        sample: of the synthetic trajectories.
    """

    measurements: Measurements
    plan: MeasurementPlan
    sample: Sample


def predict_visits(sample: Sample, measurements: Measurements, plan: MeasurementPlan) -> Prediction:
    """How many trajectories visit each candidate within the cap."""
    table = measurements[VISITS]
    predicted = visits_within(sample, sample.before, len(measurements.candidates), plan)
    noisy = table.counts[measurements.candidates].astype(np.float64)
    return Prediction(predicted, noisy, table, len(predicted))


def predict_pairs(sample: Sample, measurements: Measurements, plan: MeasurementPlan) -> Prediction:
    """Pairs of candidates; those of one location err together."""
    size = len(measurements.candidates)
    paths, scope = Rows(sample.paths.offsets, sample.paths.codes, size), measurements.scope
    rows, cells = PAIRS.row_cells(paths, scope, plan[PAIRS].cap)
    predicted = np.bincount(cells, sample.before[rows], size * size).astype(np.float64)
    occupied = np.flatnonzero(predicted)
    return Prediction(
        predicted[occupied], _noisy(measurements[PAIRS], occupied), measurements[PAIRS], size
    )


def predict_sets(sample: Sample, measurements: Measurements) -> Prediction:
    """Visited sets of popular locations, which no cap cuts; those of one location err together."""
    table, scope = measurements[VISITED_SETS], measurements.scope
    rows = Rows(sample.paths.offsets, sample.paths.codes, scope.named)
    sets = VISITED_SETS.cell(rows, scope)
    predicted = np.bincount(sets, sample.before, table.cells).astype(np.float64)
    occupied = np.flatnonzero(predicted)
    occupied = occupied[occupied > 0]  # the empty set is no conjunction
    return Prediction(predicted[occupied], _noisy(table, occupied), table, len(scope.popular))


def visits_within(
    sample: Sample, weights: NDArray[np.float64], size: int, plan: MeasurementPlan
) -> NDArray[np.float64]:
    """The trajectories that visit each candidate within the cap, float64, shape (size,)."""
    rows, cells = visit_cells(sample.paths.offsets, sample.paths.codes, size, plan[VISITS].cap)
    return np.bincount(cells, weights[rows], size).astype(np.float64)


@njit(cache=True, nogil=True)
def visitors(
    offsets: NDArray[np.int64], codes: NDArray[np.int32], weights: NDArray[np.float64], size: int
) -> NDArray[np.float64]:
    """The summed weight of the rows that visit each code in [0, size), however late."""
    last_seen = np.full(size, -1, dtype=np.int64)
    sums = np.zeros(size)
    for row in range(len(offsets) - 1):
        for i in range(offsets[row], offsets[row + 1]):
            code = codes[i]
            if code < size and last_seen[code] != row:
                last_seen[code] = row
                sums[code] += weights[row]
    return sums


def _noisy(table: NoisyTable, cells: NDArray[np.int64]) -> NDArray[np.float64]:
    """The noisy counts of some cells, nan where they are not listed."""
    position = np.searchsorted(table.keys, cells)
    listed = np.append(table.keys, -1)[position] == cells
    return np.where(listed, np.append(table.counts, 0)[position], np.nan)
