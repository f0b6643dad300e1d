"""Moments as people write them: a time of day, of the week, or of the calendar.

Three kinds, each counted in seconds of the wall clock from its own zero:

- ``day``: ``07:30`` since midnight; ``24:00`` is the end of the day;
- ``week``: ``Mon 07:30`` since Monday's midnight; ``Sun 24:00`` is the end of the week;
- ``dates``: ``2024-02-29T07:30`` since 1970, no zone applied: a wall clock's reading.
"""

import re
from datetime import UTC, datetime, timedelta
from typing import Literal
from zoneinfo import ZoneInfo, available_timezones

from pathveil.errors import ParameterError
from pathveil.suggestions import did_you_mean

Kind = Literal["day", "week", "dates"]
DAY, WEEK = 86_400, 7 * 86_400
PERIOD: dict[Kind, int | None] = {"day": DAY, "week": WEEK, "dates": None}
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
# 1970 began on a Thursday, three days after a Monday.
SINCE_MONDAY = 3 * DAY

_CLOCK = re.compile(r"(?:([A-Za-z]{3})[a-z]* )?(\d{1,2}):(\d\d)(?::(\d\d))?", re.ASCII)
_LAST_HOUR, _LAST_MINUTE = 24, 59
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def read_moment(text: str, time_zone: str = "UTC") -> tuple[Kind, int] | None:
    """The kind of a moment and its seconds; None if the text is no moment.

    Args:
        text: ``HH:MM[:SS]``, ``Mon HH:MM[:SS]`` or an ISO 8601 date or date and time.
        time_zone: a date and time that states its offset is told by the wall clock there.
    """
    match = _CLOCK.fullmatch(text.strip())
    if match is None:
        return _read_date(text.strip(), time_zone)
    hour, minute, second = (int(part or 0) for part in match.groups()[1:])
    seconds = hour * 3600 + minute * 60 + second
    if hour > _LAST_HOUR or max(minute, second) > _LAST_MINUTE or seconds > DAY:
        return None
    if match[1] is None:
        return "day", seconds
    name = match[1].title()
    return ("week", WEEKDAYS.index(name) * DAY + seconds) if name in WEEKDAYS else None


def write_moment(kind: Kind, seconds: int, *, is_end: bool = False) -> str:
    """The text of a moment; ``is_end`` writes midnight as the end of the day before."""
    if kind == "dates":
        moment = _EPOCH + timedelta(seconds=seconds)
        return f"{moment.date().isoformat()}T{_clock(seconds % DAY)}"
    day, clock = divmod(seconds, DAY)
    if is_end and clock == 0:
        day, clock = day - 1, DAY
    return _clock(clock) if kind == "day" else f"{WEEKDAYS[day]} {_clock(clock)}"


def check_time_zone(name: object) -> str:
    """A public IANA name such as ``America/Montreal``.

    Raises:
        ParameterError: if there is no such zone.
    """
    try:
        return ZoneInfo(name).key  # type: ignore[arg-type]  # it checks
    except (KeyError, ValueError, TypeError, OSError):
        shown = f" {name[:80]!r}" if isinstance(name, str) else ""
        raise ParameterError(
            f"There is no time zone{shown}; give an IANA name such as America/Montreal or UTC."
            f"{did_you_mean(name, sorted(available_timezones()))}"
        ) from None


def _read_date(text: str, time_zone: str) -> tuple[Kind, int] | None:
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is not None:
            moment = moment.astimezone(ZoneInfo(time_zone))
    except (ValueError, OverflowError):
        return None
    return "dates", (moment.replace(tzinfo=UTC) - _EPOCH) // timedelta(seconds=1)


def _clock(seconds: int) -> str:
    text = f"{seconds // 3600:02}:{seconds // 60 % 60:02}"
    return text if seconds % 60 == 0 else f"{text}:{seconds % 60:02}"
