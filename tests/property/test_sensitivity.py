"""The sensitivity argument of the calibrated method, checked: what one trajectory adds to a table.

The noise of every table is scaled to its plan's ``sensitivity``. These tests add one trajectory
to an arbitrary database and measure by how much the exact tables change.
"""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pathveil import Parameters, TrajectoryDatabase, Universe
from pathveil.model.measurement_plan import SHARES, MeasurementPlan
from pathveil.model.time_grid import TimeGrid
from pathveil.raw.candidate_prefixes import candidate_prefixes
from pathveil.statistics.actions import action_counts
from pathveil.statistics.first_visits import first_visits, move_cells, pair_cells
from pathveil.statistics.reach import REACHES, reach_cells
from pathveil.statistics.shapes import SHAPES, shape_cells
from pathveil.statistics.slots import first_values, pauses, visit_slots
from pathveil.statistics.visited_sets import bits_of, visited_sets
from pathveil.statistics.visits import MULTIPLICITIES, visit_cells

SIZE = 5
trajectory = st.lists(st.integers(0, SIZE - 1), max_size=30)
databases = st.lists(trajectory, max_size=6)
heights = st.integers(1, 14)
candidate_sets = st.sets(st.integers(0, SIZE - 1)).map(sorted)


def database(rows):
    offsets = np.cumsum([0, *map(len, rows)])
    codes = np.array([code for row in rows for code in row], dtype=np.int32)
    return TrajectoryDatabase.from_arrays(offsets, codes, Universe("abcde"))


def plan_of(height, contribution=1, epsilon="1"):
    return MeasurementPlan.of(
        Parameters.choose(
            epsilon=epsilon,
            height=height,
            universe_size=SIZE,
            method="calibrated",
            max_trajectories_per_unit=contribution,
        )
    )


def tables(rows, plan, candidates):
    """Every exact table, as the gate counts it, by the name of its line in the budget."""
    db = database(rows)
    offsets, codes = db.offsets, db.codes
    some = np.diff(offsets) > 0
    visited, reached_from = first_visits(offsets, codes, SIZE, plan.most_distinct)
    prefixes = candidate_prefixes(db, np.array(candidates, dtype=np.int64), len(plan.tree))
    return {
        "total": np.array([some.sum()]),
        "shapes": np.bincount(shape_cells(offsets, codes, SIZE)[some], minlength=SHAPES),
        "last locations": np.bincount(codes[offsets[1:][some] - 1], minlength=SIZE),
        "visits": np.bincount(
            visit_cells(offsets, codes, SIZE, plan.visits_cap)[1], minlength=MULTIPLICITIES * SIZE
        ),
        "actions": action_counts(offsets, codes, SIZE, plan.steps).ravel(),
        "moves": np.bincount(move_cells(visited, reached_from, SIZE), minlength=SIZE**2),
        "pairs": np.bincount(pair_cells(visited, SIZE)[1], minlength=SIZE**2),
        "visited sets": np.bincount(
            visited_sets(offsets, codes, bits_of(np.array(candidates, dtype=np.int64), SIZE))[some],
            minlength=1 << SIZE,
        ),
        "reach": np.bincount(reach_of(offsets, codes, candidates)[some], minlength=REACHES),
        **{
            f"prefix tree, level {level}": prefix_table(prefixes, level, len(candidates) + 1)
            for level in range(1, len(plan.tree) + 1)
        },
    }


def reach_of(offsets, codes, candidates):
    """With the candidates as positions, as the gate has it; all of them popular."""
    position = np.full(SIZE, len(candidates), dtype=np.int32)
    position[candidates] = np.arange(len(candidates), dtype=np.int32)
    bit = bits_of(np.arange(len(candidates)), len(candidates) + 1)
    return reach_cells(offsets, position[codes], bit)


def prefix_table(db, level, labels):
    counts = np.zeros(labels**level, dtype=np.int64)
    for start, stop in zip(db.offsets, db.offsets[1:], strict=False):
        if stop - start >= level:
            counts[
                int(np.ravel_multi_index(db.codes[start : start + level], (labels,) * level))
            ] += 1
    return counts


@given(
    st.lists(st.lists(st.tuples(st.integers(0, 5), st.integers(0, SIZE)), max_size=20), max_size=5),
    heights,
)
def test_one_trajectory_changes_the_tables_of_times_by_at_most_their_sensitivity(rows, height):
    """Place SIZE is an unnamed one; the last row is the one that is added."""
    plan = MeasurementPlan.of(
        Parameters.choose(
            epsilon="1",
            height=height,
            universe_size=SIZE,
            method="calibrated",
            time_grid=TimeGrid.parse("4h"),
        )
    )

    def counts(some):
        ordered = [sorted(row) for row in some]
        offsets = np.cumsum([0, *map(len, ordered)], dtype=np.int64)
        slots = np.array([slot for row in ordered for slot, _ in row], dtype=np.int32)
        places = np.array([place for row in ordered for _, place in row], dtype=np.int32)
        cells = {
            "first slots": slots[offsets[:-1][np.diff(offsets) > 0]].astype(np.int64),
            "pauses": pauses(offsets, slots, plan.visits_cap),
            "slots": first_values(offsets, slots, plan.visits_cap),
            "visit slots": visit_slots(offsets, places, slots, SIZE, 6, plan.visits_cap),
        }
        return {name: np.bincount(found, minlength=6 * SIZE) for name, found in cells.items()}

    before, after = counts(rows[:-1]), counts(rows)
    for line in plan.times.lines():
        assert np.abs(after[line.name] - before[line.name]).sum() <= line.sensitivity, line.name


@given(databases, trajectory, heights, candidate_sets)
def test_one_trajectory_changes_each_table_by_at_most_its_sensitivity(
    rows, added, height, candidates
):
    plan = plan_of(min(height, 4) if len(candidates) > 3 else height)
    before = tables(rows, plan, candidates)
    after = tables([*rows, added], plan, candidates)
    for line in plan.lines():
        change = int(np.abs(after[line.name] - before[line.name]).sum())
        assert change <= line.sensitivity, line.name


def test_the_bounds_are_reached():
    """So none of them is larger than it need be."""
    plan = plan_of(12)
    long = [0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4]
    reached = {name: int(table.sum()) for name, table in tables([long], plan, [0, 1]).items()}
    assert reached["visits"] == plan.visits.sensitivity == 12
    assert reached["actions"] == plan.actions.sensitivity == 12
    # Five locations: all of their moves and pairs; the cap of eight is not reached here.
    assert reached["moves"] == 4
    assert reached["pairs"] == 10
    assert reached["visited sets"] == plan.visited_sets.sensitivity == 1
    assert reached["reach"] == plan.reach.sensitivity == 1
    assert reached["prefix tree, level 2"] == plan.tree[1].sensitivity == 1


@given(heights, st.integers(1, 50), st.sampled_from(["1", "1/3", "0.25", "7"]))
def test_the_shares_sum_to_epsilon_exactly_and_the_noise_follows_the_bound(
    height, contribution, epsilon
):
    plan = plan_of(height, contribution, epsilon)
    assert sum(line.budget for line in plan.lines()) == Fraction(epsilon)
    for line, alone in zip(plan.lines(), plan_of(height, 1, epsilon).lines(), strict=True):
        assert line.sensitivity == alone.sensitivity * contribution
        assert line.epsilon * line.sensitivity == line.budget
    assert sum(SHARES.values()) == 1
