"""One trial: a publish of which one call fails, and whether what must hold still holds.

The invariants, whatever fails: the ledger is charged at most once; the bundle is there whole, as
`verify` has it, or not at all; no byte of the rows is left anywhere; and what the run says, by its
words and its exit code, is true.
"""

import errno
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from bench.fault_server import HELD, HUNG
from pathveil.cli.run import BUG, UNUSABLE
from pathveil.errors import PathveilError
from pathveil.ledger.ledger import Ledger
from pathveil.release.bundle import verify_bundle

ROOT = Path(__file__).resolve().parent.parent
KINDS = {  # by the numbers of the shim, with the error that a call fails with
    "open": (1, errno.EMFILE),
    "write": (2, errno.ENOSPC),
    "sync": (3, errno.EIO),
    "rename": (4, errno.EIO),
    "allocate": (5, errno.ENOMEM),
}
MODES = (("memory", "full"), ("memory", "calibrated"), ("duckdb", "full"))
UNIT, LABEL = "canary-unit-7fd1", "canary-stop-52ce"  # in the rows alone, and never published
CANARIES = (UNIT.encode(), LABEL.encode())
EPSILON, LIMIT = "4", "99"
WATCHER_SECONDS = 20


@dataclass(frozen=True, slots=True)
class Trial:
    """What is tried.

    Attributes:
        kind: of call, one of `KINDS`.
        engine: that reads and counts.
        method: of publishing.
        n: which call fails; 0 for none, only to count them.
        lasting: whether all later ones fail too.
        is_held: whether it is a trial of what comes from the charge on, n counted from there.
        breach: what is broken in pathveil on purpose (`fault_server.BREACHES`).
    """

    kind: str
    engine: str
    method: str
    n: int
    lasting: bool = False
    is_held: bool = False
    breach: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it.

    Attributes:
        counted: calls of the kind.
        failed: how many of them failed.
        code: the exit code; negative for a signal.
        said: all that was printed.
        broken: the invariants that do not hold, in words.
    """

    counted: int
    failed: int
    code: int
    said: str
    broken: tuple[str, ...]


class Trials:
    """A warm process that tries; see `open_trials`."""

    def __init__(self, process: "subprocess.Popen[str]", home: Path) -> None:
        self._process, self._home = process, home
        self._number = 0

    def begin(self, modes: tuple[tuple[str, str], ...]) -> None:
        """Publish in every mode once, without a fault."""
        folders = [self._folder() for _ in modes]
        self._tell(
            [
                {"folder": str(folder), "arguments": _arguments(*mode)}
                for folder, mode in zip(folders, modes, strict=True)
            ]
        )
        if self._process.stdout is None or self._process.stdout.readline() != "ready\n":
            raise RuntimeError("The process of the trials did not start.")

    def run(self, trial: Trial) -> Outcome:
        """Try it, look, and remove what it left."""
        folder = self._folder()
        try:
            return self._tried(folder, trial)
        finally:
            shutil.rmtree(folder)

    @contextmanager
    def begun(self, first: Trial) -> Iterator["Trials | HeldTrials"]:
        """What tries this one and others like it.

        With `Trial.is_held`: a run that waits at the charge, from which on its trials count.
        """
        if not first.is_held:
            yield self
            return
        folder = self._folder()
        self._tell(_task(folder, first) | {"hold": True})
        if self._answer() != HELD:
            raise RuntimeError("The run did not come as far as the charge.")
        pattern = folder.with_suffix(".held")
        shutil.copytree(folder, pattern)
        try:
            yield HeldTrials(self, folder, pattern)
        finally:
            self._tell(None)
            self._answer()
            shutil.rmtree(folder)
            shutil.rmtree(pattern)

    def _tried(self, folder: Path, trial: Trial) -> Outcome:
        self._tell(_task(folder, trial))
        return _judged(folder, trial.kind, **self._answer())

    def _tell(self, task: Any) -> None:
        if self._process.stdin is None:
            raise RuntimeError("The process of the trials has no input.")
        self._process.stdin.write(json.dumps(task) + "\n")
        self._process.stdin.flush()

    def _answer(self) -> Any:
        if self._process.stdout is None:
            raise RuntimeError("The process of the trials has no output.")
        return json.loads(self._process.stdout.readline())

    def _folder(self) -> Path:
        """The files of one trial: rows, universe, and a ledger with room."""
        self._number += 1
        folder = self._home / f"{self._number}"
        shutil.copytree(self._home / "pattern", folder)
        return folder


class HeldTrials:
    """Trials that all begin at the charge of one run, with the files as they were then."""

    def __init__(self, trials: Trials, folder: Path, pattern: Path) -> None:
        self._trials, self._folder, self._pattern = trials, folder, pattern

    def run(self, trial: Trial) -> Outcome:
        """Try it, look, and put everything back."""
        try:
            return self._trials._tried(self._folder, trial)  # noqa: SLF001  (one of them)
        finally:
            self._put_back()

    def _put_back(self) -> None:
        """In place: the run that waits is in one of the folders, and has the file of words open."""
        for path in self._pattern.iterdir():
            here = self._folder / path.name
            if path.is_file():
                shutil.copyfile(path, here)
                continue
            for left in here.iterdir():
                shutil.rmtree(left) if left.is_dir() else left.unlink()
            shutil.copytree(path, here, dirs_exist_ok=True)


def _task(folder: Path, trial: Trial) -> dict[str, Any]:
    kind, error = KINDS[trial.kind]
    return {
        "folder": str(folder),
        "arguments": _arguments(trial.engine, trial.method),
        "kind": kind,
        "n": trial.n,
        "error": error,
        "lasting": int(trial.lasting),
        "breach": trial.breach,
        "hold": False,
    }


@contextmanager
def open_trials(modes: tuple[tuple[str, str], ...] = MODES) -> Iterator[Trials]:
    """Compile the shim, start the process, and have it ready for these modes."""
    with tempfile.TemporaryDirectory(prefix="faults-") as made:
        home = Path(made)
        shim = home / "shim.so"
        source = Path(__file__).with_name("faults_shim.c")
        subprocess.run(
            ["gcc", "-shared", "-fPIC", "-O2", "-o", str(shim), str(source), "-ldl"], check=True
        )
        _write_pattern(home / "pattern")
        process = subprocess.Popen(
            [sys.executable, "-m", "bench.fault_server"],
            cwd=ROOT,
            env=_environment(home, shim),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        with process:
            trials = Trials(process, home)
            try:
                trials.begin(modes)
                yield trials
            finally:
                process.kill()


def _environment(home: Path, shim: Path) -> dict[str, str]:
    ours = ("PATHVEIL_DEBUG", "PATHVEIL_LEDGER", "XDG_DATA_HOME")
    kept = {name: value for name, value in os.environ.items() if name not in ours}
    return kept | {
        "LD_PRELOAD": str(shim),
        "HOME": str(home),
        "COLUMNS": "200",
        "ARROW_DEFAULT_MEMORY_POOL": "system",  # its other allocators do not ask libc
    }


def _write_pattern(folder: Path) -> None:
    for name in ("work", "temporary", "spill"):
        (folder / name).mkdir(parents=True)
    work = folder / "work"
    (work / "stops.csv").write_text("location\nA\nB\nC\nD\n", encoding="utf-8")
    rows = [f"u{n},{step},{'ABCD'[(n + step) % 4]}" for n, step in product(range(40), range(3))]
    rows += [f"{UNIT},{step},{stop}" for step, stop in enumerate(["A", LABEL, "B"])]
    (work / "taps.csv").write_text("\n".join(["card,seq,stop", *rows, ""]), encoding="utf-8")
    Ledger.open(str(work / "ledger.db")).init("taps", LIMIT)


def _arguments(engine: str, method: str) -> list[str]:
    options = {
        "universe": "stops.csv",
        "unit-column": "card",
        "order-column": "seq",
        "location-column": "stop",
        "epsilon": EPSILON,
        "height": "3",
        "method": method,
        "engine": engine,
        "spill": "../spill",
        "dataset": "taps",
        "ledger": "ledger.db",
        "out": "out",
    }
    if engine == "memory":
        del options["spill"]
    given = [word for name, value in options.items() for word in (f"--{name}", value)]
    return ["publish", "taps.csv", *given]


def _judged(folder: Path, kind: str, code: int, counted: int, failed: int) -> Outcome:
    file = folder / "said.txt"
    said = file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""
    # Some libraries answer a lack of memory with an error that does not name it.
    codes = {UNUSABLE, BUG} if kind == "allocate" else {UNUSABLE}
    broken = tuple(_broken(folder, codes, code, said))
    return Outcome(counted, failed, code, said, broken)


def _broken(folder: Path, codes: set[int], code: int, said: str) -> Iterator[str]:
    """The invariants that do not hold."""
    out = folder / "work" / "out"
    payments = len(_payments(folder))
    if payments > 1:
        yield f"charged {payments} times"
    is_whole = False
    try:
        is_whole = verify_bundle(out).ledger is not None
    except PathveilError:
        if os.path.lexists(out):
            yield "half a bundle"
    if is_whole and not payments:
        yield "a bundle that nobody paid for"
    _wait_for_watcher(folder / "spill")
    for path in folder.rglob("*"):
        if path.name != "taps.csv" and path.is_file():
            content = path.read_bytes()
            if any(canary in content for canary in CANARIES):
                yield f"rows left in {path.relative_to(folder)}"
    yield from _false_words(codes, code, said, is_charged=payments > 0, is_whole=is_whole)


def _wait_for_watcher(spill: Path) -> None:
    """After an abort it is another process that removes what was spilled."""
    patience = time.monotonic() + WATCHER_SECONDS
    while any(spill.iterdir()) and time.monotonic() < patience:
        time.sleep(0.02)


def _payments(folder: Path) -> Any:
    """What the ledger says, after a look at all of it."""
    return Ledger.open(str(folder / "work" / "ledger.db")).books().dataset("taps").payments


def _false_words(
    codes: set[int], code: int, said: str, *, is_charged: bool, is_whole: bool
) -> Iterator[str]:
    if code == HUNG:
        yield "it hung"
    if "Traceback" in said:
        yield "a traceback"
    if code == 0:
        if not (is_whole and is_charged):
            yield "exit code 0 without a release"
        return
    if code >= 0 and code not in codes:
        yield f"exit code {code}"
    tells_charge = "Charged ε" in said or "stays charged to" in said or "paid for" in said
    # Who is aborted by somebody else's code can't say a word then: what it said before counts.
    leaves_open = "If not a word follows" if code < 0 else "It is not known whether entry"
    if tells_charge and not is_charged:
        yield "says that it charged, and did not"
    if is_charged and not tells_charge and leaves_open not in said:
        yield "does not say that it charged"
    if code < 0:
        return
    if is_whole != ("whole" in said) or (is_charged and not is_whole and not _denies(said)):
        yield "does not say whether the bundle is whole"


def _denies(said: str) -> bool:
    """Whether it is said that there is no release."""
    return any(words in said for words in ("left behind", "Nothing was read or drawn", "not known"))
