"""``height="auto"``: which height follows from a noisy distribution of lengths.

The rule: the smallest h at which nine in ten trajectories are no longer than h, but at least
LEAST and at most MOST. Cutting a tenth of the trajectories costs less than the noise of further
levels (docs/choosing-height.md has the figures). It never sees the longest trajectory: lengths from
MOST on are one bin.
"""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from pathveil.model.budget import Budget
from pathveil.model.preparation import Preparation

AUTO = "auto"
LEAST, MOST = 4, 20
SHARE = Fraction(1, 20)  # of ε
COVERED = Fraction(9, 10)


def height_preparation(budget: Budget, contribution: int) -> Preparation:
    """What choosing the height costs.

    A trajectory has one length, so a unit with at most c trajectories changes the distribution by
    at most c in L1.
    """
    return Preparation(
        "distribution of lengths, to choose the height",
        budget.epsilon * SHARE,
        contribution,
        f"the height is the smallest number from {LEAST} to {MOST} that {COVERED} of the "
        "trajectories do not exceed, by noisy counts",
    )


def height_for(noisy: NDArray[np.int64]) -> int:
    """The height for noisy numbers of trajectories of length 1, 2 … MOST or more.

    Negative counts are noise on nothing and count as 0.
    """
    reached = np.cumsum(np.maximum(noisy, 0)).tolist()
    for height in range(LEAST, MOST):
        if reached[height - 1] * COVERED.denominator >= reached[-1] * COVERED.numerator:
            return height
    return MOST
