"""The statistics of trajectories: by hand, and against oracles of a few lines."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathveil.statistics.actions import (
    BACK,
    END,
    NEW,
    OLDER,
    SHAPE,
    STAY,
    action_counts,
    possible_actions,
)
from pathveil.statistics.first_visits import first_visits, move_cells, pair_cells
from pathveil.statistics.reach import CANDIDATE_BINS, POPULAR_BINS, reach_cells
from pathveil.statistics.shapes import (
    DISTINCT_BINS,
    DISTINCT_ENDS,
    DISTINCT_VALUES,
    LENGTH_BINS,
    LENGTH_ENDS,
    distinct_locations,
    length_bins,
    possible_shapes,
    shape_cells,
)
from pathveil.statistics.visited_sets import bits_of, visited_sets
from pathveil.statistics.visits import MULTIPLICITIES, visit_cells

SIZE = 4  # code 4 is an unnamed place
databases = st.lists(st.lists(st.integers(0, SIZE), max_size=14), max_size=8)
caps = st.integers(1, 9)


def arrays(rows):
    offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    return offsets, np.array([code for row in rows for code in row], dtype=np.int32)


def told_apart(row):
    """Every visit to an unnamed place is a visit to another one."""
    return [code if code < SIZE else f"unnamed {i}" for i, code in enumerate(row)]


# Actions


def test_actions_by_hand():
    # 0 →1 (new) →0 (back) →0 (stay) →2 (new) →1 (older), then the end.
    counts = action_counts(*arrays([[0, 1, 0, 0, 2, 1]]), SIZE, 12)
    expected = [
        (END, 1, NEW),
        (NEW, 2, BACK),
        (BACK, 2, STAY),
        (STAY, 2, NEW),
        (NEW, 3, OLDER),
        (OLDER, 3, END),
    ]
    cells = zip(*np.nonzero(counts), strict=True)
    assert {(p, d + 1, a) for p, d, a in cells} == set(expected)
    assert counts.sum() == len(expected)


def test_the_end_takes_a_step_too():
    assert action_counts(*arrays([[0, 1, 2]]), SIZE, 2)[..., END].sum() == 0
    assert action_counts(*arrays([[0, 1, 2]]), SIZE, 3)[..., END].sum() == 1


def actions_oracle(rows, steps):
    counts = Counter()
    for row in map(told_apart, rows):
        previous, before = END, None
        for step, there in enumerate([*row, None][1 : steps + 1] if row else [], start=1):
            here, seen = row[step - 1], set(row[:step])
            named = {before: BACK, here: STAY, None: END}
            action = named.get(there, OLDER if there in seen else NEW)
            counts[previous, min(len(seen), 8) - 1, action] += 1
            before, previous = before if action == STAY else here, action
    return counts


@given(databases, caps)
def test_actions(rows, steps):
    counts = action_counts(*arrays(rows), SIZE, steps)
    expected = np.zeros(SHAPE, dtype=np.int64)
    for cell, count in actions_oracle(rows, steps).items():
        expected[cell] = count
    assert counts.tolist() == expected.tolist()
    assert not counts[~possible_actions()].any()


# Shapes


def test_length_bins_are_single_lengths_then_four_to_a_doubling():
    assert LENGTH_ENDS[:16].tolist() == list(range(1, 17))
    assert LENGTH_ENDS[16:21].tolist() == [19, 22, 26, 32, 38]
    assert len(LENGTH_ENDS) == LENGTH_BINS - 1
    assert length_bins(np.array([1, 16, 17, 19, 20, 861, 862, 10**6])).tolist() == [
        *(0, 15, 16, 16, 17),
        *(38, 39, 39),
    ]


def test_every_bin_of_distinct_locations_stands_for_one_of_its_values():
    bins = np.searchsorted(DISTINCT_ENDS, DISTINCT_VALUES)
    assert bins.tolist() == list(range(DISTINCT_BINS))


def test_shapes_by_hand():
    # Lengths 3, 0, 20 with 2, 0, 1 distinct locations.
    cells = shape_cells(*arrays([[0, 1, 0], [], [3] * 20]), SIZE)
    assert cells.tolist() == [2 * DISTINCT_BINS + 1, -1, 17 * DISTINCT_BINS]


@given(databases)
def test_shapes(rows):
    offsets, codes = arrays(rows)
    distinct = [len(set(told_apart(row))) for row in rows]
    assert distinct_locations(offsets, codes, SIZE).tolist() == distinct
    for row, number, cell in zip(rows, distinct, shape_cells(offsets, codes, SIZE), strict=True):
        length_bin = sum(len(row) > end for end in LENGTH_ENDS)
        distinct_bin = sum(number > end for end in DISTINCT_ENDS)
        assert cell == (length_bin * DISTINCT_BINS + distinct_bin if row else -1)


@pytest.mark.parametrize("universe_size", [1, 3, 20, 10**6])
def test_possible_shapes(universe_size):
    possible = possible_shapes(universe_size)
    for length in (1, 2, 12, 16, 17, 40, 900, 5000):
        for distinct in range(1, 40):
            cell = length_bins(np.array([length]))[0], np.searchsorted(DISTINCT_ENDS, distinct)
            if distinct <= min(length, universe_size):
                assert possible[cell]
    assert not possible[0, 1:].any()  # one visit, one location
    assert possible[:, DISTINCT_BINS - 1].any() == (universe_size > DISTINCT_ENDS[-1])


# Visits


def test_visits_by_hand():
    # The fifth visit to 0 has no cell and takes no turn; the unnamed place takes one.
    rows, cells = visit_cells(*arrays([[0, 0, 0, 0, 0, SIZE, 2, 1], [3]]), SIZE, 6)
    assert rows.tolist() == [0, 0, 0, 0, 0, 1]
    assert cells.tolist() == [0, SIZE, 2 * SIZE, 3 * SIZE, 2, 3]


def visits_oracle(row, cap):
    cells, taken, times = [], 0, Counter()
    for code in row:
        times[code] += 1
        if taken < cap and code == SIZE:
            taken += 1
        elif taken < cap and times[code] <= MULTIPLICITIES:
            cells.append((times[code] - 1) * SIZE + code)
            taken += 1
    return cells


@given(databases, caps)
def test_visits(rows, cap):
    expected = [(i, cell) for i, row in enumerate(rows) for cell in visits_oracle(row, cap)]
    found = visit_cells(*arrays(rows), SIZE, cap)
    assert list(zip(*map(np.ndarray.tolist, found), strict=True)) == expected


# First visits


def test_first_visits_by_hand():
    offsets, codes = arrays([[0, 0, 2, 0, 1], [], [SIZE, SIZE, 3]])
    visited, reached_from = first_visits(offsets, codes, SIZE, 3)
    assert visited.tolist() == [[0, 2, 1], [-1, -1, -1], [SIZE, SIZE, 3]]
    assert reached_from.tolist() == [[-1, 0, 0], [-1, -1, -1], [-1, SIZE, SIZE]]
    assert move_cells(visited, reached_from, SIZE).tolist() == [0 * SIZE + 2, 0 * SIZE + 1]
    rows, pairs = pair_cells(visited, SIZE)
    assert rows.tolist() == [0, 0, 0]
    assert sorted(pairs.tolist()) == [0 * SIZE + 1, 0 * SIZE + 2, 1 * SIZE + 2]


def first_visits_oracle(row, most):
    """(location before, location) of the first distinct locations."""
    apart = told_apart(row)
    first = [i for i, code in enumerate(apart) if code not in apart[:i]][:most]
    return [(row[i - 1] if i else None, row[i]) for i in first]


@given(databases, st.integers(1, 8))
def test_moves_and_pairs(rows, most):
    offsets, codes = arrays(rows)
    visited, reached_from = first_visits(offsets, codes, SIZE, most)
    moves, pairs = Counter(), Counter()
    for i, row in enumerate(rows):
        first = first_visits_oracle(row, most)
        assert visited[i].tolist() == [code for _, code in first] + [-1] * (most - len(first))
        moves.update(a * SIZE + b for a, b in first[1:] if a < SIZE and b < SIZE)
        places = sorted(code for _, code in first if code < SIZE)
        pairs.update((i, a * SIZE + b) for a, b in combinations(places, 2))
    assert Counter(move_cells(visited, reached_from, SIZE).tolist()) == moves
    found = pair_cells(visited, SIZE)
    assert Counter(zip(*map(np.ndarray.tolist, found), strict=True)) == pairs


# Visited sets


@given(databases, st.lists(st.integers(0, SIZE - 1), unique=True))
def test_visited_sets(rows, popular):
    bit = bits_of(np.array(popular, dtype=np.int64), SIZE + 1)
    expected = [sum(1 << popular.index(code) for code in set(row) & set(popular)) for row in rows]
    assert visited_sets(*arrays(rows), bit).tolist() == expected


# Reach


@given(databases, st.lists(st.integers(0, SIZE - 1), unique=True))
def test_reach(rows, popular):
    cells = reach_cells(*arrays(rows), bits_of(np.array(popular, dtype=np.int64), SIZE + 1))
    places = [set(row) - {SIZE} for row in rows]  # SIZE is an unnamed place
    expected = [len(seen) * POPULAR_BINS + len(seen & set(popular)) for seen in places]
    assert cells.tolist() == expected  # so few candidates have a bin each


def test_large_reaches_share_a_bin():
    codes = np.arange(60, dtype=np.int32)
    cell = reach_cells(np.array([0, 60]), codes, bits_of(np.arange(60), 61))
    assert cell.tolist() == [CANDIDATE_BINS * POPULAR_BINS - 1]
