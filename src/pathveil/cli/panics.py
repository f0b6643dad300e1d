"""What a library in Rust leaves behind that was refused memory: a traceback, then a panic.

PyO3 has Python print the `MemoryError` and goes on to panic, which arrives as an exception of
another kind. Nobody needs to see the traceback, which would quote lines of code around people's
data, and the error to tell is the first one: out of memory, and no bug of ours.
"""

import os
import sys
from types import TracebackType

_lacked_memory = False


def begin() -> None:
    """From now on what C code has Python print is kept from the terminal."""
    global _lacked_memory  # noqa: PLW0603  (the hook belongs to the process)
    _lacked_memory = False
    sys.excepthook = _printed


def end() -> None:
    """What is printed from now on is not ours."""
    sys.excepthook = sys.__excepthook__


def lacked_memory() -> bool:
    """Whether a `MemoryError` was printed rather than raised."""
    return _lacked_memory


def _printed(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    global _lacked_memory  # noqa: PLW0603
    _lacked_memory = _lacked_memory or issubclass(kind, MemoryError)
    if os.environ.get("PATHVEIL_DEBUG"):
        sys.__excepthook__(kind, error, trace)
