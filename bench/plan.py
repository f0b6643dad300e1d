"""How far `pathveil plan --trajectories` is off: its forecast beside releases of real data.

    python -m bench.plan msnbc cabspotting

Of each dataset a random sample is published with the real mechanism and measured; beside it stands
what the plan forecast from the sample's size, its mean length and |L| alone: means over the runs,
and their ratio with its lowest and highest over single runs. A trajectory is the unit. INTERNAL:
the measured column compares raw data with a release.
"""

import argparse
import time
from collections.abc import Iterator

import numpy as np

from pathveil import Parameters, TrajectoryDatabase
from pathveil.trials.forecasting.data_size import DataSize, size_of
from pathveil.trials.forecasting.forecast import Run, forecast, measured_runs
from pathveil.trials.reproduction.datasets import Columns, named

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
            for line in _compared(database, method, arguments.epsilon, arguments.runs):
                print(f"| {name} | {method} | {line} |", flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--methods", nargs="+", default=["calibrated", "full"])
    parser.add_argument("--epsilon", default="1")
    parser.add_argument("--trajectories", type=int, default=120_000)
    parser.add_argument("--runs", type=int, default=3)
    return parser.parse_args()


def _sample(database: TrajectoryDatabase, size: int) -> TrajectoryDatabase:
    """So many random trajectories."""
    rows = np.sort(np.random.default_rng(0).permutation(len(database))[:size])
    lengths = np.diff(database.offsets)[rows]
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
    within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
    codes = database.codes[np.repeat(database.offsets[rows], lengths) + within]
    return TrajectoryDatabase.from_arrays(offsets, codes, database.universe)


def _compared(database: TrajectoryDatabase, method: str, epsilon: str, runs: int) -> Iterator[str]:
    size = len(database.universe)
    shape = size_of(database)
    wanted = Parameters.choose(
        epsilon=epsilon, height=1, universe_size=1, method="full"
    ).budget.epsilon

    def choose(multiple: object) -> Parameters:
        return Parameters.choose(
            epsilon=wanted * multiple, height=HEIGHT, universe_size=size, method=method
        )

    expected = DataSize.expected(shape.trajectories, round(shape.mean_length, 1), size)
    guesses, truths, seconds = [], [], []
    for _ in range(runs):
        start = time.perf_counter()
        guesses.append(dict(_figures(forecast(expected, choose).run)))
        seconds.append(time.perf_counter() - start)
        truths.append(dict(_figures(measured_runs(database, [choose(1)])[0])))
    for words in guesses[0]:
        ours, theirs = (np.array([run[words] for run in side]) for side in (guesses, truths))
        yield f"{words} | {ours.mean():.3g} | {theirs.mean():.3g} | {_ratios(ours, theirs)}"
    yield f"seconds of the forecast (five budgets) | {min(seconds):.0f} to {max(seconds):.0f} | | "


def _ratios(ours: np.ndarray, theirs: np.ndarray) -> str:
    """The ratio of the means, and that of the single runs from the lowest to the highest."""
    if not theirs.all():
        return "–"
    each = ours / theirs
    return f"{ours.mean() / theirs.mean():.2f} ({each.min():.2f} to {each.max():.2f})"


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
