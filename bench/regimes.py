"""A grid of regimes: where the default is not at least as good as whatever else one could do.

    python -m bench.regimes --quick                       # some small cells, a few minutes
    python -m bench.regimes --cells 'commuters:n=20000:*:e=1'
    python -m bench.regimes --kept-back                   # the final score
    python -m bench.regimes --list

A cell is a way to move (`bench.regime_simulators`), a number of trajectories N, of locations |L|, a
length of trajectories, a universe with or without coordinates, and ε; its name is made of these,
and ``--cells`` takes patterns of names. In each cell the default meets, on every measure of the
evaluation and on 1, 2 and 3 locations of a random trajectory: `full` at whichever h is best for the
measure, ngram, markov, one noisy table that answers this question alone (`bench.single_tables`),
and nothing at all. What is printed are the losses: where the default is worse by more than 5% (and
by more than 0.002, below which nobody sees a difference).

Half of the simulators are kept back: they are run with ``--kept-back`` only, for the final score,
and were not looked at while constants were chosen. INTERNAL: it compares raw data with releases.
"""

import argparse
import csv
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from fractions import Fraction
from functools import lru_cache
from itertools import product
from pathlib import Path

import numpy as np

from bench.accuracy import HEIGHT, METHODS, line
from bench.all_measures import UNBEATABLE, badness, escaped
from bench.regime_simulators import KEPT_BACK, OPEN, World
from bench.scoreboard import OWN, own_queries
from bench.single_tables import SingleTables
from pathveil import TrajectoryDatabase, publish
from pathveil.trials.evaluation.compared import Figures
from pathveil.trials.evaluation.measures import Measure, measures
from pathveil.trials.evaluation.scores import average_relative_error

PEOPLE = (400, 2_000, 20_000, 200_000, 1_200_000)
SIZES = (20, 100, 1_000, 10_000, 35_000)
LENGTHS = ("2", "2.5", "6.7", "28")
MAPS = ("map", "nomap")
EPSILONS = ("0.25", "1", "4")
HEIGHTS = (1, 2, 3, 5, 8, 12)  # of `full`
QUERIES, PATTERNS = 8_000, 100
LEVEL, INVISIBLE = 0.05, 0.002
OURS = "calibrated"
# Small cells that differ in everything: what can be looked at between two changes.
QUICK = (
    "*:n=400:l=20:len=6.7:map:e=1",
    "*:n=2000:l=100:len=2.5:nomap:e=4",
    "*:n=20000:l=100:len=2:map:e=1",
    "*:n=20000:l=1000:len=6.7:map:e=1",
    "*:n=2000:l=1000:len=28:map:e=1",
    "*:n=20000:l=35000:len=6.7:map:e=1",
    "*:n=200000:l=1000:len=2.5:map:e=0.25",
)


@dataclass(frozen=True, slots=True)
class Cell:
    """One regime.

    Attributes:
        world: who moves where.
        map: "map" if the universe has coordinates, else "nomap".
        epsilon: ε.
    """

    world: World
    map: str
    epsilon: str

    @property
    def name(self) -> str:
        """Such as ``commuters:n=20000:l=1000:len=6.7:map:e=1``."""
        world = self.world
        where = f"n={world.people}:l={world.size}:len={world.length}"
        return f"{world.simulator}:{where}:{self.map}:e={self.epsilon}"


def grid(simulators: dict[str, object]) -> Iterator[Cell]:
    """Every cell; those of one world one after another."""
    for simulator, people, size, length in product(simulators, PEOPLE, SIZES, LENGTHS):
        world = World(simulator, people, size, length)
        for epsilon, has_map in product(EPSILONS, MAPS):
            yield Cell(world, has_map, epsilon)


def chosen(cells: Iterator[Cell], patterns: list[str]) -> list[Cell]:
    """Those whose names match one of the patterns."""
    return [cell for cell in cells if any(fnmatch(cell.name, pattern) for pattern in patterns)]


