"""A variable-length n-gram release, after Chen, Acs and Castelluccia (CCS 2012).

The idea: n-grams of people's trajectories, n = 1, 2, …, form an exploration tree. It is grown with
noisy counts while these can be told from noise, each path as deep as its counts allow, and
trajectories are drawn from it by always extending with the longest context that is known.
`docs/baselines.md` says what is simplified.
"""

import numpy as np

from bench.baselines.baseline_release import BaselineRelease, baseline_parameters
from bench.baselines.ngram_grams import grams_of
from bench.baselines.ngram_model import fit_model
from bench.baselines.ngram_plan import NGramPlan
from bench.baselines.ngram_tree import explore
from bench.baselines.ngram_walks import draw_trajectories
from pathveil.gate.randomness import ByteGenerator, Randomness
from pathveil.raw.database import TrajectoryDatabase


def publish_ngram(
    database: TrajectoryDatabase,
    *,
    epsilon: object,
    height: int,
    generator: ByteGenerator | None = None,
) -> BaselineRelease:
    """Publish by the n-gram baseline, under pure ε-differential privacy.

    `baseline_parameters` says what is asked for; a ``generator`` for the noise is for experiments.
    """
    plan = NGramPlan.of(baseline_parameters(database, epsilon, height))
    randomness = Randomness(generator)
    levels = explore(
        grams_of(database.without_times(), plan.height, plan.longest), plan, randomness
    )
    # From here on only noisy counts are seen: post-processing, which spends nothing.
    model = fit_model(levels, plan)
    draw = np.random.default_rng(randomness.words(4))
    offsets, codes = draw_trajectories(model, plan.height, draw)
    return BaselineRelease(database.universe, offsets, codes, randomness.is_private)
