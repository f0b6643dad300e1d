"""Algorithm 1 of the paper: from a private trajectory database to a release, on one screen."""

import numpy as np
from numpy.typing import NDArray

from pathveil.errors import ParameterError
from pathveil.inference.consistent_estimates import consistent_estimates
from pathveil.inference.feasible import lower_children, raise_parents
from pathveil.inference.path_estimates import path_estimates
from pathveil.ledger.ledger import Account, Charge
from pathveil.mechanism.grow_tree import Progress, grow_tree
from pathveil.mechanism.measure import measure
from pathveil.mechanism.prepare import prepare
from pathveil.mechanism.randomness import ByteGenerator, Randomness
from pathveil.model.measurement_plan import MeasurementPlan
from pathveil.model.noisy_tree import EstimatedTree, NoisyPrefixTree
from pathveil.model.parameters import DEFAULT_MAX_NODES, Method, Parameters
from pathveil.raw.counting.memory import MemoryCounter
from pathveil.raw.database import TrajectoryDatabase
from pathveil.raw.observed import is_observed
from pathveil.release.generate import whole_counts
from pathveil.release.measured_tree import measured_tree
from pathveil.release.release import Release
from pathveil.synthesis.popularity import choose_candidates
from pathveil.synthesis.synthesize import make_whole, weigh
from pathveil.uncertainty.error_model import ErrorModel
from pathveil.uncertainty.sample import Evidence, Sample


def publish(
    database: TrajectoryDatabase,
    *,
    epsilon: object,
    height: int | str,
    method: Method = "full",
    threshold: object = "auto",
    max_nodes: int = DEFAULT_MAX_NODES,
    delta: object = None,
    ledger: Account | None = None,
    generator: ByteGenerator | None = None,
    progress: Progress = lambda _done, _height: None,
) -> Release:
    """Publish a trajectory database under ε-differential privacy.

    Args:
        database: the private trajectories.
        epsilon: the total privacy budget, as text (``"1"``, ``"0.5"``) or an exact number.
        height: h, the height of the prefix tree: trajectories are cut after h locations; or
            "auto", which spends a twentieth of ε on choosing it (`model.height_choice`).
            "calibrated" does not cut them; its measurements look at h visits of each.
        method: "basic", "full" (with constrained inference) or "calibrated" (more
            measurements, and synthetic trajectories calibrated to them).
        threshold: θ: "auto", "paper" or a whole number of trajectories ("calibrated": "auto").
        max_nodes: refuse parameters whose expected tree is larger.
        delta: δ, as text such as "1e-9", if the database was read with universe="discover".
        ledger: what to charge ε to, before anything is counted:
            ``Ledger.open(file).dataset("taps")``. It stays charged if anything fails later.
        generator: for tests only: where the noise comes from. The release is then stamped
            NOT PRIVATE.
        progress: called with (levels grown, height).

    Raises:
        ParameterError: if a parameter can't be used; nothing has been spent then.
        LedgerError: if the ledger refuses the charge; nothing has been spent then.
    """
    if ledger is not None and generator is not None:
        raise ParameterError("Injected noise protects nobody: it is not charged to a ledger.")
    parameters = Parameters.choose(
        epsilon=epsilon,
        height=height,
        universe_size=None if is_observed(database) else len(database.universe),
        delta=delta,
        threshold=threshold,
        method=method,
        max_trajectories_per_unit=database.max_trajectories_per_unit,
        max_nodes=max_nodes,
        time_grid=database.time_grid,
    )
    charge = ledger.charge(parameters.budget, parameters.delta) if ledger is not None else None
    return publish_with(database, parameters, Randomness(generator), progress, charge)


def publish_with(
    database: TrajectoryDatabase,
    parameters: Parameters,
    randomness: Randomness,
    progress: Progress = lambda _done, _height: None,
    charge: Charge | None = None,
) -> Release:
    """Publish with parameters that were chosen, checked and charged before the data was read."""
    spent = (parameters.budget, parameters.delta)
    if charge is not None and (charge.budget, charge.delta) != spent:
        raise ParameterError("The charge is not the budget of the parameters.")
    try:
        release = _publish(database, parameters, randomness, progress)
        return release.read_by(database.rules).paid_by(charge)
    except BaseException as error:
        if charge is not None:
            error.add_note(str(charge))
        raise


def _publish(
    database: TrajectoryDatabase,
    parameters: Parameters,
    randomness: Randomness,
    progress: Progress,
) -> Release:
    database, parameters = prepare(database, parameters, randomness)
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
    weighed = weigh(measurements, plan, draw)
    paths = make_whole(weighed, measurements.candidates, draw)
    sample = Sample.of(weighed.paths, weighed.weights)
    errors = ErrorModel(Evidence(measurements, plan, sample), draw.spawn(1)[0])
    tree = measured_tree(measurements, paths, parameters, is_private=randomness.is_private)
    return Release(database.universe, tree, paths, errors=errors)
