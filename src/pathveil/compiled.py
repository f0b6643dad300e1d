"""Kernels compiled by Numba, kept on disk from one run to the next where that is possible.

Numba keeps them beside the source, or else below the home folder. An installation that can't be
written, of a user without a home, has neither: then they are compiled in memory, in every run.
"""

import logging
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

import numba

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def njit(**options: Any) -> Callable[[Kernel], Kernel]:
    """``numba.njit``; without its cache if there is no place for it."""

    def decorate(function: Kernel) -> Kernel:
        try:
            compiled: Kernel = numba.njit(**options)(function)
        except RuntimeError:  # no place for the cache; anything else will be raised again
            compiled = numba.njit(**(options | {"cache": False}))(function)
            _say_once()
        return compiled

    return decorate


@cache
def _say_once() -> None:
    logging.getLogger("pathveil").warning(
        "Compiled code can't be kept: neither pathveil's folder nor your home can be written. "
        "Every run compiles anew, for a minute or so; NUMBA_CACHE_DIR names a folder for it."
    )
