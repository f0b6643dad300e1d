"""Types of columns: how ordinary values look in each, and what a hostile unit writes there.

An ordinary row is (person, trip, instant, place), all small whole numbers. A `Kind` says how each
of them is written in a column of one type, and lists cells that such a column can hold and nobody
expects. The hostile unit's own id has several forms, but it is one unit: `unit_forms` are ids that
must be read as that unit, or make their row malformed.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

MONDAY = 1_772_409_600  # 2026-03-02T00:00:00Z
HOSTILE = 4711
PLACES = 5
# Above 2⁵³, where a float has lost its last digit; and small ones, whose order as text is another.
NUMBERED = (9_007_199_254_740_993, 7, 10, 9_007_199_254_740_995, 8)
NAMED = ("b", "a", "é", "10", "A, b")
# The second is a float just below the edge of the grid; its shortest text, read back in two parts,
# would be just above.
EDGE = "0.4992859394135161"
COORDINATES = ((41.5, -79.5), (0.49928593941351607, -77.1), (45.0, -75.0), (47.3, -73.3), (49, -71))
_ZONE = timezone(timedelta(hours=5, minutes=30))


@dataclass(frozen=True)
class Kind:
    """A type of column.

    Attributes:
        name: what it is called.
        unit: a person's id, by the person's number and the row's.
        trip: a trajectory's id, by its number.
        when: an instant, in seconds since 1970, by the instant and the row's number.
        where: the label of a place, by its number.
        degrees: a coordinate.
        forms: ids of the hostile unit: other forms of it, or malformed.
        nasty: what else a column of this type can hold; for trips, orders, places and degrees.
        numbered: whether places are whole numbers here.
    """

    name: str
    unit: Callable[[int, int], Any]
    trip: Callable[[int], Any]
    when: Callable[[int, int], Any]
    where: Callable[[int], Any]
    degrees: Callable[[float], Any]
    forms: tuple[Any, ...]
    nasty: tuple[Any, ...]
    numbered: bool = False
    label: Callable[[str], Any] = field(default=lambda text: text)


def iso(instant, row):
    """An instant in one of the ways that a text can say it; a row is always said in one way."""
    moment = datetime.fromtimestamp(instant, UTC)
    ways = (
        moment.replace(tzinfo=None).isoformat(),
        moment.isoformat(),
        moment.replace(tzinfo=None).isoformat(" ", "minutes"),
        moment.astimezone(_ZONE).isoformat(),
    )
    return ways[row % len(ways)]


def dated(instant, row, form):
    """An instant as Germans or Americans write it; a row is always written in one way."""
    moment = datetime.fromtimestamp(instant, UTC)
    ways = {
        "de": ("%d.%m.%Y %H:%M:%S", "%d.%m.%Y, %H:%M", "%d.%m.%y %H:%M"),
        "us": ("%m/%d/%Y %I:%M:%S %p", "%m/%d/%y %H:%M", "%m/%d/%Y, %I:%M %p"),
    }[form]
    return moment.strftime(ways[row % len(ways)]).lstrip("0")


def _text_unit(person, row):
    # The last one is written in two ways, which are one unit.
    return ("p0", "É1", "p 2", "9007199254740993", "-5", ("7", "07")[row % 2])[person]


JUNK = (
    "", " ", "\t", "zq junk", "a\0b", "=1+1", '"', '""', "'", ",;|\t", "x\ny", "x\r\ny", "\ufeff",
    "\ufeffa", "nan", "NaN", "None", "null", "true", "1e400", "-1e-400", "9" * 400, "-0", "+7",
    "007", "7.0", "1.5", "2026-03-02", "2026-03-02T07:00+14:00", "0000-01-01", "2026-02-30",
    "9999-12-31T23:59:60Z", "10000-01-01", "é", "\u202e", "\U0010ffff", "x" * 5000, "{}", "[1, 2]",
    "9223372036854775808", "-9223372036854775808",
)  # fmt: skip
TEXT_FORMS = (
    "4711", " 4711", "4711 ", "\u00a04711", "04711", "+4711", "4711.0", "\uff14711", "4711\ufeff",
    "", "\0",
)  # fmt: skip

TEXT = Kind(
    "text",
    unit=_text_unit,
    trip=lambda trip: ("x", "1", "2", "10")[trip],
    when=iso,
    where=lambda place: NAMED[place],
    degrees=repr,
    forms=(*TEXT_FORMS, None),
    nasty=(*JUNK, None),
)


def _as_bytes(make):
    return lambda *values: make(*values).encode()


_RAW = (b"\xff\xfe", b"\xc3(", b"a\xed\xa0\x80", b"\xf8\x88\x80\x80\x80")

BYTES = Kind(
    "bytes",
    unit=_as_bytes(TEXT.unit),
    trip=_as_bytes(TEXT.trip),
    when=_as_bytes(TEXT.when),
    where=_as_bytes(TEXT.where),
    degrees=_as_bytes(TEXT.degrees),
    forms=(*(form.encode() for form in TEXT_FORMS), *_RAW, None),
    nasty=(*(junk.encode() for junk in JUNK), *_RAW, None),
    label=str.encode,
)


def _whole(value):
    return int(value // 1)


INT64 = Kind(
    "int64",
    unit=lambda person, _row: 9_007_199_254_740_993 + person,
    trip=lambda trip: trip,
    when=lambda instant, _row: instant,
    where=lambda place: NUMBERED[place],
    degrees=_whole,
    forms=(HOSTILE, None),
    nasty=(0, -1, 1, 12, 2**53 + 2, 2**63 - 1, -(2**63), 253_402_300_800, -62_167_219_201, None),
    numbered=True,
    label=int,
)
PLAIN_INT64 = Kind(
    **{**INT64.__dict__, "name": "int64, no null", "forms": (HOSTILE,), "nasty": INT64.nasty[:-1]}
)
UINT64 = Kind(
    **{**INT64.__dict__, "name": "uint64", "nasty": (0, 1, 12, 2**63, 2**64 - 1, None)},
)
DECIMAL = Kind(
    "decimal",
    unit=lambda person, _row: Decimal(9_007_199_254_740_993 + person),
    trip=Decimal,
    when=lambda instant, row: Decimal(instant) + Decimal(row % 2) / 2,
    where=lambda place: Decimal(NUMBERED[place]),
    degrees=lambda value: Decimal(repr(value)).quantize(Decimal("0.000001")),
    forms=(Decimal(HOSTILE), None),
    nasty=(Decimal(0), Decimal("1.5"), Decimal("-0.000001"), Decimal(10) ** 26, None),
    numbered=True,
    label=Decimal,
)
WHOLE_DECIMAL = Kind(
    **{
        **DECIMAL.__dict__,
        "name": "whole decimal",
        "nasty": (Decimal(0), Decimal(-1), Decimal(10) ** 30, -(Decimal(10) ** 37), None),
    }
)
FLOAT = Kind(
    "float",
    unit=INT64.unit,
    trip=float,
    when=lambda instant, row: instant + (row % 2) / 4,
    where=INT64.where,
    degrees=float,
    forms=INT64.forms,
    nasty=(
        0.0, -0.0, 0.5, 7.0, float("nan"), float("inf"), -float("inf"), 1e308, 5e-324, 2.0**53 + 2,
        90.00001, -180.0, None,
    ),
    numbered=True,
)  # fmt: skip

FLOAT_IDS = Kind(
    **{
        **FLOAT.__dict__,
        "name": "float ids",
        "unit": lambda person, _row: float(person),
        "where": lambda place: float(7 + place),
        "forms": (float(HOSTILE), None),
        "label": float,
    }
)


def _ticks(name, per_second, *, whole=False):
    """Instants as ticks, which Arrow takes as they are; the extremes of 64 bits among them."""
    fraction = 0 if whole or per_second == 1 else per_second // 2
    return Kind(
        name,
        unit=TEXT.unit,
        trip=TEXT.trip,
        when=lambda instant, row: int(instant * per_second) + (row % 2) * fraction,
        where=TEXT.where,
        degrees=float,
        forms=TEXT.forms,
        nasty=(0, -1, 2**63 - 1, -(2**63), 253_402_300_800 * per_second // 1000, None),
    )


SECONDS, MILLIS = _ticks("s", 1), _ticks("ms", 10**3)
MICROS, NANOS = _ticks("us", 10**6), _ticks("ns", 10**9)


def day_of(instant):
    return int(instant // 86_400)


DAYS = Kind(
    **{
        **SECONDS.__dict__,
        "name": "days",
        "when": lambda instant, _row: day_of(instant),
        "nasty": (0, -1, 2**31 - 1, -(2**31), None),
    }
)


class Odd:
    """An object of nobody's type."""

    def __repr__(self):
        raise ValueError("not to be shown")

    __str__ = __repr__


