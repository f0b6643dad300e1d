"""The sensitivity argument of the calibrated method, checked on the gate itself.

The noise of every table is scaled to what its line says one unit adds. Here rows are read and
measured twice through the real gate, with one unit more the second time and with noise so small
that it is 0, and by how much the tables differ is compared with what their lines declare. The unit
has more of everything than any cap lets through: more trips than c, more visits than h, more
distinct locations than d. A gate that forgets a cap is caught, for every cap by the name of its
table.
"""

from collections import Counter
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pathveil import Parameters, TimeGrid, TrajectoryDatabase, Universe, read_trajectories
from pathveil.audit.noisy_tables import without_noise
from pathveil.gate import measure as gate
from pathveil.gate.randomness import Randomness
from pathveil.statistics.actions import ACTIONS
from pathveil.statistics.constants import MOST_CAP
from pathveil.statistics.measurement_plan import SHARES, TREE_SHARE, Line, MeasurementPlan
from pathveil.statistics.outlook import Outlook
from pathveil.statistics.prefix_tree import LEVELS
from pathveil.statistics.returns import OFTEN, RETURNS
from pathveil.statistics.statistic import Bound

SIZE = 20
UNIVERSE = Universe([f"s{code:02}" for code in range(SIZE)])
GRID = TimeGrid.parse("1h")
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


def table_of(people):
    """Everybody's rows."""
    rows = [
        (person, number, sum(pause for _, pause in trip[: i + 1]), UNIVERSE.labels[code])
        for person, made in enumerate(people)
        for number, trip in enumerate(made)
        for i, (code, _) in enumerate(trip)
    ]
    who, trip, minute, where = zip(*rows, strict=True)
    day = np.datetime64("2024-03-04T00:00", "s")
    return pa.table(
        {
            "who": pa.array(who),
            "trip": pa.array(trip),
            "when": pa.array(
                day + np.array(minute, dtype="timedelta64[m]").astype("timedelta64[s]")
            ),
            "where": pa.array(where),
        }
    )


READING = {
    "unit": "who",
    "trajectory": "trip",
    "time": "when",
    "time_grid": GRID,
    "location": "where",
}


