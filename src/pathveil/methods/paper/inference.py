"""Constrained inference (section IV-B): the noisy counts of a tree made consistent, in three steps.

Intermediate estimates on paths (Theorem 5), consistent estimates from the top down, and the repair
of what the formula can still get wrong.
"""

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import njit
from pathveil.core.noisy_tree import NoisyPrefixTree

# Intermediate estimates c̃(v): isotonic regression on every root-to-leaf path (Theorem 5).
#
# From the root to a leaf true counts never rise. The closest sequence with that property, in L2,
# is found by pooling adjacent violators: O(h) for a path, where the theorem's min-max formula read
# literally costs O(h²). A node lies on one path for each leaf below it; its consolidated
# intermediate estimate is the mean over those paths.


def path_estimates(tree: NoisyPrefixTree) -> NDArray[np.float64]:
    """c̃(v) for every node, float64, shape (n,)."""
    return _mean_over_leaves(tree.parent, tree.level, tree.noisy_count)


@njit(cache=True)
def _mean_over_leaves(
    parent: NDArray[np.int64], level: NDArray[np.int32], noisy_count: NDArray[np.int64]
) -> NDArray[np.float64]:
    nodes = len(parent)
    has_child = np.zeros(nodes, dtype=np.bool_)
    for v in range(nodes):
        if parent[v] >= 0:
            has_child[parent[v]] = True
    total = np.zeros(nodes, dtype=np.float64)
    leaves = np.zeros(nodes, dtype=np.int64)
    depth = level[-1] if nodes else 0
    values = np.empty(depth, dtype=np.float64)
    for leaf in range(nodes):
        if has_child[leaf]:
            continue
        v = leaf
        for i in range(level[leaf] - 1, -1, -1):
            values[i] = noisy_count[v]
            v = parent[v]
        fall(values[: level[leaf]])
        v = leaf
        for i in range(level[leaf] - 1, -1, -1):
            total[v] += values[i]
            leaves[v] += 1
            v = parent[v]
    return total / np.maximum(leaves, 1)


@njit(cache=True)
def fall(values: NDArray[np.float64]) -> None:
    """Replace a sequence by the closest non-increasing one in L2, in place.

    Blocks of pooled values are kept on a stack: their mean and their length.
    """
    means = np.empty(len(values), dtype=np.float64)
    sizes = np.empty(len(values), dtype=np.int64)
    top = -1
    for value in values:
        top += 1
        means[top], sizes[top] = value, 1
        while top > 0 and means[top] > means[top - 1]:
            size = sizes[top] + sizes[top - 1]
            means[top - 1] = (means[top] * sizes[top] + means[top - 1] * sizes[top - 1]) / size
            sizes[top - 1] = size
            top -= 1
    i = 0
    for block in range(top + 1):
        for _ in range(sizes[block]):
            values[i] = means[block]
            i += 1


# Consistent estimates c̄(v), top down (section IV-B, the formula after Theorem 5).
#
# If the children of w promise more than w has, each gives up the same amount; they are never
# raised, because a large c̄(w) only says that trajectories end there. The paper's formula exactly:
# what it can still get wrong (a small child pushed below zero) is mended by `feasible`.


def consistent_estimates(
    tree: NoisyPrefixTree, intermediate: NDArray[np.float64]
) -> NDArray[np.float64]:
    """c̄(v) = c̃(v) + min(0, (c̄(w) − Σ c̃(u)) / |children(w)|), w the parent; float64, shape (n,)."""
    inner = tree.parent >= 0
    children_sum = np.zeros(len(tree))
    np.add.at(children_sum, tree.parent[inner], intermediate[inner])
    children = np.bincount(tree.parent[inner], minlength=len(tree))
    consistent = intermediate.copy()
    for nodes in tree.level_slices()[1:]:
        parent = tree.parent[nodes]
        excess = (consistent[parent] - children_sum[parent]) / children[parent]
        consistent[nodes] += np.minimum(0.0, excess)
    return consistent


# The last repair: real counts ≥ 0 whose children sum to at most their parent.
#
# Neither Basic's noisy counts nor the paper's consistent estimates always satisfy it.
# Both repairs are deterministic and leave a feasible tree as it is.


def raise_parents(tree: NoisyPrefixTree, counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Bottom up, for Basic: a node has at least what its children have.

    This is the paper's generation step read literally: at each node max(0, c(v) − Σ c(u))
    trajectories end, in postorder.
    """
    feasible = np.maximum(counts, 0.0)
    below = np.zeros(len(tree))
    for nodes in reversed(tree.level_slices()):
        feasible[nodes] = np.maximum(feasible[nodes], below[nodes])
        if nodes.start > 0:
            np.add.at(below, tree.parent[nodes], feasible[nodes])
    return feasible


def lower_children(tree: NoisyPrefixTree, counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Top down, for Full: children share what their parent has.

    The nearest point, in L2, of {x ≥ 0, Σ x ≤ parent}: every child gives up the same amount, as
    in the paper's own step, but none goes below zero. The parent is the better measured of the
    two, so it is the one to believe.
    """
    feasible = np.maximum(counts, 0.0)
    _lower_children(tree.parent, feasible)
    return feasible


@njit(cache=True)
def _lower_children(parent: NDArray[np.int64], counts: NDArray[np.float64]) -> None:
    first = 0
    while first < len(parent):
        last = first
        while last < len(parent) and parent[last] == parent[first]:
            last += 1
        if parent[first] >= 0:
            _share(counts[first:last], counts[parent[first]])
        first = last


@njit(cache=True)
def _share(children: NDArray[np.float64], total: float) -> None:
    """Lower ``children`` (≥ 0) equally, none below 0, until they sum to at most ``total``."""
    if np.sum(children) <= total:
        return
    descending = np.sort(children)[::-1]
    running = 0.0
    amount = descending[0]  # all of it, if there is nothing to share
    for i in range(len(descending)):
        running += descending[i]
        if descending[i] <= (running - total) / (i + 1):
            break
        amount = (running - total) / (i + 1)
    for i in range(len(children)):
        children[i] = max(children[i] - amount, 0.0)
