"""What the calibrated method measures, with which share of ε and which sensitivity.

All of it follows from public parameters. A trajectory's contribution to a statistic is bounded by
a cap; a unit has at most c trajectories; so a unit changes the table by at most c times the
statistic's bound, and noise of parameter share·ε/(bound·c) on every cell costs share·ε. The shares
sum to 1.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import groupby

from pathveil.core.parameters import Parameters
from pathveil.statistics import constants
from pathveil.statistics.all_statistics import STATISTICS, TIME_STATISTICS
from pathveil.statistics.constants import MOST_DISTINCT, MOST_TREE_LEVELS, TREE_RATIO, TREE_SHARE
from pathveil.statistics.prefix_tree import LEVELS
from pathveil.statistics.statistic import Statistic

# By statistic: one without a share fails here.
SHARES: dict[Statistic, Fraction] = {
    statistic: constants.SHARES[statistic.name]
    for statistic in STATISTICS
    if statistic not in LEVELS
}
TIME_SHARES: dict[Statistic, Fraction] = {
    statistic: constants.TIME_SHARES[statistic.name] for statistic in TIME_STATISTICS
}


@dataclass(frozen=True, slots=True)
class Measurement:
    """One noisy table.

    Attributes:
        name: what is measured.
        budget: its share of ε.
        sensitivity: what one unit adds at most, in L1.
    """

    name: str
    budget: Fraction
    sensitivity: int

    @property
    def epsilon(self) -> Fraction:
        """The noise parameter of one count, α = e^(−epsilon)."""
        return self.budget / self.sensitivity

    @property
    def squared_l2(self) -> int:
        """What one unit adds at most, in L2, squared: never more than in L1."""
        return self.sensitivity**2


@dataclass(frozen=True, slots=True)
class Line(Measurement):
    """The measurement of a statistic.

    Attributes:
        statistic: what is counted.
        cap: how much of a trajectory is looked at.
        contribution: c.
    """

    statistic: Statistic
    cap: int
    contribution: int

    @classmethod
    def of(cls, statistic: Statistic, cap: int, budget: Fraction, contribution: int) -> "Line":
        """With the sensitivity that follows: c trajectories, each with the statistic's bound."""
        sensitivity = statistic.bound(cap).l1 * contribution
        return cls(statistic.name, budget, sensitivity, statistic, cap, contribution)

    @property
    def squared_l2(self) -> int:
        """All c trajectories may add to the same cells, so L2 grows with c as L1 does."""
        return self.statistic.bound(self.cap).squared_l2 * self.contribution**2


@dataclass(frozen=True, slots=True)
class MeasurementPlan:
    """The measurements of a calibrated release, in the order in which the budget is spent."""

    measurements: tuple[Line, ...]

    @classmethod
    def of(cls, parameters: Parameters) -> "MeasurementPlan":
        """The plan for these public parameters."""
        height, distinct = parameters.height, max(2, min(MOST_DISTINCT, parameters.height))
        shares = _shares(min(MOST_TREE_LEVELS, height), with_times=parameters.time_grid is not None)
        return cls(
            tuple(
                Line.of(
                    statistic,
                    statistic.cap(height, distinct),
                    parameters.main_budget * shares[statistic],
                    parameters.max_trajectories_per_unit,
                )
                for statistic in (*STATISTICS, *TIME_STATISTICS)
                if statistic in shares
            )
        )

    def __getitem__(self, statistic: Statistic) -> Line:
        return next(line for line in self.measurements if line.statistic is statistic)

    def lines(self) -> list[Line]:
        """Every measurement, in the order in which the budget is spent."""
        return list(self.measurements)

    def stages(self) -> Iterator[list[Line]]:
        """Lines that are measured together; each stage may depend on what the last published."""
        for _, lines in groupby(self.measurements, key=lambda line: line.statistic.stage):
            yield list(lines)

    @property
    def tree(self) -> tuple[Line, ...]:
        """Those of the levels of the prefix tree."""
        return tuple(line for line in self.measurements if line.statistic in LEVELS)

    def with_line(self, changed: Line) -> "MeasurementPlan":
        """The same with another line for one statistic."""
        return replace(
            self,
            measurements=tuple(
                changed if line.statistic is changed.statistic else line
                for line in self.measurements
            ),
        )


def tree_lines(parameters: Parameters) -> list[Measurement]:
    """The measurements of the paper's methods: every level of the prefix tree, or its two parts."""
    sub_levels, budget = parameters.sub_levels, parameters.level_budget
    parts = [("", budget)]
    if sub_levels is not None:
        zones = budget * sub_levels.zone_share
        parts = [("zones of ", zones), ("locations of ", budget - zones)]
    return [
        Measurement(
            f"{what}level {level} of the prefix tree", share, parameters.max_trajectories_per_unit
        )
        for level in range(1, parameters.height + 1)
        for what, share in parts
    ]


def _shares(levels: int, *, with_times: bool) -> dict[Statistic, Fraction]:
    weights = [TREE_RATIO**i for i in range(levels)]
    tree = {
        statistic: TREE_SHARE * weight / sum(weights)
        for statistic, weight in zip(LEVELS, weights, strict=False)
    }
    where = SHARES | tree
    if not with_times:
        return where
    rest = 1 - sum(TIME_SHARES.values())
    return {statistic: share * rest for statistic, share in where.items()} | TIME_SHARES
