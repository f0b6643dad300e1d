"""``python -m bench.faults``: each open, write, sync, rename or allocation of a publish fails once.

In the manner of SQLite's tests: a publish with a ledger is counted, and then tried again for every
n with the n-th call failing, once for itself and once with all that follow ("ever after": a disk
that is full, no file descriptors). After each, `fault_trials` looks at what must hold: charged at
most once, no half bundle, no byte of the rows left, true words. Allocations are many: of them
about ``--allocations`` are tried, every k-th from a random one on (``--seed``), and only once each,
for without any memory nobody could say a word. With ``--most`` the other calls are chosen so, too.
The exit code is 1 if an invariant broke. ``TMPDIR=/dev/shm`` spares the disk.
"""

import argparse
import secrets
import shutil
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from queue import SimpleQueue
from random import Random

from bench.fault_trials import KINDS, MODES, Outcome, Trial, Trials, open_trials

AT_ONCE = 2
ALLOCATIONS = 300


@dataclass(frozen=True, slots=True)
class Row:
    """What came of all trials of one kind.

    Attributes:
        first: what was tried, for n = 0.
        counted: calls of a publish that works.
        every: k, if every k-th of them was tried.
        outcomes: of the trials, by n.
    """

    first: Trial
    counted: int
    every: int
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
        return (
            f"{trial.kind:9} {'ever after' if trial.lasting else 'once':11} {trial.engine:7} "
            f"{trial.method:11} {self.counted:7,} {self.every:5} {len(outcomes):7,} {failed:7,} "
            f"{went_on:8,} {aborted:8,} {len(self.broken):7,}"
        )


HEADER = (
    f"{'call':9} {'fails':11} {'engine':7} {'method':11} {'counted':>7} {'every':>5} {'trials':>7} "
    f"{'failed':>7} {'released':>8} {'aborted':>8} {'broken':>7}"
)


def chosen(counted: int, most: int, seed: int = 0) -> range:
    """Which calls fail: all, or every k-th, about so many, from one that the seed says."""
    every = max(1, round(counted / most))
    return range(Random(seed).randint(1, every), counted + 1, every)


def tried(trials: Trials, first: Trial, most: int, seed: int = 0) -> Row:
    """Count the calls of a publish, then fail one after another."""
    counted = trials.run(first).counted
    calls = chosen(counted, most, seed)
    outcomes = {n: trials.run(replace(first, n=n)) for n in calls}
    return Row(first, counted, calls.step, outcomes)


def _asked(words: list[str]) -> Iterator[Trial]:
    for engine, method in MODES:
        for kind in KINDS:
            if not set(words) <= {kind, engine, method}:
                continue
            yield Trial(kind, engine, method, 0)
            if kind != "allocate":
                yield Trial(kind, engine, method, 0, lasting=True)


def main() -> int:
    """Try them all and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--allocations", type=int, default=ALLOCATIONS, help="so many fail")
    parser.add_argument("--most", type=int, default=sys.maxsize, help="so many of any row fail")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10**6), help="which fail")
    parser.add_argument("words", nargs="*", help="only this call, engine, method")
    asked = parser.parse_args()
    if shutil.which("gcc") is None:
        raise SystemExit("The shim is compiled with gcc, which is not there.")
    free: SimpleQueue[Trials] = SimpleQueue()

    def run(first: Trial) -> Row:
        trials = free.get()
        try:
            few = min(asked.most, asked.allocations)
            most = few if first.kind == "allocate" else asked.most
            return tried(trials, first, most, asked.seed)
        finally:
            free.put(trials)

    print(f"Seed {asked.seed}.\n{HEADER}", flush=True)
    failed = broken = 0
    with ExitStack() as stack:
        for _ in range(AT_ONCE):
            free.put(stack.enter_context(open_trials()))
        pool = stack.enter_context(ThreadPoolExecutor(AT_ONCE))
        for row in pool.map(run, _asked(asked.words)):
            print(row, flush=True)
            for n, outcome in row.broken.items():
                print(f"  call {n}, exit code {outcome.code}: {'; '.join(outcome.broken)}")
            failed += sum(outcome.failed for outcome in row.outcomes.values())
            broken += len(row.broken)
    print(f"{failed:,} calls failed; invariants broken: {broken}.")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
