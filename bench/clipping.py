"""One table of visits per person: clipped to a norm in L2, or as c trips that may all be alike.

    python -m bench.clipping mibici
    python -m bench.clipping cabspotting --runs 3
    python -m bench.clipping mibici nycflights13 --contributions 20
    python -m bench.clipping nycflights13 --everything
    python -m bench.clipping nycflights13 --of-everything 0.8 --contributions 5 12 30
    python -m bench.clipping nycflights13 --floors --runs 5

At the level of one table, with float noise and all that a plan would usually give it (45% of what
is left of ε = 1, δ = 10⁻⁹ after the first look): the Jensen-Shannon divergence (bits) between
how many trips visit each location, of all trips, and the noisy table with what is negative cut,
or what is below some deviations of the noise. "none" is without noise: what clipping alone costs;
"known sizes" is the noisy table read by Bayes, if it is known how many locations have each count.
Rows "L1" are for pure ε: what a unit adds is scaled down to a norm in L1, beside "Laplace", where
nobody is, and a trip adds as many locations as nine of ten do, and "Laplace, cap k", as the planner
has it: a trip of more than k locations adds k of them (here each of them k/n). With --everything
the table spends all of ε = 1, δ = 10⁻⁹, and nothing else is measured; with --of-everything so much
of it, and nothing is said of what the rest would be for. --floors prints the least of all of them
alone: for pure ε with one trip of each, for pure ε, and with the δ, each chosen by the truth.
INTERNAL: it compares raw data with tables.
"""

import argparse
from dataclasses import replace
from fractions import Fraction

import numpy as np

from bench.accuracy import line
from bench.known_sizes import told
from bench.people import trips
from pathveil.core.zcdp import Concentrated
from pathveil.raw.database import MOST_PER_UNIT, TrajectoryDatabase
from pathveil.statistics.statistic import Rows
from pathveil.trials.evaluation.scores import Histogram, jensen_shannon

SHARE, LEFT, DELTA = 0.45, Fraction(9, 10), Fraction(1, 10**9)
CONTRIBUTIONS = (1, 5, 12, 30, 100)
QUANTILES = (0.25, 0.5, 0.75, 0.9)
CUTS = (1.0, 2.0, 3.0)
CAPS = (1, 2, 3)


def visits_of(database: TrajectoryDatabase) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """(unit, location, trips) of everybody, and how many locations 9 of 10 trips visit at most."""
    size, lengths = len(database.universe), np.diff(database.offsets)
    row = np.repeat(np.arange(len(lengths)), lengths)
    row, code = np.divmod(np.unique(row * size + database.codes), size)
    unit = Rows(database.offsets, database.codes, size, trips=database.trips).unit
    keys, count = np.unique(unit[row] * size + code, return_counts=True)
    return *np.divmod(keys, size), count, float(np.quantile(np.bincount(row), 0.9))


def capped(database: TrajectoryDatabase, cap: int) -> np.ndarray:
    """How many trips visit each location, if a trip adds ``cap`` in all at most."""
    size, lengths = len(database.universe), np.diff(database.offsets)
    row = np.repeat(np.arange(len(lengths)), lengths)
    row, code = np.divmod(np.unique(row * size + database.codes), size)
    distinct = np.bincount(row, minlength=len(lengths))
    return np.bincount(code, np.minimum(1.0, cap / distinct[row]), minlength=size)


