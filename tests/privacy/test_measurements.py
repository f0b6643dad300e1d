"""The audit of the calibrated method: every table keeps its share of ε, and a mutant of each is
caught by name.

One unit walks through everything: its trajectory adds as much to every table as a trajectory can.
The attacker adds up the noisy counts of the cells that it touches, and guesses from the sum
whether the unit is there; the bound on what a guess can prove (Clopper-Pearson, Bonferroni over
tables, guesses and thresholds) is the audit's, with false-alarm probability 10⁻⁶ in all.
"""

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest

from pathveil.audit.attacking import FALSE_ALARM, epsilon_lower_bound
from pathveil.mechanism import measure as gate
from pathveil.mechanism.noisy_table import dense_table
from pathveil.mechanism.randomness import Randomness
from pathveil.model.measurement_plan import MeasurementPlan
from pathveil.model.parameters import Parameters
from pathveil.model.universe import Universe
from pathveil.raw.database import TrajectoryDatabase
from pathveil.statistics.actions import action_counts
from pathveil.statistics.first_visits import first_visits, move_cells, pair_cells
from pathveil.statistics.reach import POPULAR_BINS
from pathveil.statistics.shapes import SHAPES, shape_cells
from pathveil.statistics.visits import MULTIPLICITIES, visit_cells

UNIVERSE = Universe("abcdefgh")
SIZE, HEIGHT, EPSILON, RUNS = 8, 8, "8", 700
CROWD = ["abcd"] * 30 + ["ba"] * 20
WALKER = "efghabcdefgh"
PARAMETERS = Parameters.choose(
    epsilon=EPSILON, height=HEIGHT, universe_size=SIZE, method="calibrated"
)
PLAN = MeasurementPlan.of(PARAMETERS)
THRESHOLDS = (0.2, 0.35, 0.5, 0.65, 0.8)  # where between the two databases' sums the guess turns
TABLES = (
    "total",
    "shapes",
    "last locations",
    "visits",
    "actions",
    "moves",
    "pairs",
    "visited sets",
    "reach",
    "tree",
)


def database(rows):
    offsets = np.cumsum([0, *map(len, rows)])
    return TrajectoryDatabase.from_arrays(offsets, UNIVERSE.codes("".join(rows)), UNIVERSE)


def budget(table):
    if table == "tree":
        return sum(line.budget for line in PLAN.tree)
    return next(line.budget for line in PLAN.lines() if line.name == table)


def walker_cells():
    """The cells that the walker adds to, by table."""
    db = database([WALKER])
    visited, reached_from = first_visits(db.offsets, db.codes, SIZE, PLAN.most_distinct)
    return {
        "total": [0],
        "shapes": shape_cells(db.offsets, db.codes, SIZE),
        "last locations": UNIVERSE.codes(WALKER[-1]),
        "visits": visit_cells(db.offsets, db.codes, SIZE, PLAN.visits_cap)[1],
        "actions": np.flatnonzero(action_counts(db.offsets, db.codes, SIZE, PLAN.steps)),
        "moves": move_cells(visited, reached_from, SIZE),
        "pairs": pair_cells(visited, SIZE)[1],
        # The walker visits every location, and all are candidates and popular.
        "visited sets": [(1 << SIZE) - 1],
        "reach": [SIZE * POPULAR_BINS + SIZE],
    }


CELLS = walker_cells()


def everybody(_popularity):
    return np.arange(SIZE)


def observe(measurements):
    """The sum of the walker's cells in each table; what is not listed counts nothing."""
    popularity = measurements.popularity
    tables = {
        "total": popularity.total,
        "shapes": popularity.shapes,
        "last locations": popularity.last_locations,
        "visits": popularity.visits,
        "actions": measurements.actions,
        "moves": measurements.moves,
        "pairs": measurements.pairs,
        "visited sets": measurements.visited_sets,
        "reach": measurements.reach,
    }
    sums = [int(tables[name].counts[CELLS[name]].sum()) for name in TABLES[:-1]]
    return [*sums, path_sum(measurements.tree)]


def path_sum(levels):
    """The noisy counts along the walker's path in the tree."""
    total, node = 0, 0
    for level, code in zip(levels, UNIVERSE.codes(WALKER), strict=False):
        found = np.flatnonzero((level.parent == node) & (level.label == code))
        if not len(found):
            break
        node = int(found[0])
        total += int(level.table.counts[node])
    return total


def lower_bounds(measure, runs=RUNS):
    """The largest proven lower bound on the ε of each table."""
    without, with_walker = database(CROWD), database([*CROWD, WALKER])
    randomness = Randomness()
    coins = randomness.words(2 * runs) % 2 == 1
    sums = np.array(
        [observe(measure(with_walker if coin else without, randomness)) for coin in coins]
    )
    error = FALSE_ALARM / (len(TABLES) * len(THRESHOLDS) * 2)
    expected = np.array([exact_sums(without), exact_sums(with_walker)])
    bounds = np.zeros(len(TABLES))
    for turn in THRESHOLDS:
        high = sums > expected[0] + turn * (expected[1] - expected[0])
        for says_with in (high, ~high):
            truth = coins[:, None] == (says_with == high)
            right = np.count_nonzero(says_with & truth, axis=0)
            found = epsilon_lower_bound(right, np.count_nonzero(says_with, axis=0), error)
            bounds = np.maximum(bounds, found)
    return dict(zip(TABLES, bounds.tolist(), strict=True))


