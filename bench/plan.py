"""How far `pathveil plan --trajectories` is off: its forecast beside releases of real data.

    python -m bench.plan msnbc cabspotting

Of each dataset a random sample is published with the real mechanism and measured; beside it stands
what the plan forecast from the sample's size, its mean length and |L| alone. A trajectory is the
unit. INTERNAL: the measured column compares raw data with a release.
"""

import argparse
import time
from collections.abc import Iterator

import numpy as np

from pathveil import Parameters, TrajectoryDatabase
from pathveil.evaluation.reproduction.datasets import Columns, named
from pathveil.forecasting.forecast import Run, forecast, measured_runs
from pathveil.forecasting.shape import Shape, shape_of

HEIGHT = 12


def main() -> None:
    arguments = _arguments()
    print("| data | method | figure | forecast | measured | forecast / measured |")
    print("|---|---|---|---|---|---|")
    for name in arguments.datasets:
        database = _sample(
            named(name, None, None, Columns(unit="trajectory_id")).load(),
            arguments.trajectories,
        )
        for method in arguments.methods:
            for line in _compared(database, method, arguments.epsilon):
                print(f"| {name} | {method} | {line} |", flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--methods", nargs="+", default=["calibrated", "full"])
    parser.add_argument("--epsilon", default="1")
    parser.add_argument("--trajectories", type=int, default=120_000)
    return parser.parse_args()


def _sample(database: TrajectoryDatabase, size: int) -> TrajectoryDatabase:
    """So many random trajectories."""
    rows = np.sort(np.random.default_rng(0).permutation(len(database))[:size])  # noqa: TID251
    lengths = np.diff(database.offsets)[rows]
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
    within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
    codes = database.codes[np.repeat(database.offsets[rows], lengths) + within]
    return TrajectoryDatabase.from_arrays(offsets, codes, database.universe)


def _compared(database: TrajectoryDatabase, method: str, epsilon: str) -> Iterator[str]:
    size = len(database.universe)
    shape = shape_of(database)

    def choose(multiple: object) -> Parameters:
        budget = Parameters.choose(epsilon=epsilon, height=1, universe_size=1).budget
        return Parameters.choose(
            epsilon=budget.epsilon * multiple, height=HEIGHT, universe_size=size, method=method
        )

    start = time.perf_counter()
    expected = Shape.expected(shape.trajectories, round(shape.mean_length, 1), size)
    guess = forecast(expected, choose).run
    seconds = time.perf_counter() - start
    (real,) = measured_runs(database, [choose(1)])
    for (words, ours), (_, theirs) in zip(_figures(guess), _figures(real), strict=True):
        ratio = "–" if not theirs else f"{ours / theirs:.2f}"
        yield f"{words} | {ours:.3g} | {theirs:.3g} | {ratio}"
    yield f"seconds of the forecast (five budgets) | {seconds:.0f} | | "


def _figures(run: Run) -> Iterator[tuple[str, float]]:
    yield "kept", run.kept
    yield "invented", run.invented
    for question in run.by_locations[:3]:
        yield f"error, {question.locations} of a journey", question.journeys or 0.0
        yield f"error, {question.locations} at random", question.random
    median = {line.least: line.relative for line in run.by_count}
    for least in (100, 1_000, 10_000):
        yield f"median error of counts of {least:,}+", median.get(least, 0.0)
    yield "top 100 patterns right", float(run.patterns[-1].found)
    survived = {line.level: line.survived for line in run.levels}
    for level in (1, 2, 3):
        yield f"nodes that survive, level {level}", float(survived.get(level, 0))


if __name__ == "__main__":
    main()
