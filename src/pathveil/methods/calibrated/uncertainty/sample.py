"""A sample of the synthetic trajectories, before and after calibration, and what it predicts."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import njit
from pathveil.core.paths import Paths
from pathveil.methods.calibrated.synthesis.canonical import SmallPaths, take_rows
from pathveil.methods.calibrated.synthesis.complete import rounded_weights
from pathveil.methods.calibrated.uncertainty.misfit import Prediction
from pathveil.statistics.constants import ERROR_SAMPLE
from pathveil.statistics.denoise import posterior
from pathveil.statistics.first_visits import distinct_visits
from pathveil.statistics.measurement_plan import MeasurementPlan
from pathveil.statistics.measurements import Measurements
from pathveil.statistics.shapes import DISTINCT_VALUES, SHAPES, possible_shapes
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
    def of(
        cls, paths: Paths | SmallPaths, weights: NDArray[np.float64], most: int = ERROR_SAMPLE
    ) -> "Sample":
        """Every so-many-th trajectory.

        Args:
            paths: all of them, distinct, with the model's whole weights.
            weights: the calibrated ones.
            most: how many trajectories the sample has.
        """
        total = float(paths.weights.sum())
        share = min(1.0, most / max(total, 1.0))
        kept = paths.weights.astype(np.int64)
        if share < 1.0:
            kept = rounded_weights(np.multiply(paths.weights, share, dtype=np.float64), 0.5)
        rows = np.flatnonzero(kept)
        before = kept[rows] / share
        after = weights[rows] * before / paths.weights[rows]
        scaling = weights.sum() / max(after.sum(), 1.0)
        return cls(
            take_rows(paths, rows, kept[rows]),
            before * (weights.sum() / max(before.sum(), 1.0)),
            after * scaling,
            max(float(weights.sum() / max(kept.sum(), 1)) - 1.0, 0.0),
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


def visits_within(
    sample: Sample, weights: NDArray[np.float64], size: int, plan: MeasurementPlan
) -> NDArray[np.float64]:
    """The trajectories that visit each candidate within the cap, float64, shape (size,)."""
    rows, cells = visit_cells(sample.paths.offsets, sample.paths.codes, size, plan[VISITS].cap)
    return np.bincount(cells, weights[rows], size).astype(np.float64)


def most_beyond(sample: Sample, measurements: Measurements, cap: int) -> float:
    """No location has more first visits after the cap than so many trajectories.

    Each of them visits more locations than the cap. How many there are the noisy shapes tell: two
    deviations more are allowed for. Unnamed locations can't be told apart, so every visit to one
    may be to another.
    """
    paths, count = sample.paths, len(measurements.candidates)
    distinct = np.diff(distinct_visits(paths.offsets, paths.codes, count)[0])
    unnamed = np.add.reduceat(np.append(paths.codes >= count, 0), paths.offsets[:-1])
    distinct = distinct + np.where(paths.lengths > 0, unnamed, 0)
    table = measurements[SHAPES]
    possible = possible_shapes(measurements.universe_size) & (cap < DISTINCT_VALUES)
    counts = table.counts.reshape(possible.shape)[possible]
    deviation = float(np.sqrt(posterior(counts, table.noise).variance.sum()))
    return float(sample.after[distinct > cap].sum()) + 2.0 * deviation


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
