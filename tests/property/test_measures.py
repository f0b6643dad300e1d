"""Every measure against an oracle of a few lines, on arbitrary small multisets of paths."""

from collections import Counter
from itertools import combinations, pairwise
from math import log2, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.multisets import coded_multiset

from pathveil.trials.evaluation.compared import EmptyRelease, Figures
from pathveil.trials.evaluation.measures import evaluate
from pathveil.trials.evaluation.random_queries import paper_queries
from pathveil.trials.evaluation.scores import (
    Histogram,
    average_relative_error,
    hotspot_ndcg,
    invented_share,
    jensen_shannon,
    kendall_tau,
)
from pathveil.universe.universe import Universe

UNIVERSE = Universe("ECADB")
SIZE = len(UNIVERSE)

# The first call compiles, so no example has a deadline.
quick = settings(deadline=None, max_examples=100)


def as_multiset(weighted):
    rows = [row for row, _ in weighted]
    return coded_multiset(UNIVERSE, rows, [weight for _, weight in weighted])


rows = st.lists(st.integers(0, SIZE - 1), max_size=5).map(tuple)
multisets = st.lists(st.tuples(rows, st.integers(0, 4)), max_size=10)
counts = st.lists(st.integers(0, 6), min_size=1, max_size=30)
count_pairs = st.lists(st.tuples(st.integers(0, 6), st.integers(-3, 6)), max_size=40)


def sign(number):
    return (number > 0) - (number < 0)


def ints(values):
    return np.array(list(values), dtype=np.int64)


@quick
@given(count_pairs)
def test_kendall_tau(values):
    pairs = list(combinations(values, 2))
    agree = sum(sign(a[0] - b[0]) * sign(a[1] - b[1]) for a, b in pairs)
    untied = [sum(a[side] != b[side] for a, b in pairs) for side in (0, 1)]
    expected = agree / sqrt(untied[0] * untied[1]) if all(untied) else 0
    one, other = ints(a for a, _ in values), ints(b for _, b in values)
    assert kendall_tau(one, other) == pytest.approx(expected)
    assert kendall_tau(other, one) == pytest.approx(expected)


@quick
@given(st.dictionaries(st.integers(0, 9), st.tuples(st.integers(0, 9), st.integers(0, 9))))
def test_jensen_shannon(table):
    totals = [sum(pair[side] for pair in table.values()) for side in (0, 1)]
    expected = float(any(totals))
    if all(totals):
        shares = [(one / totals[0], other / totals[1]) for one, other in table.values()]
        expected = sum(
            share / 2 * log2(2 * share / (p + q)) for p, q in shares for share in (p, q) if share
        )
    keys = ints(table)
    sides = [Histogram(keys, ints(pair[side] for pair in table.values())) for side in (0, 1)]
    assert jensen_shannon(*sides) == pytest.approx(expected, abs=1e-12)
    # Zero counts may as well be left out.
    sparse = [Histogram(s.keys[s.counts > 0], s.counts[s.counts > 0]) for s in sides]
    assert jensen_shannon(*sparse) == pytest.approx(expected, abs=1e-12)


@quick
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), max_size=8), st.integers(1, 10))
def test_hotspots(values, k):
    def gain(side):
        named = sorted(range(len(values)), key=lambda i: (-values[i][side], i))[:k]
        some = [i for i in named if values[i][side] > 0]
        return sum(values[i][0] / log2(place + 2) for place, i in enumerate(some))

    expected = gain(1) / gain(0) if gain(0) else 1
    raw, released = ints(a for a, _ in values), ints(b for _, b in values)
    assert hotspot_ndcg(raw, released, k) == pytest.approx(expected)


@quick
@given(multisets, multisets)
def test_invented_paths(raw, released):
    total = sum(weight for _, weight in released)
    invented = sum(
        weight
        for row, weight in released
        if not any(other[: len(row)] == row for other, some in raw if some)
    )
    expected = invented / total if total else 0
    assert invented_share(as_multiset(raw), as_multiset(released)) == pytest.approx(expected)


