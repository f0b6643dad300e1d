"""The prefix tree of a calibrated release: what was measured, and what was released there.

The calibrated method measures a tree over candidate locations with an END child. Published is
the part that has locations, in the form of any other release; the ends are already in the
trajectories. A node's estimate is the number of released trajectories with its prefix. With a time
grid the tree is empty: the method measures when visits happen by other tables.
"""

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import njit
from pathveil.core.noisy_tree import EstimatedTree, NoisyPrefixTree
from pathveil.core.parameters import Parameters
from pathveil.core.paths import Paths
from pathveil.statistics.measurements import Measurements


def measured_tree(
    measurements: Measurements, paths: Paths, parameters: Parameters, *, is_private: bool
) -> EstimatedTree:
    """The measured nodes with the counts of the released ``paths`` (sorted by their codes)."""
    # With times the nodes of a release are pairs, and the measured ones are not: none is published.
    levels_measured = () if parameters.time_grid is not None else measurements.tree
    end = len(measurements.candidates)
    parents, labels, levels, counts = [], [], [], []
    start, position = 0, np.zeros(1, dtype=np.int64)
    for depth, level in enumerate(levels_measured, start=1):
        is_location = level.label != end
        parents.append(
            position[level.parent[is_location]] if depth > 1 else np.full(is_location.sum(), -1)
        )
        labels.append(measurements.candidates[level.label[is_location]])
        levels.append(np.full(is_location.sum(), depth))
        counts.append(level.table.counts[is_location])
        # Where the nodes of this level stand in the whole tree; ends stand nowhere.
        position = np.cumsum(is_location) - 1 + start
        start += int(is_location.sum())
    tree = NoisyPrefixTree(
        parent=_joined(parents),
        location=_joined(labels).astype(np.int32),
        level=_joined(levels).astype(np.int32),
        noisy_count=_joined(counts),
        parameters=parameters,
        is_private=is_private,
    )
    return EstimatedTree.of(tree, prefix_counts(tree, paths))


def prefix_counts(tree: NoisyPrefixTree, paths: Paths) -> NDArray[np.int64]:
    """How many trajectories have each node's prefix, int64; the paths sorted by their codes."""
    first, last = _ranges(tree.parent, tree.location, tree.level, paths.offsets, paths.codes)
    total = np.concatenate((np.zeros(1, np.int64), np.cumsum(paths.weights)))
    counts: NDArray[np.int64] = total[last] - total[first]
    return counts


def _joined(parts: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.concatenate([np.empty(0, dtype=np.int64), *parts])


@njit(cache=True)
def _ranges(
    parent: NDArray[np.int64],
    location: NDArray[np.int32],
    level: NDArray[np.int32],
    offsets: NDArray[np.int64],
    codes: NDArray[np.int32],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The paths with a node's prefix are neighbours: a range inside its parent's range."""
    first = np.zeros(len(parent), dtype=np.int64)
    last = np.zeros(len(parent), dtype=np.int64)
    for v in range(len(parent)):
        low, high = 0, len(offsets) - 1
        if parent[v] >= 0:
            low, high = first[parent[v]], last[parent[v]]
        depth = level[v] - 1
        first[v] = _search(offsets, codes, depth, location[v], low, high)
        last[v] = _search(offsets, codes, depth, location[v] + 1, first[v], high)
    return first, last


@njit(cache=True)
def _search(
    offsets: NDArray[np.int64], codes: NDArray[np.int32], depth: int, code: int, low: int, high: int
) -> int:
    """The first path of a range with ``code`` or more at ``depth``; short paths come first."""
    while low < high:
        middle = (low + high) // 2
        at = offsets[middle] + depth
        if at >= offsets[middle + 1] or codes[at] < code:
            low = middle + 1
        else:
            high = middle
    return low
