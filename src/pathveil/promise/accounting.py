"""Parts of the certificate: records of public inputs and files, and how the budget adds up."""

from fractions import Fraction
from math import prod
from typing import Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
)

from pathveil.core.noise import Gaussian, Laplace, Noise
from pathveil.core.parameters import Parameters
from pathveil.core.thresholds import SubLevels
from pathveil.promise.stability import CLIPPED, Promise, Step, TableMap, Told, is_of_units
from pathveil.statistics.all_statistics import STATISTICS, TIME_STATISTICS
from pathveil.statistics.measurement_plan import PARTS, Line, MeasurementPlan, Reason
from pathveil.times.time_grid import Kind, TimeGrid
from pathveil.universe.taxonomy import Taxonomy
from pathveil.universe.universe import MAX_LABEL_LENGTH

EXACT = r"^[0-9]{1,100}(/[1-9][0-9]{0,99})?$"
POSITIVE = r"^[1-9][0-9]{0,99}(/[1-9][0-9]{0,99})?$"


# Parts of the certificate that are records of something else: public inputs, files.


class Part(BaseModel):
    """A part of the certificate: nothing is missing, unknown or changed later."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class TimeGridRecord(Part):
    """The public time grid; its slots are listed in the bundle."""

    name: str = Field(max_length=20, description='"1h" …, "weekday-hour" or "file".')
    kind: Kind = Field(description="What the slots are slots of.")
    slots: int = Field(ge=1)
    time_zone: str = Field(max_length=80, description="The zone whose wall clock decides.")

    @classmethod
    def of(cls, grid: TimeGrid) -> "TimeGridRecord":
        """The record of a grid."""
        return cls(name=grid.name, kind=grid.kind, slots=len(grid), time_zone=grid.time_zone)


class TaxonomyRecord(Part):
    """The public taxonomy; each location's zone is listed in the bundle."""

    origin: str = Field(max_length=MAX_LABEL_LENGTH, description="How the taxonomy was made.")
    zones: int = Field(ge=1)
    zone_share: str | None = Field(
        default=None,
        pattern=EXACT,
        description="The zones' share of a level's ε; null: they are no nodes of a tree.",
    )
    zone_threshold: int | None = Field(
        default=None, ge=0, description="The smallest noisy count of a kept zone, in a tree."
    )

    @classmethod
    def of(cls, taxonomy: Taxonomy, sub_levels: SubLevels | None) -> "TaxonomyRecord":
        """The record of a taxonomy and of how the levels of a tree are measured with it."""
        return cls(
            origin=taxonomy.origin,
            zones=len(taxonomy),
            zone_share=None if sub_levels is None else str(sub_levels.zone_share),
            zone_threshold=None if sub_levels is None else sub_levels.zone_threshold,
        )


