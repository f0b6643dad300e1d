"""Algorithm 1 of the paper: from a private trajectory database to a release, on one screen."""

import numpy as np
from numpy.typing import NDArray

from pathveil.errors import ParameterError
from pathveil.inference.consistent_estimates import consistent_estimates
from pathveil.inference.feasible import lower_children, raise_parents
from pathveil.inference.path_estimates import path_estimates
from pathveil.mechanism.grow_tree import Progress, grow_tree
from pathveil.mechanism.measure import measure
from pathveil.mechanism.randomness import ByteGenerator, Randomness
from pathveil.model.measurement_plan import MeasurementPlan
from pathveil.model.noisy_tree import EstimatedTree, NoisyPrefixTree
from pathveil.model.parameters import DEFAULT_MAX_NODES, Method, Parameters
from pathveil.raw.counting.memory import MemoryCounter
from pathveil.raw.database import TrajectoryDatabase
from pathveil.release.generate import whole_counts
from pathveil.release.measured_tree import measured_tree
from pathveil.release.release import Release
from pathveil.synthesis.popularity import choose_candidates
from pathveil.synthesis.synthesize import synthesize


def publish(
    database: TrajectoryDatabase,
    *,
    epsilon: object,
    height: int,
    method: Method = "full",
    threshold: object = "auto",
    max_nodes: int = DEFAULT_MAX_NODES,
    generator: ByteGenerator | None = None,
    progress: Progress = lambda _done, _height: None,
) -> Release:
    """Publish a trajectory database under ε-differential privacy.

    Args:
        database: the private trajectories.
        epsilon: the total privacy budget, as text (``"1"``, ``"0.5"``) or an exact number.
        height: h, the height of the prefix tree: trajectories are cut after h locations.
            "calibrated" does not cut them; its measurements look at h visits of each.
        method: "basic", "full" (with constrained inference) or "calibrated" (more
            measurements, and synthetic trajectories calibrated to them).
        threshold: θ: "auto", "paper" or a whole number of trajectories ("calibrated": "auto").
        max_nodes: refuse parameters whose expected tree is larger.
        generator: for tests only: where the noise comes from. The release is then stamped
            NOT PRIVATE.
        progress: called with (levels grown, height).

    Raises:
        ParameterError: if a parameter can't be used; nothing has been spent then.
    """
    parameters = Parameters.choose(
        epsilon=epsilon,
        height=height,
        universe_size=len(database.universe),
        threshold=threshold,
        method=method,
        max_trajectories_per_unit=database.max_trajectories_per_unit,
        max_nodes=max_nodes,
    )
    return publish_with(database, parameters, Randomness(generator), progress)


def publish_with(
    database: TrajectoryDatabase,
    parameters: Parameters,
    randomness: Randomness,
    progress: Progress = lambda _done, _height: None,
) -> Release:
    """Publish with parameters that were chosen, and checked, before the data was read."""
    if (parameters.universe_size, parameters.max_trajectories_per_unit) != (
        len(database.universe),
        database.max_trajectories_per_unit,
    ):
        raise ParameterError("The parameters were chosen for another universe or another bound.")
    if parameters.method == "calibrated":
        return _publish_calibrated(database, parameters, randomness, progress)
    tree = grow_tree(MemoryCounter(database), parameters, randomness, progress)
    # From here on only the noisy tree is seen: post-processing, which spends nothing.
    feasible = _basic(tree) if parameters.method == "basic" else _full(tree)
    counts = whole_counts(tree, feasible, randomness.fraction())
    return Release(database.universe, EstimatedTree.of(tree, counts))


def _basic(tree: NoisyPrefixTree) -> NDArray[np.float64]:
    return raise_parents(tree, tree.noisy_count.astype(np.float64))


def _full(tree: NoisyPrefixTree) -> NDArray[np.float64]:
    return lower_children(tree, consistent_estimates(tree, path_estimates(tree)))


def _publish_calibrated(
    database: TrajectoryDatabase,
    parameters: Parameters,
    randomness: Randomness,
    progress: Progress,
) -> Release:
    """Beyond the paper: measure more of the right things, and calibrate to them."""
    plan = MeasurementPlan.of(parameters)
    measurements = measure(database, plan, choose_candidates, randomness, progress)
    # From here on only noisy measurements are seen. What is drawn now decides nothing private.
    draw = np.random.default_rng(randomness.words(8))  # noqa: TID251
    paths = synthesize(measurements, plan, draw)
    tree = measured_tree(measurements, paths, parameters, is_private=randomness.is_private)
    return Release(database.universe, tree, paths)
