"""A simulated year: twelve monthly releases of the same riders under one yearly budget.

``python -m bench.year`` publishes month after month as a series (``Ledger.open_series``), each
release leaning on the one before, and compares month 12 with

- the same share of the budget, taken alone: no earlier release;
- one of twelve separate releases in pure ε, which is a twelfth of the year's ε;
- other people: as many riders of the same city and month, drawn anew, without any noise. Who knew
  all about the city, and nothing about these riders, would be as far off as that: what chance put
  into the trips of this month the past can't tell, only this month's noisy tables.

``python -m bench.year --bounds`` publishes nothing. It says how near one table of transitions, and
one of trips, could come, if it had all of the year's ρ to itself, as if nothing had changed since
January, and if it were known how many cells have each true count: each cell is then told by Bayes'
rule (`bench.known_sizes`). What a model knows besides (that stops are on a line) could come nearer;
no release that looks at cells alone could, and one that tells anything else has less of ρ. Queries:
single locations are known exactly, and those of two and of three are told by a table each.

``python -m bench.year --learnt`` publishes nothing, either: a table of trips with a share of each
month's ρ is learnt over twelve months by the release's own rule (`synthesis.rare_trips`), and of
month 12 it says how far off whole trips are that are drawn from what was learnt. Nothing else needs
any of ρ: where trips begin and end is known exactly; and, in the second column, all transitions of
all months, too.

Riders keep their home and work but for some who move; stops drift in popularity, and follow the
seasons. ``--simulator corridors`` is another city, with lines instead of free choice. How a release
leans on the one before was made on these two. ``--simulator districts``, a city with a map, was
kept back, and is for the final figure of each version: it was run three times so far.

Errors are the yardsticks of `pathveil evaluate`: the Jensen-Shannon divergence of visits,
transitions and trips (bits), and the relative error of count queries about up to three locations of
a random trajectory. INTERNAL: it compares raw data with releases; here nobody is real.
"""

import argparse
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np

import pathveil as pv
from bench.known_sizes import told
from bench.measuring import row
from pathveil.core.budget import Budget
from pathveil.core.noise import Gaussian
from pathveil.core.zcdp import Concentrated
from pathveil.gate.randomness import Randomness
from pathveil.methods.calibrated.synthesis.rare_moves import towards
from pathveil.methods.calibrated.synthesis.rare_trips import guesses_of_trips
from pathveil.publishing import carry_out
from pathveil.raw.engines.request import Request
from pathveil.statistics.noisy_table import NoisyTable
from pathveil.trials.evaluation.compared import Figures
from pathveil.trials.evaluation.random_queries import queries_from_trajectories
from pathveil.trials.evaluation.scores import Histogram, average_relative_error, jensen_shannon

Months = Iterator[pv.TrajectoryDatabase]
MONTHS = 12
NEW_LINE = 6  # months
DELTA = "1e-9"
QUERIES = 2_000
SHARES = (1.0, 0.5, 0.2)  # of the year, for one table
LEARNT_SHARES = (1.0, 0.5, 0.2, 0.1)  # of each month
KINDS = ("leaning", "alone", "pure", "other people")


def commuters(riders: int, stops: int, seed: int, people: int = 0) -> Months:
    """Riders with a home and a work stop, detours by popularity; 3% of them move each month."""
    city, draw = np.random.default_rng(seed), np.random.default_rng([seed, people])
    attraction = city.permutation(np.log(np.arange(1.0, stops + 1) ** -0.9))
    season = city.normal(0.0, 0.3, stops) * (city.random(stops) < 0.3)  # beaches, schools
    home, work = (_chosen(draw, attraction, riders) for _ in range(2))
    universe = _universe(stops)
    for month in range(MONTHS):
        attraction = attraction + city.normal(0.0, 0.04, stops)
        now = attraction + season * np.sin(2 * np.pi * month / MONTHS)
        moves = np.flatnonzero(draw.random(riders) < 0.03)
        home[moves] = _chosen(draw, now, len(moves))
        riding = np.flatnonzero(draw.random(riders) < 0.9 + 0.08 * np.cos(2 * np.pi * month / 12))
        lengths = 2 + draw.poisson(2.5, len(riding))
        row = np.repeat(np.arange(len(riding)), lengths)
        turn = np.arange(len(row)) - np.concatenate(([0], np.cumsum(lengths)))[row]
        codes = np.where(turn % 2 == 0, home[riding][row], work[riding][row])
        detours = np.flatnonzero(draw.random(len(codes)) < 0.25)
        codes[detours] = _chosen(draw, now, len(detours))
        yield _database(lengths, codes, universe)


