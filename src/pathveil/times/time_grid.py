"""Time as a release sees it: moments as people write them, and the public grid of slots."""

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from io import TextIOWrapper
from itertools import pairwise
from pathlib import Path
from typing import Literal
from zoneinfo import ZoneInfo, available_timezones

import numpy as np
from numpy.typing import NDArray

from pathveil.errors import ParameterError, did_you_mean
from pathveil.plain_files import open_named

Kind = Literal["day", "week", "dates"]
DAY, WEEK = 86_400, 7 * 86_400
PERIOD: dict[Kind, int | None] = {"day": DAY, "week": WEEK, "dates": None}
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
# 1970 began on a Thursday, three days after a Monday.
SINCE_MONDAY = 3 * DAY

_CLOCK = re.compile(r"(?:([A-Za-z]{3})[a-z]* )?(\d{1,2}):(\d\d)(?::(\d\d))?", re.ASCII)
_LAST_HOUR, _LAST_MINUTE = 24, 59
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
WEEKDAY_HOUR, FILE = "weekday-hour", "file"
OUTSIDE = np.iinfo(np.int64).min
"""The tick of a moment that no slot covers."""
MAX_SLOTS = 10**6
# Pairs are numbered with 32 bits, as locations are.
MAX_PAIRS = 2**31 - 1
_LENGTH = re.compile(r"([1-9]\d{0,3}) ?(h|min)")
_START_COLUMNS = ("start", "time", "slot")
_HOUR, _MINUTE = 3600, 60


# Moments as people write them: a time of day, of the week, or of the calendar.
#
# Three kinds, each counted in seconds of the wall clock from its own zero:
#
# - ``day``: ``07:30`` since midnight; ``24:00`` is the end of the day;
# - ``week``: ``Mon 07:30`` since Monday's midnight; ``Sun 24:00`` is the end of the week;
# - ``dates``: ``2024-02-29T07:30`` since 1970, no zone applied: a wall clock's reading.


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


# The time grid: a public, ordered list of slots (the timestamp universe of section IV-D).
#
# It is an input, like the universe of locations: never read off the data. A visit's slot is decided
# by the wall clock of one public time zone.
#
# With a grid, a node of the prefix tree is a pair (location, slot), and its code is
# slot · |L| + location. So codes ascend with time, and the pairs from a slot on are one range.


