"""From real-valued estimates to whole trajectories: exact sums, no bias, canonical order."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.trees import children_of, counted, tree_of, trees

from pathveil.methods.paper.generate import distinct_paths, preorder, rounded_counts
from pathveil.methods.paper.inference import raise_parents

quick = settings(deadline=None, max_examples=100)

# As `Randomness.fraction` draws them.
offsets = st.integers(0, 2**32 - 1).map(lambda word: word / 2**32)

# Eighths add up exactly in floats, and eight offsets tell their whole law.
EIGHTHS = [i / 8 for i in range(8)]


@st.composite
def feasible_trees(draw):
    """A tree, and eighths ≥ 0 whose children sum to at most their parent."""
    tree = draw(trees(counts=st.integers(0, 30)))
    return tree, raise_parents(tree, tree.noisy_count / 8)


def recursive_preorder(tree):
    children = children_of(tree)

    def visit(node):
        yield node
        for child in children[node]:
            yield from visit(child)

    return [node for node in visit(-1) if node >= 0]


@quick
@given(trees())
def test_preorder_is_the_recursive_walk_and_sizes_count_subtrees(tree):
    order, size = preorder(tree)
    assert order.tolist() == recursive_preorder(tree)
    children = children_of(tree)
    for node in range(len(tree)):
        assert size[node] == 1 + sum(size[child] for child in children[node])


@quick
@given(feasible_trees(), offsets)
def test_whole_counts_are_near_and_children_sum_to_at_most_their_parent(tree_and_real, offset):
    tree, real = tree_and_real
    counts, children = rounded_counts(tree, real, offset), children_of(tree)
    assert counts.dtype == np.int64
    assert np.all(np.abs(counts - real) < 1)
    for node in range(len(tree)):
        assert counts[node] >= sum(counts[child] for child in children[node]) >= 0


@quick
@given(feasible_trees())
def test_rounding_adds_no_bias(tree_and_real):
    """Over all offsets the mean is the estimate exactly: of every count, and of what ends there."""
    tree, real = tree_and_real
    rounded = [rounded_counts(tree, real, offset) for offset in EIGHTHS]
    assert np.mean(rounded, axis=0).tolist() == real.tolist()


@quick
@given(feasible_trees())
def test_whole_numbers_are_not_rounded_whatever_the_offset(tree_and_real):
    tree, real = tree_and_real
    for offset in EIGHTHS:
        assert rounded_counts(tree, 8 * real, offset).tolist() == (8 * real).tolist()


def test_the_errors_of_many_small_counts_do_not_pile_up_towards_the_root():
    tree = tree_of({0: (1, {i: (1, {}) for i in range(4)})})
    real = np.array([1.5, 0.375, 0.375, 0.375, 0.375])
    for offset in EIGHTHS:
        counts = rounded_counts(tree, real, offset)
        assert counts[0] in (math.floor(1.5), math.ceil(1.5))
        assert counts[0] == counts[1:].sum()


def test_float_dust_does_not_make_counts_negative():
    tree = tree_of({0: (1, {0: (1, {}), 1: (1, {}), 2: (1, {})})})
    real = np.array([0.3, 0.1, 0.1, 0.1])  # 0.1 + 0.1 + 0.1 > 0.3 in floats
    for offset in EIGHTHS:
        counts = rounded_counts(tree, real, offset)
        assert counts.min() >= 0
        assert counts[0] >= counts[1:].sum()


@quick
@given(trees(), st.data())
def test_distinct_paths_are_the_labels_down_to_each_end_in_lexicographic_order(tree, data):
    terminal = np.array(
        data.draw(st.lists(st.integers(0, 2), min_size=len(tree), max_size=len(tree))),
        dtype=np.int64,
    )
    expected = {}
    for node in np.flatnonzero(terminal).tolist():
        codes, above = [], node
        while above >= 0:
            codes.append(int(tree.location[above]))
            above = int(tree.parent[above])
        expected[tuple(codes[::-1])] = int(terminal[node])
    paths = distinct_paths(tree, terminal)
    found = [
        tuple(paths.codes[a:b].tolist())
        for a, b in zip(paths.offsets[:-1], paths.offsets[1:], strict=True)
    ]
    assert found == sorted(expected)
    assert paths.weights.tolist() == [expected[path] for path in found]


@pytest.mark.parametrize("offset", [0.0, 0.999])
def test_an_empty_tree_releases_nothing(offset):
    tree = counted(tree_of({}), [])
    assert rounded_counts(tree, np.empty(0), offset).tolist() == []
    assert len(distinct_paths(tree, np.empty(0, np.int64))) == 0
