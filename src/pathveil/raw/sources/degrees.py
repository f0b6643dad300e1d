"""Degrees of latitude and longitude, read one value at a time like every other cell.

A value is a number as `order_values` reads it; what is not a number, or lies outside the Earth
(±90 and ±180 degrees), is NaN, and its row is dropped.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pathveil.errors import InputError
from pathveil.raw.sources.notation import PLAIN, Writing
from pathveil.raw.sources.order_text import ONE
from pathveil.raw.sources.order_values import arrow_order_keys, text_order_keys
from pathveil.raw.sources.text_columns import OrderKeys, Texts
from pathveil.raw.sources.text_values import decoded

_SCALE = 10**12
_LARGE = 1_000  # more than any number of degrees


def text_degrees(texts: Texts, written: Writing = PLAIN) -> NDArray[np.float64]:
    """Degrees from their text; float64, NaN for what is not a number."""
    return _numbers(text_order_keys(written.with_points(texts)))


def arrow_degrees(array: Any, column: str, written: Writing = PLAIN) -> NDArray[np.float64]:
    """Degrees of an Arrow array; float64, NaN for what is missing or not a number.

    Raises:
        InputError: if the type can't hold numbers.
    """
    import pyarrow as pa

    array = decoded(array)
    if pa.types.is_floating(array.type):
        floats = array.cast(pa.float64()).to_numpy(zero_copy_only=False)
        return np.asarray(floats, dtype=np.float64)
    if pa.types.is_date(array.type) or pa.types.is_timestamp(array.type):
        raise InputError(f"The column {column[:80]!r} holds times, not degrees.")
    return _numbers(arrow_order_keys(array, column, replace(written, time_format=None)))


def _numbers(keys: OrderKeys) -> NDArray[np.float64]:
    """Sort keys back to numbers; timestamps and unreadable values are NaN."""
    if keys.rest is None:
        return keys.integer.astype(np.float64)
    # A key is a floor and a fraction above it. Of a negative number we want the digits as they
    # were written, because a difference of two floats would not round as the number itself does.
    number = keys.rest < np.uint64(ONE)
    fraction = np.where(number, keys.rest, np.uint64(0)).astype(np.int64)
    below = (keys.integer < 0) & (fraction > 0)
    fraction = np.where(below, ONE - fraction, fraction)
    integer = np.where(below, -(keys.integer + 1), keys.integer)
    # With up to twelve decimals both sides of the division are exact, and it rounds once.
    digits = np.where(np.abs(integer) < _LARGE, integer, 0) * _SCALE + fraction // (ONE // _SCALE)
    short = (np.abs(integer) < _LARGE) & (fraction % (ONE // _SCALE) == 0)
    size = np.where(short, digits / _SCALE, integer + fraction / ONE)
    return np.where(number, np.where(below, -size, size), np.nan)
