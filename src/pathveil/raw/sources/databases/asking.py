"""Ask a database and stay interruptible; its failures in our words, never in its own."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from pathveil.errors import InputError, PathveilError

T = TypeVar("T")


def ask(
    call: Callable[[], T],
    explain: Callable[[Exception], str],
    cancel: Callable[[], None] | None = None,
) -> T:
    """Run a blocking call into a driver.

    It runs in a thread of its own, because a driver that waits for a server lets no signal
    through: Ctrl-C must end a query that would take an hour.

    Args:
        call: what to run.
        explain: the whole message of our error, by the driver's. It quotes nothing of it.
        cancel: makes the call end early.

    Raises:
        InputError: if the call fails with anything but an error of our own. Nothing leads from it
            to the driver's exception.
    """
    with ThreadPoolExecutor(1) as thread:
        answer = thread.submit(call)
        try:
            return answer.result()
        except PathveilError:
            raise
        except MemoryError:
            problem = "Not enough memory to read the database."
        except Exception as error:  # noqa: BLE001  (whatever it is, its message may quote a row)
            problem = explain(error)
        except BaseException:
            if cancel is not None and not answer.done():
                cancel()
            raise
    raise InputError(problem)
