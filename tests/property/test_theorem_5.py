"""Section IV-B against its own formulas, read literally.

The paper lists a path from the leaf to the root, where counts rise; our arrays run from the root
to the leaf, where they fall. The references here keep the paper's direction.
"""

from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression
from tests.trees import children_of, trees

from pathveil.methods.paper.inference import (
    consistent_estimates,
    fall,
    lower_children,
    path_estimates,
    raise_parents,
)

# The first call compiles, so no example has a deadline.
quick = settings(deadline=None, max_examples=120)

sequences = st.lists(st.integers(-50, 200), min_size=1, max_size=12)


def mean(sequence, i, j):
    """mean[i, j], from 1 and inclusive, as in the paper."""
    return Fraction(sum(sequence[i - 1 : j]), j - i + 1)


def min_max(sequence):
    """L_m = min over j in [m, n] of max over i in [1, j] of mean[i, j]."""
    n = len(sequence)
    return [
        min(max(mean(sequence, i, j) for i in range(1, j + 1)) for j in range(m, n + 1))
        for m in range(1, n + 1)
    ]


def max_min(sequence):
    """U_m = max over i in [1, m] of min over j in [i, n] of mean[i, j]."""
    n = len(sequence)
    return [
        max(min(mean(sequence, i, j) for j in range(i, n + 1)) for i in range(1, m + 1))
        for m in range(1, n + 1)
    ]


def our_fit(leaf_to_root):
    values = np.array(leaf_to_root[::-1], dtype=float)
    fall(values)
    return values[::-1].tolist()


@quick
@given(sequences)
def test_theorem_5_min_max_equals_max_min_equals_our_isotonic_fit(sequence):
    exact = min_max(sequence)
    assert exact == max_min(sequence)
    assert our_fit(sequence) == pytest.approx([float(value) for value in exact], abs=1e-9)


@quick
@given(sequences)
def test_the_fit_is_the_closest_sequence_without_a_rise_from_root_to_leaf(sequence):
    ours = our_fit(sequence)
    assert all(child <= parent for child, parent in pairwise(ours))
    assert ours == pytest.approx(isotonic_regression(np.array(sequence, float)).x.tolist())


@quick
@given(sequences)
def test_a_path_that_falls_already_is_left_alone(sequence):
    assert our_fit(sorted(sequence)) == sorted(sequence)


def paths_to_leaves(tree):
    """Every root-to-leaf path as a list of nodes from the leaf to the root."""
    children = children_of(tree)
    for leaf in range(len(tree)):
        if not children[leaf]:
            path = [leaf]
            while tree.parent[path[-1]] >= 0:
                path.append(int(tree.parent[path[-1]]))
            yield path


def literal_path_estimates(tree):
    """The mean of a node's estimates over all root-to-leaf paths it lies on, exactly."""
    seen = {node: [] for node in range(len(tree))}
    for path in paths_to_leaves(tree):
        noisy = [int(tree.noisy_count[node]) for node in path]
        for node, estimate in zip(path, min_max(noisy), strict=True):
            seen[node].append(estimate)
    return [sum(estimates) / len(estimates) for estimates in seen.values()]


def literal_consistent_estimates(tree, intermediate):
    """The two-case formula after Theorem 5, by recursion from the root."""
    children, consistent = children_of(tree), {}

    def descend(node):
        below = children[node]
        for v in below:
            correction = 0
            if node >= 0:
                promised = sum(intermediate[u] for u in below)
                correction = min(0, (consistent[node] - promised) / len(below))
            consistent[v] = intermediate[v] + correction
            descend(v)

    descend(-1)
    return [consistent[node] for node in range(len(tree))]


@quick
@given(trees())
def test_intermediate_estimates_are_the_mean_over_the_leaves_below(tree):
    expected = [float(value) for value in literal_path_estimates(tree)]
    assert path_estimates(tree).tolist() == pytest.approx(expected, abs=1e-9)


@quick
@given(trees())
def test_consistent_estimates_are_the_papers_top_down_formula(tree):
    intermediate = literal_path_estimates(tree)
    expected = literal_consistent_estimates(tree, intermediate)
    ours = consistent_estimates(tree, np.array([float(value) for value in intermediate]))
    assert ours.tolist() == pytest.approx([float(value) for value in expected], abs=1e-9)


def is_feasible(tree, counts):
    """Every count ≥ 0, and children sum to at most their parent, up to float rounding."""
    children = children_of(tree)
    return min(counts, default=0) >= 0 and all(
        sum(counts[child] for child in children[node]) <= counts[node] + 1e-9
        for node in range(len(tree))
    )


@quick
@given(trees())
def test_both_repairs_give_a_feasible_tree_and_leave_a_feasible_tree_alone(tree):
    for repair in (lower_children, raise_parents):
        once = repair(tree, tree.noisy_count.astype(float))
        assert is_feasible(tree, once.tolist())
        assert repair(tree, once).tolist() == pytest.approx(once.tolist(), abs=1e-9)


@quick
@given(trees(counts=st.integers(0, 40)), st.data())
def test_a_feasible_tree_of_whole_numbers_is_untouched_to_the_last_bit(tree, data):
    children, counts = children_of(tree), [0] * len(tree)
    for node in reversed(range(len(tree))):
        ends = data.draw(st.integers(0, 5))
        counts[node] = ends + sum(counts[child] for child in children[node])
    for repair in (lower_children, raise_parents):
        assert repair(tree, np.array(counts, dtype=float)).tolist() == counts


def nearest_share(children, total):
    """The nearest point of {x ≥ 0, Σ x ≤ total} by trying every set of positive coordinates."""
    if sum(children) <= total:
        return children
    best = None
    for size in range(len(children) + 1):
        for support in combinations(range(len(children)), size):
            give = Fraction(sum(children[i] for i in support) - total, size) if size else 0
            point = [
                children[i] - give if i in support else Fraction(0) for i in range(len(children))
            ]
            distance = sum((x - c) ** 2 for x, c in zip(point, children, strict=True))
            if min(point) >= 0 and sum(point) <= total and (best is None or distance < best[0]):
                best = distance, point
    return best[1]


@quick
@given(trees(counts=st.integers(0, 60), height=3))
def test_lowering_children_is_the_l2_projection_below_each_parent(tree):
    children = children_of(tree)
    expected = [Fraction(int(count)) for count in tree.noisy_count]
    for node in range(len(tree)):
        nearest = nearest_share([expected[child] for child in children[node]], expected[node])
        for child, value in zip(children[node], nearest, strict=True):
            expected[child] = value
    ours = lower_children(tree, tree.noisy_count.astype(float))
    assert ours.tolist() == pytest.approx([float(value) for value in expected], abs=1e-9)


@quick
@given(trees())
def test_raising_parents_is_the_papers_postorder_generation(tree):
    """At each node max(0, c(v) − Σ) trajectories end, Σ being what was generated below."""
    children, generated = children_of(tree), {}
    for node in reversed(range(len(tree))):
        below = sum(generated[child] for child in children[node])
        generated[node] = below + max(0, int(tree.noisy_count[node]) - below)
    ours = raise_parents(tree, tree.noisy_count.astype(float))
    assert ours.tolist() == [generated[node] for node in range(len(tree))]
