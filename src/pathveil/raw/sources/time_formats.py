"""Times that are not ISO 8601: by a public format, in the letters of Python's ``strptime``.

A format is a choice like the order column itself: it is given, never found out from the values, for
``03/04/2026`` is in March or in April, and one person's ``13/04/2026`` must not settle that for
everybody. A value that does not fit it is unreadable, on its own. The named formats are several
formats each; a value is read by the first that it fits, which depends on that value alone.

| letter | what it reads |
|---|---|
| `%d` `%m` `%H` `%I` `%M` `%S` | day, month, hours of 24 or 12, minute, second: one digit or two |
| `%Y` `%y` | year: four digits, or two (69 to 99 are of the last century) |
| `%b` | month: the first three letters of its English name |
| `%f` `%p` `%z` | fraction of a second; AM or PM; ``Z``, ``±hh``, ``±hhmm`` or ``±hh:mm`` |

A space stands for one or more, and ``%%`` for ``%``.
"""

# ruff: noqa: PLR2004  (digits, months, hours and minutes are their own names)

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import njit
from pathveil.errors import ParameterError, did_you_mean
from pathveil.raw.sources.order_text import (
    TIMESTAMP,
    days_in_month,
    days_since_1970,
    digits_from,
    fraction_part,
    number_of_width,
    utc_offset,
)
from pathveil.raw.sources.text_columns import UNREADABLE, OrderKeys, Texts

ISO: Final = "iso"
_CLOCKS: Final = (" %H:%M:%S", " %H:%M", ", %H:%M:%S", ", %H:%M", "")
_TWELVE: Final = (" %I:%M:%S %p", " %I:%M %p", ", %I:%M:%S %p", ", %I:%M %p")


def _dated(date: str, clocks: tuple[str, ...] = _CLOCKS) -> tuple[str, ...]:
    years = (date, date.replace("%Y", "%y"))
    return tuple(f"{year}{clock}" for year in years for clock in clocks)


NAMED: Final = {
    "de": _dated("%d.%m.%Y"),
    "us": _dated("%m/%d/%Y", _TWELVE + _CLOCKS),
    "uk": _dated("%d/%m/%Y"),
}

# A letter is coded by the negative of its ASCII code, a literal by its own, the end by 0.
_LETTERS: Final = "dmYybHIMSfpz"
_ONCE: Final = ("d", "mb", "Yy", "HI", "M", "S", "f", "p", "z")
_END, _SPACE = 0, 32
_d, _m, _Y, _y, _b, _H, _I, _M, _S, _f, _p, _z = (-ord(letter) for letter in "dmYybHIMSfpz")
_MONTHS: Final = np.frombuffer(b"janfebmaraprmayjunjulaugsepoctnovdec", dtype=np.uint8)


@dataclass(frozen=True, slots=True)
class TimeFormat:
    """How times are written.

    Attributes:
        name: as it was asked for: "de", "us", "uk", or a format.
        program: the formats that are tried, one after the other, as codes.
    """

    name: str
    program: tuple[int, ...]

    @classmethod
    def parse(cls, text: object) -> "TimeFormat | None":
        """By a name or a format; None for ISO 8601, the default.

        Raises:
            ParameterError: if it is neither, or leaves the date open.
        """
        if text == ISO:
            return None
        if not isinstance(text, str) or (text not in NAMED and "%" not in text):
            raise ParameterError(
                f"The time format is iso, {', '.join(NAMED)}, or a format such as "
                f"'%d.%m.%Y %H:%M'.{did_you_mean(text, [ISO, *NAMED])}"
            )
        formats = NAMED.get(text, (text,))
        return cls(text, tuple(code for one in formats for code in (*_codes(one), _END)))

    @property
    def example(self) -> str:
        """One of the formats, for `strftime`."""
        return NAMED[self.name][0] if self.name in NAMED else self.name

    def order_keys(self, texts: Texts) -> OrderKeys:
        """Read times from their text; what does not fit is unreadable."""
        integer = np.zeros(len(texts), dtype=np.int64)
        rest = np.empty(len(texts), dtype=np.uint64)
        zoneless = np.zeros(len(texts), dtype=np.bool_)
        program = np.array(self.program, dtype=np.int64)
        _parse(texts.starts, texts.stops, texts.data, program, integer, rest, zoneless)
        return OrderKeys(integer, rest, zoneless)


def _codes(text: str) -> list[int]:
    """The codes of one format."""
    codes: list[int] = []
    rest = iter(text.encode())
    for byte in rest:
        if byte != ord("%"):
            codes.append(byte)
            continue
        letter = chr(next(rest, 0))
        if letter == "%":
            codes.append(byte)
        elif letter in _LETTERS:
            codes.append(-ord(letter))
        else:
            raise ParameterError(
                f"The time format has a %{letter[:1]}, which is not among those that are read: "
                f"{', '.join(f'%{known}' for known in _LETTERS)}."
            )
    _check(codes)
    return codes


