"""Standard output and error: open from the start, and never the reason why a message is lost."""

import os
import sys
from contextlib import suppress
from typing import Final, TextIO

from pathveil.errors import ParameterError

_NAMES: Final = ("standard input", "standard output", "standard error")
_closed: list[str] = []


def open_all() -> None:
    """Put /dev/null where a standard stream is closed (``>&-``), or stdout where stderr is.

    Else the next file that is opened would take its place: a message would be written into it.
    """
    _closed.clear()
    for number, name in enumerate(_NAMES):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free: this one
            _closed.append(name)
    if _NAMES[2] in _closed:
        os.dup2(1, 2)
    if sys.stdout is None:
        sys.stdout = _text(1)
    if sys.stderr is None:
        sys.stderr = _text(2)


def check_open() -> None:
    """Refuse to begin what costs something if nobody could be told how it ended.

    Raises:
        ParameterError: if a stream is closed, or takes nothing.
    """
    for number, name in enumerate(_NAMES[1:], start=1):
        if name in _closed:
            raise ParameterError(
                f"The {name} is closed, so what becomes of the run could not be said; let it go to "
                "a file, or to /dev/null. Nothing was charged."
            )
        try:
            os.write(number, b"")
        except OSError as error:
            raise ParameterError(
                f"The {name} can't be written ({os.strerror(error.errno or 0)}), so what becomes "
                "of the run could not be said. Nothing was charged."
            ) from None


def drop(stream: TextIO) -> None:
    """Send what is left of a stream nowhere, so that Python's own flush at the end is quiet."""
    with suppress(OSError):  # no file can be opened: it stays as it is, and the message comes out
        null = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(null, stream.fileno())
        finally:
            os.close(null)


def say_on_stdout() -> None:
    """Standard error takes nothing: from now on it is standard output."""
    os.dup2(sys.stdout.fileno(), sys.stderr.fileno())


def _text(number: int) -> TextIO:
    return open(number, "w", encoding="utf-8", errors="replace", closefd=False)
