"""Intermediate estimates c̃(v): isotonic regression on every root-to-leaf path (Theorem 5).

From the root to a leaf true counts never rise. The closest sequence with that property, in L2,
is found by pooling adjacent violators: O(h) for a path, where the theorem's min-max formula read
literally costs O(h²). A node lies on one path for each leaf below it; its consolidated
intermediate estimate is the mean over those paths.
"""

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import njit
from pathveil.model.noisy_tree import NoisyPrefixTree


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
