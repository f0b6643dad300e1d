"""Amounts of memory as people write them."""

import re
from typing import Final

from pathveil.errors import ParameterError

DEFAULT_MEMORY: Final = "2GB"
_LEAST: Final = 256 * 10**6
_AMOUNT: Final = re.compile(r"(\d{1,6}(?:\.\d{1,3})?) ?(MB|GB|TB)", re.IGNORECASE)
_BYTES: Final = {"MB": 10**6, "GB": 10**9, "TB": 10**12}


def parse_memory(text: str) -> int:
    """Bytes of "500MB", "2GB" or "0.5 TB".

    Raises:
        ParameterError: if it is written otherwise, or too little to work with.
    """
    match = _AMOUNT.fullmatch(text.strip()) if isinstance(text, str) else None
    if match is None:
        raise ParameterError("An amount of memory is written like 500MB or 2GB.")
    size = int(float(match[1]) * _BYTES[match[2].upper()])
    if size < _LEAST:
        raise ParameterError("Counting needs at least 256MB of memory; allow more with --memory.")
    return size
