"""The compiled half of `order_values`: one cell of text in, one sort key out.

Bytes are compared with their ASCII codes; ``_Z`` and the like name the ones that matter.
"""

# ruff: noqa: PLR2004  (digits, months, hours and minutes are their own names)

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import njit
from pathveil.raw.sources.text_columns import UNREADABLE

ONE = 10**18  # fractions are counted in units of 10⁻¹⁸
LARGEST = 2**63 - 1
TIMESTAMP = np.uint64(1 << 62)

_FRACTION_DIGITS = 18
_MAX_EXPONENT = 9_999
_TAB, _SPACE, _PLUS, _COMMA, _MINUS, _POINT, _COLON = 9, 32, 43, 44, 45, 46, 58
_0, _9 = 48, 57
_T, _Z, _E = 84, 90, 69
_LOWER = 32  # what to add to an upper-case letter


@njit(cache=True, nogil=True)
def parse_order(
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    data: NDArray[np.uint8],
    integer: NDArray[np.int64],
    rest: NDArray[np.uint64],
    zoneless: NDArray[np.bool_],
) -> bool:
    """Parse every cell into ``integer``, ``rest`` and ``zoneless``, all False (see `OrderKeys`).

    Returns:
        Whether every cell is a whole number, so that ``rest`` is all zeros.
    """
    plain = True
    for row in range(len(integer)):
        start, stop = starts[row], stops[row]
        if stop - start <= _FRACTION_DIGITS:
            # Most cells are a few digits and nothing else. No helper here: handing it an array
            # costs more than the digits.
            at, value = start, 0
            while at < stop and _0 <= data[at] <= _9:
                value = value * 10 + int(data[at]) - _0
                at += 1
            if at == stop and start < stop:
                integer[row], rest[row] = value, 0
                continue
        while start < stop and (data[start] == _SPACE or data[start] == _TAB):
            start += 1
        while start < stop and (data[stop - 1] == _SPACE or data[stop - 1] == _TAB):
            stop -= 1
        # No number has two signs after its first character.
        if stop - start >= 10 and data[start + 4] == _MINUS and data[start + 7] == _MINUS:
            integer[row], rest[row], zoneless[row] = _timestamp(data, start, stop)
        else:
            integer[row], rest[row] = _number(data, start, stop)
        plain &= rest[row] == 0
    return plain


@njit(cache=True, nogil=True)
def _number(data: NDArray[np.uint8], start: int, stop: int) -> tuple[int, np.uint64]:
    """``[+-]digits[.digits][e[+-]digits]``, with a digit before or after the point."""
    negative = start < stop and data[start] == _MINUS
    if start < stop and (data[start] == _MINUS or data[start] == _PLUS):
        start += 1
    before = digits_from(data, start, stop)
    end = start + before
    after = 0
    if end < stop and data[end] == _POINT:
        after = digits_from(data, end + 1, stop)
        end += 1 + after
    shift = 0
    if before + after == 0:
        return 0, UNREADABLE
    if end < stop:
        good, shift = _exponent(data, end, stop)
        if not good:
            return 0, UNREADABLE
    good, integer = _integer_part(data, start, before, before + after, before + shift)
    if not good:
        return 0, UNREADABLE
    fraction = fraction_part(data, start, before, before + after, before + shift)
    if not negative:
        return integer, np.uint64(fraction)
    if fraction == 0:
        return -integer, np.uint64(0)
    return -integer - 1, np.uint64(ONE - fraction)


@njit(cache=True, nogil=True)
def digits_from(data: NDArray[np.uint8], start: int, stop: int) -> int:
    """How many digits follow each other from here."""
    end = start
    while end < stop and _0 <= data[end] <= _9:
        end += 1
    return end - start


@njit(cache=True, nogil=True)
def _exponent(data: NDArray[np.uint8], start: int, stop: int) -> tuple[bool, int]:
    if data[start] != _E and data[start] != _E + _LOWER:
        return False, 0
    start += 1
    negative = start < stop and data[start] == _MINUS
    if start < stop and (data[start] == _MINUS or data[start] == _PLUS):
        start += 1
    if start == stop or digits_from(data, start, stop) != stop - start:
        return False, 0
    value = 0
    for i in range(start, stop):
        value = min(value * 10 + int(data[i]) - _0, _MAX_EXPONENT + 1)
    return value <= _MAX_EXPONENT, -value if negative else value


@njit(cache=True, nogil=True)
def _digit(data: NDArray[np.uint8], start: int, before: int, i: int) -> int:
    """Digit ``i`` of a number whose point, if any, stands after ``before`` digits."""
    return int(data[start + i + (1 if i >= before else 0)]) - _0


