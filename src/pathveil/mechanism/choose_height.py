"""Spend a share of ε on the distribution of lengths: the gate's side of ``height="auto"``.

A non-empty trajectory adds 1 to exactly one of the bins 1, 2 … MOST or more, so a unit with at
most c trajectories changes the table by at most c in L1; noise of parameter share·ε/c on every bin,
empty ones included, costs share·ε. The height is a function of the noisy bins (post-processing),
and what is measured afterwards with it composes sequentially.
"""

import numpy as np

from pathveil.mechanism.noisy_table import dense_table
from pathveil.mechanism.randomness import Randomness
from pathveil.model.height_choice import MOST, HeightRule, height_for
from pathveil.model.preparation import Preparation
from pathveil.raw.database import TrajectoryDatabase


def choose_height(
    database: TrajectoryDatabase,
    preparation: Preparation,
    rule: HeightRule,
    randomness: Randomness,
) -> int:
    """A height chosen with privacy. Spends the preparation's budget."""
    lengths = np.minimum(np.diff(database.offsets), MOST)
    counts = np.bincount(lengths, minlength=MOST + 1)[1:]
    return height_for(dense_table(counts, preparation.epsilon, randomness).counts, rule)
