"""The planner: which tables are measured, under which caps, with which shares of ε.

A deterministic function of noisy values that are paid for and of public parameters (|L|, ε, c, T,
the purpose, the largest cap). It plans twice: after the first look (the number of trajectories,
their shapes, where they end), all that follows; and after the visits, what follows them.

The forecast. With a share x of what is left, a table has the error w·a/(a + x): w if it is not
measured at all, its worth; and a is the share at which its noise is as large as what it measures,

    a(cap) = bound(cap)·c·(what there is / what the cap lets through) / (ε·typical count).

Shares have the least sum of errors: that is water filling, x = √(w·a/λ) − a, or 0: not measured. A
cap has the least a/(a + x) + ρ·(what it cuts). What a statistic's counts are like, and what it is
worth on such data, its own file says (`Statistic.typical`, `Statistic.worth`); the constants are in
`statistics.constants`.

Why floats may decide here. They choose among plans, each of which is private: whichever is chosen,
its budgets are exact fractions that sum to ε, its caps are whole and its sensitivities follow from
them (`MeasurementPlan.adapted` checks that). And they see noisy values only. Shares are rounded to
coarse steps, so that the same values give the same plan on every machine.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pathveil.core.parameters import Parameters
from pathveil.statistics.all_statistics import STATISTICS, TIME_STATISTICS
from pathveil.statistics.constants import (
    COST_OF_CAP,
    LEAST_SHARES,
    MOST_CAP,
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
from pathveil.statistics.outlook import Outlook
from pathveil.statistics.prefix_tree import LEVELS
from pathveil.statistics.shapes import SHAPES, count_shapes, shape_values
from pathveil.statistics.statistic import FIRST_LOOK, VISITED, Known, Statistic
from pathveil.statistics.total import TOTAL
from pathveil.statistics.visits import VISITS


@dataclass(frozen=True, slots=True)
class Planner:
    """Plans what follows from what was published.

    Attributes:
        parameters: public.
    """

    parameters: Parameters

    def __call__(self, plan: MeasurementPlan, seen: Measurements) -> MeasurementPlan:
        """The plan to go on with, after a stage was measured."""
        stages = {statistic.stage for statistic in seen.tables}
        if stages == {FIRST_LOOK}:
            return self._adapted(plan, self._first_outlook(seen), (FIRST_LOOK,))
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
        kept = sum((line.budget for line in (*spent, *times)), Fraction())
        left, contribution = plan.budget - kept, plan.contribution
        statistics = [
            statistic
            for statistic in STATISTICS
            if statistic.stage not in over
            and not _is_too_deep(statistic, outlook.height)
            and statistic.worth(outlook, 1.0) > 0
        ]
        purpose = PURPOSES[self.parameters.purpose]
        forecast = _Forecast(outlook, float(left), contribution, purpose)
        caps, shares = forecast.settle(statistics)
        units = _units(shares)
        lines = [
            Line.of(
                statistic,
                caps[statistic],
                left * Fraction(units[statistic], sum(units.values())),
                contribution,
            )
            for statistic in statistics
            if units[statistic]
        ]
        share = {line.statistic: float(line.budget / left) for line in times}
        later = [
            Line.of(
                line.statistic,
                forecast.caps(line.statistic).best(share[line.statistic])[0],
                line.budget,
                contribution,
            )
            for line in times
        ]
        return MeasurementPlan((*spent, *lines, *later), plan.reasons + _reasons(outlook, over))

    def _first_outlook(self, seen: Measurements) -> Outlook | None:
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
        )

    def _second_outlook(self, seen: Measurements) -> Outlook | None:
        """What is known from the visits besides: where people go, and which locations are named."""
        first, candidates = self._first_outlook(seen), seen.candidates
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
    """

    caps: list[int]
    needs: NDArray[np.float64]
    losses: NDArray[np.float64]

    def best(self, share: float) -> tuple[int, float]:
        """The cap with the least error, if the table has such a share; and its need."""
        errors = self.needs / (self.needs + max(share, SHARE_FOR_CAP)) + self.losses
        chosen = int(errors.argmin())
        return self.caps[chosen], float(self.needs[chosen])


@dataclass(frozen=True, slots=True)
class _Forecast:
    """What errors to expect.

    Attributes:
        outlook: what is known.
        epsilon: of all that is planned.
        contribution: c.
        purpose: how many times as much as usual some tables are worth.
    """

    outlook: Outlook
    epsilon: float
    contribution: int
    purpose: Mapping[str, float]

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
            shares = water_filling(worth, np.array([need for _, need in chosen]))
        return (
            {one: cap for one, (cap, _) in zip(statistics, chosen, strict=True)},
            dict(zip(statistics, shares.tolist(), strict=True)),
        )

    def caps(self, statistic: Statistic) -> _Caps:
        """What each cap of a table means."""
        outlook = self.outlook
        most = MOST_LEARNT.get(statistic.name, USUAL_MOST_LEARNT)
        everything = np.minimum(statistic.added(outlook, UNCAPPED), most)
        caps = list(statistic.caps(outlook))
        added = np.array([np.minimum(statistic.added(outlook, cap), most) for cap in caps])
        seen, uncapped = added @ outlook.shares, outlook.mean(everything)
        bounds = [statistic.bound(cap).l1 * self.contribution for cap in caps]
        needs = np.divide(
            np.array(bounds) * uncapped, seen, out=np.full(len(caps), NEVER), where=seen > 0
        )
        is_added = everything > 0
        kept = added[:, is_added] / everything[is_added]
        present = max(float(outlook.shares[is_added].sum()), LEAST_SHARE)
        cost = COST_OF_CAP.get(statistic.name, USUAL_COST_OF_CAP)
        typical = max(self.epsilon * statistic.typical(outlook), LEAST_SHARE)
        return _Caps(
            caps,
            np.minimum(needs / typical, NEVER),
            cost * ((1.0 - kept) @ outlook.shares[is_added]) / present,
        )


UNCAPPED = 1 << 30
NEVER = 1e12  # a need that no share meets
LEAST_SHARE = 1e-9


def water_filling(worth: NDArray[np.float64], need: NDArray[np.float64]) -> NDArray[np.float64]:
    """Shares x ≥ 0 with the least Σ w·a/(a + x) and Σ x = 1: x = √(w·a/λ) − a, or 0."""
    low, high = 1e-12, 1e12  # λ: the sum of the shares falls with it
    for _ in range(200):
        middle = np.sqrt(low * high)
        filled = np.maximum(np.sqrt(worth * need / middle) - need, 0.0).sum() > 1.0
        low, high = (middle, high) if filled else (low, middle)
    shares: NDArray[np.float64] = np.maximum(np.sqrt(worth * need / high) - need, 0.0)
    return shares


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
