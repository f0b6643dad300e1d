"""Calendar periods, in UTC: the year, quarter, month, week or day that a moment falls in."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal, get_args

Period = Literal["year", "quarter", "month", "week", "day"]
PERIODS: tuple[str, ...] = get_args(Period)
_MONTHS = {"year": 12, "quarter": 3, "month": 1}


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
