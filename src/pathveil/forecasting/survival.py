"""Which nodes of the prefix tree survive the noise, and which are invented by it."""

from dataclasses import dataclass

import numpy as np

from pathveil.model.noisy_tree import NoisyPrefixTree
from pathveil.model.paths import Paths


@dataclass(frozen=True, slots=True)
class LevelSurvival:
    """One level of the tree.

    Attributes:
        level: from 1 to h.
        visited: distinct prefixes of that length that somebody's trajectory has.
        survived: those of them that the noisy tree keeps.
        invented: nodes of the noisy tree that nobody's trajectory begins with.
    """

    level: int
    visited: int
    survived: int
    invented: int


def survival(tree: NoisyPrefixTree, paths: Paths, universe_size: int) -> tuple[LevelSurvival, ...]:
    """Walk down the noisy tree and the trajectories together, one level a step.

    Args:
        tree: without zones.
        paths: the trajectories that it was grown from, simulated ones.
        universe_size: |L|.
    """
    lengths = np.diff(paths.offsets)
    alive = np.arange(len(lengths))
    prefix = np.zeros(len(alive), dtype=np.int64)  # which distinct prefix each trajectory has
    node = np.full(len(alive), -1, dtype=np.int64)  # which node of the tree that is
    on_tree = np.ones(len(alive), dtype=np.bool_)
    found = []
    for level, nodes in enumerate(tree.level_slices(), start=1):
        longer = lengths[alive] >= level
        alive, prefix = alive[longer], prefix[longer]
        node, on_tree = node[longer], on_tree[longer]
        code = paths.codes[paths.offsets[alive] + level - 1].astype(np.int64)
        distinct, prefix = np.unique(prefix * universe_size + code, return_inverse=True)
        # Nodes of a level are ordered by (parent, location), so their keys rise.
        keys = (tree.parent[nodes] + 1) * universe_size + tree.location[nodes]
        wanted = (node + 1) * universe_size + code
        place = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
        on_tree &= keys[place] == wanted
        node = np.where(on_tree, nodes.start + place, -1)
        survived = len(np.unique(node[on_tree]))
        found.append(LevelSurvival(level, len(distinct), survived, len(keys) - survived))
    return tuple(found)
