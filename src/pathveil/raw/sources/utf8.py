"""Which bytes are text: UTF-8, checked one value at a time."""

# ruff: noqa: PLR2004  (the bounds of Unicode's own table)

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import njit


@njit(cache=True, nogil=True)
def is_text_bytes(data: NDArray[np.uint8], start: int, stop: int) -> bool:
    """Whether bytes are UTF-8 without a NUL, and not empty."""
    if start == stop:
        return False
    while start < stop:
        length = 1 if 0 < data[start] < 0x80 else _sequence_length(data, start, stop)
        if length == 0:
            return False
        start += length
    return True


@njit(cache=True, nogil=True)
def _sequence_length(data: NDArray[np.uint8], start: int, stop: int) -> int:
    """The length of the multi-byte character that starts here, or 0 if it is malformed.

    Unicode 16, table 3-7: overlong forms, surrogates and code points past U+10FFFF are refused.
    """
    first = data[start]
    low, high = 0x80, 0xBF
    if 0xC2 <= first <= 0xDF:
        length = 2
    elif 0xE0 <= first <= 0xEF:
        length = 3
        low = 0xA0 if first == 0xE0 else 0x80
        high = 0x9F if first == 0xED else 0xBF
    elif 0xF0 <= first <= 0xF4:
        length = 4
        low = 0x90 if first == 0xF0 else 0x80
        high = 0x8F if first == 0xF4 else 0xBF
    else:
        return 0
    if start + length > stop or not low <= data[start + 1] <= high:
        return 0
    for i in range(start + 2, start + length):
        if not 0x80 <= data[i] <= 0xBF:
            return 0
    return length
