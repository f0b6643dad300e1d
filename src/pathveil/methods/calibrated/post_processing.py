"""What the calibrated method makes of its noisy tables. It sees nothing else: it spends nothing."""

from dataclasses import dataclass

import numpy as np

from pathveil.core.noisy_tree import EstimatedTree
from pathveil.core.parameters import Parameters
from pathveil.core.paths import Paths
from pathveil.methods.calibrated.measured_tree import measured_tree
from pathveil.methods.calibrated.synthesis.earlier import Earlier
from pathveil.methods.calibrated.synthesis.synthesize import rounded_paths, weigh
from pathveil.methods.calibrated.synthesis.times import with_times
from pathveil.methods.calibrated.uncertainty.error_model import ErrorModel
from pathveil.methods.calibrated.uncertainty.sample import Evidence, Sample
from pathveil.methods.calibrated.uncertainty.single_stops import SlotCounts
from pathveil.statistics.measurement_plan import MeasurementPlan
from pathveil.statistics.measurements import Measurements
from pathveil.statistics.slots import SLOTS


@dataclass(frozen=True, slots=True, eq=False)
class Synthesis:
    """What is released.

    Attributes:
        tree: the noisy tree, and what the paths have of it.
        paths: synthetic trajectories, with times if there is a grid.
        errors: how far answers may be off.
    """

    tree: EstimatedTree
    paths: Paths
    errors: ErrorModel


def post_process(
    measurements: Measurements,
    plan: MeasurementPlan,
    parameters: Parameters,
    draw: np.random.Generator,
    *,
    is_private: bool,
    earlier: Paths | None = None,
) -> Synthesis:
    """Complete and calibrate trajectories, round them, give them times, and tell their errors.

    Args:
        measurements: the noisy tables.
        plan: by which they were measured.
        parameters: of the release.
        draw: which trajectories there are; it decides nothing private.
        is_private: whether the noise on the tables was not injected.
        earlier: the trajectories of an earlier release of the series, over the same codes.
    """
    leaning = None if earlier is None else Earlier(earlier)
    weighed = [weigh(measurements, plan, draw, leaning)]
    sample = Sample.of(weighed[0].paths, weighed[0].weights)
    paths = rounded_paths(weighed.pop(), measurements.candidates, draw)
    own, slots, grid = draw.spawn(1)[0], None, parameters.time_grid
    if grid is not None:
        paths = with_times(paths, measurements, plan, grid, draw)
        slots = SlotCounts.of(paths, measurements.universe_size, len(grid), plan[SLOTS].cap)
    errors = ErrorModel(Evidence(measurements, plan, sample), own, slots)
    tree = measured_tree(measurements, paths, parameters, is_private=is_private)
    return Synthesis(tree, paths, errors)
