"""The last repair: real counts ≥ 0 whose children sum to at most their parent.

Neither Basic's noisy counts nor the paper's consistent estimates always satisfy it (DESIGN,
decision 2). Both repairs are deterministic and leave a feasible tree as it is.
"""

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import njit
from pathveil.model.noisy_tree import NoisyPrefixTree


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
