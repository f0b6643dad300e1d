"""Read times by a program of codes (`time_formats`): the compiled part."""

# ruff: noqa: PLR2004  (digits, months, hours and minutes are their own names)

from typing import Final

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import njit
from pathveil.raw.sources.order_text import (
    TIMESTAMP,
    days_in_month,
    days_since_1970,
    digits_from,
    fraction_part,
    number_of_width,
    utc_offset,
)
from pathveil.raw.sources.text_columns import UNREADABLE
from pathveil.raw.sources.time_formats import END

_SPACE = 32
_d, _m, _Y, _y, _b, _H, _I, _M, _S, _f, _p, _z = (-ord(letter) for letter in "dmYybHIMSfpz")
_MONTHS: Final = np.frombuffer(b"janfebmaraprmayjunjulaugsepoctnovdec", dtype=np.uint8)


@njit(cache=True, nogil=True)
def parse(
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    data: NDArray[np.uint8],
    program: NDArray[np.int64],
    integer: NDArray[np.int64],
    rest: NDArray[np.uint64],
    zoneless: NDArray[np.bool_],
) -> None:
    """Write the keys of every text into the last three arrays."""
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
            while program[step] != END:
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
    while program[step] != END:
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
