"""Counting and publishing, in multiples of one np.sort of |D| random uint64 keys.

Each figure is a ratio of two times of the same run, so a busy or slow machine moves both. The
data is a simulated week: mean length 6.7, |L| = 1,012; h = 20, ε = 1; the paper's method, `full`.
"""

import argparse
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bench.measuring import PeakMemory, best_of, row, sort_seconds, verdict
from pathveil import Parameters, TrajectoryDatabase, Universe, publish, simulate_week
from pathveil.gate.grow_tree import grow_tree
from pathveil.gate.randomness import Randomness
from pathveil.raw.engines.memory_counter import MemoryCounter
from pathveil.raw.engines.protocol import ExactCounts, PrefixCounter, Survivors

SIZE, HEIGHT, RUNS = 1_210_096, 20, 5


@dataclass
class TimedCounter:
    """Passes calls to an engine and adds up the time it takes."""

    engine: PrefixCounter
    seconds: float = 0.0

    def count_children(self, survivors: Survivors) -> Iterator[ExactCounts]:
        """Count, and add the time."""
        result: list[ExactCounts] = []
        self.seconds += best_of(1, lambda: result.extend(self.engine.count_children(survivors)))
        return iter(result)


def database(riders: int, locations: int = 1012) -> TrajectoryDatabase:
    """A week on 1,012 stops, inside a universe that may be larger."""
    week = simulate_week(riders, 1012, seed=1)
    universe = week.universe
    if locations != len(universe):
        universe = Universe([str(i) for i in range(locations)])
        # Spread the stops over the larger universe, in the same order.
        codes = week.codes.astype(np.int64) * (locations // 1012)
        return TrajectoryDatabase.from_arrays(week.offsets, codes, universe)
    return TrajectoryDatabase.from_arrays(week.offsets, week.codes, universe)


def counting_seconds(data: TrajectoryDatabase, runs: int = RUNS) -> float:
    """All levels of one tree: the engine's own time, the fastest of several trees."""
    parameters = Parameters.choose(
        epsilon="1", height=HEIGHT, universe_size=len(data.universe), method="full"
    )
    seconds = []
    for _ in range(runs):
        start = []
        setup = best_of(1, lambda: start.append(MemoryCounter(data)))  # noqa: B023
        counter = TimedCounter(start[0], setup)
        grow_tree(counter, parameters, Randomness())
        seconds.append(counter.seconds)
    return min(seconds)


def publish_seconds(data: TrajectoryDatabase, runs: int = RUNS) -> float:
    return best_of(runs, lambda: publish(data, epsilon="1", height=HEIGHT, method="full").paths())


def peak_memory() -> float:
    """Peak memory while publishing, the arrays included, in multiples of the arrays."""
    publish(
        database(1000), epsilon="1", height=HEIGHT, method="full"
    )  # load the compiled code first
    data = database(SIZE)
    memory = PeakMemory()
    publish(data, epsilon="1", height=HEIGHT, method="full")
    return 1 + memory.bytes() / (data.offsets.nbytes + data.codes.nbytes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", type=int, default=12_000_000, help="the larger |D|")
    parser.add_argument("--memory", action="store_true", help="only peak memory, as a number")
    arguments = parser.parse_known_args()[0]
    large = arguments.large
    if arguments.memory:
        print(peak_memory())
        return

    data = database(SIZE)
    publish_seconds(data, runs=1)  # compile, or load the compiled code
    sort = sort_seconds(SIZE)
    counting, publishing = counting_seconds(data) / sort, publish_seconds(data) / sort
    print(f"|D| = {SIZE:,}, |L| = 1,012, h = {HEIGHT}; one sort takes {1000 * sort:.1f} ms")
    verdict("counting all levels, in sorts", counting, 15)
    verdict("publish, arrays to release, in sorts", publishing, 60)

    # In a process of its own, where no freed memory of earlier runs hides what is used.
    memory = subprocess.run(
        [sys.executable, "-m", "bench.publish", "--memory"],
        capture_output=True,
        check=True,
        text=True,
    )
    verdict("peak memory, in arrays", float(memory.stdout), 3)

    print("\ncost against |D| (in sorts of |D| keys each)")
    multiples = []
    for riders in (SIZE // 10, SIZE, large):
        data = database(riders)
        sort = sort_seconds(riders)
        multiples.append(counting_seconds(data, runs=3) / sort)
        row(f"|D| = {riders:,}", f"{multiples[-1]:.2f}", f"{1e9 * sort / riders:.0f} ns a key")
    verdict(f"counting, {large / SIZE:.0f} times the data", multiples[2] / multiples[1], 1.25)

    print("\ncost against |L| (the same week in a larger universe)")
    seconds = []
    for locations in (1012, 10_120, 101_200, 1_012_000):
        data = database(SIZE, locations)
        seconds.append(publish_seconds(data, runs=3))
        row(f"|L| = {locations:,}", f"{seconds[-1] / seconds[0]:.2f}", "times |L| = 1,012")
    verdict("publish, 1,000 times the locations", seconds[-1] / seconds[0], 1.5)

    print("\ncost against h (publish, in sorts)")
    data, sort = database(SIZE), sort_seconds(SIZE)
    for height in (5, 10, 20, 40):
        once = best_of(3, lambda: publish(data, epsilon="1", height=height, method="full"))  # noqa: B023
        row(f"h = {height}", f"{once / sort:.2f}")


if __name__ == "__main__":
    main()
