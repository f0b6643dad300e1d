"""From noisy measurements to synthetic trajectories: the whole story on one screen."""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from pathveil.core.paths import Paths
from pathveil.methods.calibrated.synthesis.calibrate import calibrate
from pathveil.methods.calibrated.synthesis.canonical import (
    concatenate_paths,
    drop_code,
    merge_identical,
    take_rows,
)
from pathveil.methods.calibrated.synthesis.complete import complete, rounded_weights
from pathveil.methods.calibrated.synthesis.earlier import Earlier
from pathveil.methods.calibrated.synthesis.estimates import estimate
from pathveil.methods.calibrated.synthesis.fit import fit
from pathveil.methods.calibrated.synthesis.fit_targets import FitTargets
from pathveil.methods.calibrated.synthesis.gravity import Neighbourhood
from pathveil.methods.calibrated.synthesis.missing_trips import with_missing_trips
from pathveil.methods.calibrated.synthesis.movement_model import Destinations
from pathveil.methods.calibrated.synthesis.target_cells import Targets
from pathveil.methods.calibrated.synthesis.tree_estimates import continuations
from pathveil.progress_reports import report_progress
from pathveil.statistics.constants import CALIBRATED_TOTAL, SHRINKING
from pathveil.statistics.denoise import posterior
from pathveil.statistics.measurement_plan import MeasurementPlan
from pathveil.statistics.measurements import Measurements
from pathveil.statistics.total import TOTAL
from pathveil.statistics.visits import VISITS

# Noise alone can ask for any number of trajectories, and so can a city. Beyond these bounds (about
# a gigabyte) each synthetic trajectory stands for several, so memory does not grow with |D|.
MOST_ROWS, MOST_VISITS = 1 << 22, 1 << 25
DRAWN_AT_ONCE = 1 << 20  # locations for trajectories that have none


@dataclass(frozen=True, slots=True, eq=False)
class Weighed:
    """Synthetic trajectories before they are made whole: what the error model looks at.

    Attributes:
        paths: distinct, over positions of candidates (their number stands for an unnamed
            location), with the movement model's whole weights.
        weights: float64; the calibrated ones.
        unnamed: float64, shape (|L|,); how likely an unnamed visit goes to each location, not
            normalised; None if there are no unnamed visits.
    """

    paths: Paths
    weights: NDArray[np.float64]
    unnamed: NDArray[np.float64] | None


def synthesize(
    measurements: Measurements,
    plan: MeasurementPlan,
    draw: np.random.Generator,
) -> Paths:
    """Synthetic trajectories that agree with the measurements. Sees no data; spends nothing.

    Args:
        measurements: the noisy tables.
        plan: the public caps and budgets with which they were measured.
        draw: randomness for the synthesis. The result depends on nothing else.

    Returns:
        Distinct paths of location codes in ascending order, with whole weights ≥ 1; none is empty.
    """
    return rounded_paths(weigh(measurements, plan, draw), measurements.candidates, draw)


def weigh(
    measurements: Measurements,
    plan: MeasurementPlan,
    draw: np.random.Generator,
    earlier: Earlier | None = None,
) -> Weighed:
    """All but the last step of `synthesize`; leans on an earlier release of the series, if any."""
    candidates = measurements.candidates
    unnamed = len(candidates)
    known = estimate(measurements, earlier)
    if unnamed == 0 or known.total == 0:
        return _nothing()

    work = continuations(measurements.tree, known.total, unnamed)
    aims = FitTargets.of(known, measurements)
    points = measurements.scope.points
    near = None if points is None else Neighbourhood.of(points[candidates])
    model = fit(aims, Destinations.of(known, plan, near), work, plan, draw)
    report_progress(1, 5)

    rows = min(known.total, MOST_ROWS, MOST_VISITS / aims.mean_length)
    made = with_missing_trips(complete(work, model, rows, draw), known, draw)
    completed = merge_identical(made, unnamed + 1)
    del made  # as large as all that follows
    if len(completed) == 0:
        return _nothing()

    report_progress(2, 5)
    weights = calibrate(completed, Targets.of(known, plan))
    weights *= _scaling(float(weights.sum()), known.total, measurements[TOTAL].scale)
    report_progress(5, 5)
    return Weighed(completed, weights, _unnamed(measurements) if known.unnamed_visits > 0 else None)


def rounded_paths(
    weighed: Weighed, candidates: NDArray[np.int64], draw: np.random.Generator
) -> Paths:
    """The last step of `synthesize`: whole weights, location codes, no unnamed locations.

    What can't be named is left out; but a trajectory that would be empty then keeps one location,
    drawn from those that are not named otherwise: somebody travelled, and sizes stay right.
    """
    rounded = rounded_weights(weighed.weights, draw.random())
    kept = np.flatnonzero(rounded)
    released = take_rows(weighed.paths, kept, rounded[kept])
    if weighed.unnamed is None:
        codes = candidates.astype(np.int32)[released.codes]
        return Paths(released.offsets, codes, released.weights)
    unnamed, size = len(candidates), len(weighed.unnamed)
    named = drop_code(released, unnamed)
    nameless = np.add.reduceat(released.codes != unnamed, released.offsets[:-1]) == 0
    count = int(released.weights[nameless].sum()) if len(released) else 0
    visitors = _drawn(weighed.unnamed, count, draw)
    visited = np.flatnonzero(visitors)
    single = Paths(np.arange(len(visited) + 1), visited.astype(np.int32), visitors[visited])
    others = Paths(named.offsets, candidates.astype(np.int32)[named.codes], named.weights)
    return merge_identical(concatenate_paths([others, single]), size)


def _drawn(odds: NDArray[np.float64], count: int, draw: np.random.Generator) -> NDArray[np.int64]:
    """How often each location is drawn in ``count`` draws; some draws at a time."""
    reached, drawn = np.cumsum(odds), np.zeros(len(odds), dtype=np.int64)
    for start in range(0, count, DRAWN_AT_ONCE):
        uniform = draw.random(min(DRAWN_AT_ONCE, count - start))
        found = np.searchsorted(reached, uniform * reached[-1], side="right")
        drawn += np.bincount(np.minimum(found, len(odds) - 1), minlength=len(odds))
    return drawn


def _scaling(calibrated: float, counted: float, scale: float) -> float:
    """From the number of trajectories that all tables led to, towards the one that was counted.

    They are two guesses, each weighed by its precision: with many people the count is far better,
    with few of them its noise would move everything that is known of single locations. Where even
    the number of people is hardly known, all counts shrink: to claim too many does more harm to
    small counts than to claim too few, and nothing claimed is what an empty release has.

    Args:
        calibrated: the one.
        counted: the other, noisy.
        scale: of the noise on it.
    """
    deviation = sqrt(2.0) * scale / counted
    trust = 1.0 / (1.0 + (deviation / CALIBRATED_TOTAL) ** 2)
    shrinking = 1.0 / (1.0 + (SHRINKING * deviation) ** 2)
    return float((counted / calibrated) ** trust * shrinking)


def _unnamed(measurements: Measurements) -> NDArray[np.float64]:
    """What the noisy visits say about locations that are no candidates."""
    table = measurements[VISITS]
    odds = posterior(table.counts, table.noise).mean
    odds[measurements.candidates] = 0.0
    return odds if odds.any() else np.ones(len(odds))


def _nothing() -> Weighed:
    nothing = Paths(
        np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64)
    )
    return Weighed(nothing, np.zeros(0), unnamed=None)
