"""Consistent estimates c̄(v), top down (section IV-B, the formula after Theorem 5).

If the children of w promise more than w has, each gives up the same amount; they are never
raised, because a large c̄(w) only says that trajectories end there. The paper's formula exactly:
what it can still get wrong (a small child pushed below zero) is mended by `feasible`.
"""

import numpy as np
from numpy.typing import NDArray

from pathveil.model.noisy_tree import NoisyPrefixTree


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
