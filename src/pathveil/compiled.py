"""Kernels compiled by Numba, kept on disk from one run to the next where that is possible.

Numba keeps them beside the source, or else below the home folder. An installation that can't be
written, of a user without a home, has neither: then they are compiled in memory, in every run.
"""

import logging
from collections.abc import Callable
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar

Kernel = TypeVar("Kernel", bound=Callable[..., Any])
Given = ParamSpec("Given")
Returned = TypeVar("Returned")


def njit(**options: Any) -> Callable[[Kernel], Kernel]:
    """``numba.njit``; without its cache if there is no place for it."""
    import numba  # whose start takes a second

    def decorate(function: Kernel) -> Kernel:
        try:
            kernel: Kernel = numba.njit(**options)(function)
        except RuntimeError:  # no place for the cache; anything else will be raised again
            kernel = numba.njit(**(options | {"cache": False}))(function)
            _say_once()
        return kernel

    return decorate


def compiled(function: Callable[Given, Returned]) -> Callable[Given, Returned]:
    """``njit(cache=True, nogil=True)``, when it is first called.

    Whoever only asks what a statistic is, as a plan or a certificate does, need not wait for the
    compiler to start. No kernel may call such a function: it would see the wrapper.
    """

    @cache
    def ready() -> Callable[Given, Returned]:
        return njit(cache=True, nogil=True)(function)

    @wraps(function)
    def call(*given: Given.args, **named: Given.kwargs) -> Returned:
        return ready()(*given, **named)

    call.kernel = ready  # type: ignore[attr-defined]  # for who wants to know what is compiled
    return call


@cache
def _say_once() -> None:
    logging.getLogger("pathveil").warning(
        "Compiled code can't be kept: neither pathveil's folder nor your home can be written. "
        "Every run compiles anew, for a minute or so; NUMBA_CACHE_DIR names a folder for it."
    )
