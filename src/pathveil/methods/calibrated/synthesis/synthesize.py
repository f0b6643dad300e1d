"""From noisy measurements to synthetic trajectories: the whole story on one screen."""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from pathveil.core.paths import Paths
from pathveil.freed import give_back
from pathveil.methods.calibrated.synthesis.calibrate import calibrate
from pathveil.methods.calibrated.synthesis.canonical import (
    SmallPaths,
    concatenate_paths,
    merged_parts,
    taken_by_blocks,
)
from pathveil.methods.calibrated.synthesis.complete import complete, rounded_weights
from pathveil.methods.calibrated.synthesis.earlier import Earlier
from pathveil.methods.calibrated.synthesis.estimates import Estimated, estimate
from pathveil.methods.calibrated.synthesis.fit import fit
from pathveil.methods.calibrated.synthesis.fit_targets import FitTargets
from pathveil.methods.calibrated.synthesis.gravity import Neighbourhood
from pathveil.methods.calibrated.synthesis.missing_trips import with_missing_trips
from pathveil.methods.calibrated.synthesis.movement_model import Destinations
from pathveil.methods.calibrated.synthesis.rare_moves import RareMoves
from pathveil.methods.calibrated.synthesis.small_moves import SmallMoves
from pathveil.methods.calibrated.synthesis.target_cells import Targets
from pathveil.methods.calibrated.synthesis.tree_estimates import continuations
from pathveil.methods.calibrated.synthesis.unnamed import Unnamed, name_all
from pathveil.methods.calibrated.synthesis.whole_weights import whole_weights
from pathveil.progress_reports import report_progress
from pathveil.statistics.constants import CALIBRATED_TOTAL, ROWS_EACH, ROWS_OF_FEW, SHRINKING
from pathveil.statistics.measurement_plan import SHARES, TIME_SHARES, Line, MeasurementPlan
from pathveil.statistics.measurements import Measurements
from pathveil.statistics.total import TOTAL

# Noise alone can ask for any number of trajectories, and so can a city. Beyond these bounds (about
# a gigabyte) each synthetic trajectory stands for several, so memory does not grow with |D|.
MOST_ROWS, MOST_VISITS = 1 << 22, 1 << 25
# Up to so many are made whatever the tables say; more only if these tell more of them apart.
ALWAYS_MADE = 1 << 20
MANY_ROWS = 1 << 21


@dataclass(frozen=True, slots=True, eq=False)
class Weighed:
    """Synthetic trajectories before they are made whole: what the error model looks at.

    Attributes:
        paths: distinct, over positions of candidates (their number stands for an unnamed
            location), with the movement model's whole weights.
        weights: float64; the calibrated ones.
        unnamed: how likely an unnamed visit goes to each location; None if there are none.
    """

    paths: SmallPaths
    weights: NDArray[np.float64]
    unnamed: Unnamed | None


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
    known = estimate(measurements, earlier)
    if len(measurements.candidates) == 0 or known.total == 0:
        return _nothing()

    size = len(measurements.candidates) + 1
    made = _made(measurements, known, plan, draw, earlier)
    _tidy(len(made))
    completed = SmallPaths.joined(merged_parts(made, size), size)
    del made
    _tidy(len(completed))
    if len(completed) == 0:
        return _nothing()

    report_progress(2, 5)
    each = min(1.0, known.total / int(completed.weights.sum()))
    weights = calibrate(completed, Targets.of(known, plan), each)
    weights *= _scaling(float(weights.sum()), known.total, measurements[TOTAL].scale)
    report_progress(5, 5)
    _tidy(len(completed))
    return Weighed(completed, weights, Unnamed.of(measurements, known))


def _made(
    measurements: Measurements,
    known: Estimated,
    plan: MeasurementPlan,
    draw: np.random.Generator,
    earlier: Earlier | None,
) -> SmallPaths:
    """The model's trajectories. What they are made by is gone when they are."""
    candidates = measurements.candidates
    work = continuations(measurements.tree, known.total, len(candidates), known.unnamed_visits)
    aims = FitTargets.of(known, measurements)
    scope = measurements.scope
    near = (
        None
        if scope.points is None
        else Neighbourhood.of(scope.points[candidates], scope.lines_among)
    )
    rare = RareMoves.of(earlier, measurements, known.total)
    small = None if rare is not None else SmallMoves.of(measurements, known, plan)
    model = fit(aims, Destinations.of(known, plan, near, rare, small), work, plan, draw)
    report_progress(1, 5)

    rows = _rows_to_make(known.total, plan[TOTAL], is_timed=scope.slots > 0)
    rows = min(rows, MOST_VISITS / aims.mean_length)
    _tidy(rows)
    return with_missing_trips(complete(work, model, rows, draw), known, draw)


def _rows_to_make(total: float, counted: Line, *, is_timed: bool) -> float:
    """How many synthetic trajectories there are.

    Several for each of few people: the calibration makes some likelier and others less, and a
    weight of 5 on one row, which may be wrong in all that no table tells, is worse than 5 other
    rows of the same cells. They are made whole at the end, so a release has no more trajectories
    than there are people. Of many as many as people make, but above a million no more than |D|·ε:
    tables that say as much, of more people with less ε, are then made into as many rows and take as
    much memory. ε is told by the noise on their number, whose scale for one trajectory a unit is
    1/(share·ε), so that there is one for a budget in ρ, too. All of it is noisy or public.

    Args:
        total: the noisy number of trajectories.
        counted: how they were counted.
        is_timed: whether some of the budget tells when, as much as usual, about.
    """
    share = SHARES[TOTAL] * (1 - sum(TIME_SHARES.values()) if is_timed else 1)
    told = total * counted.contribution * sqrt(2.0) / (counted.deviation * float(share))
    of_few = min(ROWS_EACH * total, ROWS_OF_FEW)
    return min(max(of_few, min(total, max(told, ALWAYS_MADE))), MOST_ROWS)


def rounded_paths(
    weighed: Weighed, candidates: NDArray[np.int64], draw: np.random.Generator
) -> Paths:
    """The last step of `synthesize`: whole weights, location codes, no unnamed locations.

    Every visit that can't be named gets a location that is not named otherwise
    (`synthesis.unnamed`): somebody went somewhere, and sizes and sums stay right. Whoever hands
    over what nobody else holds needs no memory for what is done with.
    """
    unnamed, paths = weighed.unnamed, weighed.paths
    if len(paths) < MANY_ROWS:
        weights = whole_weights(paths, weighed.weights, len(candidates) + 1, draw.random())
    else:  # so many that what rounding adds is lost in what they are
        weights = rounded_weights(weighed.weights, draw.random())
    del weighed
    _tidy(len(paths))
    if unnamed is None:
        return concatenate_paths(taken_by_blocks(paths, weights, candidates))
    size = int(paths.codes.max(initial=0)) + 1
    released = [SmallPaths.joined(taken_by_blocks(paths, weights, np.arange(size)), size)]
    del paths, weights
    _tidy(len(released[0]))
    return name_all(released.pop(), candidates, unnamed, draw)


def _tidy(rows: float) -> None:
    """Between two stages with many rows, hand back what was freed; with few it is not worth it."""
    if rows >= MANY_ROWS:
        give_back()


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


def _nothing() -> Weighed:
    return Weighed(SmallPaths.joined((), size=0), np.zeros(0), unnamed=None)
