"""``height="auto"``: which height follows from a noisy distribution of lengths.

The rule: the smallest h at which a public share of the trajectories are no longer than h, within
public bounds. "basic" and "full" divide ε by h, so every level makes all others noisier: half of
the trajectories are enough for them. "calibrated" pays less for a large h: nine in ten
(docs/choosing-height.md has the figures). No rule sees the longest trajectory: lengths from MOST
on are one bin.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from pathveil.model.budget import Budget
from pathveil.model.preparation import Preparation

AUTO = "auto"
MOST = 20
SHARE = Fraction(1, 20)  # of ε


@dataclass(frozen=True, slots=True)
class HeightRule:
    """How the height follows from noisy lengths.

    Attributes:
        least: the smallest height that can come out.
        covered: the share of trajectories that are to be no longer than the height.
    """

    least: int
    covered: Fraction


def height_preparation(budget: Budget, contribution: int, rule: HeightRule) -> Preparation:
    """What choosing the height costs.

    A trajectory has one length, so a unit with at most c trajectories changes the distribution by
    at most c in L1.
    """
    return Preparation(
        "distribution of lengths, to choose the height",
        budget.epsilon * SHARE,
        contribution,
        f"the height is the smallest number from {rule.least} to {MOST} that {rule.covered} of the "
        "trajectories do not exceed, by noisy counts",
    )


def height_for(noisy: NDArray[np.int64], rule: HeightRule) -> int:
    """The height for noisy numbers of trajectories of length 1, 2 … MOST or more.

    Negative counts are noise on nothing and count as 0.
    """
    reached = np.cumsum(np.maximum(noisy, 0)).tolist()
    for height in range(rule.least, MOST):
        if reached[height - 1] * rule.covered.denominator >= reached[-1] * rule.covered.numerator:
            return height
    return MOST