def exact_sums(db):
    counts = {
        "total": [len(db)],
        "shapes": np.bincount(shape_cells(db.offsets, db.codes, SIZE), minlength=SHAPES),
        "last locations": np.bincount(db.codes[db.offsets[1:] - 1], minlength=SIZE),
        "visits": np.bincount(
            visit_cells(db.offsets, db.codes, SIZE, PLAN.visits_cap)[1],
            minlength=MULTIPLICITIES * SIZE,
        ),
        "actions": action_counts(db.offsets, db.codes, SIZE, PLAN.steps).ravel(),
    }
    visited, reached_from = first_visits(db.offsets, db.codes, SIZE, PLAN.most_distinct)
    counts["moves"] = np.bincount(move_cells(visited, reached_from, SIZE), minlength=SIZE**2)
    counts["pairs"] = np.bincount(pair_cells(visited, SIZE)[1], minlength=SIZE**2)
    # Nobody in the crowd visits every location.
    counts["visited sets"] = np.append(np.zeros((1 << SIZE) - 1), len(db) - len(CROWD))
    counts["reach"] = np.append(np.zeros(CELLS["reach"][0]), len(db) - len(CROWD))
    sums = [np.asarray(counts[name])[CELLS[name]].sum() for name in TABLES[:-1]]
    return [*sums, len(PLAN.tree) * (len(db) - len(CROWD))]


def with_plan(plan):
    return lambda db, randomness: gate.measure(db, plan, everybody, randomness)


def test_the_right_code_keeps_every_share():
    for table, bound in lower_bounds(with_plan(PLAN)).items():
        assert bound <= budget(table), table


@dataclass(frozen=True)
class Mutant:
    name: str
    table: str
    plan: MeasurementPlan
    runs: int = RUNS


def sensitivity_forgotten(attribute):
    """The noise of a table is scaled as if a trajectory added 1 to it."""
    return replace(PLAN, **{attribute: replace(getattr(PLAN, attribute), sensitivity=1)})


def whole_budget(attribute):
    """A table is measured with all of ε, as if it were the only one."""
    return replace(PLAN, **{attribute: replace(getattr(PLAN, attribute), budget=Fraction(EPSILON))})


MUTANTS = (
    Mutant("the total is measured with all of ε", "total", whole_budget("total")),
    Mutant("the shapes are measured with all of ε", "shapes", whole_budget("shapes")),
    Mutant(
        "the last locations are measured with all of ε",
        "last locations",
        whole_budget("last_locations"),
    ),
    Mutant("a trajectory's visits count as one", "visits", sensitivity_forgotten("visits")),
    # Its share is small, and so is what it proves.
    Mutant(
        "a trajectory's actions count as one",
        "actions",
        sensitivity_forgotten("actions"),
        runs=2 * RUNS,
    ),
    Mutant("a trajectory's moves count as one", "moves", sensitivity_forgotten("moves")),
    Mutant("a trajectory's pairs count as one", "pairs", sensitivity_forgotten("pairs")),
    Mutant(
        "the visited sets are measured with all of ε",
        "visited sets",
        whole_budget("visited_sets"),
    ),
    Mutant("the reach is measured with all of ε", "reach", whole_budget("reach")),
    Mutant(
        "every level of the tree spends all of ε",
        "tree",
        replace(PLAN, tree=tuple(replace(line, budget=Fraction(EPSILON)) for line in PLAN.tree)),
    ),
)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_the_audit_catches(mutant):
    bounds = lower_bounds(with_plan(mutant.plan), mutant.runs)
    caught = [table for table in TABLES if bounds[table] > budget(table)]
    assert caught == [mutant.table]


def test_there_is_a_mutant_for_every_measurement():
    assert {mutant.table for mutant in MUTANTS} == set(TABLES)


def candidate_bound(choose):
    """What "e is a candidate" proves about the walker, who alone visits it."""
    randomness = Randomness()
    without, with_walker = database(CROWD), database([*CROWD, WALKER])
    coins = randomness.words(2 * RUNS) % 2 == 1
    listed = np.array(
        [
            UNIVERSE.code("e") in choose(with_walker if coin else without, randomness)
            for coin in coins
        ]
    )
    right = np.array([np.count_nonzero(listed & coins), np.count_nonzero(~listed & ~coins)])
    guesses = np.array([np.count_nonzero(listed), np.count_nonzero(~listed)])
    return float(epsilon_lower_bound(right, guesses, FALSE_ALARM / 2).max())


def test_candidates_come_from_noisy_visits_and_choosing_them_from_exact_ones_is_caught():
    from pathveil.synthesis.popularity import choose_candidates

    def right(db, randomness):
        return choose_candidates(gate.measure_popularity(db, PLAN, randomness))

    def mutant(db, _randomness):
        return np.unique(db.codes)

    assert candidate_bound(right) <= budget("visits")
    assert candidate_bound(mutant) > budget("visits")


def test_a_table_without_noise_is_caught(monkeypatch):
    """The harness itself: a dense table that forgets its noise proves any ε."""
    exact = lambda counts, epsilon, _randomness: replace(
        dense_table(counts, epsilon, Randomness()), counts=counts
    )
    monkeypatch.setattr(gate, "dense_table", exact)
    bounds = lower_bounds(with_plan(PLAN), runs=300)
    assert all(bounds[table] > budget(table) for table in TABLES[:-1] if budget(table) < 2)
