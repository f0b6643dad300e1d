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
from pathveil.core.noise import Gaussian, Laplace, Noise
from pathveil.core.thresholds import smallest_threshold
from pathveil.core.trips_per_unit import units_by_trips

AUTO = "auto"
MOST = 20
SHARE = Fraction(1, 20)  # of ε
DISCOVER: Final = "discover"
TRIPS_PER_UNIT: Final = "units by their number of trips, to choose how many are used"
DISCOVERY_SHARE = Fraction(1, 5)  # of ε
MOST_LABELS = 4  # k: few, because the threshold grows with it


@dataclass(frozen=True, slots=True)
class Preparation:
    """A noisy choice, and what it cost.

    Attributes:
        name: what was measured.
        budget: what it spent, of ε, or of ρ.
        sensitivity: what one unit adds at most, in L1.
        rule: how the choice followed from the noisy table, in words; public.
        delta: the probability that the choice betrays that a unit is there; 0 for most.
        expansion: how many trips there are for each that is used, by the noisy table; None if that
            is not what was measured, or nothing stood out of its noise.
        in_rho: whether the budget is of ρ, and the noise Gaussian.
    """

    name: str
    budget: Fraction
    sensitivity: int
    rule: str
    delta: Fraction = Fraction(0)
    expansion: Fraction | None = None
    in_rho: bool = False

    @property
    def is_of_units(self) -> bool:
        """Whether it counts units, before their trajectories are bounded."""
        return self.name == TRIPS_PER_UNIT

    @property
    def epsilon(self) -> Fraction:
        """The noise parameter of one count."""
        return self.budget / self.sensitivity

    @property
    def noise(self) -> Noise:
        """On one count. The change in L2 is that in L1 at most, so σ² = sensitivity²/(2ρ)."""
        if self.in_rho:
            return Gaussian(self.sensitivity**2 / (2 * self.budget))
        return Laplace(self.epsilon)

    @property
    def squared_scale(self) -> Fraction:
        """Half the variance of the noise (but for rounding to whole numbers), exactly."""
        return self.sensitivity**2 / ((4 if self.in_rho else self.budget) * self.budget)


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


# ``max_trajectories_per_unit="auto"``: how many trips of a unit are used.
#
# What is measured. Each unit adds 1 to one bin, that of the number of its trips, after every filter
# (rows that can't be read or lie outside the universe, splitting, the unit itself), and before any
# trip is dropped for being one too many. So one unit more or less changes one bin by 1: L1 is 1,
# whatever c will be, and Laplace noise of parameter 4% of ε on every bin costs 4% of ε. (One trip
# more or less of a unit moves it from a bin to another: L1 is 2.) If the budget is in ρ, as that of
# a month of a series is, L2 is 1 as well, and Gaussian noise with σ² = 1/(2·4% of ρ) costs 4% of ρ;
# what is left of ρ is for the tables, and the sum is the ρ that was charged, exactly. Each month of
# a series chooses anew: its c is a function of its own noisy bins, and the ρ of months add up
# whatever a month was planned by (`ledger.series`).
#
# The rule. With c trips of each unit used, the noise on every count grows with c, and the counts
# with N(c), the number of trips that are used. Noise relative to a count, c/N(c), never falls: it
# stays the same while every unit has c trips, and grows from there on. What a larger c buys is less
# chance in which trips are seen, a deviation of 1/√N(c), and less weight on people who ride rarely.
# So c is the edge of a bin for which c/N(c)^(3/2), the product of both deviations, is smallest: c
# may double where that makes N(c) at least 1.59 times as large. (It was c/N(c)², which takes the
# variance of one and the deviation of the other: too many trips were used on mibici, whose queries
# were 1.3 times as far off with c = 30 as with 20.)
#
# How many units are in each bin is guessed from the noisy bins (`core.trips_per_unit`). The rule
# looks at noisy bins and public numbers only, in integers; any such rule would be private.
#
# What is counted afterwards is bounded to that c from the same trips (`raw.database.first_trips`).
# Given the noisy bins, c is the same for two neighbouring databases, so the tables that follow are
# those of a bound that was given, and the budgets add up (sequential composition).
TRIPS_SHARE = Fraction(1, 25)  # of ε; with half of it 537 people with many trips are lost in noise
TRIP_EDGES: Final = (1, 2, 3, 5, 8, 12, 20, 30, 50, 100)  # the largest number of each bin
MOST_TRIPS = TRIP_EDGES[-1]  # c is no more
MORE_EDGES: Final = (200, 400, 800, 1600, 3200, 6400)  # told apart for the expansion only
EDGES: Final = (*TRIP_EDGES, *MORE_EDGES, 2 * MORE_EDGES[-1])  # the last bin has no end
TRIP_BINS = len(EDGES)


def trips_preparation(budget: Budget, rho: Fraction | None = None) -> Preparation:
    """What choosing c costs: of ε, or of ρ if all of the budget is."""
    return Preparation(
        TRIPS_PER_UNIT,
        (budget.epsilon if rho is None else rho) * TRIPS_SHARE,
        1,
        f"of {', '.join(map(str, TRIP_EDGES))} trips per unit, that number c for which c²/N³ is "
        "smallest, N being how many trips are then used, by noisy counts",
        in_rho=rho is not None,
    )


def bin_of_trips(trips: NDArray[np.int32]) -> NDArray[np.int64]:
    """The bin of each number of trips, which is 1 or more."""
    return np.searchsorted((*TRIP_EDGES, *MORE_EDGES), trips).astype(np.int64)


def trips_for(noisy: NDArray[np.int64], squared_scale: Fraction) -> tuple[int, Fraction | None]:
    """c, and how many trips there are for each that is then used, by the noisy bins.

    Args:
        noisy: int64, shape (TRIP_BINS,); units by their number of trips.
        squared_scale: half the variance of the noise on a bin.

    Returns:
        c; and the expansion in thousandths, None if nobody can be told from noise (c is 1 then).
    """
    units = units_by_trips(noisy, squared_scale, EDGES)
    # Twice the middle of a bin, so that it is whole.
    twice = [low + 1 + high for low, high in zip((0, *EDGES[:-1]), EDGES, strict=True)]

    def used(most: int) -> Fraction:
        """Twice N(c)."""
        return sum(
            (n * min(each, 2 * most) for n, each in zip(units, twice, strict=True)), Fraction()
        )

    if not sum(units):
        return 1, None
    chosen = max(TRIP_EDGES, key=lambda most: (used(most) ** 3 / most**2, -most))
    expansion = used(EDGES[-1]) / used(chosen)
    return chosen, max(Fraction(round(expansion * 1000), 1000), Fraction(1))