@quick
@given(multisets, multisets, st.integers(1, 6), st.integers(0, 3))
def test_query_errors(raw, released, height, seed):
    size = sum(weight for _, weight in raw)
    if not size:
        return
    for subset in paper_queries(SIZE, height, queries=40, seed=seed):
        asked = [set(subset.codes[a:b].tolist()) for a, b in pairwise(subset.offsets.tolist())]
        errors = []
        for query in asked:
            truth, answer = (
                sum(weight for row, weight in side if query <= set(row)) for side in (raw, released)
            )
            errors.append(abs(answer - truth) / max(truth, size / 1000))
        answers = (
            Figures(as_multiset(raw)).answers(subset),
            Figures(as_multiset(released)).answers(subset),
        )
        assert average_relative_error(*answers, size) == pytest.approx(sum(errors) / len(errors))


def supports(weighted):
    """The support of every pattern that occurs: all subsequences of all rows."""
    table = Counter()
    for row, weight in weighted:
        patterns = {part for size in range(1, 6) for part in combinations(row, size)}
        table.update(dict.fromkeys(patterns, weight))
    return {pattern: support for pattern, support in table.items() if support}


@quick
@given(multisets, multisets, st.integers(1, 12))
def test_pattern_measures(raw, released, k):
    def top(weighted):
        table = supports(weighted)
        order = sorted(table, key=lambda codes: (-table[codes], len(codes), codes))
        return order[:k]

    if not top(raw):
        return
    truth, found = set(top(raw)), set(top(released))
    evaluation = evaluate(as_multiset(raw), as_multiset(released), height=4, queries=4, patterns=k)
    table = {figure.measure.key: figure.release for figure in evaluation.figures}
    assert table["true_positives"] == len(truth & found)
    assert table["false_positives"] == len(found) - len(truth & found)
    assert table["false_drops"] == len(truth) - len(truth & found)
    precision = len(truth & found) / len(found) if found else 0
    recall = len(truth & found) / len(truth)
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0
    assert table["pattern_f1"] == pytest.approx(f1)
    exact, noisy = supports(raw), supports(released)
    errors = [abs(noisy.get(p, 0) - exact[p]) / exact[p] for p in truth]
    assert table["pattern_support_error"] == pytest.approx(sum(errors) / len(errors))


@quick
@given(multisets, multisets)
def test_distributions_and_sizes(raw, released):
    if not any(row for row, weight in raw if weight):
        return
    keys = {
        "trips": lambda row: [(row[0], row[-1])] if row else [],
        "lengths": lambda row: [len(row)],
        "visits": list,
        "transitions": lambda row: list(pairwise(row)),
    }
    evaluation = evaluate(as_multiset(raw), as_multiset(released), height=4, queries=4, patterns=3)
    figures = {figure.measure.key: figure for figure in evaluation.figures}
    for name, keys_of in keys.items():
        p, q = Counter(), Counter()
        for side, table in ((raw, p), (released, q)):
            for row, weight in side:
                for key in keys_of(row):
                    table[key] += weight
        numbers = {key: number for number, key in enumerate(p | q)}
        sides = [
            Histogram(ints(numbers.values()), ints(table[key] for key in numbers))
            for table in (p, q)
        ]
        figure = figures[f"divergence_{name}"]
        assert figure.release == pytest.approx(jensen_shannon(*sides), abs=1e-12)
        assert figure.empty == float(p.total() > 0)
    ratio = sum(w for _, w in released) / sum(w for _, w in raw)
    assert figures["size_ratio"].release == pytest.approx(ratio)


@quick
@given(multisets)
def test_the_empty_release_is_the_baseline_of_every_measure(raw):
    if not any(row for row, weight in raw if weight):
        return
    evaluation = evaluate(as_multiset(raw), EmptyRelease(UNIVERSE), height=4, queries=40)
    assert all(figure.release == figure.empty for figure in evaluation.figures)
