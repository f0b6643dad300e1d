"""The calibrated method, in multiples of `full` on the same week.

Both times are of the same run, taken in turns, so a busy or slow machine moves both. The data is a
simulated week: mean length 6.7, |L| = 1,012; h = 12, ε = 1. From arrays to the release: nothing is
read, rehearsed or charged, and what is compiled was compiled, and imported, before the clock runs.

``--riders 12000000`` makes one run of another size, told in the arrays' memory, and in sorts of as
many keys: as numpy sorts them on this machine, and as it does without vector instructions. `full`
stands beside it in both: it only grows a tree, so it is less than any release takes.
``--same-tables 5000000`` tells what the synthesis alone takes for so many people, with ε divided by
as much as they are more than a million: tables that say as much.
"""

import argparse
import subprocess
import sys
import time
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from bench.measuring import (
    PeakMemory,
    best_of,
    plain_sort_processor_seconds,
    row,
    sort_processor_seconds,
    vector_features,
    verdict,
)
from bench.publish import SIZE, database
from pathveil import Parameters, TrajectoryDatabase, publish
from pathveil.gate.measure import measure
from pathveil.gate.randomness import Randomness
from pathveil.methods.calibrated.synthesis.estimates import choose_candidates
from pathveil.methods.calibrated.synthesis.synthesize import synthesize
from pathveil.statistics.measurement_plan import MeasurementPlan
from pathveil.statistics.measurements import Measurements
from pathveil.statistics.planner import Planner

HEIGHT, RUNS = 12, 3


class Seconds(NamedTuple):
    """What one publish takes.

    Attributes:
        wall: by the clock.
        processor: of all cores together.
    """

    wall: float
    processor: float


def publish_seconds(data: TrajectoryDatabase, method: str) -> Seconds:
    height, begun = HEIGHT if method == "full" else None, time.process_time()
    wall = best_of(1, lambda: publish(data, epsilon="1", height=height, method=method).paths())
    return Seconds(wall, time.process_time() - begun)


def both(data: TrajectoryDatabase) -> tuple[Seconds, Seconds]:
    """The fastest full and the fastest calibrated publish of a few runs in turns."""
    turns = [
        (publish_seconds(data, "full"), publish_seconds(data, "calibrated")) for _ in range(RUNS)
    ]
    fulls, others = zip(*turns, strict=True)
    full, calibrated = (Seconds(*map(min, zip(*each, strict=True))) for each in (fulls, others))
    return full, calibrated


def parts(data: TrajectoryDatabase) -> tuple[float, float]:
    """Seconds of measuring, and of synthesizing from the measurements."""
    parameters = Parameters.choose(epsilon="1", universe_size=len(data.universe))
    usual, planner = MeasurementPlan.usual(parameters), Planner(parameters)
    last = list[Measurements]()

    def measuring() -> None:
        last[:] = [measure(data, usual, choose_candidates, Randomness(), adapt=planner)]

    def synthesizing() -> None:
        synthesize(last[0], last[0].plan, np.random.default_rng())

    return best_of(RUNS, measuring), best_of(RUNS, synthesizing)


def peak_memory() -> float:
    """Peak memory while publishing, above the arrays, in gigabytes."""
    publish(database(1000), epsilon="1", method="calibrated")  # load what is compiled
    data = database(SIZE)
    memory = PeakMemory()
    publish(data, epsilon="1", method="calibrated")
    return memory.bytes() / 1e9


def synthesis_memory(riders: int, least: int = 1_000_000) -> None:
    """Peak memory of the synthesis alone, at ε = least / riders; the people are gone by then."""
    publish(database(1000), epsilon="1", method="calibrated")  # load what is compiled
    data, epsilon = database(riders), Fraction(least, riders)
    parameters = Parameters.choose(epsilon=epsilon, universe_size=len(data.universe))
    usual, planner = MeasurementPlan.usual(parameters), Planner(parameters)
    measured = measure(data, usual, choose_candidates, Randomness(), adapt=planner)
    del data
    memory = PeakMemory()
    made = synthesize(measured, measured.plan, np.random.default_rng())
    row(
        f"|D| = {riders:,}, ε = {epsilon}", f"{memory.bytes() / 1e6:.0f} MB", f"{len(made):,} paths"
    )


def at_once(riders: int) -> None:
    """One publish by each method of a week of another size: in sorts, and in arrays of memory."""
    for method in ("full", "calibrated"):
        publish_seconds(database(1000), method)
    data = database(riders)
    fast, plain = sort_processor_seconds(riders), plain_sort_processor_seconds(riders)
    full = publish_seconds(data, "full")
    memory = PeakMemory()
    calibrated = publish_seconds(data, "calibrated")
    arrays = data.offsets.nbytes + data.codes.nbytes
    print(f"|D| = {riders:,}; processor time, with {' '.join(vector_features()) or 'no vectors'}")
    row("one np.sort, seconds", f"{fast:.3f}", f"plain {plain:.3f}")
    row("full, seconds", f"{full.processor:.2f}", f"wall {full.wall:.2f}")
    row("calibrated, seconds", f"{calibrated.processor:.1f}", f"wall {calibrated.wall:.1f}")
    for name, sort in {"sorts": fast, "plain sorts": plain}.items():
        row(f"full, in {name}", f"{full.processor / sort:.1f}")
        verdict(f"calibrated, in {name}", calibrated.processor / sort, 20)
    verdict("calibrated, in full ones", calibrated.processor / full.processor, 20)
    verdict("peak memory, in arrays", 1 + memory.bytes() / arrays, 3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memory", action="store_true", help="only peak memory, as a number")
    parser.add_argument("--riders", type=int, help="one run of so many instead, by processor time")
    parser.add_argument("--same-tables", type=int, help="the synthesis of so many alone")
    arguments = parser.parse_known_args()[0]
    if arguments.same_tables is not None:
        synthesis_memory(arguments.same_tables)
        return
    if arguments.memory:
        print(peak_memory())
        return
    if arguments.riders is not None:
        at_once(arguments.riders)
        return

    for method in ("full", "calibrated"):
        publish_seconds(database(1000), method)  # compile, or load the compiled code
    data = database(SIZE)
    full, calibrated = both(data)
    print(f"|D| = {SIZE:,}, |L| = 1,012, h = {HEIGHT}; full takes {full.wall:.2f} s")
    verdict("calibrated publish, in full ones", calibrated.wall / full.wall, 20)
    row("the same in processor time", f"{calibrated.processor / full.processor:.2f}")
    measuring, synthesizing = parts(data)
    row("measuring, in full publishes", f"{measuring / full.wall:.2f}")
    row("synthesizing, in full publishes", f"{synthesizing / full.wall:.2f}")

    # In a process of its own, where no freed memory of earlier runs hides what is used.
    memory = subprocess.run(
        [sys.executable, "-m", "bench.calibrated", "--memory"],
        capture_output=True,
        check=True,
        text=True,
    )
    verdict("peak memory, GB above the arrays", float(memory.stdout), 1.5)

    print("\ncost against |D| (synthesis, per trajectory, against the smallest)")
    costs = []
    for riders in (SIZE // 16, SIZE // 4, SIZE):
        costs.append(parts(database(riders))[1] / riders)
        row(f"|D| = {riders:,}", f"{costs[-1] / costs[0]:.2f}", f"{1e6 * costs[-1]:.2f} µs each")


if __name__ == "__main__":
    main()
