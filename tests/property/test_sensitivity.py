"""The sensitivity argument of the calibrated method, checked on the gate itself.

The noise of every table is scaled to its line's ``sensitivity``. Here rows are read and measured
twice through the real gate, with one unit more the second time and with noise so small that it
is 0, and by how much the tables differ is compared with what their lines declare. The unit has
more of everything than any cap lets through: more trips than c, more visits than h, more distinct
locations than d. A gate that forgets a cap is caught, for every cap by the name of its table.
"""

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pathveil import Parameters, TimeGrid, Universe, read_trajectories
from pathveil.mechanism import measure as gate
from pathveil.mechanism.randomness import Randomness
from pathveil.model.measurement_plan import SHARES, MeasurementPlan

SIZE = 20
UNIVERSE = Universe([f"s{code:02}" for code in range(SIZE)])
GRID = TimeGrid.parse("1h")
NO_NOISE = Fraction(64)  # noise of this parameter is not 0 once in 10²⁷ cells
EVERYWHERE = tuple(range(SIZE))

# A trip is a list of (location, minutes since the visit before).
trips = st.lists(st.tuples(st.integers(0, SIZE - 1), st.integers(0, 60)), max_size=24)
units = st.lists(trips, min_size=1, max_size=5)
heights, contributions = st.integers(1, 12), st.integers(1, 3)
candidate_sets = st.sets(st.integers(0, SIZE - 1), min_size=1).map(lambda s: tuple(sorted(s)))

# A walk to every location, twice: more visits than h, and more distinct locations than d.
WALK = [(code % SIZE, 17) for code in range(2 * SIZE)]
WALKER = [WALK] * 5
# So many more visits to each location than to the next that one unit can't change the order of
# the popular ones, which the gate takes from the noisy first stage: it is given, and the same.
CROWD = [[[(code, 0)]] for code in range(SIZE) for _ in range(20 * code)]


def database(people, contribution):
    """What reading makes of everybody's rows."""
    rows = [
        (person, number, sum(pause for _, pause in trip[: i + 1]), UNIVERSE.labels[code])
        for person, made in enumerate(people)
        for number, trip in enumerate(made)
        for i, (code, _) in enumerate(trip)
    ]
    who, trip, minute, where = zip(*rows, strict=True)
    day = np.datetime64("2024-03-04T00:00", "s")
    table = pa.table(
        {
            "who": pa.array(who),
            "trip": pa.array(trip),
            "when": pa.array(
                day + np.array(minute, dtype="timedelta64[m]").astype("timedelta64[s]")
            ),
            "where": pa.array(where),
        }
    )
    return read_trajectories(
        table,
        UNIVERSE,
        unit="who",
        trajectory="trip",
        time="when",
        time_grid=GRID,
        location="where",
        max_trajectories_per_unit=contribution,
    )


def plan_of(height, contribution=1, epsilon="1", grid=GRID):
    return MeasurementPlan.of(
        Parameters.choose(
            epsilon=epsilon,
            height=height,
            universe_size=SIZE,
            method="calibrated",
            max_trajectories_per_unit=contribution,
            time_grid=grid,
        )
    )


def without_noise(plan):
    """The same caps; every line is measured with a budget under which its noise is 0."""
    exact = lambda line: replace(line, budget=NO_NOISE * line.sensitivity)
    names = [name.replace(" ", "_") for name in SHARES if name != "prefix tree"]
    times = ["first_slots", "pauses", "slots", "visit_slots"]
    return replace(
        plan,
        **{name: exact(getattr(plan, name)) for name in names},
        tree=tuple(map(exact, plan.tree)),
        times=replace(plan.times, **{name: exact(getattr(plan.times, name)) for name in times}),
    )


def measured(db, plan, candidates):
    """Every table as the gate measures it, cell → count, by the name of its line."""
    chosen = np.array(candidates, dtype=np.int64)
    seen = gate.measure(db, without_noise(plan), lambda _popularity: chosen, Randomness())
    stages = (seen.popularity, seen, seen.times)
    tables = {}
    for line in plan.lines():
        attribute = line.name.replace(" ", "_")
        for stage in stages:
            if hasattr(stage, attribute):
                table = getattr(stage, attribute)
                tables[line.name] = Counter(dict(zip(table.keys, table.counts, strict=True)))
    above = [()]
    for number, level in enumerate(seen.tree, start=1):
        nodes = [(*above[p], c) for p, c in zip(level.parent, level.label, strict=True)]
        counts = zip(nodes, level.table.counts, strict=True)
        tables[f"prefix tree, level {number}"] = Counter(dict(counts))
        above = nodes
    return tables


