"""A series: releases month after month of the same people, under one budget for all of them.

Why the people lose no more than the budget, however the releases are chosen. The whole series is
charged to its dataset when it is opened, before any release. In ε: n releases of ε₁ … εₙ lose at
most their sum, which `Series.check` keeps within the ε of the plan; so with n equal shares the
noise of each grows as n. In ρ: the releases are all zero-concentrated, their ρ add up, and the sum
is turned into (ε, δ) once (`core.zcdp`), which is what the dataset was charged; the noise of each
grows as √n. Each release may be planned by what the earlier ones published, and may take another
share than an equal one: the sum is fixed beforehand and never exceeded, so it bounds the loss of
both together (a privacy filter; for zCDP it costs nothing: Feldman and Zrnic, 2021; Whitehouse and
others, 2023).

A charge that became no release has taken its share all the same. A limit that begins anew with
each period is a promise about the releases of one period: a series of such a dataset ends with the
period in which it was charged.
"""

from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction

from pathveil.core.budget import LARGEST, Budget, parse_delta, parse_rho
from pathveil.core.zcdp import Concentrated
from pathveil.errors import LedgerError, ParameterError
from pathveil.ledger.entries import (
    MOST_RELEASES,
    Charged,
    Planned,
    Share,
    exact,
    written_at,
)
from pathveil.ledger.locating import check_name, check_reason
from pathveil.ledger.periods import Period, span_of
from pathveil.ledger.totals import SeriesTotals, short


@dataclass(slots=True)
class Series:
    """A series: its plan, and what was taken of it.

    Attributes:
        plan: the budget of all releases, and how many there are to be.
        opened: when it was charged to its dataset.
        taken: how many releases were charged, finished or not.
        spent: what they took, of ρ or of ε.
        periods: by which entry each period is taken; one that was withdrawn is free again.
    """

    plan: Planned
    opened: datetime
    taken: int = 0
    spent: Fraction = Fraction(0)
    periods: dict[str, int] = field(default_factory=dict)

    @classmethod
    def read(cls, kept: SeriesTotals) -> "Series":
        """A series as its totals say."""
        opened = datetime.fromisoformat(kept.opened)
        return cls(kept.plan, opened, kept.taken, exact(kept.spent), dict(kept.periods))

    def totals(self) -> SeriesTotals:
        """What must be known of it to decide about its next release."""
        return SeriesTotals(
            plan=self.plan,
            opened=written_at(self.opened),
            taken=self.taken,
            spent=short(self.spent),
            periods=dict(sorted(self.periods.items())),
        )

    @property
    def total(self) -> Fraction:
        """What all releases share: ρ, or ε."""
        return exact(self.plan.rho or self.plan.epsilon)

    @staticmethod
    def amount(text: str) -> Fraction:
        """The amount that a text of the ledger says."""
        return exact(text)

    @property
    def unit(self) -> str:
        """What it is an amount of."""
        return "ε" if self.plan.rho is None else "ρ"

    @property
    def left(self) -> Fraction:
        """What is left for the releases to come."""
        return self.total - self.spent

    @property
    def next_share(self) -> Fraction:
        """What the next release takes unless it says otherwise: an equal part of what is left."""
        return self.left / max(self.plan.releases - self.taken, 1)

    def choices(self, amount: Fraction | None = None) -> dict[str, Fraction]:
        """The budget of the next release, by the names of `pathveil.publish`.

        Args:
            amount: of ρ or ε; None: an equal part.

        Raises:
            LedgerError: if nothing is left.
        """
        self._check_open()
        share = self.next_share if amount is None else amount
        if self.plan.rho is None:
            return {"epsilon": share}
        return {"rho": share, "delta": exact(self.plan.delta)}

    def event(
        self,
        budget: Budget,
        delta: Fraction,
        rho: Fraction | None,
        *,
        period: str,
        previous: str | None,
    ) -> Charged:
        """The charge of the next release."""
        share = Share(
            series=self.plan.series,
            release=self.taken + 1,
            period=period,
            rho=None if rho is None else str(rho),
            previous=previous,
        )
        return Charged(
            dataset=self.plan.dataset,
            population=self.plan.population,
            epsilon=str(budget),
            delta=str(delta),
            share=share,
        )

    def check(self, charge: Charged, moment: datetime, period: Period | None) -> None:
        """Refuse a charge that is not the next release, or takes more than is left.

        Args:
            charge: with the share that it takes.
            moment: when.
            period: with which the limit of the dataset begins anew.

        Raises:
            LedgerError: if so; nothing was charged then.
        """
        self._check_open()
        name, share = self.plan.series, charge.share
        if (charge.dataset, charge.population) != (self.plan.dataset, self.plan.population):
            raise LedgerError(f"Series {name!r} is of another dataset or population.")
        if share is None or share.release != self.taken + 1:
            raise LedgerError(f"The next release of series {name!r} is number {self.taken + 1}.")
        if period is not None and moment not in span_of(self.opened, period):
            raise LedgerError(
                f"Series {name!r} was charged to a {period} of its dataset that is over: open "
                f"another for this {period}. Nothing was charged or read."
            )
        if share.period in self.periods:
            raise LedgerError(
                f"The data of {share.period} was charged to series {name!r} already, by entry "
                f"{self.periods[share.period]}. If that run failed, or its release was wrong, say "
                f"so (`pathveil ledger withdraw {self.periods[share.period]} --reason …`) and "
                "publish again, for another share. Nothing was charged or read."
            )
        self._check_amount(charge, share)

    def take(self, number: int, charge: Charged) -> None:
        """Enter a charge, which was checked."""
        share = charge.share
        if share is not None:
            self.taken += 1
            self.spent += exact(share.rho or charge.epsilon)
            self.periods[share.period] = number

    def free(self, number: int) -> None:
        """Let the period of a withdrawn release be published again. Its share stays spent."""
        self.periods = {text: entry for text, entry in self.periods.items() if entry != number}

    def changed(self, releases: int, reason: str) -> Planned:
        """The plan with another number of releases; what is left is shared by those to come."""
        plan = self.plan.model_copy(update={"releases": releases, "reason": reason})
        self.check_change(plan)
        return plan

    def check_change(self, plan: Planned) -> None:
        """Refuse another plan that changes more than the number of releases.

        Raises:
            LedgerError: if so.
        """
        same = {"releases": plan.releases, "reason": plan.reason}
        if self.plan.model_copy(update=same) != plan:
            raise LedgerError(
                f"There is a series {plan.series!r} already: its dataset and its budget are fixed. "
                "Only the number of releases can be changed."
            )
        if plan.releases < max(self.taken, 1):
            raise LedgerError(f"Series {plan.series!r} has {self.taken} releases already.")

    def _check_open(self) -> None:
        if self.taken >= self.plan.releases or self.left <= 0:
            raise LedgerError(
                f"Series {self.plan.series!r} is spent: {self.taken} of {self.plan.releases} "
                f"releases took {self.unit} = {self.spent} of {self.total}. Nothing was charged "
                "or read."
            )

    def _check_amount(self, charge: Charged, share: Share) -> None:
        name, delta = self.plan.series, exact(self.plan.delta)
        if (share.rho is None) != (self.plan.rho is None) or exact(charge.delta) != delta:
            kind = "ε without δ" if self.plan.rho is None else f"ρ, at δ = {delta}"
            raise LedgerError(f"The budget of series {name!r} is in {kind}; so are its releases.")
        taken = exact(share.rho or charge.epsilon)
        if taken > self.left:
            raise LedgerError(
                f"Series {name!r} has {self.unit} = {self.left} left; this run asks for {taken}. "
                "Nothing was charged or read."
            )
        if share.rho is not None and not Concentrated(taken, delta).keeps(exact(charge.epsilon)):
            raise LedgerError("That ε does not follow from ρ at this δ.")