def database(people, contribution):
    """What reading makes of everybody's rows."""
    return read_trajectories(
        table_of(people), UNIVERSE, max_trajectories_per_unit=contribution, **READING
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


def measured(db, plan, candidates):
    """Every table as the gate measures it, cell → count, by the name of its line.

    The cells of a level of the tree are named by their prefixes: which nodes passed differs.
    """
    chosen = np.array(candidates, dtype=np.int64)
    seen = gate.measure(db, without_noise(plan), lambda _seen: chosen, Randomness())
    tables = {}
    for statistic, table in seen.tables.items():
        counts = zip(table.keys.tolist(), table.counts.tolist(), strict=True)
        tables[statistic.name] = Counter(dict(counts))
    above = [()]
    for statistic, level in zip(LEVELS, seen.tree, strict=False):
        above = [(*above[p], c) for p, c in zip(level.parent, level.label, strict=True)]
        tables[statistic.name] = Counter(dict(zip(above, level.table.counts.tolist(), strict=True)))
    return tables


def changes(before, after, plan, candidates=EVERYWHERE):
    """By how much two databases differ in each table, cell by cell, by the name of its line."""
    old, new = (measured(db, plan, candidates) for db in (before, after))
    found = {}
    for line in plan.lines():
        a, b = old.get(line.name, Counter()), new.get(line.name, Counter())
        found[line.name] = np.array([b[cell] - a[cell] for cell in a.keys() | b.keys()] or [0])
    return found


def too_large(found, plan):
    """The lines that change by more than they declare, in L1 or in L2."""
    return {
        line.name
        for line in plan.lines()
        if np.abs(found[line.name]).sum() > line.sensitivity
        or (found[line.name] ** 2).sum() > line.squared_l2
    }


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
    assert too_large(found, plan) == set()


@pytest.mark.parametrize(("height", "contribution"), [(1, 1), (5, 1), (10, 3)])
def test_the_bounds_are_reached(height, contribution):
    """By one who does more than any cap lets through; so none is larger than it need be."""
    plan = plan_of(height, contribution)
    found = changes(*neighbours(WALKER, contribution), plan)
    reached = {line.name: line.sensitivity for line in plan.lines()}
    if height == 1:  # nobody pauses; a scale for the noise is needed all the same
        reached["pauses"] = 0
    assert {name: np.abs(change).sum() for name, change in found.items()} == reached


@pytest.mark.parametrize("contribution", [1, 3])
def test_the_bounds_in_l2_are_reached(contribution):
    """By who never leaves, where cells repeat; who stays everywhere for a while; and the walker."""
    plan = plan_of(10, contribution)
    stays = [[(SIZE - 1, 0)] * 30] * 5
    lingers = [[(code, 0) for code in range(SIZE - 4, SIZE) for _ in range(4)][: 4 + 4 + 4 + 2]] * 5
    both = [changes(*neighbours(unit, contribution), plan) for unit in (WALKER, stays, lingers)]
    for line in plan.lines():
        reached = max(int((found[line.name] ** 2).sum()) for found in both)
        # The first step has no action before it, and so a cell of its own.
        apart = 2 * (line.cap - 1) * contribution**2 if line.statistic is ACTIONS else 0
        assert reached == line.squared_l2 - apart, line.name


def caught(plan, contribution=1):
    """The tables that the walker, of whom so many trips are used, changes by too much."""
    return too_large(changes(*neighbours(WALKER, contribution), plan), plan)


def broken(patch, statistic, wrong):
    """The cells of one statistic as a mistake finds them; others of its class stay right."""
    right = type(statistic).cells
    patch.setattr(
        type(statistic),
        "cells",
        lambda self, *seen: wrong(right, *seen) if self is statistic else right(self, *seen),
    )


LINES = plan_of(10).lines()
CAPPED = [line.statistic for line in LINES if line.cap > 1]


@pytest.mark.parametrize("statistic", CAPPED, ids=lambda one: one.name)
def test_a_gate_with_twice_the_cap_is_caught(statistic, monkeypatch):
    twice = lambda right, rows, scope, cap: right(statistic, rows, scope, 2 * cap)
    broken(monkeypatch, statistic, twice)
    assert caught(plan_of(10)) == {statistic.name}


@pytest.mark.parametrize("line", LINES, ids=lambda one: one.name)
def test_a_gate_that_counts_a_trajectory_twice_is_caught(line, monkeypatch):
    repeated = lambda right, *seen: np.repeat(right(line.statistic, *seen), 2)
    broken(monkeypatch, line.statistic, repeated)
    assert caught(plan_of(10)) == {line.name}


@pytest.mark.parametrize("statistic", CAPPED, ids=lambda one: one.name)
def test_a_table_that_claims_a_bound_of_one_is_caught(statistic, monkeypatch):
    right = type(statistic).bound
    monkeypatch.setattr(
        type(statistic),
        "bound",
        lambda self, cap: Bound(1, 1) if self is statistic else right(self, cap),
    )
    assert caught(plan_of(10)) == {statistic.name}


def test_a_return_that_counts_as_staying_and_as_coming_back_is_caught(monkeypatch):
    def both(right, rows, scope, cap):
        cells = right(RETURNS, rows, scope, cap)
        other = np.where(
            cells < OFTEN * rows.size, (cells + rows.size) % (OFTEN * rows.size), cells
        )
        return np.concatenate((cells, other))

    broken(monkeypatch, RETURNS, both)
    assert caught(plan_of(10)) == {RETURNS.name}


def test_every_cap_has_its_mutant():
    """A statistic whose bound grows with the cap is among those whose cap is doubled."""
    assert [
        line.statistic for line in LINES if line.statistic.bound(20) != line.statistic.bound(10)
    ] == CAPPED


def test_twice_as_many_trips_of_a_unit_are_caught():
    plan = plan_of(10, 2)
    assert caught(plan, 2) == set()
    assert caught(plan, 4) == {line.name for line in plan.lines()}


# Every cap that the planner can choose

FAR = 60  # locations that the far walker visits, four times each: more of everything than any cap
FAR_UNIVERSE = Universe([f"f{code:02}" for code in range(FAR)])
OUTLOOK = Outlook(
    total=1e4,
    universe_size=FAR,
    named=FAR,
    slots=len(GRID),
    height=MOST_CAP,
    shares=np.ones(1),
    lengths=np.full(1, 4.0 * FAR),
    distinct=np.full(1, 1.0 * FAR),
    same=1 / FAR,
    covered=20 / FAR,
)


def far_walker(trips):
    """So many trips of one unit through everything, and nobody else."""
    codes = np.tile(np.arange(FAR), 4)
    slots = np.arange(len(codes)) * len(GRID) // len(codes)
    row = (slots * FAR + codes).astype(np.int32)
    return TrajectoryDatabase.from_arrays(
        np.arange(trips + 1) * len(row), np.tile(row, trips), FAR_UNIVERSE, time_grid=GRID
    )


def added_under(cap, contribution=1):
    """What the far walker adds to each table whose cap is planned, with caps as near as can be."""
    plan = MeasurementPlan.usual(
        Parameters.choose(
            epsilon="1",
            universe_size=FAR,
            time_grid=GRID,
            max_trajectories_per_unit=contribution,
        )
    )
    for line in plan.lines():
        caps = line.statistic.caps(OUTLOOK)
        nearest = min(max(cap, caps[0]), caps[-1])
        plan = plan.with_line(Line.of(line.statistic, nearest, line.budget, contribution))
    everywhere = lambda _seen: np.arange(FAR)
    seen = gate.measure(far_walker(contribution), without_noise(plan), everywhere, Randomness())
    return {
        line: (int(table.counts.sum()), int((table.counts**2).sum()))
        for line in plan.lines()
        if len(line.statistic.caps(OUTLOOK)) > 1
        for table in (seen[line.statistic],)
    }


@pytest.mark.parametrize("cap", range(1, MOST_CAP + 1))
def test_every_cap_that_can_be_planned_keeps_its_bound(cap):
    """And reaches it: the noise is no larger than it need be."""
    for line, (l1, squared_l2) in added_under(cap).items():
        assert l1 == line.sensitivity, line.name
        assert squared_l2 <= line.squared_l2, line.name


def test_a_cap_that_is_planned_and_not_kept_is_caught(monkeypatch):
    right = {line.statistic: type(line.statistic).cells for line in added_under(3)}
    for statistic in right:
        with monkeypatch.context() as patch:
            twice = lambda found, rows, scope, cap, own=statistic: found(own, rows, scope, 2 * cap)
            broken(patch, statistic, twice)
            wrong = {line.name for line, (l1, _) in added_under(3).items() if l1 > line.sensitivity}
            assert wrong == {statistic.name}


def test_the_trips_of_a_unit_multiply_every_cap():
    for line, (l1, squared_l2) in added_under(7, 3).items():
        assert l1 == line.sensitivity == 3 * line.statistic.bound(line.cap).l1
        assert squared_l2 <= line.squared_l2


@given(heights, st.integers(1, 50), st.sampled_from(["1", "1/3", "0.25", "7"]), st.booleans())
def test_the_shares_sum_to_epsilon_exactly_and_the_noise_follows_the_bound(
    height, contribution, epsilon, timed
):
    grid = GRID if timed else None
    plan = plan_of(height, contribution, epsilon, grid)
    assert sum(line.budget for line in plan.lines()) == Fraction(epsilon)
    for line, alone in zip(plan.lines(), plan_of(height, 1, epsilon, grid).lines(), strict=True):
        assert line.sensitivity == alone.sensitivity * contribution
        assert line.squared_l2 == alone.squared_l2 * contribution**2 <= line.sensitivity**2
        assert line.epsilon * line.sensitivity == line.budget
    assert TREE_SHARE + sum(SHARES.values()) == 1
