"""What one trip by itself loses, measured: from two files on disk to the noisy counts.

    python -m bench.one_trip

The files differ in one trip of one unit that has more trips than are used. A trip that goes lets
others in: one with `--keep first`, and with `--keep sample` all that are used may be others.
Printed are 99% lower bounds of the loss: the figures of docs/people.md.
"""

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import pathveil as pv
from pathveil.audit.attacking import bounds_of
from pathveil.gate.randomness import Randomness
from pathveil.publishing import publish_with

EPSILON, C = 2, 2  # so a count's noise has parameter 1, and ε/c is 1
PARAMETERS = pv.Parameters.choose(
    epsilon=EPSILON, height=1, universe_size=2, method="basic", max_trajectories_per_unit=C
)
OTHERS = 60
SEEDS = 100  # that somebody fixed, and among which we look for a bad one
Trips = list[tuple[int, str]]


def first_trips(folder: Path) -> tuple[Any, Any]:
    """The databases with and without trip 1, with `--keep first`: without it, trip 3 is used."""
    return next(_databases(folder, [(1, "a"), (2, "a"), (3, "b")], "first", [None]))


def sampled_trips(folder: Path) -> tuple[Any, Any]:
    """The same with `--keep sample`: all others move up in the unit's own numbers."""
    trips = [(number, "ab"[number % 2]) for number in range(12)]
    for whole, less in _databases(folder, trips, "sample", range(SEEDS)):
        if (counts(whole) - counts(less)).tolist() == [C, -C]:
            return whole, less
    raise ValueError("No seed exchanges all that is used.")


def _databases(folder: Path, trips: Trips, keep: str, seeds: Any) -> Iterator[tuple[Any, Any]]:
    files = _write(folder / "whole.csv", trips), _write(folder / "less.csv", trips[1:])
    for seed in seeds:
        whole, less = (_read(path, keep, seed) for path in files)
        yield whole, less


def _write(path: Path, trips: Trips) -> Path:
    """Others who go to a or to b once, and one unit with these trips, in the order of their ids."""
    rows = [f"u{i},1,{'ab'[i % 2]}" for i in range(OTHERS)]
    rows += [f"x,{number},{place}" for number, place in trips]
    path.write_text("\n".join(["unit,trip,place", *rows]), encoding="utf-8")
    return path


def _read(path: Path, keep: str, seed: int | None) -> Any:
    return pv.read_trajectories(
        path,
        pv.Universe(["a", "b"]),
        unit="unit",
        trajectory="trip",
        location="place",
        max_trajectories_per_unit=C,
        keep=keep,
        keep_seed=seed,
    )


def counts(database: Any) -> NDArray[np.int64]:
    """How many begin at a and at b."""
    return np.bincount(database.codes, minlength=2)


def _noisy_counts(database: Any) -> NDArray[np.int64]:
    """The noisy counts of a and b in one release, below every count if they are not there."""
    tree = publish_with(database, PARAMETERS, Randomness()).tree
    seen = np.full(2, -1000)
    seen[tree.location] = tree.noisy_count
    return seen


def measured_loss(first: Any, second: Any, runs: int, error: float) -> float:
    """A lower bound on the loss between two databases that both hold c trips of the unit.

    The attacker knows both, and says "the first" where there are as many a as in it, or more, and
    no more b.

    Args:
        first: one database.
        second: the other.
        runs: of each, on average.
        error: the probability that the bound is above the true loss.
    """
    coins = Randomness().words(2 * runs) % 2 == 1
    seen = np.stack([_noisy_counts(first if coin else second) for coin in coins])
    a, b = counts(first)
    happened = (seen[:, 0] >= a) & (seen[:, 1] <= b)
    return float(bounds_of(happened[np.newaxis], coins, error).max())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=20_000, help="of each file, on average")
    runs = parser.parse_args().runs
    print(f"ε = {EPSILON} for a unit, c = {C}; {runs:,} runs of each file")
    for keep, found in (("first", first_trips), ("sample", sampled_trips)):
        with tempfile.TemporaryDirectory() as folder:
            loss = measured_loss(*found(Path(folder)), runs, 0.01)
        print(f"one trip, --keep {keep}: the loss is at least {loss:.2f}")


if __name__ == "__main__":
    main()
