"""What is measured before the main measurements, to choose a parameter that is not given.

Whatever is chosen from data is paid for: such a choice has its own share of ε, its own line on the
certificate, and a rule that is a function of its noisy table only.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pathveil.core.budget import Budget
from pathveil.core.noise import Laplace
from pathveil.core.thresholds import smallest_threshold

AUTO = "auto"
MOST = 20
SHARE = Fraction(1, 20)  # of ε
DISCOVER: Final = "discover"
DISCOVERY_SHARE = Fraction(1, 5)  # of ε
MOST_LABELS = 4  # k: few, because the threshold grows with it


@dataclass(frozen=True, slots=True)
class Preparation:
    """A noisy choice, and what it cost.

    Attributes:
        name: what was measured.
        budget: what it spent.
        sensitivity: what one unit adds at most, in L1.
        rule: how the choice followed from the noisy table, in words; public.
        delta: the probability that the choice betrays that a unit is there; 0 for most.
    """

    name: str
    budget: Fraction
    sensitivity: int
    rule: str
    delta: Fraction = Fraction(0)

    @property
    def epsilon(self) -> Fraction:
        """The noise parameter of one count."""
        return self.budget / self.sensitivity

    @property
    def noise(self) -> Laplace:
        """On one count."""
        return Laplace(self.epsilon)


# ``height="auto"``: which height follows from a noisy distribution of lengths.
#
# The rule: the smallest h that half of the trajectories do not exceed, within public bounds.
# "basic" and "full" divide ε by h, so every level makes all others noisier: half are enough
# (docs/choosing-height.md has the figures). It does not see the longest trajectory: lengths from
# MOST on are one bin. "calibrated" needs no height: it plans its caps by itself.
LEAST_HEIGHT, COVERED = 6, Fraction(1, 2)


def height_preparation(budget: Budget, contribution: int) -> Preparation:
    """What choosing the height costs.

    A trajectory has one length, so a unit with at most c trajectories changes the distribution by
    at most c in L1.
    """
    return Preparation(
        "distribution of lengths, to choose the height",
        budget.epsilon * SHARE,
        contribution,
        f"the height is the smallest number from {LEAST_HEIGHT} to {MOST} that {COVERED} of the "
        "trajectories do not exceed, by noisy counts",
    )


def height_for(noisy: NDArray[np.int64]) -> int:
    """The height for noisy numbers of trajectories of length 1, 2 … MOST or more.

    Negative counts are noise on nothing and count as 0.
    """
    reached = np.cumsum(np.maximum(noisy, 0)).tolist()
    for height in range(LEAST_HEIGHT, MOST):
        if reached[height - 1] * COVERED.denominator >= reached[-1] * COVERED.numerator:
            return height
    return MOST


# ``universe="discover"``: which labels may be named if nobody has a public list of them.
#
# Why a δ is needed, and how large it is. A label that only one unit visits appears in the data of
# one of two neighbouring databases only, and no noise on labels that occur can hide that. So a
# label is named only if its noisy count reaches a threshold τ that a single unit can hardly reach.
# Let every trajectory count for its first k distinct labels, once each; a unit has at most c
# trajectories.
#
# - Labels of both databases: the unit changes their counts by at most c·k in L1, so noise of
#   parameter ε'/(c·k) costs ε' (as for every table).
# - Labels of the unit alone: there are at most c·k, each with a count of at most c. One is named
#   with probability P[c + X ≥ τ] = α^(τ−c)/(1+α) at most; by the union bound any of them with at
#   most c·k·α^(τ−c)/(1+α). τ is the smallest whole number for which this is at most δ: integers and
#   certified bounds, no floats.
#
# Only this one step can betray a label, and the levels of the tree look only at labels that are
# already named: δ is spent once, not once a level. Outside that event all is as with a public list,
# so the release is (ε, δ)-differentially private with this δ.


def discovery_preparation(budget: Budget, contribution: int, delta: Fraction) -> Preparation:
    """What naming the labels costs."""
    sensitivity = contribution * MOST_LABELS
    share = budget.epsilon * DISCOVERY_SHARE
    threshold = discovery_threshold(share / sensitivity, contribution, delta)
    return Preparation(
        "labels, to discover the universe",
        share,
        sensitivity,
        f"a label is named if its noisy count reaches {threshold}; a trajectory counts for its "
        f"first {MOST_LABELS} distinct labels",
        delta,
    )


def discovery_threshold(epsilon: Fraction, contribution: int, delta: Fraction) -> int:
    """τ: the smallest whole number with c·k·P[c + X ≥ τ] ≤ δ."""
    return contribution + smallest_threshold(epsilon, contribution * MOST_LABELS, delta)
