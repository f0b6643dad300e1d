"""Count queries by hand: any order, in order, and from the beginning."""

import sys
from subprocess import run

import numpy as np
import pytest
from tests.multisets import coded_multiset

from pathveil.analysis.count_queries import (
    count,
    count_many,
    count_many_codes,
    count_ordered,
    count_ordered_many,
    count_prefix,
    count_prefix_many,
)
from pathveil.analysis.visit_index import VisitIndex
from pathveil.core.paths import WeightedPaths
from pathveil.errors import QueryError
from pathveil.raw.database import TrajectoryDatabase
from pathveil.universe.universe import Universe

STOPS = Universe(["Angrignon", "Berri", "Charlevoix", "De l'Église"])
A, B, C, D = STOPS.labels


def multiset(*rows, universe=STOPS):
    """A multiset of (weight, label, label, …) rows."""
    codes = [universe.codes(row[1:]) for row in rows]
    return coded_multiset(universe, codes, [row[0] for row in rows])


# Total weight 21; the same set {A, B} comes as AB (4), BA (2) and ABA (1).
EXAMPLE = multiset((4, A, B), (2, B, A), (1, A, B, A), (8, B, C, C), (5,), (1, A, B, C))


@pytest.fixture(params=["stub", "database"])
def example(request) -> WeightedPaths:
    if request.param == "stub":
        return EXAMPLE
    rows = 4 * [[A, B]] + 2 * [[B, A]] + [[A, B, A]] + 8 * [[B, C, C]] + 5 * [[]] + [[A, B, C]]
    return TrajectoryDatabase.from_sequences(rows, STOPS)


VISITED = [
    ({A}, 8),
    ({B}, 16),
    ({C}, 9),
    ({D}, 0),
    ({A, B}, 8),
    ({B, C}, 9),
    ({A, B, C}, 1),
    ({A, D}, 0),
    ((), 21),
    ([A, B, A, A], 8),
]


def test_count_sums_the_weight_of_paths_that_visit_all_locations(example):
    assert isinstance(example, WeightedPaths)
    queries, answers = zip(*VISITED, strict=True)
    many = count_many(example, queries)
    assert many.tolist() == list(answers)
    assert many.dtype == np.int64
    assert [count(example, query) for query in queries] == list(answers)


@pytest.mark.parametrize("sets_per_bitmap_visit", [0, 1, 2, 64])
def test_lists_and_bitmaps_answer_alike(example, sets_per_bitmap_visit):
    index = VisitIndex.build(example, sets_per_bitmap_visit=sets_per_bitmap_visit)
    assert [index.count(query) for query, _ in VISITED] == [answer for _, answer in VISITED]


def test_index_merges_paths_over_the_same_locations(example):
    # {A, B}, {B, C}, {} and {A, B, C}.
    assert sorted(VisitIndex.build(example).weights) == [1, 5, 7, 8]


def test_a_list_that_is_used_up_is_not_read_on_into_the_next():
    # Lists: A [0, 1], B [2], C [2], D [1]. Looking set 2 up in A's list ends where B's begins.
    paths = multiset((1, A), (1, A, D), (1, B, C))
    assert VisitIndex.build(paths, sets_per_bitmap_visit=0).count({A, C}) == 0


def test_codes_in_compressed_rows(example):
    answers = count_many_codes(example, [0, 1, 1, 4], [1, 0, 1, 0])
    assert answers.tolist() == [16, 21, 8]


@pytest.mark.parametrize(
    ("offsets", "codes"),
    [
        ([], []),
        ([1, 2], [0, 0]),
        ([0, 2], [0]),
        ([0, 2, 1, 2], [0, 1]),
        ([0, 1], [4]),
        ([0, 1], [-1]),
    ],
)
def test_malformed_code_rows_are_refused(offsets, codes):
    with pytest.raises(QueryError, match=r"offsets|outside the universe"):
        count_many_codes(EXAMPLE, offsets, codes)


