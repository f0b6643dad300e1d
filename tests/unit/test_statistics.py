"""The statistics of trajectories: by hand, and each against its own oracle of a few lines."""

import re
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathveil.core.noise import Laplace
from pathveil.statistics import distances, prefix_tree
from pathveil.statistics import statistic as statistics
from pathveil.statistics.actions import (
    BACK,
    END,
    NEW,
    OLDER,
    STAY,
    action_counts,
)
from pathveil.statistics.all_statistics import STATISTICS, TIME_STATISTICS
from pathveil.statistics.constants import DECAY_STEP, WORTH
from pathveil.statistics.distances import DISTANCES, NEAREST, UNKNOWN
from pathveil.statistics.first_visits import first_visits, spread, spread_after_first
from pathveil.statistics.measurement_plan import SHARES, TIME_SHARES
from pathveil.statistics.noisy_table import NoisyTable
from pathveil.statistics.pairs import PAIRS, pair_cells
from pathveil.statistics.prefix_tree import LEVELS
from pathveil.statistics.reach import CANDIDATE_BINS, POPULAR_BINS, REACH
from pathveil.statistics.returns import return_cells
from pathveil.statistics.shapes import (
    DISTINCT_BINS,
    DISTINCT_ENDS,
    DISTINCT_VALUES,
    LENGTH_BINS,
    LENGTH_ENDS,
    LENGTHS,
    SHAPES,
    length_bins,
    possible_shapes,
)
from pathveil.statistics.statistic import FIRST_LOOK, Bound, Rows, Scope, Visit
from pathveil.statistics.visited_sets import VISITED_SETS
from pathveil.statistics.visits import VISITS, visit_cells

SIZE = 4  # code 4 is an unnamed place
caps = st.integers(1, 9)


def arrays(rows):
    offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    return offsets, np.array([code for row in rows for code in row], dtype=np.int32)


# Every statistic, people's trajectories and synthetic ones

MEASURED_ROW = re.compile(r"\| .* \| .* \| (\d+%|planned, [\d.]+) \|$")

MEASURED = (*STATISTICS, *TIME_STATISTICS)
SLOTS = 5
timed = st.lists(
    st.lists(st.tuples(st.integers(0, SIZE), st.integers(0, SLOTS - 1)), max_size=14), max_size=8
)
candidate_sets = st.sets(st.integers(0, SIZE - 1)).map(sorted)
# Where they lie, in km; the last one is nowhere.
PLACES = np.array([[0, 0, 0], [0.01, 0, 0], [0, 3, 4], [np.nan] * 3])


def walks(rows):
    """As oracles see them: every visit to an unnamed place is a visit to another one."""
    return [
        [Visit(code if code < SIZE else f"unnamed {i}", slot) for i, (code, slot) in enumerate(row)]
        for row in rows
    ]


def seen(rows, candidates, *, kept):
    """Rows and a scope; of the levels of the tree, one cell in ``kept`` passed."""
    offsets, codes = arrays([[code for code, _ in row] for row in rows])
    slots = np.array([slot for row in rows for _, slot in row], dtype=np.int32)
    chosen = np.array(candidates, dtype=np.int64)
    found = Rows(offsets, codes, SIZE, slots).among(chosen)
    scope = Scope(SIZE, SLOTS, chosen, np.arange(len(chosen))[::-1][:2], points=PLACES)
    for level in LEVELS[:-1]:
        keys = np.unique(level.cells(found, scope, 1))[::kept] if level.is_open(scope) else []
        passed = np.asarray(keys, dtype=np.int64)
        table = NoisyTable(passed, np.ones(len(passed), np.int64), 10**6, Laplace(Fraction(1)), 1)
        scope = replace(scope, levels=(*scope.levels, table))
    return found, scope


@pytest.mark.parametrize("statistic", [*MEASURED, LENGTHS], ids=lambda one: one.name)
@given(rows=timed, candidates=candidate_sets, cap=caps, kept=st.integers(1, 3))
def test_the_cells_are_those_of_the_oracle_and_within_the_bound(
    statistic, rows, candidates, cap, kept
):
    """Codes SIZE are unnamed places: they are no candidates, in no table."""
    rows = [sorted(row, key=lambda visit: visit[1]) for row in rows]
    cap = max(cap, 2)
    found, scope = seen(rows, candidates, kept=kept)
    if statistic in LEVELS:
        scope = replace(scope, levels=scope.levels[: statistic.level - 1])
    expected = [list(statistic.oracle(walk, scope, cap)) for walk in walks(rows)]
    pairs = Counter((row, cell) for row, cells in enumerate(expected) for cell in cells)
    row_cells = statistic.row_cells(found, scope, cap)
    assert Counter(zip(*map(np.ndarray.tolist, row_cells), strict=True)) == pairs
    assert sorted(statistic.cells(found, scope, cap).tolist()) == sorted(chain(*expected))
    for cells in expected:
        added = Counter(cells)
        bound = statistic.bound(cap)
        assert added.total() <= bound.l1
        assert sum(count**2 for count in added.values()) <= bound.squared_l2 <= bound.l1**2
        assert all(0 <= cell < statistic.size(scope) for cell in added)


