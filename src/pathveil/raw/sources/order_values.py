"""The order of visits: one value, one rule, whatever the rest of the column holds.

A value is read from its text, on its own:

- a number: ``[+-]digits[.digits][e[+-]digits]``; exact, with 18 digits after the point (further
  ones are ignored) and at most 2⁶³ - 1 before it, so integers beyond 2⁵³ keep their order;
- an ISO 8601 date ``YYYY-MM-DD``, or date and time ``YYYY-MM-DDThh:mm[:ss[.digits]][zone]``: the
  ``T`` may be a space, the zone is ``Z``, ``±hh``, ``±hhmm`` or ``±hh:mm``, no zone means UTC, and
  a leap second ``:60`` is the second after;
- anything else, a null included, is malformed. Spaces and tabs around the value are ignored.

With a time format (`time_formats`) text is read by that, and nothing else; with a decimal comma
(`writing`) the point of a number is a comma. Both are public choices for the whole column.

Numbers come before timestamps if somebody mixes them. Natively typed columns (integers, dates,
timestamps) give what their text would give; floats and decimals go through their text.
"""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pathveil.errors import InputError
from pathveil.raw.sources.notation import PLAIN, Writing
from pathveil.raw.sources.order_text import LARGEST, ONE, TIMESTAMP, parse_order
from pathveil.raw.sources.text_columns import UNREADABLE, OrderKeys, Texts
from pathveil.raw.sources.text_values import decoded, is_text, text_buffers
from pathveil.raw.sources.time_formats import NAMED, TimeFormat

FIRST_SECOND = -62_167_219_200  # 0000-01-01T00:00:00Z
LAST_SECOND = 253_402_300_799  # 9999-12-31T23:59:59Z
_TICKS_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def text_order_keys(texts: Texts, written: Writing = PLAIN) -> OrderKeys:
    """Read order values from their text."""
    if written.time_format is not None:
        return written.time_format.order_keys(texts)
    texts = written.with_points(texts)
    integer = np.empty(len(texts), dtype=np.int64)
    rest = np.empty(len(texts), dtype=np.uint64)
    zoneless = np.zeros(len(texts), dtype=np.bool_)
    plain = parse_order(texts.starts, texts.stops, texts.data, integer, rest, zoneless)
    return OrderKeys(integer, None if plain else rest, None if plain else zoneless)


def arrow_order_keys(array: Any, column: str, written: Writing = PLAIN) -> OrderKeys:
    """Read the order values of an Arrow array.

    Args:
        array: an Arrow array of any type that can hold an order.
        column: its name, for the error.
        written: how text is written. A number has none that a time format could fit.

    Raises:
        InputError: if the type can't be an order (a boolean, a list, a struct …).
    """
    import pyarrow as pa

    array = decoded(array)
    kind = array.type
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return _time_keys(array)
    if is_text(kind):
        return text_order_keys(text_buffers(array), written)
    by_text = replace(written, decimal_comma=False)  # which a number's own text does not have
    if pa.types.is_integer(kind) and written.time_format is None:
        return _integer_keys(array)
    if pa.types.is_float16(kind):
        array = array.cast(pa.float64())
    if (
        pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_null(kind)
        or pa.types.is_integer(kind)
    ):
        return text_order_keys(text_buffers(array.cast(pa.large_string())), by_text)
    raise InputError(
        f"The order column {column[:80]!r} is of type {str(kind)[:80]}; it must hold numbers, "
        "dates, timestamps, or text of these."
    )


def is_order_text(text: str) -> bool:
    """Whether a text, on its own, is a number or a time in any of the formats that have a name."""
    data = np.frombuffer(text.encode(), dtype=np.uint8)
    alone = Texts.from_offsets(np.array([0, len(data)], dtype=np.int64), data)
    found = (text_order_keys(alone, one).readable() for one in (PLAIN, *_named_writings()))
    return any(readable is None or bool(readable[0]) for readable in found)


@cache
def _named_writings() -> list[Writing]:
    return [Writing(TimeFormat.parse(name)) for name in NAMED]


def _integer_keys(array: Any) -> OrderKeys:
    import pyarrow as pa

    missing = _missing(array)
    raw = array.fill_null(0).to_numpy(zero_copy_only=False)
    if array.type == pa.uint64():
        missing |= raw > np.uint64(LARGEST)
    integer = raw.astype(np.int64)
    # One value has no positive counterpart; its text is out of range too.
    missing |= integer == -LARGEST - 1
    return OrderKeys(integer, _rest(missing, None))


def _time_keys(array: Any) -> OrderKeys:
    import pyarrow as pa

    missing = _missing(array)
    if pa.types.is_date32(array.type):
        ticks, per_second = array.view(pa.int32()), None
    else:
        unit = "ms" if pa.types.is_date64(array.type) else array.type.unit
        ticks, per_second = array.view(pa.int64()), _TICKS_PER_SECOND[unit]
    values = ticks.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    if per_second is None:
        integer, fraction = values * 86_400, np.zeros(len(values), dtype=np.int64)
    else:
        integer, fraction = np.divmod(values, per_second)
        fraction *= ONE // per_second
    missing |= (integer < FIRST_SECOND) | (integer > LAST_SECOND)
    has_time_zone = pa.types.is_timestamp(array.type) and array.type.tz is not None
    zoneless = None if has_time_zone else np.ones(len(integer), dtype=np.bool_)
    return OrderKeys(integer, _rest(missing, fraction.view(np.uint64) | TIMESTAMP), zoneless)


def _missing(array: Any) -> NDArray[np.bool_]:
    if not array.null_count:
        return np.zeros(len(array), dtype=np.bool_)
    missing: NDArray[np.bool_] = array.is_null().to_numpy(zero_copy_only=False)
    return missing


def _rest(missing: NDArray[np.bool_], rest: NDArray[np.uint64] | None) -> NDArray[np.uint64] | None:
    if rest is None:
        if not missing.any():
            return None
        rest = np.zeros(len(missing), dtype=np.uint64)
    rest[missing] = UNREADABLE
    return rest
