"""Top-k patterns by hand, ties included, and against the PrefixSpan package."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from prefixspan import PrefixSpan
from tests.multisets import coded_multiset

from pathveil.analysis.patterns import Pattern, top_patterns
from pathveil.errors import QueryError
from pathveil.raw.database import TrajectoryDatabase
from pathveil.universe.universe import Universe

MSNBC = Path(__file__).resolve().parents[3] / "shared/data/msnbc/trajectories.parquet"
ABC = Universe(["C", "A", "B"])  # codes 0, 1, 2: not the alphabet's order


def multiset(**weights):
    """Paths by their letters: ``multiset(AB=3)`` is A → B three times; ``_`` is the empty path."""
    rows = [[] if name == "_" else ABC.codes(name) for name in weights]
    return coded_multiset(ABC, rows, list(weights.values()))


def mined(paths, k, **options):
    return [("".join(p.locations), p.support) for p in top_patterns(paths, k, **options)]


def test_patterns_have_gaps_and_a_path_supports_each_once():
    paths = multiset(ABA=3, CB=2, AC=1)
    assert mined(paths, 9) == [
        ("B", 5), ("A", 4), ("C", 3),
        ("AA", 3), ("AB", 3), ("BA", 3), ("ABA", 3),
        ("CB", 2), ("AC", 1),
    ]  # fmt: skip


def test_contiguous_patterns_are_substrings():
    paths = multiset(ABA=3, ABAB=1, CAC=2)
    assert mined(paths, 20, contiguous=True) == [
        ("A", 6), ("B", 4), ("AB", 4), ("BA", 4), ("ABA", 4),
        ("C", 2), ("CA", 2), ("AC", 2), ("CAC", 2),
        ("BAB", 1), ("ABAB", 1),
    ]  # fmt: skip


@pytest.mark.parametrize("contiguous", [False, True])
def test_different_locations_leave_repeats_out_and_the_rest_as_it_is(contiguous):
    draw = np.random.default_rng(3)  # noqa: TID251
    rows = [draw.integers(0, 3, draw.integers(1, 6)).tolist() for _ in range(60)]
    paths = coded_multiset(ABC, rows, [1] * len(rows))
    every = mined(paths, 500, contiguous=contiguous)
    wanted = [(name, support) for name, support in every if len(set(name)) == len(name)]
    assert len(wanted) < len(every)
    for k in (1, 4, 500):
        assert mined(paths, k, contiguous=contiguous, different=True) == wanted[:k]


def test_ties_shorter_first_then_by_the_universe_order_at_every_boundary():
    everything = [
        ("C", 1), ("A", 1), ("B", 1),
        ("CA", 1), ("CB", 1), ("AB", 1),
        ("CAB", 1),
    ]  # fmt: skip
    for k in range(1, 9):
        assert mined(multiset(CAB=1), k) == everything[:k]


def test_a_long_pattern_of_higher_support_beats_a_short_one():
    assert mined(multiset(AB=2, C=1), 4) == [("A", 2), ("B", 2), ("AB", 2), ("C", 1)]


def test_lengths_bound_what_is_reported_not_what_is_searched():
    paths = multiset(ABA=3, CB=2)
    assert mined(paths, 9, min_length=2) == [("AA", 3), ("AB", 3), ("BA", 3), ("ABA", 3), ("CB", 2)]
    assert mined(paths, 9, min_length=3) == [("ABA", 3)]
    assert mined(paths, 9, max_length=1) == [("B", 5), ("A", 3), ("C", 2)]
    assert mined(paths, 2, min_length=2, max_length=2) == [("AA", 3), ("AB", 3)]
    assert mined(paths, 9, min_length=4) == []


def test_min_length_does_not_let_short_patterns_raise_the_floor():
    # The short ones fill k many times over before the first long one is seen.
    paths = multiset(A=9, B=9, C=9, ABC=2, BCA=1)
    assert mined(paths, 1, min_length=3) == [("ABC", 2)]
    assert mined(paths, 2, min_length=3) == [("ABC", 2), ("BCA", 1)]


def test_equal_paths_of_a_database_and_weights_of_a_multiset_are_the_same():
    database = TrajectoryDatabase.from_sequences([["A", "B"]] * 3 + [["C"], [], ["A", "B"]], ABC)
    assert top_patterns(database, 10) == top_patterns(multiset(AB=4, C=1, _=1), 10)


@pytest.mark.parametrize("contiguous", [False, True])
def test_nothing_to_find(contiguous):
    assert top_patterns(multiset(), 3, contiguous=contiguous) == []
    assert top_patterns(multiset(_=7), 3, contiguous=contiguous) == []
    assert top_patterns(multiset(AB=0), 3, contiguous=contiguous) == []


def test_a_pattern_is_a_value():
    assert top_patterns(multiset(A=2), 1) == [Pattern(("A",), 2)]
    assert len({Pattern(("A",), 2), Pattern(("A",), 2)}) == 1


@pytest.mark.parametrize(
    ("k", "options"),
    [
        (0, {}),
        (-1, {}),
        (1.5, {}),
        (True, {}),
        (1, {"min_length": 0}),
        (1, {"max_length": 0}),
        (1, {"min_length": 3, "max_length": 2}),
    ],
)
def test_malformed_questions_are_refused(k, options):
    with pytest.raises(QueryError, match=r"at least"):
        top_patterns(multiset(A=1), k, **options)


def test_msnbc_sample_has_the_supports_that_prefixspan_finds():
    if not MSNBC.exists():
        pytest.skip("the shared data (msnbc) is not on this machine")
    table = next(pq.ParquetFile(MSNBC).iter_batches(20_000, columns=["trajectory_id", "location"]))
    codes = table["location"].to_numpy().astype(np.int32) - 1
    borders = np.flatnonzero(np.diff(table["trajectory_id"].to_numpy(), prepend=-1, append=-1))
    universe = Universe(str(page) for page in range(1, 18))
    patterns = top_patterns(TrajectoryDatabase.from_arrays(borders, codes, universe), 100)
    oracle = PrefixSpan([codes[a:b].tolist() for a, b in pairwise(borders)])
    assert [pattern.support for pattern in patterns] == sorted(
        (support for support, _ in oracle.topk(100)), reverse=True
    )
    lowest = patterns[-1].support
    expected = {(*locations,): support for support, locations in oracle.frequent(lowest)}
    for pattern in patterns:
        assert expected[tuple(universe.codes(pattern.locations))] == pattern.support
