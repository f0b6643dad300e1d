"""Methods side by side at equal ε: the tables of docs/accuracy.md, printed as Markdown.

    python -m bench.accuracy msnbc --epsilons 1 --runs 3

Every run of every method meets the same raw data and the same queries; the figures are means over
the runs. INTERNAL: they compare raw data with releases.
"""

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.baselines.markov import publish_markov
from bench.baselines.ngram import publish_ngram
from pathveil import TrajectoryDatabase, publish, simulate_week
from pathveil.core.paths import WeightedPaths
from pathveil.trials.evaluation.compared import EmptyRelease, Figures
from pathveil.trials.evaluation.random_queries import paper_queries, single_location_queries
from pathveil.trials.evaluation.scores import (
    average_relative_error,
    jensen_shannon,
    kendall_tau,
    match_patterns,
)
from pathveil.trials.reproduction.datasets import SIMULATED, Columns, named

HEIGHT, QUERIES, TOP = 12, 40_000, (50, 100, 150, 200, 250)
METHODS: dict[str, Callable[[TrajectoryDatabase, str], WeightedPaths]] = {
    "empty": lambda db, _epsilon: EmptyRelease(db.universe),
    "full": lambda db, epsilon: publish(db, epsilon=epsilon, height=HEIGHT, method="full"),
    "calibrated": lambda db, epsilon: publish(db, epsilon=epsilon, method="calibrated"),
    "ngram": lambda db, epsilon: publish_ngram(db, epsilon=epsilon, height=HEIGHT),
    "markov": lambda db, epsilon: publish_markov(db, epsilon=epsilon, height=HEIGHT),
}


class Yardstick:
    """The raw side: what every release is measured against, computed once."""

    def __init__(self, database: TrajectoryDatabase) -> None:
        self.database, self.raw = database, Figures(database)
        size = len(database.universe)
        self.queries = [
            *paper_queries(size, HEIGHT, queries=QUERIES, seed=0),
            single_location_queries(size),
        ]

    def figures(self, release: WeightedPaths) -> Iterator[float]:
        """Query errors (four subsets, single), true positives, τ, four divergences."""
        raw, it = self.raw, Figures(release)
        for queries in self.queries:
            yield average_relative_error(raw.answers(queries), it.answers(queries), raw.size)
        found, wanted = it.patterns(TOP[-1]), raw.patterns(TOP[-1])
        for k in TOP:
            yield match_patterns(wanted[:k], found[:k]).true_positives
        yield kendall_tau(raw.popularity, it.popularity)
        for what in ("trips", "lengths", "visits", "transitions"):
            yield jensen_shannon(getattr(raw, what), getattr(it, what))

    def mean_figures(self, method: str, epsilon: str, runs: int) -> NDArray[np.float64]:
        """The means over runs with fresh noise; an empty release has none."""
        figures = [
            list(self.figures(METHODS[method](self.database, epsilon)))
            for _ in range(1 if method == "empty" else runs)
        ]
        return np.mean(figures, axis=0)


def load(name: str) -> TrajectoryDatabase:
    if name == SIMULATED:
        week = simulate_week(1_210_096, seed=1)
        return TrajectoryDatabase.from_arrays(week.offsets, week.codes, week.universe)
    return named(name, None, None, Columns()).load()


def line(cells: list[str]) -> None:
    print("| " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--epsilons", nargs="+", default=["1"])
    parser.add_argument("--methods", nargs="+", default=list(METHODS))
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    header = [
        "data",
        "ε",
        "method",
        "query error 3/6/9/12",
        "single",
        "TP " + "/".join(map(str, TOP)),
    ]
    header += ["τ", "JSD trips", "lengths", "visits", "transitions"]
    line(header)
    line(["---"] * len(header))
    for name in options.datasets:
        yardstick = Yardstick(load(name))
        for epsilon in options.epsilons:
            for method in options.methods:
                mean = yardstick.mean_figures(method, epsilon, options.runs)
                line(
                    [
                        name,
                        epsilon,
                        method,
                        "/".join(f"{error:.4f}" for error in mean[:4]),
                        f"{mean[4]:.4f}",
                        "/".join(f"{count:.0f}" for count in mean[5:10]),
                        *(f"{value:.3f}" for value in mean[10:]),
                    ]
                )


if __name__ == "__main__":
    if not Path("bench").is_dir():
        raise SystemExit("Run it from the project's root: python -m bench.accuracy")
    main()
