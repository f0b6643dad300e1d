"""Ask Spark and stay interruptible; do not wait for ever for workers that are gone.

A standalone cluster that has lost all its workers does not fail a job: it waits for new ones, and
would wait for ever. A run is charged by then, so we wait too, but not without an end.
"""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from secrets import token_hex
from typing import Any, Final, TypeVar

from pathveil.errors import InputError, ParameterError, PathveilError

T = TypeVar("T")

TIMEOUT_SETTING: Final = "spark.pathveil.workerTimeout"
_DEFAULT_TIMEOUT: Final = "600"
_TICK: Final = 1.0  # seconds between two looks at the cluster
_FAILED: Final = (
    "Spark could not finish: tasks kept failing on the workers (is pathveil installed there, in "
    "the version that runs here? is there room on their disks?), or the cluster went away. Its own "
    "logs say why."
)


def ask_spark(session: Any, call: Callable[[], T]) -> T:
    """Run a call that starts jobs.

    It runs in a thread of its own, so that a signal gets through, and under a tag, so that its
    jobs, and no others of the session, are cancelled then.

    Args:
        session: a Spark session.
        call: what to run.

    Raises:
        InputError: if the call fails with anything but an error of our own, or if there was no
            worker for as long as `TIMEOUT_SETTING` says. Nothing leads from it to Spark's
            exception, whose message may quote a row.
    """
    tag = f"pathveil-{token_hex(8)}"
    workers = _Workers(session)

    def tagged() -> T:
        session.addTag(tag)
        return call()

    thread = ThreadPoolExecutor(1)
    answer = thread.submit(tagged)
    thread.shutdown(wait=False)  # it ends with its call; if Spark hangs, we do not hang with it
    try:
        while not wait([answer], timeout=_TICK).done:
            workers.check()
        return answer.result()
    except PathveilError:
        _cancel(session, tag)
        raise
    except Exception:  # noqa: BLE001, S110  (whatever it is, its message may quote a row)
        pass
    except BaseException:
        _cancel(session, tag)
        raise
    raise InputError(_FAILED)


def _cancel(session: Any, tag: str) -> None:
    """End the jobs of a tag; if Spark is gone, they are."""
    with suppress(Exception):
        session.interruptTag(tag)


class _Workers:
    """Whether a session has had workers lately.

    Args:
        session: a Spark session. Of one over Connect we can't know: its server looks after it.
    """

    def __init__(self, session: Any) -> None:
        self._timeout = _seconds(session.conf.get(TIMEOUT_SETTING, _DEFAULT_TIMEOUT))
        self._seen = time.monotonic()
        self._context: Any = None
        with suppress(Exception):
            context = session.sparkContext
            is_local = str(context.master).partition("[")[0] == "local"
            self._context = None if is_local else context

    def check(self) -> None:
        """Look.

        Raises:
            InputError: if there was none for too long.
        """
        if self._context is None or self._count() > 0:
            self._seen = time.monotonic()
        elif time.monotonic() - self._seen > self._timeout:
            raise InputError(
                f"The Spark cluster has had no worker for {self._timeout:g} seconds, so the run "
                f"was given up. (To wait longer, set {TIMEOUT_SETTING}.)"
            )

    def _count(self) -> int:
        try:
            # Everybody who can keep a table: the workers' executors, and the driver.
            return int(self._context._jsc.sc().getExecutorMemoryStatus().size()) - 1  # noqa: SLF001
        except Exception:  # noqa: BLE001  (Spark is ending: the call will fail by itself)
            return 0


def _seconds(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ParameterError(f"{TIMEOUT_SETTING} is a number of seconds.") from None
