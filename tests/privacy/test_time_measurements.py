"""The audit of the calibrated method's tables of times: each keeps its share of ε, and a mutant of
each is caught by name.

As in `test_measurements`: the attacker adds up the noisy counts of the cells that one walker
touches and guesses whether the walker is there. False-alarm probability 10⁻⁶ in all.
"""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from pathveil.audit.attacking import FALSE_ALARM, epsilon_lower_bound
from pathveil.mechanism import measure as gate
from pathveil.mechanism.randomness import Randomness
from pathveil.model.measurement_plan import TIME_SHARES, MeasurementPlan
from pathveil.model.parameters import Parameters
from pathveil.model.time_grid import TimeGrid
from pathveil.model.universe import Universe
from pathveil.raw.database import TrajectoryDatabase

UNIVERSE, GRID = Universe("abcdefgh"), TimeGrid.parse("2h")
SIZE, SLOTS, HEIGHT, EPSILON, RUNS = 8, 12, 8, "8", 700
TURNS = (0.2, 0.35, 0.5, 0.65, 0.8)
TABLES = {"first slots": "first_slots", "pauses": "pauses", "slots": "slots"} | {
    "visit slots": "visit_slots"
}
NO_NOISE = Fraction(64)  # noise of this parameter is not 0 once in 10²⁷ cells
# The walker pauses 2 slots once and then 1 each time, for longer than h visits; the crowd has other
# slots and pauses 0.
WALKER = [(slot, place % SIZE) for place, slot in enumerate((0, 2, 3, 4, 5, 6, 7, 8, 9, 10))]
CROWD = [[(11, 0), (11, 1), (11, 0)]] * 40
PLAN = MeasurementPlan.of(
    Parameters.choose(
        epsilon=EPSILON, height=HEIGHT, universe_size=SIZE, method="calibrated", time_grid=GRID
    )
)


def database(rows):
    offsets = np.cumsum([0, *map(len, rows)])
    codes = [slot * SIZE + place for row in rows for slot, place in row]
    return TrajectoryDatabase.from_arrays(
        offsets, np.array(codes, dtype=np.int32), UNIVERSE, time_grid=GRID
    )


def everybody(_popularity):
    return np.arange(SIZE)


def tables(measurements):
    return {name: getattr(measurements.times, TABLES[name]).counts for name in TABLES}


def exact_tables(db):
    """What the gate measures if its noise is 0."""
    lines = {
        name: replace(line, budget=NO_NOISE * line.sensitivity)
        for name in TABLES.values()
        for line in [getattr(PLAN.times, name)]
    }
    plan = replace(PLAN, times=replace(PLAN.times, **lines))
    return tables(gate.measure(db, plan, everybody, Randomness()))


ALONE = exact_tables(database([WALKER]))
CELLS = {name: np.flatnonzero(counts) for name, counts in ALONE.items()}


def sums_of(found):
    """What stands in the cells that the walker adds to."""
    return [int(counts[CELLS[name]].sum()) for name, counts in found.items()]


def lower_bounds(plan, runs=RUNS):
    without, with_walker = database(CROWD), database([*CROWD, WALKER])
    randomness = Randomness()
    coins = randomness.words(2 * runs) % 2 == 1
    seen = (
        gate.measure(with_walker if coin else without, plan, everybody, randomness)
        for coin in coins
    )
    sums = np.array([sums_of(tables(measurements)) for measurements in seen])
    low, high = (np.array(sums_of(exact_tables(db))) for db in (without, with_walker))
    error = FALSE_ALARM / (len(TABLES) * len(TURNS) * 2)
    bounds = np.zeros(len(TABLES))
    for turn in TURNS:
        above = sums > low + turn * (high - low)
        for says_with in (above, ~above):
            right = np.count_nonzero(says_with & (coins[:, None] == (says_with == above)), axis=0)
            found = epsilon_lower_bound(right, np.count_nonzero(says_with, axis=0), error)
            bounds = np.maximum(bounds, found)
    return dict(zip(TABLES, bounds.tolist(), strict=True))


def budget(name):
    return Fraction(EPSILON) * TIME_SHARES[name]


def test_the_right_code_keeps_every_share():
    for table, bound in lower_bounds(PLAN).items():
        assert bound <= budget(table), table


def mutated(table):
    """A table whose noise is scaled as if it were the only one and a trajectory added 1 to it."""
    name = TABLES[table]
    line = replace(getattr(PLAN.times, name), budget=Fraction(EPSILON), sensitivity=1)
    return replace(PLAN, times=replace(PLAN.times, **{name: line}))


@pytest.mark.parametrize("table", TABLES)
def test_the_audit_catches_a_table_that_spends_too_much(table):
    bounds = lower_bounds(mutated(table), runs=300)
    assert [name for name in TABLES if bounds[name] > budget(name)] == [table]


def test_the_walker_adds_as_much_as_a_trajectory_can():
    lines = {line.name: line.sensitivity for line in PLAN.times.lines()}
    assert {name: counts.sum() for name, counts in ALONE.items()} == lines
