"""Publishes that fail at the n-th call, each in a process of its own that is there at once.

Started with the shim (`faults_shim.c`) before libc. It publishes everything that it will be asked
for once, so that all is imported and compiled, and then forks for every trial: a child chooses the
call that fails and runs the real command line. A task that holds is run as far as the charge and
waits there; it forks for each of the tasks that follow, so that a trial of what comes after the
charge need not run what comes before. Nothing of pathveil's inside is called; an injected breach
(`BREACHES`) replaces a part of it in a child, to see whether the trials would notice.
"""

import ctypes
import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

PATIENCE = 120  # seconds; one takes less than one, on a machine that does nothing else
HUNG = -99
HELD = "held"
SHIM = ctypes.CDLL(None)


def serve() -> None:
    """Read tasks, a line of JSON each; answer each with a line."""
    SHIM.faults_arm.argtypes = [ctypes.c_int, ctypes.c_long, ctypes.c_int, ctypes.c_int]
    SHIM.faults_counted.restype = SHIM.faults_failed.restype = ctypes.c_long
    warm_up = json.loads(sys.stdin.readline())
    answers = os.fdopen(os.dup(1), "w")
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    _warm_up(warm_up)
    print("ready", file=answers, flush=True)
    for task in iter(_next_task, None):
        answer, writing = _forked(task)
        if answer is None:
            _try(task, writing, answers)
        print(json.dumps(answer), file=answers, flush=True)


def _next_task() -> dict[str, Any] | None:
    """None if there is no more, or whoever is held shall end."""
    task: dict[str, Any] | None = json.loads(sys.stdin.readline() or "null")
    return task


def _warm_up(tasks: list[dict[str, Any]]) -> None:
    from pathveil.cli.run import run

    for task in tasks:
        _enter(Path(task["folder"]))
        if run(task["arguments"]):
            raise SystemExit("a publish without a fault did not work")
    os.chdir("/")


def _enter(folder: Path) -> None:
    os.chdir(folder / "work")
    os.environ["TMPDIR"] = str(folder / "temporary")
    tempfile.tempdir = None


def _forked(task: dict[str, Any]) -> tuple[dict[str, int] | None, int]:
    """In the process that forks, what came of its child; in the child, None and where it tells."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        return None, writing
    os.close(writing)
    code = _exit_code(child, float("inf") if task["hold"] else PATIENCE)
    with os.fdopen(reading) as told:
        text = told.read()
    # One that was killed by its fault can't tell any more; it failed one call for sure.
    counted, failed = json.loads(text) if text else (task["n"], 1)
    return {"code": code, "counted": counted, "failed": failed}, -1


def _exit_code(child: int, seconds: float) -> int:
    """As Python has it: negative for a signal."""
    patience = time.monotonic() + seconds
    while time.monotonic() < patience:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return HUNG


def _try(task: dict[str, Any], writing: int, answers: TextIO) -> None:
    from pathveil.cli.run import run

    folder, code = Path(task["folder"]), 99
    try:
        _enter(folder)
        # As on a machine that keeps the memory of a process that was aborted.
        resource.setrlimit(resource.RLIMIT_CORE, (resource.getrlimit(resource.RLIMIT_CORE)[1],) * 2)
        said = os.open(folder / "said.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(said, 1)
        os.dup2(said, 2)
        BREACHES[task["breach"]]()
        if task["hold"]:
            _hold_at_the_charge(writing, answers)
        else:
            _arm(task)
        try:
            code = run(task["arguments"])
        finally:
            SHIM.faults_disarm()
        sys.stdout.flush()
        told = [SHIM.faults_counted(), SHIM.faults_failed()]
        os.write(writing, json.dumps(told).encode())
    except BaseException:  # noqa: BLE001  (what a traceback would be in a process of its own)
        import traceback

        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)


def _arm(task: dict[str, Any]) -> None:
    SHIM.faults_arm(task["kind"], task["n"], task["error"], task["lasting"])


def _hold_at_the_charge(writing: int, answers: TextIO) -> None:
    """Wait before the charge, and fork: the children go on from there, each with its own fault."""
    from pathveil.ledger import charges

    real = charges.Account.charge

    def held(self: Any, *given: Any) -> Any:
        print(json.dumps(HELD), file=answers, flush=True)
        for task in iter(_next_task, None):
            answer, here = _forked(task)
            if answer is None:
                os.dup2(here, writing)  # what `_try` tells is told of this trial
                _arm(task)
                return real(self, *given)
            print(json.dumps(answer), file=answers, flush=True)
        os._exit(0)

    charges.Account.charge = held  # type: ignore[method-assign]


# Breaches that the trials have to notice.


def _none() -> None:
    pass


def _charge_twice() -> None:
    from pathveil.ledger import charges

    real = charges.Account.charge

    def twice(self: Any, *given: Any) -> Any:
        real(self, *given)
        return real(self, *given)

    charges.Account.charge = twice  # type: ignore[method-assign]


def _leave_rows() -> None:
    """A copy of the data that is not removed when something fails."""
    from pathveil.cli import aftermath
    from pathveil.raw.engines import engine

    real = engine.read

    def copied(source: Any, *given: Any, **options: Any) -> Any:
        if aftermath._is_paid:  # noqa: SLF001  (the rehearsal reads, too)
            copy = Path(tempfile.gettempdir()) / "copy.csv"
            copy.write_bytes(Path(source).read_bytes())
        return real(source, *given, **options)

    engine.read = copied


def _write_in_place() -> None:
    """A bundle that appears file by file, the certificate last."""
    from pathveil.cli.terminal import Terminal

    real = Terminal.rehearsed

    def begun(self: Any, *given: Any) -> None:
        real(self, *given)
        Path("out").mkdir()

    Terminal.rehearsed = begun  # type: ignore[method-assign]


def _forget_the_charge() -> None:
    from pathveil.cli import terminal

    terminal._say_even_if_quiet = terminal._say = lambda _message: None  # noqa: SLF001


def _abort() -> None:
    """What a library does that finds no memory, with the rows read."""
    from pathveil import publishing
    from pathveil.cli import aftermath

    real = publishing.publish_with

    def aborted(*given: Any, **more: Any) -> Any:
        if aftermath._is_paid:  # noqa: SLF001  (the rehearsal comes by, too)
            os.abort()
        return real(*given, **more)

    publishing.publish_with = aborted


def _abort_at_once() -> None:
    """The same in the moment after the charge, before a word of it."""
    from pathveil.ledger import charges

    real = charges.Account.charge

    def aborted(self: Any, *given: Any) -> Any:
        real(self, *given)
        os.abort()

    charges.Account.charge = aborted  # type: ignore[method-assign]


def _abort_unheard() -> None:
    _forget_the_charge()
    _abort_at_once()


def _forget_the_release() -> None:
    from pathveil.cli import aftermath

    aftermath.left_behind = lambda: ""


BREACHES: dict[str, Callable[[], None]] = {
    "": _none,
    "charged twice": _charge_twice,
    "rows left": _leave_rows,
    "half a bundle": _write_in_place,
    "aborted": _abort,
    "aborted at once": _abort_at_once,
    "aborted unheard": _abort_unheard,
    "charge not told": _forget_the_charge,
    "release not told": _forget_the_release,
}

if __name__ == "__main__":
    serve()
