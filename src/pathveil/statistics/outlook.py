"""The outlook: what is known, from noisy tables, when the tables that follow are planned.

A statistic looks at it to say how large its counts will be, and what it is worth measuring them
(`Statistic.typical`, `Statistic.worth`); `statistics.planner` decides. All of it is post-processing
of noisy values: floats are fine here, because nothing here adds noise or bounds what a trajectory
adds.
"""

from dataclasses import dataclass
from math import log, sqrt

import numpy as np
from numpy.typing import NDArray

from pathveil.statistics.constants import CONCENTRATION, SANITY

MOST_PAIRED = 24  # distinct locations: of longer trajectories no more pairs are expected


@dataclass(frozen=True, eq=False)
class Outlook:
    """What is known. Noisy, or public.

    Attributes:
        total: n, the number of trajectories.
        universe_size: |L|.
        named: how many locations the following tables look at: |L|, or the candidates.
        slots: T; 0 without times.
        height: no cap is larger.
        shares: float64, of all trajectories, by shape; they sum to 1.
        lengths, distinct: float64; visits, and different locations, of each shape.
        same: the probability that two visits go to the same location.
        covered: the share of all visits that go to the most popular locations.
        has_map: whether it is known how far locations are from each other.
        zones: the parts of the universe that a small table can count; 0 if there are none.
    """

    total: float
    universe_size: int
    named: int
    slots: int
    height: int
    shares: NDArray[np.float64]
    lengths: NDArray[np.float64]
    distinct: NDArray[np.float64]
    same: float
    covered: float
    has_map: bool = False
    zones: int = 0

    def mean(self, by_shape: NDArray[np.float64]) -> float:
        """The mean over all trajectories."""
        return float(self.shares @ by_shape)

    @property
    def mean_length(self) -> float:
        """Visits of a trajectory."""
        return self.mean(self.lengths)

    @property
    def mean_distinct(self) -> float:
        """Different locations of a trajectory."""
        return self.mean(self.distinct)

    def reaching(self, length: int) -> float:
        """The share of trajectories with so many visits or more."""
        return self.mean((self.lengths >= length).astype(np.float64))

    @property
    def least(self) -> float:
        """A count below it is as good as any other so small (the paper's sanity bound)."""
        return SANITY * self.total

    @property
    def typical_visits(self) -> float:
        """Visitors of a location: between the average one and where the average visit goes."""
        visits = self.total * self.mean_distinct
        average, busy = visits / self.universe_size, visits * self.same
        return sqrt(max(average, self.least) * max(busy, self.least))

    def typical_pair(self, pairs: NDArray[np.float64]) -> float:
        """The count that the average of so many pairs of locations by shape adds to.

        Pairs are more concentrated than if their ends were independent, and no pair is more
        frequent than its ends.
        """
        alike = self.same**2 * CONCENTRATION
        return max(self.least, min(self.total * self.mean(pairs) * alike, self.total * self.same))

    @property
    def few_distinct(self) -> NDArray[np.float64]:
        """Different locations of each shape, and no more than can be learnt about."""
        return np.minimum(self.distinct, MOST_PAIRED)


def log_threshold(cells: float, invented: float) -> float:
    """How many noise scales a threshold is that so many empty cells pass."""
    return max(log(max(cells / max(invented, 1e-9), 1.0)), 1.0)
