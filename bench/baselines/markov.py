"""A first-order Markov synthesiser in the manner of AdaTrace (Gursoy and others, 2018).

The idea: measure how people step from location to location, which trips (first and last location)
they make, and how long these are; then draw a trip, a length, and a walk of the Markov chain that
makes the trip in that length. `docs/baselines.md` says what is simplified.
"""

import numpy as np

from bench.baselines.baseline_release import BaselineRelease, baseline_parameters
from bench.baselines.markov_model import fit_model
from bench.baselines.markov_plan import MarkovPlan
from bench.baselines.markov_tables import measure
from bench.baselines.markov_trips import draw_trips
from bench.baselines.markov_walks import walk
from pathveil.gate.randomness import ByteGenerator, Randomness
from pathveil.raw.database import TrajectoryDatabase


def publish_markov(
    database: TrajectoryDatabase,
    *,
    epsilon: object,
    height: int,
    generator: ByteGenerator | None = None,
) -> BaselineRelease:
    """Publish by the Markov baseline, under pure ε-differential privacy.

    `baseline_parameters` says what is asked for; a ``generator`` for the noise is for experiments.
    """
    plan = MarkovPlan.of(baseline_parameters(database, epsilon, height))
    randomness = Randomness(generator)
    tables = measure(database.without_times(), plan, randomness)
    # From here on only noisy counts are seen: post-processing, which spends nothing.
    model = fit_model(tables, plan)
    draw = np.random.default_rng(randomness.words(4))
    offsets, codes = walk(draw_trips(model, draw), model, draw)
    return BaselineRelease(database.universe, offsets, codes, randomness.is_private)