def measured(name, contributions, runs, *, of_everything=None):
    """Of each kind of table: its name; without noise, noisy, and cut at some deviations."""
    draw = np.random.default_rng(0)
    epsilon, share = (LEFT, SHARE) if of_everything is None else (Fraction(1), of_everything)
    rho = float(Concentrated.within(epsilon, DELTA).rho) * share
    everybody = trips(name, MOST_PER_UNIT, "sample")
    size = len(everybody.universe)
    _, code, count, _ = visits_of(everybody)
    truth = np.bincount(code, count, minlength=size)
    for most in contributions:
        database = trips(name, max(most, 2), "sample")
        if most == 1:
            database = everybody_once(database)
        unit, code, count, cap = visits_of(database)
        norms = {
            "clipped": np.sqrt(np.bincount(unit, count.astype(float) ** 2)),
            "L1": np.bincount(unit, count).astype(float),
        }
        rows = [("Laplace", most * cap, None), ("Gaussian", most * np.sqrt(cap), None)]
        rows += [(f"Laplace, cap {few}", float(most * few), few) for few in CAPS]
        rows += [
            (f"{how}, {q:.0%}", float(np.quantile(each, q)), each)
            for how, each in norms.items()
            for q in QUANTILES
        ]
        for what, norm, clipped in rows:
            weight = np.ones(int(unit.max()) + 1)
            if isinstance(clipped, np.ndarray):
                weight = np.minimum(1.0, norm / np.maximum(clipped, 1e-9))
            table = np.bincount(code, count * weight[unit], minlength=size)
            if isinstance(clipped, int):
                table = capped(database, clipped)
            is_laplace = what.startswith(("Laplace", "L1"))
            scale = norm / (float(epsilon) * share) if is_laplace else norm / np.sqrt(2 * rho)
            deviation = np.sqrt(2.0) * scale if is_laplace else scale
            law = draw.laplace if is_laplace else draw.normal
            drawn = [table + law(0.0, scale, size) for _ in range(runs)]
            cut = [[noisy * (noisy > k * deviation) for noisy in drawn] for k in CUTS]
            known = [told(noisy, table, truth, scale, is_laplace=is_laplace) for noisy in drawn]
            kinds = (drawn, *cut, known)
            means = [np.mean([divergence(truth, one) for one in each]) for each in kinds]
            yield [name, str(most), what, f"{norm:.1f}"], [divergence(truth, table), *means]


FLOORS = ("pure ε, one trip of each", "pure ε", "with δ")


def floors(name, runs, share):
    """(which, that share of all, divergence as read by cuts, by Bayes), the least of any table."""
    found = list(measured(name, CONTRIBUTIONS, runs, of_everything=share))
    for floor in FLOORS:
        tables = [
            (head, means)
            for head, (_, *means) in found
            if floor == "with δ"
            or (head[2].startswith(("Laplace", "L1")) and (floor == "pure ε" or head[1] == "1"))
        ]
        plain, what = min((min(means[:-1]), ", ".join(head[1:])) for head, means in tables)
        yield floor, f"{share:.0%}", plain, what, min(means[-1] for _, means in tables)


def print_floors(name, runs):
    """One table of visits that spends all, and about what a plan gives it."""
    line(["dataset", "promise", "spends", "the best", "c, table, norm", "known sizes"])
    line(["---"] * 6)
    for share in (1.0, SHARE):
        for floor, spends, plain, what, known in floors(name, runs, share):
            line([name, floor, spends, f"{plain:.4f}", what, f"{known:.4f}"])
    print(flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--contributions", nargs="+", type=int, default=[*CONTRIBUTIONS])
    parser.add_argument("--everything", action="store_true", help="the table spends all of ε")
    parser.add_argument("--of-everything", type=float, help="the table spends so much of all of ε")
    parser.add_argument("--floors", action="store_true", help="the best of all tables alone")
    options = parser.parse_args()
    for name in options.datasets:
        if options.floors:
            print_floors(name, options.runs)
            continue
        cuts = [f"{k:g} deviations" for k in CUTS]
        line(["dataset", "c", "table", "norm", "none", "noisy", *cuts, "known sizes"])
        line(["---"] * (7 + len(CUTS)))
        of_everything = 1.0 if options.everything else options.of_everything
        found = measured(name, options.contributions, options.runs, of_everything=of_everything)
        for head, means in found:
            line([*head, *(f"{one:.4f}" for one in means)])
        print(flush=True)


def everybody_once(database: TrajectoryDatabase) -> TrajectoryDatabase:
    """One trip of each unit."""
    return replace(database, trips_are_open=True).bounded_to(1)


def divergence(truth: np.ndarray, table: np.ndarray) -> float:
    """Of two tables by location, in thousandths; what is negative counts as nothing."""
    keys = np.arange(len(truth))
    one, other = (
        Histogram(keys, np.rint(1000.0 * np.maximum(counts, 0.0)).astype(np.int64))
        for counts in (truth, table)
    )
    return jensen_shannon(one, other)


if __name__ == "__main__":
    main()