def changes(before, after, plan, candidates=EVERYWHERE):
    """By how much two databases differ in each table, in L1, by the name of its line."""
    old, new = (measured(db, plan, candidates) for db in (before, after))
    found = {}
    for line in plan.lines():
        a, b = old.get(line.name, Counter()), new.get(line.name, Counter())
        found[line.name] = int(sum(abs(b[cell] - a[cell]) for cell in a.keys() | b.keys()))
    return found


def neighbours(unit, contribution, people=()):
    """The databases without and with one unit."""
    everybody = [*CROWD, *people]
    return database(everybody, contribution), database([*everybody, unit], contribution)


@settings(max_examples=40)
@given(st.lists(units, max_size=3), units, heights, contributions, candidate_sets)
def test_one_unit_changes_each_table_by_at_most_its_sensitivity(
    people, unit, height, contribution, candidates
):
    plan = plan_of(height, contribution)
    found = changes(*neighbours(unit, contribution, people), plan, candidates)
    for line in plan.lines():
        assert found[line.name] <= line.sensitivity, line.name


@pytest.mark.parametrize(("height", "contribution"), [(1, 1), (5, 1), (10, 3)])
def test_the_bounds_are_reached(height, contribution):
    """By one who does more than any cap lets through; so none is larger than it need be."""
    plan = plan_of(height, contribution)
    found = changes(*neighbours(WALKER, contribution), plan)
    reached = {line.name: line.sensitivity for line in plan.lines()}
    if height == 1:  # d is 2 at least, so that moves and pairs have a meaning; and nobody pauses
        reached["pauses"] = 0
    assert found == reached


def twice(name, cap):
    """A gate that calls the function of this name with a cap twice as large."""

    def make(patch):
        right = getattr(gate, name)

        def wrong(*arguments):
            given = list(arguments)
            given[cap] *= 2
            return right(*given)

        patch.setattr(gate, name, wrong)

    return make


# The cap's name → what breaks it, and the tables that then change by too much.
MUTANTS = {
    "visits: h cells": (twice("visit_cells", 3), {"visits"}),
    "actions: h steps": (twice("action_counts", 3), {"actions"}),
    "moves and pairs: d distinct": (twice("first_visits", 3), {"moves", "pairs"}),
    "pauses: h visits": (twice("pauses", 2), {"pauses"}),
    "slots: h visits": (twice("first_values", 2), {"slots"}),
    "visit slots: h visits": (twice("visit_slots", 5), {"visit slots"}),
}


def caught(plan, contribution):
    """The tables that the walker, of whom so many trips are used, changes by too much."""
    found = changes(*neighbours(WALKER, contribution), plan)
    return {line.name for line in plan.lines() if found[line.name] > line.sensitivity}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_gate_with_twice_the_cap_is_caught(name, monkeypatch):
    break_it, tables = MUTANTS[name]
    break_it(monkeypatch)
    assert caught(plan_of(10), 1) == tables


def test_twice_as_many_trips_of_a_unit_are_caught():
    plan = plan_of(10, 2)
    assert caught(plan, 2) == set()
    assert caught(plan, 4) == {line.name for line in plan.lines()}


@given(heights, st.integers(1, 50), st.sampled_from(["1", "1/3", "0.25", "7"]), st.booleans())
def test_the_shares_sum_to_epsilon_exactly_and_the_noise_follows_the_bound(
    height, contribution, epsilon, timed
):
    grid = GRID if timed else None
    plan = plan_of(height, contribution, epsilon, grid)
    assert sum(line.budget for line in plan.lines()) == Fraction(epsilon)
    for line, alone in zip(plan.lines(), plan_of(height, 1, epsilon, grid).lines(), strict=True):
        assert line.sensitivity == alone.sensitivity * contribution
        assert line.epsilon * line.sensitivity == line.budget
    assert sum(SHARES.values()) == 1