@given(rows=timed, candidates=candidate_sets, kept=st.integers(1, 3))
def test_the_nodes_of_a_large_level_are_searched_for_and_the_same(rows, candidates, kept):
    found, scope = seen(rows, candidates, kept=kept)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prefix_tree, "NUMBERED_AT_ONCE", 0)
        searched, same_scope = seen(rows, candidates, kept=kept)
        for level in LEVELS:
            expected = level.cells(found, scope, 1).tolist()
            assert level.cells(searched, same_scope, 1).tolist() == expected


@given(rows=timed, cap=caps, keys=st.sets(st.integers(0, SIZE**2 - 1)))
def test_listed_cells_are_those_that_have_an_estimate(rows, cap, keys):
    found, scope = seen(rows, [0, 1, 3], kept=1)
    listed = np.array(sorted(keys), dtype=np.int64)
    for statistic in (VISITS, PAIRS, VISITED_SETS):
        if statistic is PAIRS:
            found = Rows(found.offsets, found.codes, SIZE)  # as synthetic ones
            scope = Scope(SIZE, candidates=np.arange(SIZE))
        row, cell = statistic.row_cells(found, scope, max(cap, 2))
        expected = [(r, c) for r, c in zip(row.tolist(), cell.tolist(), strict=True) if c in keys]
        for looked_up in (0, 1 << 20):  # by search, and by a table that is kept
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(statistics, "LOOKED_UP", looked_up)
                there, which = statistic.listed(found, scope, max(cap, 2), listed)
            assert list(zip(there.tolist(), listed[which].tolist(), strict=True)) == expected


def test_a_kept_table_is_that_of_the_same_keys():
    scope, cells = Scope(SIZE, candidates=np.arange(SIZE)), np.arange(SIZE**2)
    for listed in (np.array([1, 5]), np.array([2, 5]), np.array([1, 5])):
        places = PAIRS.places(scope, listed, len(cells))
        assert places is PAIRS.places(scope, listed, len(cells))
        assert np.flatnonzero(places[cells] >= 0).tolist() == listed.tolist()


