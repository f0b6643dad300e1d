"""What the calibrated method measures, with which share of the budget and which sensitivity.

A trajectory's contribution to a statistic is bounded by a cap; a unit has at most c trajectories;
so a unit changes the table by at most c times the statistic's bound. If the budget is in ε, Laplace
noise of parameter share·ε/(bound·c), by the bound in L1, on every cell costs share·ε; if it is
in ρ, Gaussian noise of parameter σ² = (bound·c)²/(2·share·ρ), by the bound in L2, costs share·ρ.
The shares sum to 1. (In ρ every table takes Gaussian noise: Laplace noise that costs the same ρ,
ε̄·bound = √(2ρ), has a variance that is at least twice as large, since L2 is never above L1.) If the
budget is in ε and there is a δ, some tables may have one noise and some the other: those in ε
cost E together, those in ρ cost R, and ε is E plus the ε that follows from R at δ.

The lines of a stage in ρ may be clipped: then what all trips of a unit add to the table is scaled
down, in 256ths, to a norm C in L2 that the line says (`gate.weighing`, which has the proof). Such a
table counts 256ths of trips, a unit changes it by at most 256·C in L2, however many trips it has,
and by at most 256·bound·c in L1.

A run begins with the usual plan, which follows from public parameters. What is not measured yet may
be planned anew from what was published (`statistics.planner`); `MeasurementPlan.adapted` is the
rule that any such plan has to keep, and the gate holds it to it.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import groupby
from math import sqrt

from pathveil.core.noise import Gaussian, Laplace, Noise
from pathveil.core.parameters import Parameters
from pathveil.core.zcdp import Concentrated
from pathveil.statistics import constants
from pathveil.statistics.all_statistics import STATISTICS, TIME_STATISTICS
from pathveil.statistics.constants import (
    CLIP_POWERS,
    DOUBT_OF_RHO,
    MOST_CLIPPED,
    MOST_TREE_LEVELS,
    TIME_WORTH,
    TREE_RATIO,
    TREE_SHARE,
    USUAL_CAP,
    USUAL_DISTINCT,
    USUAL_SHARE_OF_VISITS,
    USUAL_TIME_WORTH,
    USUAL_VISITS,
)
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


PARTS = 256
"""Clipped tables count trips in so many parts."""
MOST_CLIP = 1 << 46
"""C² is no larger, so that 64 bits hold q²·C²."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """One noisy table.

    Attributes:
        name: what is measured.
        budget: its share of ε, or of ρ.
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
    def noise(self) -> Noise:
        """The law of the noise on one count."""
        return Laplace(self.epsilon)

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
        in_rho: whether the budget is in ρ, and the noise Gaussian.
        clip: C², if what a unit adds to the table is clipped to the norm C in L2.
    """

    statistic: Statistic
    cap: int
    contribution: int
    in_rho: bool = False
    clip: int | None = None

    @classmethod
    def of(
        cls,
        statistic: Statistic,
        cap: int,
        budget: Fraction,
        contribution: int,
        *,
        in_rho: bool = False,
        clip: int | None = None,
    ) -> "Line":
        """With the sensitivity that follows: c trajectories, each with the statistic's bound.

        Raises:
            ValueError: if a line in ε is to be clipped, or C² is none that can be kept.
        """
        sensitivity = statistic.bound(cap).l1 * contribution
        if clip is not None:
            if not in_rho or not 1 <= clip <= MOST_CLIP:
                raise ValueError(f"The line of {statistic.name} can't be clipped like that.")
            sensitivity *= PARTS
        return cls(statistic.name, budget, sensitivity, statistic, cap, contribution, in_rho, clip)

    @property
    def noise(self) -> Noise:
        """By the bound in L2 if the budget is in ρ, by that in L1 if it is in ε."""
        if self.in_rho:
            return Gaussian(Fraction(self.squared_l2) / (2 * self.budget))
        return Laplace(self.epsilon)

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise, in trips; in weighed ones, if it is clipped."""
        return self.noise.deviation / (1 if self.clip is None else PARTS)

    @property
    def most_trips_per_weight(self) -> float:
        """How many trips stand for one that is counted, if all c trips of everybody are the same.

        Never more do (`statistics.weighed_tables`), and exactly one does if nothing is clipped.
        """
        bound = self.statistic.bound(self.cap).squared_l2 * self.contribution**2
        return max(sqrt(bound / (self.clip or bound)), 1.0)

    @property
    def squared_l2(self) -> int:
        """All c trajectories may add to the same cells, so L2 grows with c as L1 does.

        If it is clipped, it is q²·C² by construction (`gate.weighing`).
        """
        if self.clip is not None:
            return PARTS**2 * self.clip
        return self.statistic.bound(self.cap).squared_l2 * self.contribution**2


