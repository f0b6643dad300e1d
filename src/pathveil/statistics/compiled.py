"""Functions that are compiled, or loaded as compiled, when they are first called.

Whoever only asks what a statistic is, as a plan or a certificate does, need not wait for the
compiler to start. A compiled function may not call another one: it would see this wrapper.
"""

from collections.abc import Callable
from functools import cache, wraps
from typing import ParamSpec, TypeVar

Given = ParamSpec("Given")
Returned = TypeVar("Returned")


def compiled(function: Callable[Given, Returned]) -> Callable[Given, Returned]:
    """Numba's ``njit(cache=True, nogil=True)``, later."""

    @cache
    def ready() -> Callable[Given, Returned]:
        from pathveil.compiled import njit

        made: Callable[Given, Returned] = njit(cache=True, nogil=True)(function)
        return made

    @wraps(function)
    def call(*given: Given.args, **named: Given.kwargs) -> Returned:
        return ready()(*given, **named)

    return call
