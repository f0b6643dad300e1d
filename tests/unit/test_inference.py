"""Constrained inference on trees small enough to follow with a pencil."""

import numpy as np
import pytest
from tests.trees import tree_of

from pathveil.methods.paper.inference import (
    consistent_estimates,
    fall,
    lower_children,
    path_estimates,
    raise_parents,
)

A, B, C = 0, 1, 2


@pytest.mark.parametrize(
    ("noisy", "fitted"),
    [
        ([5, 3, 1], [5, 3, 1]),
        ([3, 5], [4, 4]),
        ([1, 2, 3], [2, 2, 2]),
        ([4, 6, 2, 3], [5, 5, 2.5, 2.5]),
        ([9, 1, 2, 6], [9, 3, 3, 3]),
        ([7], [7]),
    ],
)
def test_adjacent_violators_are_pooled(noisy, fitted):
    values = np.array(noisy, dtype=float)
    fall(values)
    assert values.tolist() == fitted


def test_figure_3s_inconsistent_path_is_mended():
    """Figure 3: the path L3 → L2 → L1 has more trajectories at L2 than at its parent L3."""
    tree = tree_of({C: (3, {B: (4, {A: (2, {})})})})
    assert path_estimates(tree).tolist() == [3.5, 3.5, 2]


def test_a_node_above_several_leaves_gets_the_mean_over_their_paths():
    tree = tree_of({A: (6, {A: (8, {}), B: (2, {})})})
    # The path to the first leaf pools (6, 8) to (7, 7), the other stays (6, 2).
    assert path_estimates(tree).tolist() == [6.5, 7, 2]


def test_children_are_lowered_by_equal_amounts_and_never_raised():
    promises_too_much = tree_of({A: (10, {A: (8, {}), B: (6, {})})})
    promises_little = tree_of({A: (10, {A: (2, {}), B: (1, {})})})
    counts = np.array([10.0, 8.0, 6.0])
    assert consistent_estimates(promises_too_much, counts).tolist() == [10, 6, 4]
    counts = np.array([10.0, 2.0, 1.0])
    assert consistent_estimates(promises_little, counts).tolist() == [10, 2, 1]


def test_the_papers_consistency_claim_fails_here_and_the_repair_holds():
    """Section IV-B says consistency is easy to see; a small child next to large ones breaks it."""
    tree = tree_of({A: (20, {A: (20, {}), B: (20, {}), C: (1, {})})})
    paper = consistent_estimates(tree, path_estimates(tree))
    assert paper.tolist() == [20, 13, 13, -6]  # a negative count, and siblings above their parent
    assert lower_children(tree, paper).tolist() == [20, 10, 10, 0]


def test_basic_raises_parents_to_what_their_children_hold():
    tree = tree_of({A: (5, {A: (4, {}), B: (4, {})}), B: (3, {})})
    assert raise_parents(tree, tree.noisy_count.astype(float)).tolist() == [8, 3, 4, 4]


def test_an_empty_tree_passes_through_every_step():
    tree = tree_of({})
    nothing = np.empty(0)
    assert path_estimates(tree).shape == (0,)
    assert consistent_estimates(tree, nothing).shape == (0,)
    assert raise_parents(tree, nothing).shape == (0,)
    assert lower_children(tree, nothing).shape == (0,)