@dataclass(frozen=True, slots=True)
class Reason:
    """A noisy figure by which a plan was chosen, as the certificate tells it.

    Attributes:
        name: what it is.
        value: rounded, as text.
    """

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class MeasurementPlan:
    """The measurements of a calibrated release, in the order in which the budget is spent.

    Attributes:
        measurements: one line each.
        reasons: why the lines are as they are; none: they follow from public parameters.
        delta: δ, at which a part of ε may be spent in ρ; 0 if none may.
    """

    measurements: tuple[Line, ...]
    reasons: tuple[Reason, ...] = ()
    delta: Fraction = Fraction(0)

    @classmethod
    def of(cls, parameters: Parameters) -> "MeasurementPlan":
        """The plan of a run: what was planned if it is over, else the usual one."""
        return parameters.planned or cls.usual(parameters)

    @classmethod
    def usual(cls, parameters: Parameters, *, tells_units: bool = False) -> "MeasurementPlan":
        """The plan with which a run begins, from public parameters.

        If c was chosen with privacy, it is public too; it may be so large that all is best spent in
        ρ from the beginning (`begins_in_rho`). Whether tables are told of units is how the data is
        read, not what is in it.
        """
        height = min(USUAL_CAP, parameters.height)
        distinct = max(2, min(USUAL_DISTINCT, height))
        worth = TIME_WORTH.get(parameters.purpose, USUAL_TIME_WORTH)
        times = worth if parameters.time_grid is not None else Fraction(0)
        shares = _shares(min(MOST_TREE_LEVELS, height), times)
        in_rho, budget = parameters.concentrated is not None, parameters.main_budget
        if tells_units and begins_in_rho(parameters):
            in_rho = True
            budget = Concentrated.within(budget, parameters.gaussian_delta).rho
        return cls(
            tuple(
                Line.of(
                    statistic,
                    statistic.cap(height, distinct),
                    budget * shares[statistic],
                    parameters.max_trajectories_per_unit,
                    in_rho=in_rho,
                )
                for statistic in (*STATISTICS, *TIME_STATISTICS)
                if statistic in shares
            ),
            delta=Fraction(0) if parameters.concentrated else parameters.gaussian_delta,
        )

    def __getitem__(self, statistic: Statistic) -> Line:
        return next(line for line in self.measurements if line.statistic is statistic)

    def __contains__(self, statistic: Statistic) -> bool:
        return any(line.statistic is statistic for line in self.measurements)

    def lines(self) -> list[Line]:
        """Every measurement, in the order in which the budget is spent."""
        return list(self.measurements)

    @property
    def budget(self) -> Fraction:
        """The ε that those with Laplace noise spend."""
        return _spent(self.measurements, in_rho=False)

    @property
    def rho(self) -> Fraction:
        """The ρ that those with Gaussian noise spend."""
        return _spent(self.measurements, in_rho=True)

    def stages(self) -> Iterator[list[Line]]:
        """Lines that are measured together; each stage may depend on what the last published."""
        for _, lines in groupby(self.measurements, key=lambda line: line.statistic.stage):
            yield list(lines)

    def next_stage(self, spent: Collection[Line]) -> list[Line]:
        """The first stage that is not over; none are left if all are."""
        return next((lines for lines in self.stages() if lines[0] not in spent), [])

    def adapted(self, other: "MeasurementPlan", spent: Collection[Line]) -> "MeasurementPlan":
        """``other``, if a run may go on with it after these lines were measured.

        Why it may. Let the lines be measured one after another, each with a budget that may depend
        on what was published before it. For two neighbouring databases and any sequence of
        outcomes, the probability of each outcome given the ones before it changes by a factor of
        at most e^budget of its line, because given those the line (its cap, its noise, its
        cells) is the same for both. The factors multiply, so the sequence changes by at most
        e^(sum of the budgets); and that sum is ε whatever was published, because no plan is gone on
        with that would make it another one. (This is adaptive composition in its simplest form.
        Were the total to depend on outcomes, it would not hold.)

        In ρ the same. For an order a > 1 let r_i be the ratio of the probabilities of the i-th
        outcome given the ones before. Given those, the mean of r_i^a under the second database
        is at most e^(a(a − 1)ρ_i), ρ_i being what its line spends. So the product of the r_i^a,
        divided by e^(a(a − 1)·(ρ_1 + … + ρ_i)), never rises in the mean, and ends at 1 at most;
        and ρ_1 + … + ρ_n is ρ on every path. So the divergence of order a is at most a·ρ. Tables in
        ε that stand between them, E in all, multiply each ratio by e^E at most: the divergence is
        then at most E + a·ρ, which is (E + ε', δ) if ρ alone is (ε', δ).

        From a plan in ε alone to one that spends a part in ρ. What is spent is in ε, E₀ of it, and
        whatever it published, what follows is (ε − E₀, δ)-differentially private, in ε or in
        part in ρ. So the whole is (ε, δ) (basic composition, which allows that the second part is
        chosen by the first). Once anything may be spent in ρ, neither sum changes any more.

        Raises:
            ValueError: if a line that was spent has changed, the budgets do not sum to what they
                summed to, a line's noise is not what its cap asks for, or some lines of a stage are
                clipped and others are not.
        """
        if other is self:
            return self
        began = other.measurements[: len(spent)]
        if list(began) != list(spent):
            raise ValueError("What was measured can't be planned anew.")
        if (other.budget, other.rho) != (self.budget, self.rho) and not self._may_become(other):
            raise ValueError("A plan must spend what the plan before it would have spent.")
        known = {line.statistic for line in began}
        for line in other.measurements[len(spent) :]:
            asked = Line.of(
                line.statistic,
                line.cap,
                line.budget,
                self.contribution,
                in_rho=line.in_rho,
                clip=line.clip,
            )
            if line != asked or line.budget <= 0 or line.statistic in known:
                raise ValueError(f"The line of {line.name} is not one that can be measured.")
            known.add(line.statistic)
        for lines in other.stages():
            if len({line.clip is None for line in lines}) > 1:
                raise ValueError("Of one stage either all tables are clipped or none.")
        return other

    def _may_become(self, other: "MeasurementPlan") -> bool:
        """Whether another plan may spend a part of this one's ε in ρ; none of it is so far."""
        left = self.budget - other.budget
        if self.rho or not self.delta or left <= 0 or other.rho <= 0:
            return False
        return Concentrated(other.rho, self.delta).keeps(left)

    @property
    def contribution(self) -> int:
        """C."""
        return self.measurements[0].contribution

    @property
    def in_rho(self) -> bool:
        """Whether its budgets are in ρ."""
        return self.measurements[0].in_rho

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


