"""Two versions of the synthesis on the same noisy tables: what a change does, without luck.

    python -m bench.same_noise keep tables nycflights13 mibici20k classes:100000:220:4 --runs 5
    python -m bench.same_noise score tables

The first measures, and keeps the noisy tables; the second makes releases of them and prints the
columns of `bench.scoreboard`, with the standard error of patterns and transitions. Run the second
from two checkouts and compare. Data are names as there, subsets of `bench.peers`, or
simulator:people:locations:visits[:map] of `bench.regime_simulators`. INTERNAL: it compares raw data
with releases; the kept tables are noisy.
"""

import argparse
import pickle
from pathlib import Path
from typing import Any

import numpy as np

from bench import peers
from bench.accuracy import line, load
from bench.regime_simulators import World
from bench.scoreboard import HEADER, Scoreboard, cells
from pathveil import Parameters, TrajectoryDatabase, Universe
from pathveil.core.paths import Paths
from pathveil.gate.measure import measure
from pathveil.gate.randomness import Randomness
from pathveil.methods.calibrated.synthesis.estimates import choose_candidates
from pathveil.methods.calibrated.synthesis.synthesize import synthesize
from pathveil.statistics.all_statistics import STATISTICS
from pathveil.statistics.measurement_plan import MeasurementPlan
from pathveil.statistics.measurements import Measurements
from pathveil.statistics.planner import Planner
from pathveil.statistics.statistic import Statistic
from pathveil.statistics.validation_queries import drawn_queries

BY_NAME = {statistic.name: statistic for statistic in STATISTICS}
SEED = 5


class _Keeping(pickle.Pickler):
    """A statistic is kept by its name: there is one of each."""

    def persistent_id(self, obj: Any) -> str | None:
        return obj.name if isinstance(obj, Statistic) else None


class _Finding(pickle.Unpickler):
    def persistent_load(self, pid: Any) -> Statistic:
        return BY_NAME[pid]


class Synthetic:
    """Trajectories over a universe: a release without its tree and errors."""

    def __init__(self, universe: Universe, paths: Paths) -> None:
        self.universe, self._paths = universe, paths

    def paths(self) -> Paths:
        """The trajectories."""
        return self._paths


def data(name: str) -> TrajectoryDatabase:
    """By a name, a subset's, or a simulator's."""
    if name in peers.SUBSETS:
        universe = Universe.read(peers.PEERS / f"{name}-universe.csv")
        return peers.read_release(peers.PEERS / f"{name}-raw.txt.gz", universe)
    if ":" in name:
        simulator, people, size, length, *has_map = name.split(":")
        world = World(simulator, int(people), int(size), length)
        return world.database(with_map=bool(has_map))
    return load(name)


def tables(database: TrajectoryDatabase, epsilon: str) -> Measurements:
    """All noisy tables of a release by the default."""
    given = Parameters.choose(
        epsilon=epsilon, universe_size=len(database.universe), method="calibrated"
    )
    return measure(
        database,
        MeasurementPlan.usual(given),
        choose_candidates,
        Randomness(),
        adapt=Planner(given),
        choose_queries=drawn_queries,
    )


def kept_tables(path: Path) -> list[Measurements]:
    """What `keep` wrote."""
    with path.open("rb") as file:
        tables: list[Measurements] = _Finding(file).load()
    return tables


def score(kept: list[Measurements], board: Scoreboard) -> list[str]:
    """Means over what is made of the tables, and two standard errors."""
    universe, scores = board.database.universe, []
    for seen in kept:
        draw = np.random.default_rng(SEED)
        scores.append(board.score(Synthetic(universe, synthesize(seen, seen.plan, draw))))
    errors = np.std(scores, axis=0) / np.sqrt(max(len(kept) - 1, 1))
    return [*cells(np.mean(scores, axis=0)), f"{errors[7]:.1f}, {errors[9]:.4f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("task", choices=("keep", "score"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("data", nargs="*")
    parser.add_argument("--epsilon", default="1")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    options.folder.mkdir(exist_ok=True)
    if options.task == "keep":
        for name in options.data:
            database = data(name)
            made = [tables(database, options.epsilon) for _ in range(options.runs)]
            with (options.folder / name).open("wb") as file:
                _Keeping(file).dump(made)
        return
    header = ["data", "runs", *HEADER, "± TP 250, transitions"]
    line(header)
    line(["---"] * len(header))
    for path in sorted(options.folder.iterdir()):
        if options.data and path.name not in options.data:
            continue
        kept = kept_tables(path)
        line([path.name, str(len(kept)), *score(kept, Scoreboard(data(path.name)))])


if __name__ == "__main__":
    if not Path("bench").is_dir():
        raise SystemExit("Run it from the project's root: python -m bench.same_noise")
    main()