def planned(
    series: str,
    dataset: str,
    population: str | None,
    releases: object,
    *,
    epsilon: object = None,
    rho: object = None,
    delta: object = None,
    reason: str = "",
) -> Planned:
    """A plan, checked.

    Args:
        series: its name.
        dataset: what it is charged to.
        population: one population of it; None: everybody.
        releases: how many there are to be.
        epsilon: of all together; with ``delta`` they share the ρ that keeps (ε, δ).
        rho: instead of ε, with ``delta``.
        delta: δ of all together.
        reason: kept in the ledger.

    Raises:
        ParameterError: if something can't be used.
    """
    number = check_releases(releases)
    if (epsilon is None) == (rho is None):
        raise ParameterError("Give the budget of the series: either epsilon or rho, with delta.")
    if rho is not None and delta is None:
        raise ParameterError('A budget in rho needs a delta, such as "1e-9".')
    shared, cost = None, None
    at = Fraction(0) if delta is None else parse_delta(delta)
    if rho is not None:
        shared = Concentrated(parse_rho(rho), at)
        cost = shared.epsilon
        if cost > LARGEST:
            raise ParameterError(f"That rho is an epsilon above {LARGEST}: it promises nothing.")
    else:
        cost = Budget.parse(epsilon).epsilon  # type: ignore[arg-type]  # it checks
        shared = Concentrated.within(cost, at) if at else None
    return Planned(
        series=check_name("series", series),
        dataset=check_name("dataset", dataset),
        population=None if population is None else check_name("population", population),
        releases=number,
        epsilon=str(cost),
        delta=str(at),
        rho=None if shared is None else str(shared.rho),
        reason=check_reason(reason),
    )


def check_releases(releases: object) -> int:
    """A number of releases.

    Raises:
        ParameterError: if it can't be one.
    """
    if not isinstance(releases, int) or not 1 <= releases <= MOST_RELEASES:
        raise ParameterError(f"A series has 1 to {MOST_RELEASES:,} releases.")
    return releases