def begins_in_rho(parameters: Parameters) -> bool:
    """Whether a run whose c was chosen is best spent in ρ as a whole, by a forecast.

    A first look in ε costs more ρ than it is worth: what is left of (ε, δ) is turned into ρ, which
    falls with the square. So this is decided before it, from what is public by then: the noise on
    visits, of which a trip adds some, as Laplace noise for all c trips, and as Gaussian noise for
    trips that are clipped. ε − (what was spent on choosing c) buys this ρ at δ, so the whole is
    (ε, δ)-differentially private by basic composition, as in `MeasurementPlan.adapted`.

    Only where c was chosen: then most units have so many trips. A c that was given may be far above
    what units have.
    """
    contribution, epsilon = parameters.max_trajectories_per_unit, parameters.main_budget
    was_chosen = any(one.is_of_units for one in parameters.preparations)
    if not parameters.gaussian_delta or parameters.concentrated or not was_chosen:
        return False
    if not 1 < contribution <= MOST_CLIPPED:
        return False
    rho = float(Concentrated.within(epsilon, parameters.gaussian_delta).rho)
    added, share = USUAL_VISITS, USUAL_SHARE_OF_VISITS
    laplace = sqrt(2) * added * contribution / (share * float(epsilon))
    gaussian = sqrt(added * contribution ** CLIP_POWERS[0] / (2 * share * rho))
    return laplace > DOUBT_OF_RHO * gaussian


def _spent(lines: Collection[Line], *, in_rho: bool) -> Fraction:
    return sum((line.budget for line in lines if line.in_rho == in_rho), Fraction())


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


def _shares(levels: int, times: Fraction) -> dict[Statistic, Fraction]:
    """Of all statistics; those of times have ``times`` as much as usual."""
    weights = [TREE_RATIO**i for i in range(levels)]
    tree = {
        statistic: TREE_SHARE * weight / sum(weights)
        for statistic, weight in zip(LEVELS, weights, strict=False)
    }
    where = SHARES | tree
    if not times:
        return where
    when = {statistic: share * times for statistic, share in TIME_SHARES.items()}
    rest = 1 - sum(when.values())
    return {statistic: share * rest for statistic, share in where.items()} | when
