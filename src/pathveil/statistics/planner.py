"""The planner: which tables are measured, under which caps, with which shares of ε.

A deterministic function of noisy values that are paid for and of public parameters (|L|, ε, c, T,
the purpose, the largest cap). It plans twice: after the first look (the number of trajectories,
their shapes, where they end), all that follows; and after the visits, what follows them.

The forecast. With a share x of what is left, a table has the error w·a/(a + x): w if it is not
measured at all, its worth; and a is the share at which its noise is as large as what it measures,

    a(cap) = bound(cap)·c·(what there is / what the cap lets through) / (ε·typical count).

Shares have the least sum of errors: that is water filling, x = √(w·a/λ) − a, or 0: not measured. A
cap has the least n + (1 − n)·cost·(what it cuts), where n = a/(a + x): what is cut counts as far as
the rest can be told, and where all is noise a larger cap would only add to it.

If the budget is in ρ, the noise is Gaussian, scaled to the bound in L2, and falls with the root of
the share: √a and √x stand for a and x, and

    √a(cap) = L2 bound(cap)·c·(what there is / what the cap lets through) / (2·√ρ·typical count).

If it is told which trips are of one unit, tables in ρ are clipped (`gate.weighing`), and C stands
for L2 bound·c. With c trips of which each adds m, C² is m·c where all cells are different, m·c²
where all are the same; it is m·c^p for some p between. A smaller C leaves less noise, and those
with many trips weigh less; what that costs is forecast as a part of what C is below m·c². If all
trips of everybody are the same nothing is lost: all weigh less by the same factor, and so does the
noise.

If the budget is in ε and there is a δ, what is left may be spent either way, and the way with the
smaller sum of errors is taken: the second time, too, if the visits were measured in ε.
 What a statistic's counts are like, and what it is
worth on such data, its own file says (`Statistic.typical`, `Statistic.worth`); the constants are in
`statistics.constants`.

Why floats may decide here. They choose among plans, each of which is private: whichever is chosen,
its budgets are exact fractions that sum to ε, its caps are whole and its sensitivities follow from
them (`MeasurementPlan.adapted` checks that). And they see noisy values only. Shares are rounded to
coarse steps, so that the same values give the same plan on every machine.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from math import ceil, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pathveil.core.parameters import Parameters
from pathveil.core.zcdp import Concentrated
from pathveil.statistics.all_statistics import STATISTICS, TIME_STATISTICS
from pathveil.statistics.constants import (
    CLIP_POWERS,
    COST_OF_CAP,
    COST_OF_CLIP,
    DOUBT_OF_RHO,
    FOLLOWING,
    LEAST_SHARES,
    MOST_CAP,
    MOST_CLIPPED,
    MOST_LEARNT,
    MOST_POPULAR,
    PLANNING_ROUNDS,
    PURPOSES,
    SANITY,
    SHARE_FOR_CAP,
    SHARE_STEP,
    SMALLEST_SHARE,
    USUAL_COST_OF_CAP,
    USUAL_MOST_LEARNT,
    WORTH,
)
from pathveil.statistics.last_locations import LAST_LOCATIONS
from pathveil.statistics.measurement_plan import Line, MeasurementPlan, Reason
from pathveil.statistics.measurements import Measurements
from pathveil.statistics.moves import MOVES
from pathveil.statistics.outlook import Outlook
from pathveil.statistics.pairs import PAIRS
from pathveil.statistics.prefix_tree import LEVELS
from pathveil.statistics.shapes import SHAPES, count_shapes, shape_values
from pathveil.statistics.statistic import FIRST_LOOK, VISITED, Known, Statistic
from pathveil.statistics.total import TOTAL
from pathveil.statistics.visits import VISITS
from pathveil.statistics.zones import told_zones


@dataclass(frozen=True, slots=True)
class Planner:
    """Plans what follows from what was published.

    Attributes:
        parameters: public.
        tells_units: whether it is told which trajectories are of one unit.
        follows: whether an earlier release of the series tells a part already.
    """

    parameters: Parameters
    tells_units: bool = False
    follows: bool = False

    def __call__(self, plan: MeasurementPlan, seen: Measurements) -> MeasurementPlan:
        """The plan to go on with, after a stage was measured."""
        stages = {statistic.stage for statistic in seen.tables}
        if stages == {FIRST_LOOK}:
            return self._adapted(plan, self.first_outlook(seen), (FIRST_LOOK,))
        if stages == {FIRST_LOOK, VISITED}:
            return self._adapted(plan, self._second_outlook(seen), (FIRST_LOOK, VISITED))
        return plan

    def _adapted(
        self, plan: MeasurementPlan, outlook: Outlook | None, over: Sequence[str]
    ) -> MeasurementPlan:
        if outlook is None:  # nothing stands out of the noise: as usual
            return plan
        spent = [line for line in plan.lines() if line.statistic.stage in over]
        times = [line for line in plan.lines() if line.statistic in TIME_STATISTICS]
        contribution = plan.contribution
        statistics = [
            statistic
            for statistic in STATISTICS
            if statistic.stage not in over
            and not _is_too_deep(statistic, outlook.height)
            and statistic.worth(outlook, 1.0) > 0
        ]
        purpose = self._purpose(over, outlook.named)
        ways = [
            (
                left,
                Forecast(outlook, float(left.planned), contribution, purpose, left.in_rho, power),
            )
            for left in _ways(plan, spent, times)
            for power in self._powers(left, contribution)
        ]
        left, forecast = min(ways, key=lambda way: way[1].error(statistics) * way[0].doubt)
        caps, shares = forecast.settle(statistics)
        units = _units(shares)
        lines = [
            Line.of(
                statistic,
                caps[statistic],
                left.planned * Fraction(units[statistic], sum(units.values())),
                contribution,
                in_rho=left.in_rho,
                clip=forecast.clip(statistic, caps[statistic]),
            )
            for statistic in statistics
            if units[statistic]
        ]
        when = [
            (
                line.statistic,
                forecast.caps(line.statistic).best(float(budget / left.planned))[0],
                budget,
            )
            for line, budget in zip(times, left.times, strict=True)
        ]
        later = [
            Line.of(
                statistic,
                cap,
                budget,
                contribution,
                in_rho=left.in_rho,
                clip=forecast.clip(statistic, cap),
            )
            for statistic, cap, budget in when
        ]
        return MeasurementPlan(
            (*spent, *lines, *later), plan.reasons + _reasons(outlook, over), plan.delta
        )

    def _purpose(self, over: Sequence[str], named: int) -> Mapping[str, float]:
        """How many times as much as usual some tables are worth.

        Visits are planned as if no release came before: whether it tells where people go now is not
        known yet, and so they lose nothing by it. Moves and pairs are worth more where all of them
        are kept, so that they are learnt over the months (`Statistic.learnt_up_to`).
        """
        purpose = PURPOSES[self.parameters.purpose]
        if not self.follows or VISITED not in over:
            return purpose
        learnt = {one.name for one in (MOVES, PAIRS) if named * named <= one.learnt_up_to}
        return purpose | {one: purpose.get(one, 1.0) * FOLLOWING[one] for one in sorted(learnt)}

    def _powers(self, left: "_Left", contribution: int) -> Sequence[float | None]:
        """The norms to choose from, by the power of c; None: nothing is clipped."""
        can_clip = left.in_rho and self.tells_units and 1 < contribution <= MOST_CLIPPED
        return CLIP_POWERS if can_clip else (None,)

    def first_outlook(self, seen: Measurements) -> Outlook | None:
        """From the number of trajectories, their shapes and where they end."""
        size = seen.universe_size
        total, known = count_shapes(seen[TOTAL], seen[SHAPES], seen.scope)
        shapes = known.value
        if total == 0:
            return None
        # Two trajectories end at the same location with probability Σp²; noise adds its variance.
        ends = seen[LAST_LOCATIONS]
        squares = float((ends.counts.astype(np.float64) ** 2).sum()) - 2.0 * size * ends.scale**2
        same = min(max(squares / total**2, 1.0 / size), 1.0)
        lengths, distinct = shape_values(shapes, size)
        return Outlook(
            total=total,
            universe_size=size,
            named=size,
            slots=seen.scope.slots,
            height=min(self.parameters.height, MOST_CAP),
            shares=(shapes / shapes.sum()).ravel(),
            lengths=lengths,
            distinct=distinct,
            same=same,
            covered=min(1.0, MOST_POPULAR * min(same, 3.0 / size)),
            has_map=seen.scope.has_map,
            zones=told_zones(seen.scope),
        )

    def _second_outlook(self, seen: Measurements) -> Outlook | None:
        """What is known from the visits besides: where people go, and which locations are named."""
        first, candidates = self.first_outlook(seen), seen.candidates
        if first is None or not len(candidates):
            return None
        known = Known(floor=SANITY * first.total)
        visits = VISITS.denoise(seen[VISITS], seen.scope, known).value
        # The sum of a table is known much better than its cells.
        total = max(float(seen[VISITS].counts.sum()), float(visits.sum()), 1.0)
        shares = np.sort(visits[candidates] / total)[::-1]
        return replace(
            first,
            named=len(candidates),
            same=max(float((shares**2).sum()), 1.0 / first.universe_size),
            covered=float(shares[:MOST_POPULAR].sum()),
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Caps:
    """The caps that a table may have, and what each means.

    Attributes:
        caps: ascending.
        needs: float64; the share at which the noise is as large as what is measured.
        losses: float64; what the cap costs by what it cuts.
        power: noise falls with this power of the share.
    """

    caps: list[int]
    needs: NDArray[np.float64]
    losses: NDArray[np.float64]
    power: float

    def best(self, share: float) -> tuple[int, float]:
        """The cap with the least error, if the table has such a share; and its need."""
        needs, given = self.needs**self.power, max(share, SHARE_FOR_CAP) ** self.power
        noise = needs / (needs + given)
        errors = noise + (1.0 - noise) * self.losses
        chosen = int(errors.argmin())
        return self.caps[chosen], float(self.needs[chosen])

    def error(self, cap: int, share: float) -> float:
        """The error with a cap and a share: of the noise, and by what the cap cuts."""
        at = self.caps.index(cap)
        need, given = float(self.needs[at]) ** self.power, share**self.power
        return float(need / (need + given) + self.losses[at])


@dataclass(frozen=True, slots=True)
class Forecast:
    """What errors to expect.

    Attributes:
        outlook: what is known.
        budget: of all that is planned.
        contribution: c.
        purpose: how many times as much as usual some tables are worth.
        in_rho: whether the budget is in ρ.
        power: of c, in the norms that tables are clipped to; None if they are not.
    """

    outlook: Outlook
    budget: float
    contribution: int
    purpose: Mapping[str, float]
    in_rho: bool
    power: float | None = None

    def settle(
        self, statistics: Sequence[Statistic]
    ) -> tuple[dict[Statistic, int], dict[Statistic, float]]:
        """Caps follow from shares, and shares from caps: a few rounds."""
        usual = [WORTH[_kind(one)] * self.purpose.get(_kind(one), 1.0) for one in statistics]
        worth = np.array(
            [one.worth(self.outlook, each) for one, each in zip(statistics, usual, strict=True)]
        )
        tables = [self.caps(statistic) for statistic in statistics]
        shares = np.full(len(statistics), 1.0 / len(statistics))
        chosen: list[tuple[int, float]] = []
        for _ in range(PLANNING_ROUNDS):
            chosen = [
                table.best(share) for table, share in zip(tables, shares.tolist(), strict=True)
            ]
            needs = np.array([need for _, need in chosen])
            shares = (root_filling if self.in_rho else water_filling)(worth, needs)
        return (
            {one: cap for one, (cap, _) in zip(statistics, chosen, strict=True)},
            dict(zip(statistics, shares.tolist(), strict=True)),
        )

    def error(self, statistics: Sequence[Statistic]) -> float:
        """The sum of the errors that are forecast, if the shares are settled."""
        caps, shares = self.settle(statistics)
        usual = {one: WORTH[_kind(one)] * self.purpose.get(_kind(one), 1.0) for one in statistics}
        return sum(
            one.worth(self.outlook, usual[one]) * self.caps(one).error(caps[one], shares[one])
            for one in statistics
        )

    def caps(self, statistic: Statistic) -> _Caps:
        """What each cap of a table means."""
        outlook = self.outlook
        most = MOST_LEARNT.get(statistic.name, USUAL_MOST_LEARNT)
        everything = np.minimum(statistic.added(outlook, UNCAPPED), most)
        caps = list(statistic.caps(outlook))
        added = np.array([np.minimum(statistic.added(outlook, cap), most) for cap in caps])
        seen, uncapped = added @ outlook.shares, outlook.mean(everything)
        bounds = [self._change(statistic, cap) for cap in caps]
        needs = np.divide(
            np.array(bounds) * uncapped, seen, out=np.full(len(caps), NEVER), where=seen > 0
        )
        is_added = everything > 0
        kept = added[:, is_added] / everything[is_added]
        present = max(float(outlook.shares[is_added].sum()), LEAST_SHARE)
        cost = COST_OF_CAP.get(statistic.name, USUAL_COST_OF_CAP)
        typical = max(self._strength * statistic.typical(outlook), LEAST_SHARE)
        power = 0.5 if self.in_rho else 1.0
        return _Caps(
            caps,
            np.minimum(needs / typical, NEVER) ** (1.0 / power),
            cost * ((1.0 - kept) @ outlook.shares[is_added]) / present + self._clipped(statistic),
            power,
        )

    def _clipped(self, statistic: Statistic) -> float:
        """What clipping costs by what it takes off those with many trips."""
        if self.power is None or statistic.repeats:
            return 0.0
        return float(COST_OF_CLIP * (1.0 - self.contribution ** (self.power / 2 - 1)))

    @property
    def _strength(self) -> float:
        """1 over the scale of the noise on a table with all of the budget, if it changes by 1."""
        return 2.0 * sqrt(self.budget) if self.in_rho else self.budget

    def _change(self, statistic: Statistic, cap: int) -> float:
        """By how much a unit changes the table, in trips."""
        clip, bound = self.clip(statistic, cap), statistic.bound(cap)
        if clip is not None:
            return sqrt(clip)
        return self.contribution * (sqrt(bound.squared_l2) if self.in_rho else bound.l1)

    def clip(self, statistic: Statistic, cap: int) -> int | None:
        """C² of a table; None if it is not clipped."""
        if self.power is None:
            return None
        most = statistic.bound(cap).squared_l2 * self.contribution**2
        if statistic.repeats:
            return most
        added = max(self.outlook.mean(statistic.added(self.outlook, cap)), 1.0)
        return min(most, ceil(float(added * self.contribution**self.power)))


class _Left(NamedTuple):
    """What is left to be spent, in ε or in ρ: on what is planned, and on each table of times.

    ``doubt``: so many times the error that is forecast is reckoned with.
    """

    planned: Fraction
    times: list[Fraction]
    in_rho: bool
    doubt: float = 1.0


def _ways(plan: MeasurementPlan, spent: Sequence[Line], times: Sequence[Line]) -> Iterator[_Left]:
    """How what is left may be spent: as it was planned, or all of it in ρ if nothing is so far."""
    in_rho = plan.rho > 0
    used = sum((line.budget for line in spent if line.in_rho == in_rho), ZERO)
    left = (plan.rho if in_rho else plan.budget) - used
    budgets = [line.budget for line in times]
    planned = left - sum(budgets, ZERO)
    yield _Left(planned, budgets, in_rho)
    if plan.delta and not in_rho:
        rho = Concentrated.within(left, plan.delta).rho
        yield _Left(
            rho * (planned / left),
            [rho * (budget / left) for budget in budgets],
            in_rho=True,
            doubt=1.0 if plan.contribution == 1 else DOUBT_OF_RHO,
        )


ZERO = Fraction(0)
UNCAPPED = 1 << 30
NEVER = 1e12  # a need that no share meets
LEAST_SHARE = 1e-9
NEWTON_STEPS = 8


def water_filling(worth: NDArray[np.float64], need: NDArray[np.float64]) -> NDArray[np.float64]:
    """Shares x ≥ 0 with the least Σ w·a/(a + x) and Σ x = 1: x = √(w·a/λ) − a, or 0."""
    low, high = 1e-12, 1e12  # λ: the sum of the shares falls with it
    for _ in range(200):
        middle = np.sqrt(low * high)
        filled = np.maximum(np.sqrt(worth * need / middle) - need, 0.0).sum() > 1.0
        low, high = (middle, high) if filled else (low, middle)
    shares: NDArray[np.float64] = np.maximum(np.sqrt(worth * need / high) - need, 0.0)
    return shares


def root_filling(worth: NDArray[np.float64], need: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same for Σ w·√a/(√a + √x): √x·(√a + √x)² = w·√a/(2λ), by Newton's method."""
    root = np.sqrt(need)

    def shares(price: float) -> NDArray[np.float64]:
        # Convex and rising in √x, which is at most either of these: each step stays above.
        side = worth * root / (2.0 * price)
        at = np.minimum(np.cbrt(side), side / np.maximum(need, LEAST_SHARE))
        for _ in range(NEWTON_STEPS):
            at = at - (at * (root + at) ** 2 - side) / ((root + at) * (root + 3.0 * at))
        return at**2

    low, high = 1e-12, 1e12
    for _ in range(60):
        middle = sqrt(low * high)
        low, high = (middle, high) if shares(middle).sum() > 1.0 else (low, middle)
    return shares(high)


