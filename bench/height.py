"""``height="auto"`` beside fixed heights, for docs/choosing-height.md.

    python -m bench.height msnbc mibici nycflights13 stm_like --runs 2

Each line is a mean over runs at ε = 1. The automatic choice pays a twentieth of ε; the fixed
heights are given for free. INTERNAL: it compares raw data with releases.
"""

import argparse

import numpy as np

from bench.accuracy import line, load
from pathveil import TrajectoryDatabase, publish
from pathveil.trials.evaluation.compared import Figures
from pathveil.trials.evaluation.random_queries import queries_from_trajectories
from pathveil.trials.evaluation.scores import average_relative_error, jensen_shannon, match_patterns

HEIGHTS = ("auto", "6", "12", "20")
TOP, QUERIES = 100, 10_000
HEADER = ["data", "method", "height", "queries", f"TP {TOP}", "visits", "transitions", "trips"]


def figures(
    database: TrajectoryDatabase, raw: Figures, height: str, method: str
) -> tuple[int, list[float]]:
    """The height that came out, and the measures."""
    release = publish(database, epsilon="1", height=height, method=method)
    it = Figures(release)
    # One set of questions for all heights: up to 12 locations of a random trajectory.
    queries = queries_from_trajectories(database, longest=12, queries=QUERIES, seed=0)
    return release.parameters.height, [
        average_relative_error(raw.answers(queries), it.answers(queries), raw.size),
        match_patterns(raw.patterns(TOP), it.patterns(TOP)).true_positives,
        jensen_shannon(raw.visits, it.visits),
        jensen_shannon(raw.transitions, it.transitions),
        jensen_shannon(raw.trips, it.trips),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--methods", nargs="+", default=["full", "calibrated"])
    parser.add_argument("--heights", nargs="+", default=list(HEIGHTS))
    parser.add_argument("--runs", type=int, default=2)
    options = parser.parse_args()
    line(HEADER)
    line(["---"] * len(HEADER))
    for name in options.datasets:
        database = load(name)
        raw = Figures(database)
        for method in options.methods:
            for height in options.heights:
                runs = [figures(database, raw, height, method) for _ in range(options.runs)]
                chosen = "/".join(str(number) for number in sorted({run[0] for run in runs}))
                means = np.mean([run[1] for run in runs], axis=0)
                told = f"auto: {chosen}" if height == "auto" else height
                line([name, method, told, *(f"{mean:.3g}" for mean in means)])


if __name__ == "__main__":
    main()
