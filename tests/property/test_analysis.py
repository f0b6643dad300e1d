"""Every question of `analysis` against an oracle of a few lines, on arbitrary small multisets."""

from collections import Counter
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prefixspan import PrefixSpan
from tests.multisets import Multiset, coded_multiset

from pathveil.analysis.count_queries import count, count_many, count_ordered_many, count_prefix_many
from pathveil.analysis.flows import (
    length_distribution,
    origin_destination,
    transitions,
    visit_counts,
    visits,
)
from pathveil.analysis.patterns import top_patterns
from pathveil.analysis.visit_index import VisitIndex
from pathveil.core.paths import Paths
from pathveil.raw.database import TrajectoryDatabase
from pathveil.universe.universe import Universe

UNIVERSE = Universe("ECADB")  # one label never visited, and an order that is not the alphabet's
SIZE = len(UNIVERSE)

# The first call compiles, so no example has a deadline.
quick = settings(deadline=None, max_examples=150)


def as_multiset(weighted):
    return coded_multiset(
        UNIVERSE, [row for row, _ in weighted], [weight for _, weight in weighted]
    )


def labels(codes):
    return tuple(UNIVERSE.labels[code] for code in codes)


codes = st.integers(min_value=1, max_value=SIZE - 1)
rows = st.lists(codes, max_size=7).map(tuple)
multisets = st.lists(st.tuples(rows, st.integers(min_value=0, max_value=4)), max_size=12)
queries = st.lists(st.lists(st.integers(0, SIZE - 1), max_size=5).map(tuple), max_size=8)


def follows(sequence, row):
    """Whether a sequence is a subsequence of a row: the membership tests use the iterator up."""
    rest = iter(row)
    return all(code in rest for code in sequence)


@quick
@given(multisets, queries, st.sampled_from([0, 1, 2, 3, 64]))
def test_count_queries(weighted, asked, sets_per_bitmap_visit):
    paths, texts = as_multiset(weighted), [labels(query) for query in asked]
    visited = [sum(w for row, w in weighted if set(query) <= set(row)) for query in asked]
    index = VisitIndex.build(paths, sets_per_bitmap_visit=sets_per_bitmap_visit)
    assert index.count_many(texts).tolist() == visited
    assert count_many(paths, texts).tolist() == visited
    assert [count(paths, text) for text in texts] == visited
    ordered = [sum(w for row, w in weighted if follows(query, row)) for query in asked]
    assert count_ordered_many(paths, texts).tolist() == ordered
    begun = [sum(w for row, w in weighted if row[: len(query)] == query) for query in asked]
    assert count_prefix_many(paths, texts).tolist() == begun


@quick
@given(st.integers(0, 2**32), st.sampled_from([0, 8, 64]))
def test_count_queries_over_many_sets(seed, sets_per_bitmap_visit):
    """Enough sets (some 300 of 40 locations) for long lists, several words and galloping."""
    rng = np.random.default_rng(seed)  # noqa: TID251  (test data, nothing private)
    universe = Universe(str(number) for number in range(40))
    # Squaring skews the popularity, so that some locations have bitmaps and some have not.
    sets = [set((rng.random(rng.integers(0, 9)) ** 2 * 40).astype(int)) for _ in range(300)]
    asked = [set((rng.random(rng.integers(1, 4)) ** 2 * 40).astype(int)) for _ in range(30)]
    weights = rng.integers(1, 5, 300)
    offsets = np.cumsum([0, *map(len, sets)], dtype=np.int64)
    flat = np.array([code for row in sets for code in row], dtype=np.int32)
    index = VisitIndex.build(
        Multiset(universe, Paths(offsets, flat, weights)),
        sets_per_bitmap_visit=sets_per_bitmap_visit,
    )
    expected = [sum(w for row, w in zip(sets, weights, strict=True) if q <= row) for q in asked]
    assert [index.count([str(code) for code in q]) for q in asked] == expected


def all_patterns(weighted, *, contiguous):
    supports = Counter()
    for row, weight in weighted:
        spans = combinations(range(len(row) + 1), 2)
        found = (
            {row[a:b] for a, b in spans}
            if contiguous
            else {p for n in range(1, len(row) + 1) for p in combinations(row, n)}
        )
        supports.update(dict.fromkeys(found, weight))
    kept = ((pattern, support) for pattern, support in supports.items() if support)
    return sorted(kept, key=lambda item: (-item[1], len(item[0]), item[0]))


@quick
@given(
    multisets,
    st.integers(1, 40),
    st.booleans(),
    st.integers(1, 4),
    st.none() | st.integers(0, 3),
)
def test_top_patterns_with_ties(weighted, k, contiguous, min_length, more):
    max_length = None if more is None else min_length + more
    expected = [
        (labels(pattern), support)
        for pattern, support in all_patterns(weighted, contiguous=contiguous)
        if min_length <= len(pattern) <= (max_length or 99)
    ]
    found = top_patterns(
        as_multiset(weighted),
        k,
        contiguous=contiguous,
        min_length=min_length,
        max_length=max_length,
    )
    assert [(pattern.locations, pattern.support) for pattern in found] == expected[:k]


@quick
@given(st.lists(rows, min_size=1, max_size=15), st.integers(1, 30))
def test_top_patterns_have_prefixspan_supports(trajectories, k):
    database = TrajectoryDatabase.from_sequences([labels(row) for row in trajectories], UNIVERSE)
    found = top_patterns(database, k)
    oracle = PrefixSpan([list(row) for row in trajectories]).topk(k)
    assert [p.support for p in found] == sorted((s for s, _ in oracle), reverse=True)


@quick
@given(multisets)
def test_a_pattern_is_supported_by_what_an_ordered_query_counts(weighted):
    paths = as_multiset(weighted)
    found = top_patterns(paths, 25)
    answers = count_ordered_many(paths, [pattern.locations for pattern in found])
    assert answers.tolist() == [pattern.support for pattern in found]


@quick
@given(multisets)
def test_flows(weighted):
    trips, steps, present, seen, lengths = (Counter() for _ in range(5))
    for row, weight in weighted:
        lengths[len(row)] += weight
        trips.update({(row[0], row[-1]): weight} if row else {})
        for pair in pairwise(row):
            steps[pair] += weight
        for code in row:
            seen[code] += weight
        for code in set(row):
            present[code] += weight
    paths = as_multiset(weighted)
    for table, expected in ((origin_destination(paths), trips), (transitions(paths), steps)):
        pairs = zip(table.first.tolist(), table.second.tolist(), strict=True)
        cells = list(zip(pairs, table.counts.tolist(), strict=True))
        assert cells == sorted((pair, n) for pair, n in expected.items() if n)
    assert visits(paths).counts.tolist() == [present[code] for code in range(SIZE)]
    assert visit_counts(paths).counts.tolist() == [seen[code] for code in range(SIZE)]
    assert length_distribution(paths).to_rows() == sorted((n, c) for n, c in lengths.items() if c)


@pytest.mark.parametrize("k", [1, 7, 1000])
def test_the_order_of_the_paths_does_not_matter(k):
    weighted = [((1, 2, 1), 2), ((2, 1), 1), ((3, 1, 2), 1), ((1, 2, 1), 1), ((), 4)]
    assert top_patterns(as_multiset(weighted), k) == top_patterns(as_multiset(weighted[::-1]), k)