def _units(shares: Mapping[Statistic, float]) -> dict[Statistic, int]:
    """Shares as whole multiples of a step; what is hardly measured is not measured."""
    raised = {one: max(share, LEAST_SHARES.get(one.name, 0.0)) for one, share in shares.items()}
    whole = sum(raised.values())
    units = {
        one: round(share / whole * SHARE_STEP)
        if share >= SMALLEST_SHARE * whole or one.name in LEAST_SHARES
        else 0
        for one, share in raised.items()
    }
    for above, below in pairwise(LEVELS):  # no level without the one above
        if below in units and not units.get(above):
            units[below] = 0
    return units


def _is_too_deep(statistic: Statistic, height: int) -> bool:
    return statistic in LEVELS[height:]


def _kind(statistic: Statistic) -> str:
    return "prefix tree" if statistic in LEVELS else statistic.name


def _reasons(outlook: Outlook, over: Sequence[str]) -> tuple[Reason, ...]:
    """The figures that decided, rounded."""
    if VISITED in over:
        figures = {
            "locations that stand out": f"{outlook.named:,}",
            "two visits go to the same location with probability": f"{outlook.same:.2g}",
            f"visits that go to the {MOST_POPULAR} most popular": f"{outlook.covered:.0%}",
        }
    else:
        figures = {
            "trajectories": f"{outlook.total:,.0f}",
            "visits of a trajectory": f"{outlook.mean_length:.3g}",
            "different locations of a trajectory": f"{outlook.mean_distinct:.3g}",
            "two trajectories end at the same location with probability": f"{outlook.same:.2g}",
        }
    return tuple(Reason(name, value) for name, value in figures.items())
