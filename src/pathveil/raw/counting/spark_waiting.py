"""Ask Spark and stay interruptible; do not wait for ever for workers that are gone.

A standalone cluster that has lost all its workers does not fail a job: it waits for new ones, and
would wait for ever. A run is charged by then, so we wait too, but not without an end.
"""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import suppress
from secrets import token_hex
from typing import Any, Final, TypeVar

from pathveil.errors import InputError, ParameterError, PathveilError

T = TypeVar("T")

TIMEOUT_SETTING: Final = "spark.pathveil.workerTimeout"
_DEFAULT_TIMEOUT: Final = "600"
_TICK: Final = 1.0  # seconds between two looks at the cluster
_PATIENCE: Final = 15.0  # seconds for Spark to tidy up
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

    answer = _begun(tagged)
    try:
        while not wait([answer], timeout=_TICK).done:
            workers.check()
        return answer.result()
    except PathveilError:
        _cancel(session, tag, answer)
        raise
    except Exception:  # noqa: BLE001, S110  (whatever it is, its message may quote a row)
        pass
    except BaseException:
        _cancel(session, tag, answer)
        raise
    raise InputError(_FAILED)


def tell_spark(call: Callable[[], object]) -> None:
    """Run a call that tidies up. If Spark is gone it fails; if Spark hangs, it is left alone."""
    wait([_begun(call)], timeout=_PATIENCE)


def _begun(call: Callable[[], T]) -> Future[T]:
    """Run a call in a thread which does not keep Python from ending, as those of a pool would."""
    answer: Future[T] = Future()

    def work() -> None:
        try:
            answer.set_result(call())
        except BaseException as error:  # noqa: BLE001  (for whoever asks for the answer)
            answer.set_exception(error)

    threading.Thread(target=work, daemon=True).start()
    return answer


def _cancel(session: Any, tag: str, answer: Future[Any]) -> None:
    """End the jobs of a tag; more than once, because a call can be just between two jobs."""
    end = time.monotonic() + _PATIENCE
    while not answer.done() and time.monotonic() < end:
        _begun(lambda: session.interruptTag(tag))
        wait([answer], timeout=_TICK)


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
            # Those that the scheduler would give a task to. (The list of who keeps tables, which
            # is Spark's public one, can name a dead one for minutes.)
            return int(self._context._jsc.sc().getExecutorIds().size())  # noqa: SLF001
        except Exception:  # noqa: BLE001  (Spark is ending: the call will fail by itself)
            return 0


def _seconds(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ParameterError(f"{TIMEOUT_SETTING} is a number of seconds.") from None