@njit(cache=True, nogil=True)
def _integer_part(
    data: NDArray[np.uint8], start: int, before: int, digits: int, point: int
) -> tuple[bool, int]:
    """The digits before the (shifted) point; False if they exceed `LARGEST`."""
    integer = 0
    for i in range(point):
        if i >= digits and integer == 0:
            break  # zero, however far it is shifted
        digit = _digit(data, start, before, i) if i < digits else 0
        if integer > (LARGEST - digit) // 10:
            return False, integer
        integer = integer * 10 + digit
    return True, integer


@njit(cache=True, nogil=True)
def fraction_part(data: NDArray[np.uint8], start: int, before: int, digits: int, point: int) -> int:
    """The first 18 digits after the (shifted) point."""
    if point >= digits:
        return 0
    fraction = 0
    for i in range(point, point + _FRACTION_DIGITS):
        digit = _digit(data, start, before, i) if 0 <= i < digits else 0
        fraction = fraction * 10 + digit
    return fraction


@njit(cache=True, nogil=True)
def _timestamp(data: NDArray[np.uint8], start: int, stop: int) -> tuple[int, np.uint64, bool]:
    """``YYYY-MM-DD[Thh:mm[:ss[.digits]][zone]]`` as seconds since 1970 in UTC; has it no zone?"""
    year = number_of_width(data, start, stop, 4)
    month = number_of_width(data, start + 5, stop, 2)
    day = number_of_width(data, start + 8, stop, 2)
    if year < 0 or not 1 <= month <= 12 or not 1 <= day <= days_in_month(year, month):
        return 0, UNREADABLE, False
    seconds = days_since_1970(year, month, day) * 86_400
    at = start + 10
    if at == stop:
        return seconds, TIMESTAMP, True
    if data[at] != _SPACE and data[at] != _T and data[at] != _T + _LOWER:
        return 0, UNREADABLE, False
    good, at, time, fraction = _time_of_day(data, at + 1, stop)
    if not good:
        return 0, UNREADABLE, False
    good, offset = utc_offset(data, at, stop)
    if not good:
        return 0, UNREADABLE, False
    return seconds + time - offset, np.uint64(fraction) | TIMESTAMP, at == stop


@njit(cache=True, nogil=True)
def _time_of_day(data: NDArray[np.uint8], at: int, stop: int) -> tuple[bool, int, int, int]:
    """``hh:mm[:ss[.digits]]``: (good, where it ends, seconds, fraction)."""
    hour = number_of_width(data, at, stop, 2)
    minute = number_of_width(data, at + 3, stop, 2)
    if not 0 <= hour <= 23 or not 0 <= minute <= 59 or data[at + 2] != _COLON:
        return False, at, 0, 0
    at += 5
    second = fraction = 0
    if at < stop and data[at] == _COLON:
        second = number_of_width(data, at + 1, stop, 2)
        if not 0 <= second <= 60:
            return False, at, 0, 0
        at += 3
        if at < stop and (data[at] == _POINT or data[at] == _COMMA):
            digits = digits_from(data, at + 1, stop)
            if digits == 0:
                return False, at, 0, 0
            fraction = fraction_part(data, at + 1, digits, digits, 0)
            at += 1 + digits
    return True, at, hour * 3_600 + minute * 60 + second, fraction


@njit(cache=True, nogil=True)
def utc_offset(data: NDArray[np.uint8], at: int, stop: int) -> tuple[bool, int]:
    """Nothing, ``Z``, ``±hh``, ``±hhmm`` or ``±hh:mm``, as seconds east of Greenwich."""
    if at == stop:
        return True, 0
    if data[at] == _Z or data[at] == _Z + _LOWER:
        return at + 1 == stop, 0
    if data[at] != _PLUS and data[at] != _MINUS:
        return False, 0
    east = data[at] == _PLUS
    hour, minute = number_of_width(data, at + 1, stop, 2), 0
    at += 3
    if at < stop:
        at += 1 if data[at] == _COLON else 0
        minute = number_of_width(data, at, stop, 2)
        at += 2
    if at != stop or not 0 <= hour <= 23 or not 0 <= minute <= 59:
        return False, 0
    offset = hour * 3_600 + minute * 60
    return True, offset if east else -offset


@njit(cache=True, nogil=True)
def number_of_width(data: NDArray[np.uint8], start: int, stop: int, width: int) -> int:
    """The number written in exactly ``width`` digits, or -1."""
    if start + width > stop or digits_from(data, start, start + width) != width:
        return -1
    value = 0
    for i in range(start, start + width):
        value = value * 10 + int(data[i]) - _0
    return value


@njit(cache=True, nogil=True)
def days_in_month(year: int, month: int) -> int:
    """28 to 31."""
    if month == 2:
        leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
        return 29 if leap else 28
    return 30 if month in (4, 6, 9, 11) else 31


@njit(cache=True, nogil=True)
def days_since_1970(year: int, month: int, day: int) -> int:
    """Days of the proleptic Gregorian calendar, with years counted from March."""
    if month <= 2:
        year -= 1
    era = year // 400
    year_of_era = year - era * 400
    day_of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    day_of_era = year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year
    return era * 146_097 + day_of_era - 719_468
