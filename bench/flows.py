"""Flows with ``--for flows``, beside one noisy origin-destination table with all of ε.

    python -m bench.flows --runs 3
    python -m bench.flows --kept-back

A flow is how many trajectories begin at one location and end at another. The table answers nothing
else; the release answers the rest too. Simulated people of `bench.regimes`, ε = 1, the mean over
the runs. INTERNAL: it compares raw data with releases.
"""

import argparse
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from bench.accuracy import line
from bench.regime_simulators import World
from bench.single_tables import noisy_table
from pathveil import TrajectoryDatabase, publish
from pathveil.core.paths import WeightedPaths

PEOPLE, TOP = 20_000, 20
# Simulator, |L|, length, with a map.
OPEN = (
    ("commuters", 100, "2.5", True),
    ("commuters", 300, "2.5", False),
    ("classes", 100, "2.5", False),
    ("classes", 100, "2", False),
)
KEPT_BACK = (("parts", 100, "2.5", True), ("hubs", 100, "2.5", True), ("gravity", 300, "2", True))


def flows(data: WeightedPaths) -> NDArray[np.int64]:
    """How many trajectories make each trip, from·|L| + to."""
    paths, size = data.paths(), len(data.universe)
    some = np.diff(paths.offsets) > 0
    first, last = paths.offsets[:-1][some], paths.offsets[1:][some] - 1
    cells = paths.codes[first].astype(np.int64) * size + paths.codes[last]
    return np.bincount(cells, paths.weights[some], size * size).astype(np.int64)


def compared(database: TrajectoryDatabase) -> list[float]:
    """Errors in L1 of the table and the release, of the largest flows; how many are right."""
    true = flows(database)
    table = noisy_table(np.repeat(np.arange(len(true)), true), len(true), Fraction(1))
    single = np.zeros(len(true))
    single[table.keys] = np.maximum(table.counts, 0)
    released = flows(publish(database, epsilon="1", purpose="flows"))
    largest = np.argsort(-true, kind="stable")[:TOP]
    found = np.argsort(-released, kind="stable")[:TOP]
    return [
        float(np.abs(single - true).sum()),
        float(np.abs(released - true).sum()),
        float(np.median(np.abs(single - true)[largest] / true[largest])),
        float(np.median(np.abs(released - true)[largest] / true[largest])),
        float(len(np.intersect1d(largest, found))),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--kept-back", action="store_true", help="the simulators kept back")
    options = parser.parse_args()
    line(["people", "stops", "visits", "map", "L1, release / table", f"{TOP} largest", "right"])
    line(["---"] * 7)
    for simulator, size, length, with_map in KEPT_BACK if options.kept_back else OPEN:
        database = World(simulator, PEOPLE, size, length).database(with_map=with_map)
        mean = np.mean([compared(database) for _ in range(options.runs)], axis=0)
        ratio = f"{mean[1]:,.0f} / {mean[0]:,.0f} = {mean[1] / mean[0]:.2f}"
        errors = f"{mean[3]:.3f} / {mean[2]:.3f}"
        words = "yes" if with_map else "no"
        line([simulator, f"{size}", length, words, ratio, errors, f"{mean[4]:.0f}"])


if __name__ == "__main__":
    main()