def _check(codes: list[int]) -> None:
    times = {group: sum(codes.count(-ord(letter)) for letter in group) for group in _ONCE}
    if any(number > 1 for number in times.values()):
        raise ParameterError("The time format says one thing twice; leave one of them out.")
    if not times["d"] or not times["mb"] or not times["Yy"]:
        raise ParameterError("The time format must have a day, a month and a year: %d, %m, %Y.")
    if (_I in codes) != (_p in codes):
        raise ParameterError("In a time format %I (hours up to 12) and %p (AM or PM) go together.")
    if _END in codes:
        raise ParameterError("The time format holds a NUL character.")


@njit(cache=True, nogil=True)
def _parse(
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    data: NDArray[np.uint8],
    program: NDArray[np.int64],
    integer: NDArray[np.int64],
    rest: NDArray[np.uint64],
    zoneless: NDArray[np.bool_],
) -> None:
    for row in range(len(integer)):
        start, stop = starts[row], stops[row]
        while start < stop and (data[start] == 32 or data[start] == 9):
            start += 1
        while start < stop and (data[stop - 1] == 32 or data[stop - 1] == 9):
            stop -= 1
        rest[row] = UNREADABLE
        step = 0
        while step < len(program):
            good, seconds, fraction, has_zone = _fits(data, start, stop, program, step)
            if good:
                integer[row], rest[row] = seconds, np.uint64(fraction) | TIMESTAMP
                zoneless[row] = not has_zone
                break
            while program[step] != _END:
                step += 1
            step += 1


@njit(cache=True, nogil=True)
def _fits(  # noqa: C901, PLR0911, PLR0912, PLR0915  (one branch for each letter)
    data: NDArray[np.uint8], at: int, stop: int, program: NDArray[np.int64], step: int
) -> tuple[bool, int, int, bool]:
    """Whether a text fits one format: (good, seconds since 1970, fraction, has a zone)."""
    no = (False, 0, 0, False)
    year = month = day = -1
    hour = minute = second = fraction = offset = 0
    afternoon, twelve, has_zone = False, False, False
    while program[step] != _END:
        code = program[step]
        step += 1
        if code == _SPACE:
            if at == stop or (data[at] != 32 and data[at] != 9):
                return no
            while at < stop and (data[at] == 32 or data[at] == 9):
                at += 1
            continue
        if code > 0:
            if at == stop or data[at] != code:
                return no
            at += 1
            continue
        if code == _p:
            if at + 2 > stop or data[at + 1] | 32 != 109:
                return no
            if data[at] | 32 != 97 and data[at] | 32 != 112:
                return no
            afternoon = data[at] | 32 == 112
            at += 2
            continue
        if code == _z:
            end = at
            while end < stop and data[end] != 32:
                end += 1
            good, offset = utc_offset(data, at, end)
            if not good or end == at:
                return no
            at, has_zone = end, True
            continue
        if code == _b:
            month = _month_named(data, at, stop)
            at += 3
            if month < 0:
                return no
            continue
        width = digits_from(data, at, stop)
        if code == _f:
            if width == 0:
                return no
            fraction = fraction_part(data, at, width, width, 0)
            at += width
            continue
        width = 4 if code == _Y else (2 if code == _y else min(width, 2))
        value = number_of_width(data, at, stop, width) if width else -1
        if value < 0:
            return no
        at += width
        if code == _Y:
            year = value
        elif code == _y:
            year = value + (1900 if value >= 69 else 2000)
        elif code == _m:
            month = value
        elif code == _d:
            day = value
        elif code == _M:
            minute = value
        elif code == _S:
            second = value
        else:
            hour, twelve = value, code == _I
    if at != stop or not 1 <= month <= 12 or not 1 <= day <= days_in_month(year, month):
        return no
    if twelve:
        if not 1 <= hour <= 12:
            return no
        hour = hour % 12 + (12 if afternoon else 0)
    if hour > 23 or minute > 59 or second > 60:
        return no
    seconds = days_since_1970(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second
    return True, seconds - offset, fraction, has_zone


@njit(cache=True, nogil=True)
def _month_named(data: NDArray[np.uint8], at: int, stop: int) -> int:
    if at + 3 > stop:
        return -1
    for month in range(12):
        same = True
        for i in range(3):
            same &= data[at + i] | 32 == _MONTHS[3 * month + i]
        if same:
            return month + 1
    return -1
