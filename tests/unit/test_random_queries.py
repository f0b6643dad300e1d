"""The paper's workload: its lengths, its locations, its seed."""

import numpy as np
import pytest

from pathveil.errors import InputError, ParameterError
from pathveil.raw.database import TrajectoryDatabase
from pathveil.trials.evaluation.compared import EmptyRelease, Figures
from pathveil.trials.evaluation.random_queries import (
    fixed_length_queries,
    paper_queries,
    queries_from_trajectories,
    single_location_queries,
    subset_lengths,
)
from pathveil.universe.universe import Universe


def rows(queries):
    return [
        tuple(queries.codes[a:b].tolist())
        for a, b in zip(queries.offsets[:-1], queries.offsets[1:], strict=True)
    ]


def test_the_paper_asks_40_000_queries_in_four_subsets():
    subsets = paper_queries(1012, 12)
    assert [len(subset) for subset in subsets] == [10_000] * 4
    assert [subset.longest for subset in subsets] == [3, 6, 9, 12]


def test_subset_lengths_are_rounded_down_and_at_least_one():
    assert subset_lengths(12) == (3, 6, 9, 12)
    assert subset_lengths(10) == (2, 5, 7, 10)
    assert subset_lengths(2) == (1, 1, 1, 2)
    assert subset_lengths(1) == (1, 1, 1, 1)


@pytest.mark.parametrize("subset", range(4))
def test_lengths_and_locations_are_uniform(subset):
    queries = paper_queries(20, 12, queries=40_000)[subset]
    lengths = np.diff(queries.offsets)
    # χ² with 11 (lengths) and 19 (locations) degrees of freedom at most: beyond 60 with a
    # probability below 10⁻⁵ each, and the seed is fixed.
    for values, cells in ((lengths - 1, queries.longest), (queries.codes, 20)):
        seen = np.bincount(values, minlength=cells)
        expected = len(values) / cells
        assert len(seen) == cells
        assert ((seen - expected) ** 2 / expected).sum() < 60


def test_a_seed_fixes_the_queries():
    one, same, other = (paper_queries(50, 8, queries=80, seed=seed) for seed in (1, 1, 2))
    for subset in range(4):
        assert rows(one[subset]) == rows(same[subset])
        assert rows(one[subset]) != rows(other[subset])


def test_subsets_do_not_share_their_draws():
    first, second, *_ = paper_queries(10**6, 8, queries=4000)
    assert len(np.intersect1d(first.codes, second.codes)) < 100


def test_a_location_drawn_twice_counts_once():
    database = TrajectoryDatabase.from_sequences(["A", "AB"], Universe("AB"))
    queries = fixed_length_queries(2, 6, queries=500)
    expected = [1 if len(set(row)) == 2 or row[0] == 1 else 2 for row in rows(queries)]
    assert Figures(database).answers(queries).tolist() == expected
    assert {len(row) for row in rows(queries)} == {6}


def test_single_locations():
    assert rows(single_location_queries(3)) == [(0,), (1,), (2,)]


def test_queries_from_trajectories_are_sets_that_somebody_visited():
    sequences = ["ABAB", "C", "DEFGHIJ", "DEFGHIJ", ""]
    database = TrajectoryDatabase.from_sequences(sequences, Universe("ABCDEFGHIJK"))
    queries = queries_from_trajectories(database, longest=3, queries=2000)
    labels = [{database.universe.labels[code] for code in row} for row in rows(queries)]
    assert len(labels) == 2000
    assert all(1 <= len(row) == len(set(row)) <= 3 for row in rows(queries))
    assert all(any(asked <= set(row) for row in sequences) for asked in labels)
    assert (Figures(database).answers(queries) > 0).all()


def test_trajectories_lengths_and_subsets_are_drawn_uniformly():
    # One trajectory in four is C, the others are AB: then A, B and AB with 1/4, 1/4 and 1/2.
    database = TrajectoryDatabase.from_sequences(["AB", "C", "BA", "ABB"], Universe("ABC"))
    queries = queries_from_trajectories(database, longest=12, queries=16_000)
    drawn = ["".join(sorted("ABC"[code] for code in row)) for row in rows(queries)]
    expected = {"C": 4000, "A": 3000, "B": 3000, "AB": 6000}
    chi2 = sum((drawn.count(key) - value) ** 2 / value for key, value in expected.items())
    # 3 degrees of freedom: beyond 30 with a probability below 2·10⁻⁶, and the seed is fixed.
    assert set(drawn) == set(expected)
    assert chi2 < 30


def test_queries_from_nobody_are_refused():
    with pytest.raises(InputError, match="No trajectory"):
        queries_from_trajectories(EmptyRelease(Universe("AB")), longest=3, queries=10)


@pytest.mark.parametrize("count", [0, -1, 10**9])
def test_a_silly_number_of_queries_is_refused(count):
    with pytest.raises(ParameterError, match="number of queries"):
        paper_queries(10, 12, queries=count)


def test_a_repr_shows_no_query():
    assert repr(single_location_queries(3)) == "Queries(3 of up to 1 locations)"