@given(rows=timed, candidates=candidate_sets, cap=caps)
def test_distances_are_the_same_if_the_steps_are_found_once(rows, candidates, cap):
    found, scope = seen(rows, candidates, kept=1)
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 40, 0], [np.nan] * 3], dtype=float)
    scope = replace(scope, points=np.resize(points, (SIZE, 3)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distances, "TABLED_FOR", 0)
        expected = DISTANCES.row_cells(found, scope, max(cap, 2))
        patch.setattr(distances, "TABLED_FOR", 1 << 20)
        for one, other in zip(
            expected, DISTANCES.row_cells(found, scope, max(cap, 2)), strict=True
        ):
            assert one.tolist() == other.tolist()


def test_what_one_trajectory_may_add():
    """The bounds by the letter, of the usual plan."""
    bounds = {one.name: one.bound(one.cap(12, 8)) for one in MEASURED}
    assert {name: bound for name, bound in bounds.items() if bound != Bound(1, 1)} == {
        "visits": Bound(12, 12),
        "returns": Bound(12, 36),
        "zones": Bound(12, 144),
        "actions": Bound(12, 144),
        "moves": Bound(7, 7),
        "distances": Bound(7, 49),
        "pairs": Bound(28, 28),
        "pauses": Bound(11, 121),
        "slots": Bound(12, 144),
        "visit slots": Bound(12, 144),
    }


def test_names_and_words():
    assert len({one.name for one in MEASURED}) == len(MEASURED)
    assert all(one.words and one.because and one.adds for one in MEASURED)


def test_the_tables_of_the_docs_are_those_that_are_measured():
    page = Path(__file__).parents[2].joinpath("docs", "method.md").read_text("utf-8")
    shares = SHARES | TIME_SHARES

    def given(one):
        """A share before anything is planned and for times; else what it is worth."""
        is_fixed = one.stage == FIRST_LOOK or one in TIME_STATISTICS
        return f"{float(100 * shares[one]):g}%" if is_fixed else f"planned, {WORTH[one.name]:g}"

    rows = [
        f"| {one.name}: {one.words} | {one.adds} | {given(one)} |"
        for one in MEASURED
        if one in shares
    ]
    found = [line for line in page.splitlines() if MEASURED_ROW.match(line)]
    assert found == rows
    tree = f"| prefix tree, each of {len(LEVELS)} levels: {LEVELS[0].words} | 1 | "
    assert f"{tree}planned, {WORTH['prefix tree']:g} for the first |" in page


# Distances


def test_distances_by_hand():
    """Rows through four places: 10 m apart, 5 km, and one that is not on the map."""
    rows, scope = seen([[(0, 0), (1, 0), (2, 0), (0, 0), (3, 0)]], [0, 1, 2, 3], kept=1)
    five = int(np.ceil(np.log(5 / NEAREST) / DECAY_STEP))
    assert DISTANCES.cells(rows, scope, 4).tolist() == [0, five, UNKNOWN]
    assert DISTANCES.cells(rows, scope, 2).tolist() == [five]  # the middle one of three
    nowhere = replace(scope, points=None)
    assert DISTANCES.cells(rows, nowhere, 4).tolist() == [UNKNOWN] * 3


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
    rows = Rows(*arrays([[0, 1, 0], [], [3] * 20]), SIZE)
    cells = SHAPES.cell(rows, Scope(SIZE))
    assert cells.tolist() == [2 * DISTINCT_BINS + 1, -1, 17 * DISTINCT_BINS]


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
    # Of four locations, one of them unnamed, those in the middle of each half count.
    rows, cells = visit_cells(*arrays([[0, 0, 2, SIZE, 1], [3]]), SIZE, 2)
    assert rows.tolist() == [0, 0, 1]
    assert cells.tolist() == [2, 1, 3]
    assert visit_cells(*arrays([[0, 0, SIZE, 2]]), SIZE, 3)[1].tolist() == [0, 2]


def test_returns_by_hand():
    # Who stays is told from who comes back, an unnamed place between two visits included; the fifth
    # visit to 0 counts no more, the eighth once more, and nobody returns to an unnamed place.
    rows, cells = return_cells(*arrays([[0, 0, 1, 0, 0, 0, SIZE, SIZE, 2, SIZE, 2], [3]]), SIZE, 9)
    assert rows.tolist() == [0, 0, 0, 0]
    assert cells.tolist() == [SIZE + 0, 0, SIZE + 0, 2]
    assert return_cells(*arrays([[0, 0, 1, 1, 2, 2, 3, 3]]), SIZE, 2)[1].tolist() == [
        SIZE + 1,
        SIZE + 3,
    ]
    stayed = return_cells(*arrays([[3] * 20, [], [3]]), SIZE, 9)
    assert stayed[0].tolist() == [0, 0, 0, 0]
    assert stayed[1].tolist() == [SIZE + 3, SIZE + 3, SIZE + 3, 2 * SIZE + 3]


def test_what_a_cap_lets_through_is_evenly_spread():
    everywhere = list(range(40))
    counts = np.zeros(40, dtype=int)
    for length in range(20, 41):
        counts += np.bincount(visit_cells(*arrays([everywhere[:length]]), 40, 5)[1], minlength=40)
    assert counts[:20].sum() > 40
    assert counts[20:].sum() > 20  # the first five alone would be none
    assert spread(everywhere, 4) == [5, 15, 25, 35]
    assert spread(everywhere[:3], 4) == [0, 1, 2]
    assert spread_after_first(everywhere, 3) == [0, 10, 30]


# First visits


def test_first_visits_by_hand():
    offsets, codes = arrays([[0, 0, 2, 0, 1], [], [SIZE, SIZE, 3]])
    visited = first_visits(offsets, codes, SIZE, 3, False)
    assert visited.tolist() == [[0, 2, 1], [-1, -1, -1], [SIZE, SIZE, 3]]
    rows, moves = Rows(offsets, codes, SIZE).first_moves(3, SIZE)
    assert rows.tolist() == [0, 0]
    assert moves.tolist() == [0 * SIZE + 2, 0 * SIZE + 1]
    rows, pairs = pair_cells(visited, SIZE)
    assert rows.tolist() == [0, 0, 0]
    assert sorted(pairs.tolist()) == [0 * SIZE + 1, 0 * SIZE + 2, 1 * SIZE + 2]


# Reach


def test_large_reaches_share_a_bin():
    codes = np.arange(60, dtype=np.int32)
    scope = Scope(60, candidates=np.arange(60), popular=np.arange(60))
    cell = REACH.cell(Rows(np.array([0, 60]), codes, 60), scope)
    assert cell.tolist() == [CANDIDATE_BINS * POPULAR_BINS - 1]
