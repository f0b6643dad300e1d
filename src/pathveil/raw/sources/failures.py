"""Turn a library's exception into ours without its message, which may quote cells."""

from collections.abc import Callable
from typing import TypeVar

from pathveil.errors import InputError, PathveilError

T = TypeVar("T")


def attempt(call: Callable[[], T], problem: str) -> T:
    """Run a call into a library; if it fails, say ``problem`` and nothing of its own.

    The new error is raised outside the handler, so that not even its ``__context__`` leads back
    to the original message.

    Args:
        call: what to run.
        problem: the whole message of the error. It must not hold a value of the data.

    Raises:
        InputError: if ``call`` fails with anything but an error of our own.
    """
    try:
        return call()
    except PathveilError:
        raise
    except MemoryError:
        problem = f"Not enough memory. {problem}"
    except Exception:  # noqa: BLE001, S110  (whatever it is, its message may quote a cell)
        pass
    raise InputError(problem)
