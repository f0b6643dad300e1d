"""Zones against a flat universe at equal ε: the tables of docs/hierarchies.md, as Markdown.

    python -m bench.hierarchy cabspotting stm --runs 3
    python -m bench.hierarchy stm --shares 1/4 1/3 1/2 2/3
    python -m bench.hierarchy stm --thresholds auto 500 2000

Beside the two: the zones alone (every visit is its zone before anything is counted), the empty
release and, with --calibrated, that method with and without zones, which takes minutes. `venues` is
a made-up city of 6,000 places without a map, each in one of 40 quarters; and with zones that mean
nothing. INTERNAL: the figures compare raw data with releases.
"""

import argparse
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np

from pathveil import Release, TrajectoryDatabase, Universe, publish, simulate_week
from pathveil.core import thresholds
from pathveil.core.paths import WeightedPaths
from pathveil.release.views import ZoneView
from pathveil.trials.evaluation.compared import EmptyRelease, Figures
from pathveil.trials.evaluation.random_queries import paper_queries, single_location_queries
from pathveil.trials.evaluation.scores import average_relative_error, jensen_shannon
from pathveil.trials.reproduction.datasets import Columns, named
from pathveil.universe.taxonomy import Taxonomy
from pathveil.universe.taxonomy_spec import read_taxonomy

HEIGHT, QUERIES, RIDERS = 12, 8_000, 1_210_096
STOPS = Path("../shared/data/stm_gtfs/stops.txt")
MONTREAL = "45.40,-73.98,45.71,-73.47"
GRID = (36, 28)  # of cabspotting
NOT_ASKED = float("nan")
HEADER = [
    *(
        "data, locations",
        "zones",
        "release",
        "locations: max 3 / 12 / single",
        "zones: max 3 / 12 / single",
    ),
    *("length ≥ 2", "≥ 3", "≥ 4", "JSD of lengths", "visits told by location"),
]


class Yardstick:
    """The raw side of one dataset and one taxonomy."""

    def __init__(self, database: TrajectoryDatabase, taxonomy: Taxonomy) -> None:
        self.database, self.taxonomy = database, taxonomy
        self.extended = taxonomy.extend(database.universe)
        self.raw, self.zones = Figures(database), Figures(self.zoned(database))
        self.queries = _queries(len(database.universe)), _queries(len(taxonomy))

    def zoned(self, released: WeightedPaths) -> ZoneView:
        """Every visit as its zone."""
        return ZoneView.of(self.extended, released.paths(), self.taxonomy)

    def figures(self, released: WeightedPaths, zones: WeightedPaths, *, both: bool) -> Iterator:
        """Six query errors, the shares that survive to a length, the lengths, the granularity."""
        for raw, it, queries, asked in (
            (self.raw, released, self.queries[0], both),
            (self.zones, zones, self.queries[1], True),
        ):
            side = Figures(it)
            for some in queries:
                yield (
                    average_relative_error(raw.answers(some), side.answers(some), raw.size)
                    if asked
                    else NOT_ASKED
                )
        paths = released.paths()
        for length in (2, 3, 4):
            yield paths.weights[paths.lengths >= length].sum() / self.raw.size
        yield jensen_shannon(self.raw.lengths, Figures(released).lengths)
        visits = np.repeat(paths.weights, paths.lengths)
        told = (paths.codes < len(self.database.universe)) & both
        yield visits[told].sum() / max(visits.sum(), 1)


def _queries(size: int) -> list:
    few, *_, many = paper_queries(size, HEIGHT, queries=QUERIES, seed=0)
    return [few, many, single_location_queries(size)]


def releases(yardstick: Yardstick, shares: list[str], least: list[str]) -> dict[str, Callable]:
    """What is compared: functions that give a release, its zones, and whether it has locations."""
    database, taxonomy = yardstick.database, yardstick.taxonomy

    def of(**choices: object) -> Release:
        return publish(database, **{"epsilon": "1", "height": HEIGHT, "method": "full"} | choices)

    def zones_alone() -> tuple:
        codes = taxonomy.zone_of[database.codes]
        zones = TrajectoryDatabase.from_arrays(
            database.offsets, codes, yardstick.zoned(database).universe
        )
        released = publish(zones, epsilon="1", height=HEIGHT, method="full")
        return released, released, False

    def flat(**choices: object) -> tuple:
        released = of(**choices)
        return released, yardstick.zoned(released), True

    def empty() -> tuple:
        return EmptyRelease(database.universe), EmptyRelease(yardstick.zones.paths.universe), True

    def hierarchy(share: str, threshold: str) -> Callable:
        def make() -> tuple:
            thresholds.ZONE_SHARE = Fraction(share)
            released = of(taxonomy=taxonomy, threshold=threshold)
            return released, released.at_zone_level(), True

        return make

    named_so = {
        f"taxonomy, share {share}, θ {threshold}": hierarchy(share, threshold)
        for share in shares
        for threshold in least
    }
    calibrated = {
        "flat, calibrated": partial(flat, method="calibrated", height=None),
        "taxonomy, calibrated": partial(flat, method="calibrated", height=None, taxonomy=taxonomy),
    }
    return {"empty": empty, "flat": flat, **calibrated, "zones alone": zones_alone, **named_so}