@pytest.mark.parametrize(
    ("sequence", "answer"),
    [
        ([A, B], 6),
        ([B, A], 3),
        ([A, A], 1),
        ([B, C], 9),
        ([C, B], 0),
        ([C, C], 8),
        ([C, C, C], 0),
        ([A, C], 1),
        ([B], 16),
        ([D, A], 0),
        ([], 21),
    ],
)
def test_ordered_query_allows_gaps_and_counts_a_path_once(example, sequence, answer):
    assert count_ordered(example, sequence) == answer


def test_a_match_does_not_run_on_into_the_next_path():
    paths = multiset((1, A), (1, B), (1, C, A))
    assert count_ordered_many(paths, [[A, B], [A, C], [B, C], [C, A]]).tolist() == [0, 0, 0, 1]
    assert count_prefix_many(paths, [[A, B], [B, C], [C, A], [A]]).tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize(
    ("prefix", "answer"),
    [([A], 6), ([A, B], 6), ([A, B, A], 1), ([A, B, A, B], 0), ([B], 10), ([C], 0), ([], 21)],
)
def test_prefix_query_counts_paths_that_begin_so(example, prefix, answer):
    assert count_prefix(example, prefix) == answer


def test_many_sequences_come_back_in_the_order_asked():
    sequences = [[B, A], [], [A], [A, B, C], [A, B], [A]]
    assert count_ordered_many(EXAMPLE, sequences).tolist() == [3, 21, 8, 1, 6, 8]
    assert count_prefix_many(EXAMPLE, sequences).tolist() == [2, 21, 6, 1, 6, 6]


@pytest.mark.parametrize("ask", [count, count_ordered, count_prefix])
def test_unknown_label_is_refused_with_the_nearest_one(ask):
    with pytest.raises(QueryError, match="Did you mean 'Berri'"):
        ask(EXAMPLE, ["Beri"])


@pytest.mark.parametrize("ask", [count_many, count_ordered_many, count_prefix_many])
@pytest.mark.parametrize("queries", ["Berri", ["Berri"], [[1]], [["Beri"]], [[["Berri"]]]])
def test_malformed_queries_are_refused(ask, queries):
    with pytest.raises(QueryError):
        ask(EXAMPLE, queries)


@pytest.mark.parametrize("ask", [count_many, count_ordered_many, count_prefix_many])
def test_no_queries_and_no_paths(ask):
    assert ask(EXAMPLE, []).tolist() == []
    assert ask(multiset(), [[], [A], [A, B]]).tolist() == [0, 0, 0]
    assert ask(multiset((3,)), [[], [A], [A, B]]).tolist() == [3, 0, 0]


def test_sums_stay_exact_beyond_floats():
    heavy = 2**53 + 1
    paths = multiset((heavy, A, B), (2, A))
    assert count_many(paths, [[A], [B]]).tolist() == [heavy + 2, heavy]
    assert count_ordered(paths, [A, B]) == count_prefix(paths, [A, B]) == heavy


def test_read_only_arrays_are_enough():
    stored = EXAMPLE.paths()
    for array in (stored.offsets, stored.codes, stored.weights):
        array.flags.writeable = False
    try:
        assert VisitIndex.build(EXAMPLE).count({A, B}) == 8
    finally:
        for array in (stored.offsets, stored.codes, stored.weights):
            array.flags.writeable = True


def test_index_shows_nothing_of_the_paths():
    assert repr(VisitIndex.build(EXAMPLE)) == "VisitIndex(<redacted>)"


def test_importing_the_questions_does_not_import_numba():
    code = (
        "import sys, pathveil.analysis.count_queries, pathveil.analysis.patterns, "
        "pathveil.analysis.flows; sys.exit('numba' in sys.modules)"
    )
    assert run([sys.executable, "-c", code], check=False).returncode == 0
