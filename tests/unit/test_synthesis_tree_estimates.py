"""The noisy prefix tree as prefixes to continue."""

from fractions import Fraction

import numpy as np
import pytest

from pathveil.core.noise import Laplace
from pathveil.methods.calibrated.synthesis.tree_estimates import continuations
from pathveil.statistics.measurements import TreeLevel
from pathveil.statistics.noisy_table import NoisyTable

A, B, C, END = range(4)  # three candidates
SIZE = 3


def level(nodes, threshold=10, expanded=1, epsilon=100):
    """Nodes as (parent, label): count; with so large an ε the counts are exact."""
    keys = np.arange(len(nodes))  # not looked at
    counts = np.array(list(nodes.values()), dtype=np.int64)
    parent, label = np.array(list(nodes), dtype=np.int64).reshape(-1, 2).T
    cells = expanded * (SIZE + 1)
    return TreeLevel(
        parent, label, NoisyTable(keys, counts, cells, Laplace(Fraction(epsilon)), threshold)
    )


def described(work):
    """prefix with a $ if it ends there → (mass, steps it may not take)."""
    found = {}
    for i, mass in enumerate(work.masses):
        prefix = "".join("abc"[label] for label in work.prefixes[i, : work.lengths[i]])
        taken = work.taken[work.taken_starts[i] : work.taken_ends[i]]
        key = prefix + "$" * int(work.ended[i])
        assert key not in found
        found[key] = (mass, "".join("abc$"[label] for label in taken))
    return found


def test_without_a_tree_everything_starts_from_nothing():
    for tree in ((), (level({}),)):
        assert described(continuations(tree, 50.0, SIZE)) == {"": (50.0, "")}


def test_two_levels_by_hand():
    tree = (
        level({(0, A): 60, (0, B): 30}),
        level({(0, A): 20, (0, C): 20, (0, END): 15, (1, END): 30}, expanded=2),
    )
    # 10 start elsewhere (C or END, so at most 2·θ/2 = 10); of a's 60, 5 go to b; b's all end.
    assert described(continuations(tree, 100.0, SIZE)) == {
        "": (10.0, "ab"),
        "a": (5.0, "ac$"),
        "a$": (15.0, ""),
        "aa": (20.0, ""),
        "ac": (20.0, ""),
        "b$": (30.0, ""),
    }


def test_children_share_what_their_parent_has():
    """Too much is scaled down; too little leaves room for what was dropped, and is scaled up."""
    much = described(continuations((level({(0, A): 90, (0, B): 90}),), 60.0, SIZE))
    assert {key: mass for key, (mass, _) in much.items()} == {"a": 30.0, "b": 30.0}
    little = described(continuations((level({(0, A): 20, (0, B): 60}),), 170.0, SIZE))
    assert {key: mass for key, (mass, _) in little.items()} == {"": 10.0, "a": 40.0, "b": 120.0}


def test_unnamed_locations_are_no_children_and_need_room():
    tree = (level({(0, A): 20, (0, B): 60}),)
    work = described(continuations(tree, 170.0, SIZE, unnamed=70.0))
    assert {key: mass for key, (mass, _) in work.items()} == {"": 80.0, "a": 22.5, "b": 67.5}


def test_nobody_ends_before_the_first_location():
    work = described(continuations((level({(0, A): 50, (0, END): 50}),), 100.0, SIZE))
    assert work == {"": (10.0, "a$"), "a": (90.0, "")}


def test_a_node_without_children_is_continued():
    tree = (level({(0, A): 60, (0, B): 40}), level({(1, A): 40}, expanded=2))
    work = described(continuations(tree, 100.0, SIZE))
    assert work == {"a": (60.0, ""), "ba": (40.0, "")}


def test_nothing_is_lost_when_all_kept_children_are_noise():
    """Counts that are just above a threshold of a large table: probably empty, all of them."""
    tree = (level({(0, A): 31, (0, B): 30}, threshold=30, expanded=10**6, epsilon=1),)
    work = continuations(tree, 1000.0, SIZE)
    assert work.masses.sum() == pytest.approx(1000)


@pytest.mark.parametrize("seed", range(10))
def test_masses_sum_to_the_total(seed):
    draw = np.random.default_rng(seed)  # noqa: TID251  (test data, nothing private)
    tree, open_nodes = [], np.zeros(1, dtype=np.int64)
    for _ in range(3):
        nodes = {
            (int(parent), label): int(draw.integers(10, 60))
            for parent in open_nodes
            for label in range(SIZE + 1)
            if draw.random() < 0.6
        }
        tree.append(level(nodes, expanded=len(open_nodes), epsilon=1))
        open_nodes = np.flatnonzero(tree[-1].label != END)
        if not len(open_nodes):
            break
    work = continuations(tree, 500.0, SIZE)
    assert work.masses.sum() == pytest.approx(500)
    assert (work.masses > 0).all()
    assert (work.prefixes[:, 0] != END).all()
