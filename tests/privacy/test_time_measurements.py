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
from pathveil.statistics.slots import first_values, pauses, visit_slots

UNIVERSE, GRID = Universe("abcdefgh"), TimeGrid.parse("2h")
SIZE, SLOTS, HEIGHT, EPSILON, RUNS = 8, 12, 8, "8", 700
TURNS = (0.2, 0.35, 0.5, 0.65, 0.8)
TABLES = {"first slots": "first_slots", "pauses": "pauses", "slots": "slots"} | {
    "visit slots": "visit_slots"
}
# The walker pauses 2 slots once and then 1 each time; the crowd has other slots and pauses 0.
WALKER = [(slot, place) for place, slot in enumerate((0, 2, 3, 4, 5, 6, 7, 8))]
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


def tables(db):
    """The exact tables, as the gate counts them."""
    slots, places = np.divmod(db.codes, np.int32(SIZE))
    return {
        "first slots": slots[db.offsets[:-1]].astype(np.int64),
        "pauses": pauses(db.offsets, slots, HEIGHT),
        "slots": first_values(db.offsets, slots, HEIGHT),
        "visit slots": visit_slots(db.offsets, places, slots, SIZE, SLOTS, HEIGHT),
    }


CELLS = {name: np.unique(cells) for name, cells in tables(database([WALKER])).items()}


def observe(measurements):
    times = measurements.times
    return [int(getattr(times, TABLES[name]).counts[CELLS[name]].sum()) for name in TABLES]


def exact_sums(db):
    return [int(np.isin(cells, CELLS[name]).sum()) for name, cells in tables(db).items()]


def lower_bounds(plan, runs=RUNS):
    without, with_walker = database(CROWD), database([*CROWD, WALKER])
    randomness = Randomness()
    coins = randomness.words(2 * runs) % 2 == 1
    everybody = lambda _popularity: np.arange(SIZE)
    sums = np.array(
        [
            observe(gate.measure(with_walker if coin else without, plan, everybody, randomness))
            for coin in coins
        ]
    )
    low, high = np.array(exact_sums(without)), np.array(exact_sums(with_walker))
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
    added = {name: len(cells) for name, cells in tables(database([WALKER])).items()}
    lines = {line.name: line.sensitivity for line in PLAN.times.lines()}
    assert added == lines