class InEpsilonOrRho(Part):
    """A part that says ρ only where there is one, as certificates without it always did."""

    @model_serializer(mode="wrap")
    def _without_no_rho(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        values: dict[str, Any] = handler(self)
        if values.get("rho") is None:
            values.pop("rho", None)
        return values


class FileRecord(Part):
    """A file of the bundle."""

    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    bytes: int = Field(ge=0)


# How the budget adds up: the maps of `promise.stability` as lines of the certificate, and back.


_NOISY = "noisy counts: "
_LEANING = (
    "; counts lean on those of an earlier release of the series, which is public, as far as the "
    "noisy tables say that it is right"
)
_COMPOSITION = "sequential over the measurements, parallel within each"
_COMPOSITION_IN_RHO = (
    "sequential over the measurements, parallel within each; the ε of the measurements in ε add "
    "up, those in ρ add up (zero-concentrated differential privacy), and ε is the sum of the "
    "former and of what the sum of the latter implies at δ"
)


class StepLine(Part):
    """One step from the data to the trajectories that are counted."""

    step: str
    depends_on: str = Field(description="What in the data each piece of its result follows from.")
    stability: int = Field(ge=1, description="How many pieces differ after it for one before.")


class BudgetLine(InEpsilonOrRho):
    """One measurement and its share of ε, or of ρ."""

    measurement: str
    epsilon: str | None = Field(
        pattern=POSITIVE, description="Of ε, Laplace noise; null: the share is of ρ."
    )
    rho: str | None = Field(
        default=None,
        pattern=POSITIVE,
        description="Of ρ, Gaussian noise, σ² = squared_l2/(2·rho); absent: the share is of ε.",
    )
    sensitivity: int = Field(ge=1, description="L1 change by one unit.")
    squared_l2: int | None = Field(
        default=None, ge=1, description="L2 change by one unit, squared; null: not told."
    )
    depends_on: str = Field(default="", description="What of the trajectories it sees.")
    cap: int | None = Field(
        default=None, ge=1, description="How much of a trajectory counts; null: all, or not told."
    )

    @property
    def squared(self) -> int:
        """The L2 change by one unit, squared; where it is not told, that in L1 bounds it."""
        return self.squared_l2 or self.sensitivity**2

    @property
    def clip(self) -> int | None:
        """C², if what a unit adds is clipped; else None."""
        return self.squared // PARTS**2 if self.depends_on.endswith(CLIPPED) else None

    @property
    def noise(self) -> Noise:
        """The noise on one count that such a share means."""
        if self.rho is not None:
            return Gaussian(Fraction(self.squared) / (2 * Fraction(self.rho)))
        return Laplace(Fraction(self.epsilon or 0) / self.sensitivity)


class PlanReason(Part):
    """A noisy figure that the plan followed from."""

    figure: str
    value: str = Field(max_length=40, description="Noisy and rounded.")


class PlanRecord(Part):
    """How caps and shares were chosen while measuring: from noisy tables that the plan paid for."""

    rule: str
    reasons: list[PlanReason] = Field(max_length=20)


class NoisyChoice(InEpsilonOrRho):
    """A parameter that was chosen from data, and paid for."""

    measurement: str
    rule: str = Field(description="How the choice followed from noisy counts.")
    epsilon: str | None = Field(
        pattern=EXACT, description="Of ε, Laplace noise; null: the share is of ρ."
    )
    rho: str | None = Field(
        default=None,
        pattern=POSITIVE,
        description="Of ρ, Gaussian noise, σ² = sensitivity²/(2·rho); absent: the share is of ε.",
    )
    sensitivity: int = Field(ge=1, description="L1 change by one unit.")
    delta: str = Field(pattern=EXACT)
    expansion: str | None = Field(
        default=None,
        pattern=POSITIVE,
        description="How many trips there are for each that is used, by noisy counts; absent: not "
        "what was measured.",
    )

    @model_serializer(mode="wrap")
    def _without_no_rho(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        values: dict[str, Any] = handler(self)
        for name in ("expansion", "rho"):
            if values.get(name) is None:
                values.pop(name, None)
        return values


class Accounting(Part):
    """How the budget adds up."""

    composition: str
    post_processing: str
    steps: list[StepLine] = Field(
        default=[], description="From rows to trajectories; their stabilities multiply."
    )
    budget: list[BudgetLine]
    choices: list[NoisyChoice] = Field(
        default=[], description="Parameters chosen from data; their ε is part of the budget."
    )
    plan: PlanRecord | None = Field(
        default=None,
        description="Why the caps and shares of the budget are as they are; null: they follow from "
        "public parameters.",
    )

    @classmethod
    def of(cls, promise: Promise, parameters: Parameters, *, leans: bool = False) -> "Accounting":
        """The lines of a promise; ``leans``: on an earlier release of the series."""
        plan = parameters.planned
        return cls(
            composition=_COMPOSITION_IN_RHO if promise.rho(1) else _COMPOSITION,
            post_processing=parameters.how.post_processing + (_LEANING if leans else ""),
            steps=[
                StepLine(step=step.name, depends_on=step.depends_on, stability=step.stability)
                for step in promise.steps
            ],
            budget=[
                BudgetLine(
                    measurement=f"{_NOISY}{table.name}",
                    epsilon=None if table.in_rho else str(table.map(promise.pieces(table))),
                    rho=str(table.rho(promise.pieces(table))) if table.in_rho else None,
                    sensitivity=table.sensitivity(promise.pieces(table)),
                    squared_l2=table.squared_sensitivity(promise.pieces(table)),
                    depends_on=table.depends_on,
                    cap=table.cap,
                )
                for table in promise.tables
            ],
            choices=[
                NoisyChoice(
                    measurement=one.name,
                    rule=one.rule,
                    epsilon=None if one.in_rho else str(one.budget),
                    rho=str(one.budget) if one.in_rho else None,
                    sensitivity=one.sensitivity,
                    delta=str(one.delta),
                    expansion=None if one.expansion is None else str(one.expansion),
                )
                for one in parameters.preparations
            ],
            plan=None if plan is None or not plan.reasons else _plan_record(plan),
        )

    def promise(self, difference: str, told: Told | None) -> Promise:
        """The promise that these lines add up to, for such a difference in the data."""
        steps = tuple(Step(line.step, line.depends_on, line.stability) for line in self.steps)
        used = prod(step.stability for step in steps)
        deltas = {choice.measurement: Fraction(choice.delta) for choice in self.choices}
        tables = []
        for line in self.budget:
            name = line.measurement.removeprefix(_NOISY)
            each = 1 if is_of_units(line.depends_on) else used
            l1, squared_l2 = line.sensitivity // each, line.squared // each**2
            delta = deltas.get(name, Fraction())
            tables.append(
                TableMap(name, line.depends_on, line.noise, l1, squared_l2, delta, line.cap)
            )
        return Promise(difference, steps, tuple(tables), told)

    def planned(self, contribution: int, delta: Fraction) -> MeasurementPlan | None:
        """The plan that these lines are of; None if they have no caps, or are of no tables.

        Args:
            contribution: c.
            delta: δ, if a part of ε could be spent in ρ.

        Raises:
            ValueError: if a line can't be of such a plan.
        """
        chosen = {choice.measurement for choice in self.choices}
        named = {statistic.name: statistic for statistic in (*STATISTICS, *TIME_STATISTICS)}
        lines = []
        for spent in self.budget:
            name = spent.measurement.removeprefix(_NOISY)
            if name in chosen:
                continue
            if spent.cap is None or name not in named:
                return None
            budget, in_rho = Fraction(spent.rho or spent.epsilon or 0), spent.rho is not None
            line = Line.of(
                named[name], spent.cap, budget, contribution, in_rho=in_rho, clip=spent.clip
            )
            if line.sensitivity != spent.sensitivity or (spent.clip and line.noise != spent.noise):
                raise ValueError(f"the sensitivity of {name} is not that of its cap")
            lines.append(line)
        reasons = self.plan.reasons if self.plan else []
        given = tuple(Reason(reason.figure, reason.value) for reason in reasons)
        return MeasurementPlan(tuple(lines), given, delta)


# By whether any is in ρ, and any in ε.
_SUMS = {
    (False, True): "ε",
    (True, False): "ρ",
    (True, True): "ε, those in ρ by what follows from them at δ",
}


def _plan_record(plan: MeasurementPlan) -> PlanRecord:
    return PlanRecord(
        rule=(
            "caps, shares and which tables are measured follow from these figures, which are "
            "estimates from noisy tables of the same budget, by a rule without randomness "
            "(pathveil.statistics.planner); what was measured was not planned anew, and whatever "
            f"they are, the budgets sum to {_SUMS[bool(plan.rho), bool(plan.budget)]}"
        ),
        reasons=[PlanReason(figure=one.name, value=one.value) for one in plan.reasons],
    )
