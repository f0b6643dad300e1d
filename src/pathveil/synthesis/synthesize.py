"""From noisy measurements to synthetic trajectories: the whole story on one screen."""

import numpy as np

from pathveil.model.measurement_plan import MeasurementPlan
from pathveil.model.measurements import Measurements
from pathveil.model.paths import Paths
from pathveil.synthesis.calibrate import calibrate
from pathveil.synthesis.canonical import drop_code, merge_identical, take_rows
from pathveil.synthesis.cells import Targets
from pathveil.synthesis.complete import complete
from pathveil.synthesis.fit import fit
from pathveil.synthesis.fit_targets import FitTargets
from pathveil.synthesis.habits import estimate_habits
from pathveil.synthesis.movement_model import Destinations
from pathveil.synthesis.popularity import estimate_popularity
from pathveil.synthesis.tree_estimates import continuations
from pathveil.synthesis.whole import whole_weights

# Noise alone can ask for any number of trajectories. Beyond these bounds (some gigabytes) each
# synthetic trajectory stands for several.
MOST_ROWS, MOST_VISITS = 1 << 24, 1 << 27


def synthesize(
    measurements: Measurements, plan: MeasurementPlan, draw: np.random.Generator
) -> Paths:
    """Synthetic trajectories that agree with the measurements. Sees no data; spends nothing.

    Args:
        measurements: the noisy tables.
        plan: the public caps and budgets with which they were measured.
        draw: randomness for the synthesis. The result depends on nothing else.

    Returns:
        Distinct paths of location codes in ascending order, with whole weights ≥ 1; none is empty.
    """
    candidates = measurements.candidates
    unnamed = len(candidates)
    popularity = estimate_popularity(measurements.popularity).of(candidates)
    if unnamed == 0 or popularity.total == 0:
        return _nothing()
    habits = estimate_habits(measurements, popularity)

    work = continuations(measurements.tree, popularity.total, unnamed)
    aims = FitTargets.of(popularity, habits, plan, measurements.popularity.universe_size)
    model = fit(aims, Destinations.of(popularity, habits), work, plan, draw)

    rows = min(popularity.total, MOST_ROWS, MOST_VISITS / aims.mean_length)
    completed = merge_identical(complete(work, model, rows, draw), unnamed + 1)
    if len(completed) == 0:
        return _nothing()

    targets = Targets.of(popularity, habits, measurements.tree)
    weights = calibrate(completed, targets, plan)
    weights *= popularity.total / weights.sum()
    whole = whole_weights(weights, draw.random())
    kept = np.flatnonzero(whole)
    released = take_rows(completed, kept, whole[kept])

    if popularity.unnamed_visits > 0:
        released = merge_identical(drop_code(released, unnamed), unnamed)
    codes = candidates.astype(np.int32)[released.codes]
    return Paths(released.offsets, codes, released.weights)


def _nothing() -> Paths:
    return Paths(
        np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64)
    )
