"""Memory that was freed, handed back to the operating system.

The C library of Linux keeps what is freed in between for itself, a hundred megabytes and more after
a stage that held many arrays. Where one stage ends and another begins, that is worth a call.
"""

import ctypes
from collections.abc import Callable
from functools import cache


def give_back() -> None:
    """Hand freed memory back, where the C library can; it changes nothing else."""
    _trim()(0)


@cache
def _trim() -> Callable[[int], object]:
    try:
        trim: Callable[[int], object] = ctypes.CDLL(None).malloc_trim
    except (OSError, TypeError, AttributeError):  # another system, another library
        return int
    return trim
