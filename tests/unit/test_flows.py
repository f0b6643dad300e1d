"""Flows by hand."""

import numpy as np
import pytest
from tests.multisets import Multiset, coded_multiset

from pathveil.analysis.flows import (
    length_distribution,
    origin_destination,
    transitions,
    visit_counts,
    visits,
)
from pathveil.core import paths as paths_module
from pathveil.core.paths import Paths
from pathveil.raw.database import TrajectoryDatabase
from pathveil.universe.universe import Universe

UNIVERSE = Universe(["A", "B", "C", "D"])


def multiset(rows, weights):
    return coded_multiset(UNIVERSE, [UNIVERSE.codes(row) for row in rows], weights)


@pytest.fixture(params=["stub", "database"])
def example(request):
    rows, weights = ["", "BABB", "C", "AB", "", "BCB"], [2, 3, 1, 4, 1, 2]
    if request.param == "stub":
        return multiset(rows, weights)
    expanded = [row for row, weight in zip(rows, weights, strict=True) for _ in range(weight)]
    return TrajectoryDatabase.from_sequences(expanded, UNIVERSE)


def test_origin_destination(example):
    table = origin_destination(example)
    # BABB (3) and BCB (2) both lead from B to B; C begins and ends in C.
    assert table.first.tolist() == [0, 1, 2]
    assert table.second.tolist() == [1, 1, 2]
    assert table.counts.tolist() == [4, 5, 1]
    assert table.to_rows(UNIVERSE) == [("B", "B", 5), ("A", "B", 4), ("C", "C", 1)]
    assert table.to_rows(UNIVERSE, limit=1) == [("B", "B", 5)]


def test_transitions_count_every_step_and_staying(example):
    table = transitions(example)
    # A→B: 3 + 4; B→A: 3; B→B: 3; B→C: 2; C→B: 2.
    assert list(zip(table.first.tolist(), table.second.tolist(), strict=True)) == [
        (0, 1),
        (1, 0),
        (1, 1),
        (1, 2),
        (2, 1),
    ]
    assert table.counts.tolist() == [7, 3, 3, 2, 2]
    assert table.first.dtype == table.second.dtype == np.int32
    assert table.counts.dtype == np.int64
    # Equal counts: by the codes.
    assert table.to_rows(UNIVERSE, limit=3) == [("A", "B", 7), ("B", "A", 3), ("B", "B", 3)]


def test_visits_count_a_trajectory_once_and_visit_counts_every_visit(example):
    assert visits(example).counts.tolist() == [7, 9, 3, 0]
    assert visit_counts(example).counts.tolist() == [7, 3 * 3 + 4 + 2 * 2, 3, 0]
    assert visits(example).to_rows(UNIVERSE) == [("B", 9), ("A", 7), ("C", 3)]
    assert visit_counts(example).to_rows(UNIVERSE, limit=1) == [("B", 17)]


def test_length_distribution_counts_the_empty_ones_too(example):
    table = length_distribution(example)
    assert table.to_rows() == [(0, 3), (1, 1), (2, 4), (3, 2), (4, 3)]


@pytest.mark.parametrize(("rows", "weights"), [([], []), (["", ""], [1, 2])])
def test_nothing_but_empty_paths(rows, weights):
    paths = multiset(rows, weights)
    assert len(origin_destination(paths).counts) == len(transitions(paths).counts) == 0
    assert origin_destination(paths).to_rows(UNIVERSE) == []
    assert visits(paths).counts.tolist() == visit_counts(paths).counts.tolist() == [0, 0, 0, 0]
    assert length_distribution(paths).to_rows() == ([(0, 3)] if weights else [])


def test_paths_without_weight_leave_no_cells():
    paths = multiset(["AB"], [0])
    assert len(origin_destination(paths).counts) == len(transitions(paths).counts) == 0
    assert visits(paths).to_rows(UNIVERSE) == length_distribution(paths).to_rows() == []


def test_pairs_of_a_large_universe_are_not_a_square_table():
    universe = Universe(str(number) for number in range(100_000))
    paths = Multiset(
        universe,
        Paths(
            np.array([0, 2], dtype=np.int64),
            np.array([99_999, 99_998], dtype=np.int32),
            np.array([2**53 + 1], dtype=np.int64),
        ),
    )
    assert transitions(paths).to_rows(universe) == [("99999", "99998", 2**53 + 1)]
    assert visits(paths).to_rows(universe) == [("99998", 2**53 + 1), ("99999", 2**53 + 1)]


def test_blocks_of_a_few_visits_add_up_to_the_same(example, monkeypatch):
    """A block has whole paths; also one that is longer than a block, and empty ones."""
    at_once = [transitions(example), visits(example), visit_counts(example)]
    monkeypatch.setattr(paths_module, "VISITS_AT_ONCE", 3)
    blocks = list(example.paths().blocks())
    assert len(blocks) > 2
    assert sum(len(block) for block in blocks) == len(example.paths())
    assert all(len(block.codes) == block.offsets[-1] for block in blocks)
    pairs, *others = at_once
    found = transitions(example)
    for name in ("first", "second", "counts"):
        assert getattr(found, name).tolist() == getattr(pairs, name).tolist()
    for one, other in zip(others, (visits(example), visit_counts(example)), strict=True):
        assert one.counts.tolist() == other.counts.tolist()
