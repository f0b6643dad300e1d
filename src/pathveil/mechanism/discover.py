"""Name the labels of an unknown universe, (ε', δ)-differentially private.

The argument is in `model.label_discovery`: what is counted here is exactly what it says, each
trajectory's first k distinct labels once. The labels are listed in the order of their text, which
says nothing about counts.
"""

import numpy as np

from pathveil.errors import ParameterError
from pathveil.mechanism.noisy_count import discrete_laplace
from pathveil.mechanism.randomness import Randomness
from pathveil.model.label_discovery import MOST_LABELS, discovery_threshold
from pathveil.model.preparation import Preparation
from pathveil.model.universe import Universe, text_problem
from pathveil.raw.database import TrajectoryDatabase
from pathveil.statistics.first_visits import first_visits


def discover(
    database: TrajectoryDatabase, preparation: Preparation, randomness: Randomness
) -> Universe:
    """The labels whose noisy counts stand out. Spends the preparation's ε and δ.

    Args:
        database: trajectories over all labels that occur, a private universe.
        preparation: what may be spent.
        randomness: where the noise comes from.

    Raises:
        ParameterError: if no label stands out: a universe has at least one location. That it
            happened is a noisy fact, and may be said.
    """
    size, contribution = len(database.universe), database.max_trajectories_per_unit
    locations = database.without_times().codes
    visited, _ = first_visits(database.offsets, locations, size, MOST_LABELS)
    counts = np.bincount(visited[visited >= 0], minlength=size)
    occurring = np.flatnonzero(counts)
    noisy = counts[occurring] + discrete_laplace(len(occurring), preparation.epsilon, randomness)
    threshold = discovery_threshold(preparation.epsilon, contribution, preparation.delta)
    labels = database.universe.labels
    passed = [labels[code] for code in occurring[noisy >= threshold]]
    # A label that no universe may hold (blank, too long, a control character) is never named.
    named = sorted(label for label in passed if label.strip() and not text_problem(label))
    if not named:
        raise ParameterError(
            f"No label's noisy count reached {threshold}: there is nothing to publish. The budget "
            "is spent. Give a public list of locations, or a larger epsilon for other data."
        )
    return Universe(named, origin="discovered from the data, at a cost")
