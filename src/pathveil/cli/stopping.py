"""Ctrl-C, `kill` and a closed terminal end a command, whatever it is doing when they come.

A signal's handler raises `Stopped`, so that temporary folders are removed on the way out. That is
not enough by itself: Python throws an exception away that is raised inside a callback (of a weak
reference, of a driver), and the command would go on. So the handler also keeps the signal, and an
alarm clock looks again and again: unless `Stopped` is on its way out, it is raised once more. What
was kept also decides the exit code, should the command have ended meanwhile. Of a `Stopped` that
was thrown away Python would print a traceback; nobody needs to see one.

Imports nothing heavy: `main` listens before anything else is imported.
"""

import signal
import sys
from types import FrameType

STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_LOOK_AGAIN = 0.05  # seconds


class Stopped(BaseException):
    """Somebody wants the process to end; as an exception, so that temporary folders go too."""


_received: int | None = None
_may_raise = False


def listen() -> None:
    """Keep the first signal from now on. One that is ignored, as under nohup, stays so."""
    for number in STOPPING:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _stop)


def begin() -> None:
    """From now on a signal ends the work, and so does one that came since `listen`."""
    global _may_raise  # noqa: PLW0603  (signals belong to the process)
    listen()
    _may_raise = True
    check()


def end() -> int | None:
    """From now on a signal is only kept; the one that came, if any, is forgotten with this."""
    global _may_raise, _received  # noqa: PLW0603
    _may_raise = False
    if _received is not None:
        signal.setitimer(signal.ITIMER_REAL, 0)
    received, _received = _received, None
    return received


def ignore() -> None:
    """The work is done. Python takes its handlers away before it ends; what is ignored stays so."""
    for number in STOPPING:
        signal.signal(number, signal.SIG_IGN)


def check() -> None:
    """Look whether somebody wants the process to end; asked where that matters most.

    Raises:
        Stopped: if so.
    """
    if _may_raise and _received is not None and not _is_on_its_way():
        raise Stopped


def _stop(number: int, _frame: FrameType | None) -> None:
    global _received  # noqa: PLW0603
    if _received is None:
        _received = number
        if _may_raise:
            signal.signal(signal.SIGALRM, _look_again)
            signal.setitimer(signal.ITIMER_REAL, _LOOK_AGAIN, _LOOK_AGAIN)
    check()


def _look_again(_number: int, _frame: FrameType | None) -> None:
    check()


def _is_on_its_way() -> bool:
    """Whether what runs now is the cleaning up after `Stopped`, which nothing may stop."""
    error = sys.exc_info()[1]
    while error is not None:
        if isinstance(error, Stopped):
            return True
        error = error.__context__
    return False