_NAIVE = datetime(2026, 3, 2, 7, 58, 10)  # noqa: DTZ001
_AWARE = datetime(2026, 3, 2, 7, 58, 10, 5, tzinfo=_ZONE)
OBJECTS = (
    None, np.nan, pd.NA, pd.NaT, 7, 7.0, 1.5, 2**70, -(2**63), np.int8(7), np.float32(1.5),
    Decimal("1.5"), Decimal(7), Decimal("NaN"), Decimal(10) ** 30, True, False, np.True_,
    date(2026, 3, 2), _NAIVE, _AWARE,
    datetime.max.replace(tzinfo=UTC), datetime.min.replace(tzinfo=UTC), pd.Timestamp(_AWARE),
    pd.Timestamp.max, np.datetime64("2026-03-02"), np.datetime64("NaT"), timedelta(1), b"7",
    b"\xff", [1, "a"], (), {"a": 1}, {1}, 1j, Odd(), Odd, "x\ud800",
)  # fmt: skip

OBJECT = Kind(
    "object",
    unit=lambda person, row: (
        ("p0", 9_007_199_254_740_993, "p 2", Decimal(12), "-5", (7, "07")[row % 2])[person]
    ),
    trip=lambda trip: ("x", 1, "2", Decimal(10))[trip],
    when=lambda instant, row: (
        datetime.fromtimestamp(instant, UTC).replace(tzinfo=None),
        datetime.fromtimestamp(instant, UTC),
        datetime.fromtimestamp(instant, UTC).astimezone(_ZONE),
        iso(instant, row),
    )[row % 4],
    where=lambda place: ("b", "a", "é", 10, "A, b")[place],
    degrees=lambda value: value if value > 45 else repr(value),
    forms=(
        *TEXT_FORMS, 4711, np.int64(4711), Decimal(4711), None, np.nan, pd.NA, pd.NaT, b"\xff",
        [4711], {}, Odd(),
    ),
    nasty=(*JUNK, *OBJECTS),
)  # fmt: skip
OBJECT_TIMES = Kind(
    **{
        **OBJECT.__dict__,
        "name": "objects of one type",
        "unit": TEXT.unit,
        "trip": TEXT.trip,
        "when": lambda instant, _row: datetime.fromtimestamp(instant, UTC).replace(tzinfo=None),
        "where": TEXT.where,
        "degrees": float,
    }
)
OBJECT_NUMBERS = Kind(
    **{
        **OBJECT.__dict__,
        "name": "objects, whole numbers",
        "unit": INT64.unit,
        "trip": INT64.trip,
        "when": INT64.when,
        "where": INT64.where,
        "degrees": _whole,
        "numbered": True,
        "label": int,
    }
)
# SQLite keeps what it is given, whatever the column is called.
SQLITE = Kind(
    **{
        **OBJECT.__dict__,
        "name": "SQLite",
        "unit": lambda person, row: (
            ("p0", 9_007_199_254_740_993, "p 2", 12, "-5", (7, "07")[row % 2])[person]
        ),
        "trip": lambda trip: ("x", 1, "2", 10)[trip],
        "when": lambda instant, row: (instant, str(instant), instant + 0.25, instant)[row % 4],
        "degrees": float,
        "forms": (*TEXT_FORMS[:-1], 4711, 4711.0, None, b"\xff"),
        "nasty": (
            *(junk for junk in JUNK if "\0" not in junk), None, 0, -1, 7.0, 1.5, 1e308, 2**63 - 1,
            -(2**63), float("inf"), b"\xff", b"a\0b", b"",
        ),
    }
)  # fmt: skip