def cabspotting() -> Iterator[tuple[TrajectoryDatabase, str, Taxonomy]]:
    database = named("cabspotting", None, None, Columns()).load()
    row, column = np.divmod(np.arange(len(database.universe)), GRID[1])
    for side in (3, 4, 6):
        names = [f"r{r}c{c}" for r, c in zip(row // side, column // side, strict=True)]
        yield database, f"{side}×{side} blocks", Taxonomy.of(database.universe, names)


def stm() -> Iterator[tuple[TrajectoryDatabase, str, Taxonomy]]:
    universe = Universe.from_gtfs(STOPS)
    week = simulate_week(RIDERS, len(universe), seed=1)
    database = TrajectoryDatabase.from_arrays(week.offsets, week.codes, universe)
    for side in (5, 9, 16):
        yield (
            database,
            f"{side}×{side} grid",
            read_taxonomy(f"grid:{side}x{side}:{MONTREAL}", universe),
        )


def venues() -> Iterator[tuple[TrajectoryDatabase, str, Taxonomy]]:
    """People who go to the places of a quarter by their popularity; half of their moves stay."""
    draw, size, quarters, people = np.random.default_rng(1), 6_000, 40, 30_000
    universe = Universe([f"v{code}" for code in range(size)])
    quarter = draw.integers(0, quarters, size)
    members = np.argsort(quarter, kind="stable")
    popularity = np.arange(1.0, size + 1) ** -0.7
    upto = np.cumsum(popularity[members])
    ends = np.searchsorted(quarter[members], np.arange(quarters), side="right")
    edges = np.concatenate(([0.0], upto[ends - 1]))
    lengths = 1 + draw.poisson(2.0, people)
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
    moves = draw.random(offsets[-1]) < 0.5
    moves[offsets[:-1]] = True
    drawn = np.searchsorted(edges, draw.random(offsets[-1]) * edges[-1], side="right") - 1
    where = drawn[np.maximum.accumulate(np.where(moves, np.arange(len(moves)), 0))]
    point = edges[where] + draw.random(len(where)) * np.diff(edges)[where]
    codes = members[np.searchsorted(upto, point)].astype(np.int32)
    database = TrajectoryDatabase.from_arrays(offsets, codes, universe)
    for what, zones in (("quarters", quarter), ("of no meaning", draw.permutation(quarter))):
        yield database, what, Taxonomy.of(universe, [f"q{number}" for number in zones])


DATASETS = {"cabspotting": cabspotting, "stm": stm, "venues": venues}


def line(cells: list[str]) -> None:
    print("| " + " | ".join(cells) + " |", flush=True)


def triple(values: np.ndarray) -> str:
    return "–" if np.isnan(values).any() else " / ".join(f"{value:.4f}" for value in values)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="*", default=list(DATASETS))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--shares", nargs="+", default=[str(thresholds.ZONE_SHARE)])
    parser.add_argument("--thresholds", nargs="+", default=["auto"])
    parser.add_argument(
        "--calibrated", action="store_true", help="that method with and without zones, too"
    )
    options = parser.parse_args()
    line(HEADER)
    line(["---"] * len(HEADER))
    for name in options.datasets or DATASETS:
        for database, zones, taxonomy in DATASETS[name]():
            yardstick = Yardstick(database, taxonomy)
            where = [f"{name}, {len(database.universe):,}", f"{len(taxonomy)} ({zones})"]
            for kind, make in releases(yardstick, options.shares, options.thresholds).items():
                if "calibrated" in kind and not options.calibrated:
                    continue
                runs = 1 if kind == "empty" else options.runs
                measured = []
                for _ in range(runs):
                    released, as_zones, both = make()
                    measured.append(list(yardstick.figures(released, as_zones, both=both)))
                mean = np.mean(measured, axis=0)
                rest = [f"{value:.3f}" for value in mean[6:]]
                line([*where, kind, triple(mean[:3]), triple(mean[3:6]), *rest])


if __name__ == "__main__":
    main()
