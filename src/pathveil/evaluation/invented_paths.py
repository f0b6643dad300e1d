"""Invented paths: released journeys that nobody's trajectory begins with."""

import numpy as np
from numpy.typing import NDArray

from pathveil.model.paths import Paths, WeightedPaths


def invented_share(raw: WeightedPaths, released: WeightedPaths) -> float:
    """The share of released trajectories whose path is not a prefix of any raw trajectory.

    A prefix, not a whole trajectory: the method cuts what is longer than h, and a cut journey is
    still somebody's. An empty release invents nothing: 0.
    """
    paths = released.paths()
    total = int(paths.weights.sum())
    if total == 0:
        return 0.0
    return float(paths.weights[~_begun(raw.paths(), paths, len(raw.universe))].sum() / total)


def _begun(raw: Paths, released: Paths, universe_size: int) -> NDArray[np.bool_]:
    """Whether some raw path begins with each released path, bool, shape (len(released),).

    Both sides walk down the released paths' prefix tree together, one level a step; a raw path
    drops out where it leaves the tree, a released one where no raw path is left beside it.
    """
    ours, theirs = np.arange(len(released)), np.flatnonzero(raw.weights)
    node, raw_node = np.zeros(len(ours), np.int64), np.zeros(len(theirs), np.int64)
    found = np.full(len(released), len(theirs) > 0)
    for level in range(int(released.lengths.max(initial=0))):
        longer, raw_longer = released.lengths[ours] > level, raw.lengths[theirs] > level
        ours, node = ours[longer], node[longer]
        theirs, raw_node = theirs[raw_longer], raw_node[raw_longer]
        children, node = np.unique(
            node * universe_size + released.codes[released.offsets[ours] + level],
            return_inverse=True,
        )
        if len(children) == 0:
            break
        keys = raw_node * universe_size + raw.codes[raw.offsets[theirs] + level]
        raw_node = np.minimum(np.searchsorted(children, keys), len(children) - 1)
        on_tree = children[raw_node] == keys
        theirs, raw_node = theirs[on_tree], raw_node[on_tree]
        visited = np.zeros(len(children), dtype=np.bool_)
        visited[raw_node] = True
        found[ours[~visited[node]]] = False
        ours, node = ours[visited[node]], node[visited[node]]
    return found