class Examined:
    """The raw side of a world, and what its opponents score: computed once for all its cells."""

    def __init__(self, world: World, queries: int = QUERIES) -> None:
        self.database = world.database(with_map=False)
        self._with_map = world.database(with_map=True)
        self.raw = Figures(self.database)
        own = {k: own_queries(self.database, k, queries // 4) for k in OWN}
        self.measures = [
            *measures(self.database, HEIGHT, queries, PATTERNS, 0),
            *(_own_measure(k, asked) for k, asked in own.items() if asked is not None),
        ]
        self._own = own[1], own[2]
        self._known: dict[tuple[str, int], dict[str, dict[str, float]]] = {}

    def ours(self, cell: Cell, runs: int) -> dict[str, float]:
        """Means of the default, by key of the measure."""
        database = self._with_map if cell.map == "map" else self.database
        return self._means(lambda: METHODS[OURS](database, cell.epsilon), runs)

    def opponents(self, epsilon: str, runs: int) -> dict[str, dict[str, float]]:
        """Means of all others; none of them looks at a map."""
        if (epsilon, runs) not in self._known:
            self._known[epsilon, runs] = dict(self._opponents(epsilon, runs))
        return self._known[epsilon, runs]

    def _opponents(self, epsilon: str, runs: int) -> Iterator[tuple[str, dict[str, float]]]:
        yield "nothing", self._means(lambda: METHODS["empty"](self.database, epsilon), 1)
        for method in ("ngram", "markov"):
            yield method, self._means(lambda m=method: METHODS[m](self.database, epsilon), runs)
        trees = [
            self._means(lambda h=height: _full(self.database, epsilon, h), runs)
            for height in HEIGHTS
        ]
        yield "full", {m.key: _best(m, [tree[m.key] for tree in trees]) for m in self.measures}
        tables = [self._tables(epsilon) for _ in range(runs)]
        by_key = {m.key: m for m in self.measures}
        yield (
            "one table",
            {
                key: _best(by_key[key], np.mean([table[key] for table in tables], axis=0).tolist())
                for key in tables[0]
            },
        )

    def _tables(self, epsilon: str) -> dict[str, list[float]]:
        """The figures of single tables by measure, one for each cap."""
        found: dict[str, list[float]] = {}
        single = SingleTables(self.raw, self.database, Fraction(epsilon), self._own)
        for key, figure in single.figures():
            found.setdefault(key, []).append(figure)
        return found

    def _means(self, make, runs: int) -> dict[str, float]:
        values = []
        for _ in range(runs):
            released = Figures(make())
            values.append([measure.compute(self.raw, released) for measure in self.measures])
        means = np.mean(values, axis=0).tolist()
        return {m.key: mean for m, mean in zip(self.measures, means, strict=True)}


def _own_measure(locations: int, asked) -> Measure:
    return Measure(
        f"own{locations}",
        f"{locations} locations of a random trajectory",
        "Count queries: average relative error",
        "lower",
        lambda raw, it: average_relative_error(raw.answers(asked), it.answers(asked), raw.size),
    )


def _full(database: TrajectoryDatabase, epsilon: str, height: int):
    return publish(database, epsilon=epsilon, height=height, method="full")


def _best(measure: Measure, values: list[float]) -> float:
    return min(values, key=lambda value: badness(measure, value))


def is_as_good(measure: Measure, ours: float, theirs: float) -> bool:
    """Better, or worse by no more than 5%, or by too little to be seen."""
    distance = badness(measure, ours) - badness(measure, theirs)
    return distance <= max(LEVEL * max(abs(ours), abs(theirs)), INVISIBLE)


@dataclass(frozen=True, slots=True)
class Loss:
    """Where the default is not as good.

    Attributes:
        cell: its name.
        measure: what was measured.
        to: the opponent.
        ours, theirs: the figures.
    """

    cell: str
    measure: Measure
    to: str
    ours: float
    theirs: float


def compare(
    cell: Cell, examined: Examined, runs: int
) -> Iterator[tuple[Measure, str, float, float]]:
    """(measure, opponent, ours, theirs) wherever the opponent can answer at all."""
    ours, opponents = examined.ours(cell, runs), examined.opponents(cell.epsilon, runs)
    for measure in examined.measures:
        for to, figures in opponents.items():
            if measure.key in figures and not (to == "nothing" and measure.key in UNBEATABLE):
                yield measure, to, ours[measure.key], figures[measure.key]


def summarise(losses: list[Loss], compared: Counter[tuple[str, str]]) -> None:
    """By measure: in how many cells the default lost to whom."""
    names = sorted({to for _, to in compared})
    lost = Counter((loss.measure.key, loss.to) for loss in losses)
    print("\nLost of compared, by measure:\n")
    line(["measure", *names])
    line(["---"] * (1 + len(names)))
    for key in dict.fromkeys(key for key, _ in compared):
        line([key, *(f"{lost[key, to]}/{compared[key, to]}" for to in names)])
    print(f"\n{sum(lost.values()):,} of {sum(compared.values()):,} comparisons lost.")


def main() -> None:
    options = _arguments()
    cells = chosen(grid(KEPT_BACK if options.kept_back else OPEN), options.cells)
    if options.list:
        print("\n".join(cell.name for cell in cells))
        return
    if not cells:
        raise SystemExit("No cell has such a name; --list names them all.")
    examined = lru_cache(maxsize=1)(Examined)
    losses: list[Loss] = []
    compared: Counter[tuple[str, str]] = Counter()
    rows = []
    line(["cell", "measure", "lost to", "default", "theirs"])
    line(["---"] * 5)
    for cell in cells:
        begun = time.perf_counter()
        for measure, to, ours, theirs in compare(cell, examined(cell.world), options.runs):
            compared[measure.key, to] += 1
            rows.append((cell.name, measure.key, to, ours, theirs))
            if not is_as_good(measure, ours, theirs):
                losses.append(Loss(cell.name, measure, to, ours, theirs))
                line([cell.name, escaped(measure.name), to, f"{ours:.4g}", f"{theirs:.4g}"])
        if options.verbose:
            print(f"<!-- {cell.name}: {time.perf_counter() - begun:.0f} s -->", flush=True)
    summarise(losses, compared)
    if options.figures:
        with options.figures.open("w", newline="") as file:
            csv.writer(file).writerows([("cell", "measure", "other", "ours", "theirs"), *rows])


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", nargs="+", default=["*"], help="patterns of names")
    parser.add_argument("--quick", action="store_true", help="some small cells")
    parser.add_argument("--kept-back", action="store_true", help="the simulators of the end")
    parser.add_argument("--list", action="store_true", help="name the cells, and stop")
    parser.add_argument("--runs", type=int, default=3, help="releases of each method")
    parser.add_argument("--figures", type=Path, help="a CSV file for every figure")
    parser.add_argument("--verbose", action="store_true", help="seconds of each cell")
    options = parser.parse_args()
    if options.quick:
        options.cells = list(QUICK)
    return options


if __name__ == "__main__":
    main()
