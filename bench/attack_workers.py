"""Thousands of publishes: long-lived processes that run the command line again and again.

A process calls the console script's own function with arguments, as a shell would; files go in,
files come out, and the noise is the operating system's. Only the time that Python needs to start
and to import is saved. Nothing of pathveil's inside is called; an injected breach (`INJECTIONS`)
replaces a part of it in these processes, to see whether the attack would notice.
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread
from typing import Any

import typer.main

from bench.attack_release import Features, claim, features

AT_ONCE = 16  # runs of one task


@dataclass(frozen=True, slots=True)
class Task:
    """Some publishes of one file.

    Attributes:
        folder: where the files are.
        source: which one.
        options: of `pathveil publish`.
        runs: how many.
    """

    folder: Path
    source: str
    options: tuple[str, ...]
    runs: int


@contextmanager
def workers(injection: str = "nothing") -> Iterator[Executor]:
    """One process for each core; ``injection`` is a name of `INJECTIONS`."""
    spawn = get_context("spawn")
    with ProcessPoolExecutor(os.cpu_count(), spawn, _begin, (injection,)) as pool:
        yield pool


def publish_many(
    pool: Executor, folder: Path, source: str, options: tuple[str, ...], runs: int
) -> list[Features]:
    """What an attacker reads off each of ``runs`` releases."""
    sizes = [AT_ONCE] * (runs // AT_ONCE) + ([runs % AT_ONCE] if runs % AT_ONCE else [])
    tasks = [Task(folder, source, options, size) for size in sizes]
    return [run for done in pool.map(_work, tasks) for run in done]


def published_claim(
    pool: Executor, folder: Path, source: str, options: tuple[str, ...], measurement: str | None
) -> tuple[Fraction, Fraction] | None:
    """The ε and δ that a release certifies, or None if the command refuses these options."""
    task = Task(folder, source, options, 1)
    return pool.submit(_with_release, task, partial(_claim_of, measurement=measurement)).result()


def _claim_of(bundle: Path, measurement: str | None) -> tuple[Fraction, Fraction] | None:
    return claim(bundle, measurement) if bundle.exists() else None


def _begin(injection: str) -> None:
    # A worker must not outlive who started it, however that ended.
    Thread(target=_end_with_parent, daemon=True).start()
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    # The description of all commands and options is the same every time: it is built once.
    typer.main.get_command = cache(typer.main.get_command)
    INJECTIONS[injection]()


def _end_with_parent() -> None:
    parent_process().join()
    os._exit(1)


def _work(task: Task) -> list[Features]:
    return [_with_release(task, features) for _ in range(task.runs)]


def _with_release(task: Task, read: Callable[[Path], Any]) -> Any:
    """Publish once, read what was written, and throw it away."""
    from pathveil.cli.run import run

    os.chdir(task.folder)
    place = Path(tempfile.mkdtemp(dir=task.folder))
    try:
        run(["publish", task.source, *task.options, "--out", str(place / "release")])
        return read(place / "release")
    finally:
        shutil.rmtree(place)


def _nothing() -> None:
    """The software as it is."""


def _no_noise() -> None:
    import numpy as np

    from pathveil.gate import add_noise, prepare

    def silence(size, _epsilon, _randomness):
        return np.zeros(size, dtype=np.int64)

    add_noise.discrete_laplace = prepare.discrete_laplace = silence


def _half_noise() -> None:
    from pathveil.gate import add_noise
    from pathveil.gate.geometric import noise_geometric, skip_geometric

    add_noise.noise_geometric = lambda epsilon: noise_geometric(2 * epsilon)
    add_noise.skip_geometric = lambda epsilon, threshold: skip_geometric(2 * epsilon, threshold)


def _doubled_cap() -> None:
    from pathveil.raw import steps

    right = steps.bound_contributions
    steps.bound_contributions = lambda visits, most, **more: right(visits, 2 * most, **more)


def _ties_by_appearance() -> None:
    """Visits of one moment have the order in which their labels first appear in the file."""
    import numpy as np

    from pathveil.raw import observed

    observed.order_of_bytes = lambda texts: np.arange(len(texts))


INJECTIONS: dict[str, Callable[[], None]] = {
    "nothing": _nothing,
    "no-noise": _no_noise,
    "half-noise": _half_noise,
    "doubled-cap": _doubled_cap,
    "ties-by-appearance": _ties_by_appearance,
}
"""Breaches by name: no noise at all, noise of half the scale, twice c trajectories of a unit, one
unit decides on everybody's order."""
