"""Why a release has as many rows as there are people: a table of docs/scaling.md.

    python -m bench.rows
    python -m bench.rows --riders 100000 --epsilon 0.25
    python -m bench.rows --riders 4000000 --epsilon 0.25 --by-tables

The Jensen-Shannon divergence of transitions of a simulated week (|L| = 1,012) and its release:
with all rows; with every second or fourth of its trajectories, drawn at random, counted so often;
and with a half or a quarter of the rows made at all. Beside them the raw week itself, thinned the
same way. ``--by-tables`` tells what it costs that less ε makes fewer rows
(`synthesize._rows_to_make`): releases with that rule and without it, a few runs of each.
INTERNAL: it compares raw data with releases.
"""

import argparse
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bench.accuracy import line
from bench.publish import database
from pathveil import TrajectoryDatabase, Universe, publish
from pathveil.core.paths import Paths
from pathveil.methods.calibrated.synthesis import synthesize
from pathveil.methods.calibrated.synthesis.canonical import take_rows
from pathveil.trials.evaluation.compared import Figures
from pathveil.trials.evaluation.random_queries import paper_queries
from pathveil.trials.evaluation.scores import average_relative_error, jensen_shannon

THINNED = (1, 2, 4)
HEIGHT, QUERIES, RUNS = 12, 4000, 2


class Seen(NamedTuple):
    """Paths over a universe."""

    kept: Paths
    universe: Universe

    def paths(self) -> Paths:
        """As a release has them."""
        return self.kept


def thinned(paths: Paths, times: int, draw: np.random.Generator) -> Paths:
    """One of so many trajectories, counted so often."""
    weights = draw.binomial(paths.weights, 1 / times) * times
    rows = np.flatnonzero(weights)
    return take_rows(paths, rows, weights[rows])


def by_tables(data: TrajectoryDatabase, epsilon: str) -> None:
    """Releases with the rule and without it."""
    raw, queries = Figures(data), paper_queries(len(data.universe), HEIGHT, queries=QUERIES)[0]
    rule = synthesize.ALWAYS_MADE

    def measures(always: int) -> list[float]:
        synthesize.ALWAYS_MADE = always
        paths = publish(data, epsilon=epsilon, method="calibrated").paths()
        found = Figures(Seen(paths, data.universe))
        return [
            jensen_shannon(raw.transitions, found.transitions),
            jensen_shannon(raw.trips, found.trips),
            average_relative_error(raw.answers(queries), found.answers(queries), raw.size),
            len(paths) / 1e6,
        ]

    line(["rows", "transitions", "trips", "queries", "million paths"])
    line(["---"] * 5)
    for _ in range(RUNS):
        for what, always in (("by the tables", rule), ("all", synthesize.MOST_ROWS)):
            line([what, *(f"{value:.4f}" for value in measures(always))])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--riders", type=int, default=300_000)
    parser.add_argument("--epsilon", default="1")
    parser.add_argument("--by-tables", action="store_true", help="what fewer rows cost at less ε")
    options = parser.parse_args()
    data, draw = database(options.riders), np.random.default_rng(1)
    if options.by_tables:
        by_tables(data, options.epsilon)
        return
    raw = Figures(data).transitions

    def divergence(paths: Paths) -> str:
        found = Figures(Seen(paths, data.universe)).transitions
        return f"{jensen_shannon(raw, found):.3f}"

    def released(rows: int) -> Paths:
        synthesize.MOST_ROWS = rows
        return publish(data, epsilon=options.epsilon, method="calibrated").paths()

    whole, people = released(synthesize.MOST_ROWS), data.paths()
    line(["of so many", "the release, thinned", "rows made", "the week itself, thinned"])
    line(["---"] * 4)
    for times in THINNED:
        made = divergence(released(options.riders // times))
        kept = (divergence(thinned(paths, times, draw)) for paths in (whole, people))
        release, week = kept
        line([f"{times}", release, made, week])


if __name__ == "__main__":
    if not Path("bench").is_dir():
        raise SystemExit("Run it from the project's root: python -m bench.rows")
    main()
