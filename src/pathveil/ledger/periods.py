"""Calendar periods, in UTC, and how the budgets of releases of several periods add up."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Literal, get_args

from pathveil.errors import ParameterError

Period = Literal["year", "quarter", "month", "week", "day"]
PERIODS: tuple[str, ...] = get_args(Period)
_MONTHS = {"year": 12, "quarter": 3, "month": 1}


# Calendar periods, in UTC: the year, quarter, month, week or day that a moment falls in.


@dataclass(frozen=True, slots=True)
class Span:
    """One calendar period: ``start`` belongs to it, ``end`` to the next."""

    start: datetime
    end: datetime

    def __contains__(self, moment: datetime) -> bool:
        return self.start <= moment < self.end


def span_of(moment: datetime, period: Period) -> Span:
    """The calendar period around a moment. Weeks begin on Monday, quarters in January."""
    moment = moment.astimezone(UTC)
    midnight = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    if period in _MONTHS:
        length = _MONTHS[period]
        first = (midnight.month - 1) // length * length
        years, month = divmod(first + length, 12)
        return Span(
            midnight.replace(month=first + 1, day=1),
            midnight.replace(year=midnight.year + years, month=month + 1, day=1),
        )
    start = midnight - timedelta(days=midnight.weekday() if period == "week" else 0)
    return Span(start, start + timedelta(days=7 if period == "week" else 1))


# How the budgets of several releases of one dataset add up; δ adds up in the same ways as ε.
#
# **Sequential.** Releases that look at the same people add: if M₁ is ε₁-DP and M₂, chosen after
# seeing M₁'s output, is ε₂-DP, then both together are (ε₁ + ε₂)-DP.
#
# **Parallel.** Suppose that the curator declares populations (north, south …) such that no unit is
# in two of them, whoever is added to or removed from the data. Take two neighbouring databases:
# they differ in one unit. That unit is in at most one population p. A release of a population
# q ≠ p reads the same input on both sides, so it tells them apart not at all. What can tell them
# apart are the releases of everybody and those of p, which compose sequentially:
#
#     ε(everybody) + ε(p) ≤ ε(everybody) + max over q of ε(q)
#
# The right side does not depend on the unit, so it bounds the loss of every unit. The argument
# needs the declaration to be true: a unit that moves from north to south between two releases is
# in both, and loses the sum. The software can't check that; it records who was declared what.


Share = tuple[str | None, Fraction]
"""What one release spent, and on which population; None is everybody."""


@dataclass(slots=True)
class Tally:
    """The sums so far: of the releases of everybody, and of those of each population."""

    everybody: Fraction = Fraction(0)
    populations: dict[str, Fraction] = field(default_factory=lambda: defaultdict(Fraction))

    def add(self, share: Share) -> None:
        """Count one more release.

        Raises:
            ParameterError: if its ε is not a Fraction.
        """
        population, epsilon = share
        if not isinstance(epsilon, Fraction):
            raise ParameterError("Budgets add up exactly: an epsilon must be a Fraction.")
        if population is None:
            self.everybody += epsilon
        else:
            self.populations[population] += epsilon

    def composed(self) -> Fraction:
        """The ε of all these releases together."""
        return self.everybody + max(self.populations.values(), default=Fraction(0))

    def spent_on(self, population: str | None) -> Fraction:
        """What counts against a further release of this population (None: of everybody).

        For a population p it is ε(everybody) + ε(p): spending up to limit minus this keeps p's
        own loss within the limit, and does not touch another population's.
        """
        if population is None:
            return self.composed()
        return self.everybody + self.populations.get(population, Fraction(0))


def tally(shares: Iterable[Share]) -> Tally:
    """The sums of these releases."""
    sums = Tally()
    for share in shares:
        sums.add(share)
    return sums
