"""What Basic and Full make of a noisy tree: estimates, then whole trajectories (section IV-B).

A feasible tree says that t(v) = x(v) − Σ x(u) ≥ 0 trajectories end at node v, a real number.
Rounding each t(v) by itself would let errors pile up towards the root. Instead, walk the tree in
preorder, keep the running sum S of t, and let ⌊S + U⌋ trajectories have ended so far, with one
offset U uniform on [0, 1). The nodes below v are consecutive in preorder, so v's released count
is ⌊S_after + U⌋ − ⌊S_before + U⌋: a whole number, never negative, less than 1 away from x(v), the
sum of its children's plus what ends at v; and because E⌊s + U⌋ = s for every real s, its mean over
U is x(v) exactly: rounding adds no bias. U has seen no data; this is post-processing.
"""

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pathveil.core.methods import BASIC, FULL, Method
from pathveil.core.noisy_tree import EstimatedTree, NoisyPrefixTree
from pathveil.core.paths import Paths
from pathveil.methods.paper.inference import (
    consistent_estimates,
    lower_children,
    path_estimates,
    raise_parents,
)


def post_process(tree: NoisyPrefixTree, offset: float) -> EstimatedTree:
    """The released tree, by the method that the tree was grown for.

    Args:
        tree: the noisy tree.
        offset: U in [0, 1), by which counts become whole (see above).
    """
    feasible = FEASIBLE[tree.parameters.how](tree)
    return EstimatedTree.of(tree, rounded_counts(tree, feasible, offset))


def basic(tree: NoisyPrefixTree) -> NDArray[np.float64]:
    """The noisy counts as they are, repaired from below."""
    return raise_parents(tree, tree.noisy_count.astype(np.float64))


def full(tree: NoisyPrefixTree) -> NDArray[np.float64]:
    """Constrained inference, repaired from above."""
    return lower_children(tree, consistent_estimates(tree, path_estimates(tree)))


# Estimates that a tree of whole counts can have.
FEASIBLE: Final[dict[Method, Callable[[NoisyPrefixTree], NDArray[np.float64]]]] = {
    BASIC: basic,
    FULL: full,
}


def rounded_counts(
    tree: NoisyPrefixTree, feasible: NDArray[np.float64], offset: float
) -> NDArray[np.int64]:
    """The released count of every node, int64, shape (n,).

    Args:
        tree: the tree.
        feasible: x(v) ≥ 0, children summing to at most their parent (up to rounding errors).
        offset: U in [0, 1).
    """
    inner = tree.parent >= 0
    below = np.zeros(len(tree))
    np.add.at(below, tree.parent[inner], feasible[inner])
    order, size = preorder(tree)
    ending = np.maximum(feasible - below, 0.0)[order]
    fraction, integer = np.modf(np.cumsum(ending))
    # ⌊S + U⌋, without adding a small U to a large S.
    ended = integer.astype(np.int64) + (fraction + offset >= 1)
    ended = np.concatenate((np.zeros(1, np.int64), ended))
    position = np.empty(len(tree), dtype=np.int64)
    position[order] = np.arange(len(tree))
    counts: NDArray[np.int64] = ended[position + size] - ended[position]
    return counts


def preorder(tree: NoisyPrefixTree) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The nodes in preorder, siblings by location, and the size of each node's subtree."""
    slices = tree.level_slices()
    size = np.ones(len(tree), dtype=np.int64)
    for nodes in reversed(slices[1:]):
        np.add.at(size, tree.parent[nodes], size[nodes])
    position = np.zeros(len(tree), dtype=np.int64)
    for depth, nodes in enumerate(slices):
        before = np.cumsum(size[nodes]) - size[nodes]
        if depth == 0:
            position[nodes] = before
            continue
        parent = tree.parent[nodes]
        first_sibling = np.searchsorted(parent, parent)
        position[nodes] = position[parent] + 1 + before - before[first_sibling]
    order = np.empty(len(tree), dtype=np.int64)
    order[position] = np.arange(len(tree))
    return order, size


def distinct_paths(tree: NoisyPrefixTree, terminal: NDArray[np.int64]) -> Paths:
    """The paths at whose end at least one trajectory ends, in lexicographic order of codes.

    Args:
        tree: the tree.
        terminal: int64, shape (n,); trajectories that end at each node.
    """
    order, _ = preorder(tree)
    ends = order[terminal[order] > 0]
    lengths = tree.level[ends].astype(np.int64)
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
    codes = np.empty(offsets[-1], dtype=np.int32)
    node, position = ends.copy(), offsets[1:] - 1
    while len(node):
        codes[position] = tree.location[node]
        node, position = tree.parent[node], position - 1
        alive = node >= 0
        node, position = node[alive], position[alive]
    return Paths(offsets, codes, terminal[ends])
