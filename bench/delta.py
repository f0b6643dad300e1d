"""What a δ buys: releases in pure ε and of (ε, δ), for docs/people.md.

    python -m bench.delta nycflights13 msnbc kosarak mibici --runs 2

ε = 1 for a trajectory's unit as each dataset has it, c = 1, the default method. The Jensen-Shannon
divergence in bits of visits, transitions and (first, last) locations, and the relative error of
2,000 count queries about up to three locations of a random trajectory. INTERNAL: it compares raw
data with releases.
"""

import argparse

import numpy as np

from bench.accuracy import line, load
from pathveil import publish
from pathveil.trials.evaluation.compared import Figures
from pathveil.trials.evaluation.random_queries import queries_from_trajectories
from pathveil.trials.evaluation.scores import average_relative_error, jensen_shannon

QUERIES = 2_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--epsilon", default="1")
    parser.add_argument("--delta", default="1e-9")
    parser.add_argument("--runs", type=int, default=1)
    options = parser.parse_args()
    line(["dataset", "δ", "noise", "visits", "transitions", "trips", "queries"])
    line(["---"] * 7)
    for name in options.datasets:
        database = load(name)
        raw = Figures(database)
        queries = queries_from_trajectories(database, longest=3, queries=QUERIES, seed=0)
        for delta in (None, options.delta):
            figures, kinds = [], set()
            for _ in range(options.runs):
                release = publish(database, epsilon=options.epsilon, delta=delta)
                kinds.add("Gaussian" if release.certificate.rho else "Laplace")
                it = Figures(release)
                figures.append(
                    [
                        jensen_shannon(raw.visits, it.visits),
                        jensen_shannon(raw.transitions, it.transitions),
                        jensen_shannon(raw.trips, it.trips),
                        average_relative_error(raw.answers(queries), it.answers(queries), raw.size),
                    ]
                )
            means = [f"{mean:.3g}" for mean in np.mean(figures, axis=0)]
            line([name, delta or "0", " or ".join(sorted(kinds)), *means])


if __name__ == "__main__":
    main()
