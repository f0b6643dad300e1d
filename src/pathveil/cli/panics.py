"""Errors that nobody can catch, because Python prints them instead of raising them.

A library in Rust that was refused memory has Python print the `MemoryError` and goes on to panic,
which arrives as an exception of another kind; an error in a destructor, a callback or a thread has
nobody to go to. Nobody needs to see such a traceback, which would quote lines of code around
people's data, and the error to tell is the first one: out of memory, and no bug of ours.
"""

import os
import sys
import threading
from typing import Any

_lacked_memory = False


def begin() -> None:
    """From now on what has Python print a traceback is kept from the terminal."""
    global _lacked_memory  # noqa: PLW0603  (the hooks belong to the process)
    _lacked_memory = False
    hush()


def hush() -> None:
    """The same, but what was lacking before is not forgotten; for what Python does last."""
    sys.excepthook = _printed
    sys.unraisablehook = _thrown_away
    threading.excepthook = _lost_in_a_thread


def end() -> None:
    """What is printed from now on is not ours."""
    sys.excepthook = sys.__excepthook__
    sys.unraisablehook = sys.__unraisablehook__
    threading.excepthook = threading.__excepthook__


def lacked_memory() -> bool:
    """Whether a `MemoryError` was printed rather than raised."""
    return _lacked_memory


def _printed(kind: Any, error: Any, trace: Any) -> None:
    _note(kind)
    if _is_shown():
        sys.__excepthook__(kind, error, trace)


def _thrown_away(told: "sys.UnraisableHookArgs") -> None:
    _note(told.exc_type)
    if _is_shown():
        sys.__unraisablehook__(told)


def _lost_in_a_thread(told: threading.ExceptHookArgs) -> None:
    _note(told.exc_type)
    if _is_shown():
        threading.__excepthook__(told)


def _note(kind: type[BaseException]) -> None:
    global _lacked_memory  # noqa: PLW0603
    _lacked_memory = _lacked_memory or issubclass(kind, MemoryError)


def _is_shown() -> bool:
    return "PATHVEIL_DEBUG" in os.environ
