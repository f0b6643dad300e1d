"""One line for a release, with the measures that tell programs apart.

    python -m bench.scoreboard msnbc stm_like cabspotting mibici nycflights13 kosarak --runs 5

The columns: the error of count queries of up to 3 and up to 12 random locations (the paper's), that
of exactly 1, 2 and 3 locations of a random trajectory ("own"), true positives among the 50, 100
and 250 most frequent patterns, the size |D̃| / |D|, and the Jensen-Shannon divergence of
transitions in bits. The sanity bound is 0.1% of |D|; figures are means over the runs.
`bench.peers` prints the same columns for releases of other programs. INTERNAL: it compares raw data
with releases.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.accuracy import HEIGHT, METHODS, QUERIES, line, load
from pathveil import TrajectoryDatabase
from pathveil.core.paths import WeightedPaths
from pathveil.errors import InputError
from pathveil.trials.evaluation.compared import Figures
from pathveil.trials.evaluation.random_queries import (
    SUBSETS,
    Queries,
    paper_queries,
    queries_from_trajectories,
)
from pathveil.trials.evaluation.scores import (
    average_relative_error,
    jensen_shannon,
    match_patterns,
)
from pathveil.trials.reproduction.datasets import SHARED

OWN, TOP = (1, 2, 3), (50, 100, 250)
HEADER = ("random 3/12", "own 1/2/3", "TP 50/100/250", "size", "transitions")


class Scoreboard:
    """The raw side: what every release is measured against, computed once.

    Args:
        database: the raw trajectories.
        queries: how many of each kind.
    """

    def __init__(self, database: TrajectoryDatabase, queries: int = QUERIES // SUBSETS) -> None:
        self.database, self.raw = database, Figures(database)
        subsets = paper_queries(len(database.universe), HEIGHT, queries=SUBSETS * queries)
        own = (own_queries(database, locations, queries) for locations in OWN)
        self._questions = (subsets[0], subsets[-1], *own)

    @property
    def subset(self) -> Queries:
        """The paper's queries of up to 3 locations."""
        queries = self._questions[0]
        if queries is None:
            raise ValueError("There are always queries of random locations.")
        return queries

    def score(self, release: WeightedPaths) -> NDArray[np.float64]:
        """All columns; NaN where nobody's trajectory has so many locations."""
        return np.array(list(self._figures(Figures(release))))

    def mean_score(self, method: str, epsilon: str, runs: int) -> NDArray[np.float64]:
        """The means over runs with fresh noise; an empty release has none."""
        fresh = 1 if method == "empty" else runs
        scores = [self.score(METHODS[method](self.database, epsilon)) for _ in range(fresh)]
        return np.mean(scores, axis=0)

    def _figures(self, it: Figures) -> Iterator[float]:
        raw = self.raw
        for queries in self._questions:
            yield (
                np.nan
                if queries is None
                else average_relative_error(raw.answers(queries), it.answers(queries), raw.size)
            )
        found, wanted = it.patterns(TOP[-1]), raw.patterns(TOP[-1])
        for k in TOP:
            yield match_patterns(wanted[:k], found[:k]).true_positives
        yield it.size / raw.size
        yield jensen_shannon(raw.transitions, it.transitions)


def own_queries(paths: WeightedPaths, locations: int, queries: int) -> Queries | None:
    """Questions about exactly so many locations of a random trajectory; None if none has them."""
    try:
        return queries_from_trajectories(
            paths, shortest=locations, longest=locations, queries=queries
        )
    except InputError:
        return None


def cells(score: NDArray[np.float64]) -> list[str]:
    """A score as the cells under `HEADER`."""
    errors = [_shown(value) for value in score[:5]]
    return [
        "/".join(errors[:2]),
        "/".join(errors[2:]),
        "/".join(f"{count:.0f}" for count in score[5:8]),
        f"{score[8]:.2f}",
        f"{score[9]:.3f}",
    ]


def _shown(error: float) -> str:
    if np.isnan(error):
        return "–"
    return f"{error:.4f}" if error < 0.1 else f"{error:.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="*", default=list(SHARED))
    parser.add_argument("--epsilons", nargs="+", default=["1"])
    parser.add_argument("--methods", nargs="+", default=["calibrated"], choices=list(METHODS))
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    header = ["data", "ε", "method", *HEADER]
    line(header)
    line(["---"] * len(header))
    for name in options.datasets:
        board = Scoreboard(load(name))
        for epsilon in options.epsilons:
            for method in options.methods:
                score = board.mean_score(method, epsilon, options.runs)
                line([name, epsilon, method, *cells(score)])


if __name__ == "__main__":
    if not Path("bench").is_dir():
        raise SystemExit("Run it from the project's root: python -m bench.scoreboard")
    main()