def corridors(riders: int, stops: int, seed: int, people: int = 0) -> Months:
    """Lines of twenty stops: riders go some stops along a line, and change lines at its middle."""
    city, draw = np.random.default_rng(seed), np.random.default_rng([seed, people])
    lines = max(stops // 20, 1)
    load = city.normal(0.0, 1.0, lines)
    summer = city.normal(0.0, 0.25, lines)
    universe = _universe(lines * 20)
    for month in range(MONTHS):
        load = load + city.normal(0.0, 0.06, lines)
        now = load + summer * np.cos(2 * np.pi * (month - 6) / MONTHS)
        riding = int(riders * (0.9 + 0.1 * np.sin(2 * np.pi * month / MONTHS)))
        first, second = (_chosen(draw, now, riding) for _ in range(2))
        start = draw.binomial(19, draw.beta(2.0, 2.0, riding))
        end = draw.binomial(19, draw.beta(2.0, 2.0, riding))
        changes = draw.random(riding) < 0.4
        lengths = np.where(changes, 4, 2)
        rows = np.stack([first * 20 + start, first * 20 + 10, second * 20 + 10, second * 20 + end])
        rows[1] = np.where(changes, rows[1], first * 20 + end)
        is_kept = np.arange(4)[:, None] < lengths
        yield _database(lengths, rows.T[is_kept.T], universe)


def districts(riders: int, stops: int, seed: int, people: int = 0) -> Months:
    """A map: most go about in their own district, some to the centre; a line opens in month 7."""
    city, draw = np.random.default_rng(seed), np.random.default_rng([seed, people])
    middle = city.normal(0.0, 0.06, (12, 2))
    of = np.arange(stops) % 12
    at = middle[of] + city.normal(0.0, 0.012, (stops, 2))
    universe = pv.Universe(
        [f"S{code:04d}" for code in range(stops)], latitude=45.5 + at[:, 0], longitude=at[:, 1] - 73
    )
    attraction = city.normal(0.0, 1.0, stops)
    beach = (of == 3) * 1.0
    home = draw.integers(0, stops, riders)
    for month in range(MONTHS):
        attraction = attraction + city.normal(0.0, 0.05, stops)
        now = attraction + 0.8 * beach * np.sin(2 * np.pi * (month - 3) / MONTHS)
        moving = np.flatnonzero(draw.random(riders) < 0.02)
        home[moving] = draw.integers(0, stops, len(moving))
        riding = np.flatnonzero(draw.random(riders) < 0.85)
        lengths = 2 + draw.binomial(3, 0.4, len(riding))
        row = np.repeat(np.arange(len(riding)), lengths)
        turn = np.arange(len(row)) - np.concatenate(([0], np.cumsum(lengths)))[row]
        own, where = of[home[riding]][row], draw.random(len(row))
        district = np.where(
            where < 0.65, own, np.where(where < 0.9, 0, draw.integers(0, 12, len(row)))
        )
        if month >= NEW_LINE:
            district = np.where((own == 5) & (where < 0.2), 9, district)
        codes = np.empty(len(row), dtype=np.int64)
        for one in range(12):
            inside, there = np.flatnonzero(of == one), np.flatnonzero(district == one)
            codes[there] = inside[_chosen(draw, now[inside], len(there))]
        codes[turn == 0] = home[riding]
        yield _database(lengths, codes, universe)


SIMULATORS = {"commuters": commuters, "corridors": corridors, "districts": districts}


def _chosen(draw, attraction, size):
    reached = np.exp(attraction).cumsum()
    return np.searchsorted(reached, draw.random(size) * reached[-1]).astype(np.int64)


def _universe(stops):
    return pv.Universe([f"S{code:04d}" for code in range(stops)])


def _database(lengths, codes, universe):
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
    return pv.TrajectoryDatabase.from_arrays(offsets, codes.astype(np.int32), universe)


def errors(release, database) -> tuple[float, ...]:
    """The divergence of visits, transitions and trips in bits, and the error of count queries."""
    raw, it = Figures(database), Figures(release)
    queries = queries_from_trajectories(database, longest=3, queries=QUERIES, seed=0)
    return (
        jensen_shannon(raw.visits, it.visits),
        jensen_shannon(raw.transitions, it.transitions),
        jensen_shannon(raw.trips, it.trips),
        average_relative_error(raw.answers(queries), it.answers(queries), raw.size),
    )


def year(simulator, riders, stops, epsilon, seed, runs, folder: Path, kinds, purpose):
    """The errors of each month; and of month 12 again, leaning, alone and in pure ε."""
    ledger = pv.Ledger.open(folder / "ledger.db")
    ledger.init("riders", "100", delta_limit="1e-5")
    ledger.open_series("leaning", dataset="riders", releases=MONTHS, epsilon=epsilon, delta=DELTA)
    rows, previous = [], None
    months = SIMULATORS[simulator](riders, stops, seed)
    for month, database in enumerate(months, start=1):
        out = folder / f"month-{month}"
        account = ledger.series("leaning", f"2026-{month:02}")
        release = pv.publish(database, ledger=account, previous=previous, purpose=purpose)
        release.write(out)
        previous = out
        rows.append((f"month {month}", *errors(release, database)))
        print(*rows[-1], flush=True)  # the year takes minutes
    spent = ledger.books().one_series("leaning")
    print(f"ρ = {spent.spent} of {spent.total} spent by {spent.taken} releases")
    share = spent.spent / MONTHS
    budgets = {
        "leaning": {"rho": share, "delta": DELTA},
        "alone": {"rho": share, "delta": DELTA},
        "pure": {"epsilon": Budget.parse(epsilon).epsilon / MONTHS},
    }
    before = pv.read_release(folder / f"month-{MONTHS - 1}").paths()
    for name, budget in budgets.items():
        if name not in kinds:
            continue
        request = Request.choose(
            database, None, None, method="calibrated", purpose=purpose, **budget
        )
        request = replace(request, earlier=before if name == "leaning" else None)
        for _ in range(runs):
            release = carry_out(request, Randomness())
            rows.append((f"month {MONTHS}, {name}", *errors(release, database)))
            print(*rows[-1], flush=True)
    for people in range(1, runs + 1) if KINDS[-1] in kinds else ():
        *_, other = SIMULATORS[simulator](riders, stops, seed, people)
        rows.append((f"month {MONTHS}, other people", *errors(other, database)))
    return rows


def bounds(simulator, riders, stops, epsilon, seed):
    """The divergence (bits) of transitions and of trips, each told by one table, by its share of ρ.

    And the error of queries. The noise is for riders that change one cell by one, which is less
    than transitions and queries need.
    """
    *_, database = SIMULATORS[simulator](riders, stops, seed)
    rho = float(Concentrated.within(Fraction(epsilon), Fraction(DELTA)).rho)
    draw, raw, cells = np.random.default_rng(seed), Figures(database), len(database.universe) ** 2
    keys = np.arange(cells)
    for share in SHARES:
        deviation, figures = (2.0 * share * rho) ** -0.5, []
        for counts in (raw.transitions.counts, raw.trips.counts):
            true = np.zeros(cells)
            true[: len(counts)] = counts  # which cell is which does not matter here
            noisy = true + draw.normal(0.0, deviation, cells)
            found = told(noisy, true, true, deviation, is_laplace=False)
            both = (Histogram(keys, np.rint(1000 * one).astype(np.int64)) for one in (true, found))
            figures.append(jensen_shannon(*both))
        figures.append(_told_queries(database, deviation, draw))
        yield f"one table with {share:.0%} of the year's ρ", *figures


def learnt(simulator, riders, stops, epsilon, seed):
    """The divergence (bits) of month 12's trips, by the share of each month's ρ."""
    rho = float(Concentrated.within(Fraction(epsilon), Fraction(DELTA)).rho) / MONTHS
    for share in LEARNT_SHARES:
        noise = Gaussian(Fraction(1 / (2.0 * share * rho)).limit_denominator(1000))
        figures = []
        for knows_moves in (False, True):
            draw, before = np.random.default_rng(seed), None
            for database in SIMULATORS[simulator](riders, stops, seed):
                raw, size = Figures(database), len(database.universe)
                trips, moves = (
                    np.bincount(one.keys, one.counts, size * size).reshape(size, size)
                    for one in (raw.trips, raw.transitions)
                )
                by_chance = np.outer(trips.sum(axis=1), trips.sum(axis=0)) / raw.size
                told = by_chance if before is None else before * (raw.size / before.sum())
                guesses = guesses_of_trips(by_chance, told, moves if knows_moves else None)
                noisy = np.rint(trips.ravel() + draw.normal(0.0, noise.deviation, size * size))
                table = NoisyTable(np.arange(size * size), noisy.astype(np.int64), size**2, noise)
                found = towards(table, guesses).value
                whole = np.floor(found * (raw.size / found.sum()) + draw.random(size * size))
                before = whole.reshape(size, size)
            kept = np.flatnonzero(whole)
            released = Histogram(kept, whole[kept].astype(np.int64))
            figures.append(jensen_shannon(raw.trips, released))
        yield f"a table with {share:.0%} of each month's ρ", *figures


def _told_queries(database, deviation, draw):
    """The error of queries if it is known how many of each size have each true answer."""
    raw = Figures(database)
    queries = queries_from_trajectories(database, longest=3, queries=QUERIES, seed=0)
    truth, sizes = raw.answers(queries), np.diff(queries.offsets)
    told = truth.copy()
    for size in (2, 3):
        asked = np.flatnonzero(sizes == size)
        values, often = np.unique(truth[asked], return_counts=True)
        noisy = truth[asked] + draw.normal(0.0, deviation, len(asked))
        log = np.log(often) - (noisy[:, None] - values) ** 2 / (2.0 * deviation**2)
        chance = np.exp(log - log.max(axis=1, keepdims=True))
        losses = np.abs(values[:, None] - values) / np.maximum(values, 0.001 * raw.size)[:, None]
        told[asked] = values[(chance @ losses).argmin(axis=1)]
    return average_relative_error(truth, told, raw.size)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--riders", type=int, default=100_000)
    parser.add_argument("--stops", type=int, default=300)
    parser.add_argument("--epsilon", default="2")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=3, help="of month 12, of each kind")
    parser.add_argument("--simulator", choices=SIMULATORS, default="commuters")
    parser.add_argument("--bounds", action="store_true", help="what one table could tell")
    parser.add_argument("--learnt", action="store_true", help="what a table of trips learns")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS, help="of month 12")
    parser.add_argument("--for", dest="purpose", default="everything", help="the purpose")
    given = parser.parse_args()
    city = given.simulator, given.riders, given.stops, given.epsilon, given.seed
    if given.learnt:
        row("", "trips", "transitions known")
        for name, *figures in learnt(*city):
            row(name, *(f"{figure:.4f}" for figure in figures))
        return
    if given.bounds:
        row("", "transitions", "trips", "queries")
        for name, *figures in bounds(*city):
            row(name, *(f"{figure:.4f}" for figure in figures))
        return
    with tempfile.TemporaryDirectory() as folder:
        rows = year(*city, given.runs, Path(folder), given.kinds, given.purpose)
    row("", "visits", "transitions", "trips", "queries")
    names = list(dict.fromkeys(name for name, *_ in rows))
    found = {name: np.mean([figures for one, *figures in rows if one == name], 0) for name in names}
    for name, figures in found.items():
        row(name, *(f"{figure:.4f}" for figure in figures))
    if len(given.kinds) < len(KINDS):
        return
    leaning, alone, pure, others = (found[f"month {MONTHS}, {end}"] for end in KINDS)
    row("leaning against alone", *np.round(leaning / alone, 2))
    row("leaning against pure ε", *np.round(leaning / pure, 2))
    row("leaning against other people", *np.round(leaning / others, 2))
    row("other people against pure ε", *np.round(others / pure, 2))
    print("Where the last line is above 0.5, to know the city would not halve the error of pure ε.")


if __name__ == "__main__":
    main()