@dataclass(frozen=True, slots=True)
class TimeGrid:
    """Slots of the day, of the week or of a stretch of the calendar; public.

    Slots are half-open, ascend and do not overlap; there may be gaps between them.

    Attributes:
        name: what was asked for: "1h", "15min" …, "weekday-hour" or "file".
        kind: what the slots are slots of: "day", "week" or "dates".
        time_zone: IANA name of the zone whose wall clock decides.
        starts: first second of each slot; see `pathveil.times.time_grid`.
        ends: the second after its last.
        labels: each slot by its start: "07:00", "Mon 07:00" or "2024-02-29T07:00".
    """

    name: str
    kind: Kind
    time_zone: str
    starts: tuple[int, ...] = field(repr=False)
    ends: tuple[int, ...] = field(repr=False)
    labels: tuple[str, ...] = field(repr=False)

    @classmethod
    def parse(cls, text: str, time_zone: str = "UTC") -> "TimeGrid":
        """The grid that a publisher asks for.

        Args:
            text: "1h", "15min" … (slots of the day, whose length divides it), "weekday-hour"
                (the 168 hours of the week from Monday on), or the path of a file (see `read`).
            time_zone: IANA name.

        Raises:
            ParameterError: if it is none of these.
        """
        if not isinstance(text, str):
            raise ParameterError("A time grid is given as text, such as '1h'.")
        if text == WEEKDAY_HOUR:
            return cls._even(text, "week", _HOUR, time_zone)
        match = _LENGTH.fullmatch(text)
        if match is None:
            return cls.read(text, time_zone)
        length = int(match[1]) * (_HOUR if match[2] == "h" else _MINUTE)
        if DAY % length:
            raise ParameterError(
                f"Slots of {text} do not divide the day evenly; use 15min, 30min, 1h, 2h …"
            )
        return cls._even(f"{match[1]}{match[2]}", "day", length, time_zone)

    @classmethod
    def read(cls, path: str | Path, time_zone: str = "UTC") -> "TimeGrid":
        """Any public window, from a CSV file with one slot per row.

        The column ``start`` (or ``time`` or ``slot``, else the first one) holds the starts:
        ``HH:MM``, ``Mon HH:MM``, or ISO 8601 dates and times. The column ``end``, if there is
        one, holds the ends; else a slot ends where the next one starts, the last one with the
        day or the week, or (dates) after as long as the one before.
        """
        path = Path(path)
        rows = _read_rows(path)
        if not rows:
            raise ParameterError(f"The time grid {path} has no slots.")
        name = next((c for c in _START_COLUMNS if c in rows[0]), next(iter(rows[0])))
        ends = [row["end"] for row in rows] if "end" in rows[0] else None
        return cls.of([row[name] for row in rows], ends, time_zone=time_zone)

    @classmethod
    def of(
        cls,
        starts: Sequence[str],
        ends: Sequence[str] | None = None,
        *,
        time_zone: str = "UTC",
        name: str = FILE,
    ) -> "TimeGrid":
        """A grid from the texts of its starts, and of its ends if they are not the next starts."""
        zone = check_time_zone(time_zone)
        kind, first = _moments(starts, zone)
        if ends is None:
            last = [*first[1:], _last_end(kind, first)]
        else:
            other, last = _moments(ends, zone)
            if other != kind:
                raise ParameterError("The slots' ends must be written as their starts are.")
        return cls._checked(name, kind, zone, first, last)

    @classmethod
    def _even(cls, name: str, kind: Kind, length: int, time_zone: str) -> "TimeGrid":
        starts = range(0, PERIOD[kind] or 0, length)
        ends = [start + length for start in starts]
        return cls._checked(name, kind, check_time_zone(time_zone), starts, ends)

    @classmethod
    def _checked(
        cls, name: str, kind: Kind, zone: str, starts: Sequence[int], ends: Sequence[int]
    ) -> "TimeGrid":
        if not 1 <= len(starts) == len(ends) <= MAX_SLOTS:
            raise ParameterError(f"A time grid has 1 to {MAX_SLOTS:,} slots, with one end each.")
        borders = [border for slot in zip(starts, ends, strict=True) for border in slot]
        rises = all(a < b for a, b in zip(borders[::2], borders[1::2], strict=True)) and all(
            a <= b for a, b in pairwise(borders)
        )
        if not rises or (PERIOD[kind] or borders[-1]) < borders[-1]:
            raise ParameterError(
                "The slots of a time grid must be in ascending order, none empty, none "
                "overlapping the next."
            )
        try:
            labels = tuple(write_moment(kind, start) for start in starts)
            write_moment(kind, ends[-1], is_end=True)  # the others are starts, or were read
        except OverflowError:
            raise ParameterError(
                "The last slot of the time grid ends after the year 9999."
            ) from None
        return cls(name, kind, zone, tuple(starts), tuple(ends), labels)

    def __len__(self) -> int:
        return len(self.starts)

    def ends_as_texts(self) -> list[str]:
        """The end of each slot, written as the labels are."""
        return [write_moment(self.kind, end, is_end=True) for end in self.ends]

    def ticks(self, wall: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where moments of the wall clock fall: period · |T| + slot, or `OUTSIDE`.

        The period is the day or the week (a stretch of the calendar has one only), so ticks
        ascend with the wall clock.

        Args:
            wall: int64, shape (n,); readings of the wall clock in seconds since 1970.
        """
        period = PERIOD[self.kind]
        since = wall + SINCE_MONDAY if self.kind == "week" else wall
        number = np.zeros_like(since) if period is None else since // period
        within = since if period is None else since - number * period
        slot = np.searchsorted(np.array(self.starts), within, side="right") - 1
        covered = (slot >= 0) & (within < np.array(self.ends)[slot])
        ticks: NDArray[np.int64] = np.where(covered, number * len(self) + slot, OUTSIDE)
        return ticks


def check_pairs(universe_size: int, grid: TimeGrid | None) -> int:
    """|L|·|T|, how many candidates the root of the tree has.

    Raises:
        ParameterError: if pairs can't be numbered with 32 bits.
    """
    pairs = universe_size * (1 if grid is None else len(grid))
    if pairs > MAX_PAIRS:
        raise ParameterError(
            f"There are {pairs:,} pairs of a location and a slot, more than {MAX_PAIRS:,}; use a "
            "coarser time grid or a smaller universe."
        )
    return pairs


def _moments(texts: Sequence[str], zone: str) -> tuple[Kind, list[int]]:
    found = []
    for position, text in enumerate(texts, start=1):
        moment = read_moment(text, zone) if isinstance(text, str) else None
        if moment is None:
            # No echo: somebody may have passed raw data as the grid.
            raise ParameterError(
                f"Slot {position} of the time grid is not written as HH:MM, Mon HH:MM or an ISO "
                "8601 date and time."
            )
        found.append(moment)
    kinds = {kind for kind, _ in found}
    if len(kinds) != 1:
        raise ParameterError("The slots of a time grid must all be written in the same way.")
    return kinds.pop(), [seconds for _, seconds in found]


def _last_end(kind: Kind, starts: list[int]) -> int:
    if kind != "dates":
        return DAY if kind == "day" else WEEK
    if len(starts) == 1:
        raise ParameterError("A time grid of one date needs a column 'end'.")
    return 2 * starts[-1] - starts[-2]


def _read_rows(path: Path) -> list[dict[str, str]]:
    try:
        with TextIOWrapper(open_named(path), encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, strict=True, restkey="", restval="")
            return [
                {key.strip(): str(cell) for key, cell in row.items()}
                for row, _ in zip(reader, range(MAX_SLOTS + 1), strict=False)
            ]
    except FileNotFoundError:
        raise ParameterError(
            f"The time grid {str(path)[:200]!r} is not '15min', '1h' …, 'weekday-hour' or a file."
        ) from None
    except (OSError, ValueError, csv.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not a UTF-8 CSV file"
        raise ParameterError(f"Can't read the time grid {str(path)[:200]!r}: {reason}.") from None
