"""``python -m bench.faults``: each open, write, sync, rename or allocation of a publish fails once.

In the manner of SQLite's tests: a publish with a ledger is counted, and then tried again for every
n with the n-th call failing, once for itself and once with all that follow ("ever after": a disk
that is full, no file descriptors). After each, `fault_trials` looks at what must hold: charged at
most once, no half bundle, no byte of the rows left, true words. Allocations are many: of them
about ``--allocations`` are tried, every k-th from a random one on (``--seed``), and only once each,
for without any memory nobody could say a word. A row of its own is of those from the charge on,
where most is at stake: a run waits there and forks for each trial, so that all can be tried
(``--from-charge``). With ``--most`` the other calls are chosen so, too. They are tried in an order
that is spread over the run at any time, so that a row that ``--minutes`` ends early is a smaller
sample, and "every" says so. The exit code is 1 if an invariant broke. ``TMPDIR=/dev/shm`` spares
the disk.
"""

import argparse
import math
import secrets
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from queue import SimpleQueue
from random import Random

from bench.fault_trials import (
    KINDS,
    MODES,
    HeldTrials,
    Outcome,
    Trial,
    Trials,
    open_trials,
)

AT_ONCE = 2
ALLOCATIONS = 300


@dataclass(frozen=True, slots=True)
class Row:
    """What came of all trials of one kind.

    Attributes:
        first: what was tried, for n = 0.
        counted: calls of a publish that works.
        outcomes: of the trials, by n.
    """

    first: Trial
    counted: int
    outcomes: dict[int, Outcome]

    @property
    def broken(self) -> dict[int, Outcome]:
        """Those in which an invariant does not hold."""
        return {n: outcome for n, outcome in self.outcomes.items() if outcome.broken}

    def __str__(self) -> str:
        trial, outcomes = self.first, self.outcomes.values()
        went_on = sum(outcome.code == 0 for outcome in outcomes)
        aborted = sum(outcome.code < 0 for outcome in outcomes)
        failed = sum(outcome.failed for outcome in outcomes)
        every = self.counted / len(outcomes)
        return (
            f"{trial.kind:9} {'ever after' if trial.lasting else 'once':11} {_from(trial):7} "
            f"{trial.engine:7} {trial.method:11} {self.counted:7,} {every:6,.1f} "
            f"{len(outcomes):7,} {failed:7,} {went_on:8,} {aborted:8,} {len(self.broken):7,}"
        )


HEADER = (
    f"{'call':9} {'fails':11} {'from':7} {'engine':7} {'method':11} {'counted':>7} {'every':>6} "
    f"{'trials':>7} {'failed':>7} {'released':>8} {'aborted':>8} {'broken':>7}"
)


def chosen(counted: int, most: int, seed: int = 0) -> range:
    """Which calls fail: all, or every k-th, about so many, from one that the seed says."""
    every = max(1, round(counted / most))
    return range(Random(seed).randint(1, every), counted + 1, every)


def spread(calls: range) -> Iterator[int]:
    """The same calls, such that the first of them, however many, are spread over all."""
    bits = max(len(calls) - 1, 0).bit_length()
    for i in range(1 << bits):
        mirrored = int(f"{i:0{bits}b}"[::-1], 2) if bits else 0
        if mirrored < len(calls):
            yield calls[mirrored]


def tried(
    workers: Sequence[Trials], first: Trial, most: int, seed: int = 0, seconds: float = math.inf
) -> Row:
    """Count the calls of a publish, then fail one after another, until they or the time end."""
    with ExitStack() as stack:
        begun = [stack.enter_context(worker.begun(first)) for worker in workers]
        counted = begun[0].run(first).counted
        calls, patience = spread(chosen(counted, most, seed)), time.monotonic() + seconds
        free: SimpleQueue[Trials | HeldTrials] = SimpleQueue()
        for trials in begun:
            free.put(trials)

        def run(n: int) -> tuple[int, Outcome] | None:
            if time.monotonic() > patience:
                return None
            trials = free.get()
            try:
                return n, trials.run(replace(first, n=n))
            finally:
                free.put(trials)

        with ThreadPoolExecutor(len(begun)) as pool:
            outcomes = dict(found for found in pool.map(run, calls) if found)
    return Row(first, counted, dict(sorted(outcomes.items())))


def _from(trial: Trial) -> str:
    return "charge" if trial.is_held else "start"


def _asked(words: list[str]) -> Iterator[Trial]:
    for trial in _all():
        if set(words) <= {trial.kind, trial.engine, trial.method, _from(trial)}:
            yield trial


def _all() -> Iterator[Trial]:
    for engine, method in MODES:
        for kind in KINDS:
            first = Trial(kind, engine, method, 0)
            yield first
            is_memory = kind == "allocate"
            yield replace(first, is_held=is_memory, lasting=not is_memory)


def main() -> int:
    """Try them all and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--allocations", type=int, default=ALLOCATIONS, help="so many fail")
    parser.add_argument("--from-charge", type=int, default=ALLOCATIONS, help="of those after it")
    parser.add_argument("--most", type=int, default=sys.maxsize, help="so many of any row fail")
    parser.add_argument("--minutes", type=float, default=math.inf, help="so long for any row")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10**6), help="which fail")
    parser.add_argument("words", nargs="*", help="only this call, engine, method, start or charge")
    asked = parser.parse_args()
    if shutil.which("gcc") is None:
        raise SystemExit("The shim is compiled with gcc, which is not there.")
    print(f"Seed {asked.seed}.\n{HEADER}", flush=True)
    failed = broken = 0
    rows = list(_asked(asked.words))
    modes = tuple({(first.engine, first.method): None for first in rows})
    with ExitStack() as stack:
        workers = [stack.enter_context(open_trials(modes)) for _ in range(AT_ONCE)]
        for first in rows:
            few = asked.from_charge if first.is_held else asked.allocations
            most = few if first.kind == "allocate" else sys.maxsize
            seconds = 60 * asked.minutes
            row = tried(workers, first, min(most, asked.most), asked.seed, seconds)
            print(row, flush=True)
            for n, outcome in row.broken.items():
                print(f"  call {n}, exit code {outcome.code}: {'; '.join(outcome.broken)}")
            failed += sum(outcome.failed for outcome in row.outcomes.values())
            broken += len(row.broken)
    print(f"{failed:,} calls failed; invariants broken: {broken}.")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
