"""A walk through the prefix tree of the released trajectories (section III-B of the paper).

Released trajectories are sorted by their codes, so those that begin alike are neighbours: a node
is a range of them, and its children are the stretches of that range that agree one step further.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pathveil.core.noisy_tree import EstimatedTree
from pathveil.core.paths import Paths
from pathveil.release.bundle_tables import in_canonical_order

_ENDED = -1


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Children:
    """What follows a prefix.

    Attributes:
        count: how many released trajectories begin with the prefix.
        ended: how many of them end there.
        codes: int64, shape (n,); the next step of the others, ascending.
        counts: int64, shape (n,); how many take each.
        noisy: for each the noisy count that was published; None where none was.
        own_noisy: that of the prefix itself; None likewise.
    """

    count: int
    ended: int
    codes: NDArray[np.int64]
    counts: NDArray[np.int64]
    noisy: list[int | None]
    own_noisy: int | None


class PrefixWalk:
    """The prefix tree, walked from the root.

    Args:
        paths: the released trajectories (pair codes if there are times).
        tree: the published tree, for its noisy counts; None if its nodes are not steps of
            trajectories, as with zones.
    """

    def __init__(self, paths: Paths, tree: EstimatedTree | None) -> None:
        self._paths = paths if in_canonical_order(paths) else _sorted(paths)
        self._tree = tree
        self._total = np.concatenate((np.zeros(1, np.int64), np.cumsum(self._paths.weights)))
        self._root = self._found(())

    def children(self, prefix: Sequence[int]) -> Children:
        """What follows the steps of a prefix; the empty one is the root."""
        # Everybody starts at the root, and it alone looks at every path.
        return self._found(prefix) if prefix else self._root

    def _found(self, prefix: Sequence[int]) -> Children:
        low, high = 0, len(self._paths)
        for depth, code in enumerate(prefix):
            low, high = self._narrowed(low, high, depth, code)
        following = self._following(low, high, len(prefix))
        starts = np.flatnonzero(np.diff(following, prepend=_ENDED - 1))
        counts = self._total[np.append(starts[1:] + low, high)] - self._total[starts + low]
        codes = following[starts]
        goes_on = codes != _ENDED
        node = self._node(prefix)
        return Children(
            count=int(self._total[high] - self._total[low]),
            ended=int(counts[~goes_on].sum()),
            codes=codes[goes_on],
            counts=counts[goes_on],
            noisy=self._noisy(node, codes[goes_on]),
            own_noisy=self._noisy_count(node),
        )

    def _following(self, low: int, high: int, depth: int) -> NDArray[np.int64]:
        """The step at a depth of each path of a range, int64; those that end before it: -1."""
        at = self._paths.offsets[low:high] + depth
        following = np.full(high - low, _ENDED, dtype=np.int64)
        inside = at < self._paths.offsets[low + 1 : high + 1]
        following[inside] = self._paths.codes[at[inside]]
        return following

    def _narrowed(self, low: int, high: int, depth: int, code: int) -> tuple[int, int]:
        offsets, codes = self._paths.offsets, self._paths.codes

        def step(row: int) -> int:
            at = offsets[row] + depth
            return int(codes[at]) if at < offsets[row + 1] else _ENDED

        rows = range(low, high)
        first = low + bisect_left(rows, code, key=step)
        return first, low + bisect_left(rows, code + 1, key=step)

    def _node(self, prefix: Sequence[int]) -> int | None:
        """The published node of a prefix; -1 for the root, None if it was not published."""
        if self._tree is None:
            return None
        node = -1
        for code in prefix:
            start, locations = self._published(node)
            position = int(np.searchsorted(locations, code))
            if position == len(locations) or locations[position] != code:
                return None
            node = start + position
        return node

    def _published(self, node: int) -> tuple[int, NDArray[np.int32]]:
        """Where the published children of a node begin, and their locations, ascending."""
        if self._tree is None:
            return 0, np.empty(0, dtype=np.int32)
        start, end = np.searchsorted(self._tree.parent, (node, node + 1))
        return int(start), self._tree.location[start:end]

    def _noisy_count(self, node: int | None) -> int | None:
        if self._tree is None or node is None or node < 0:
            return None
        return int(self._tree.noisy_count[node])

    def _noisy(self, node: int | None, codes: NDArray[np.int64]) -> list[int | None]:
        if node is None:
            return [None] * len(codes)
        start, locations = self._published(node)
        position = np.searchsorted(locations, codes)
        there = np.flatnonzero(position < len(locations))
        there = there[locations[position[there]] == codes[there]]
        noisy: list[int | None] = [None] * len(codes)
        for index in there.tolist():
            noisy[index] = self._noisy_count(start + int(position[index]))
        return noisy


def _sorted(paths: Paths) -> Paths:
    """The same paths by their codes, shorter ones first."""
    order = np.arange(len(paths))
    for depth in range(int(paths.lengths.max(initial=0)) - 1, -1, -1):
        at = paths.offsets[order] + depth
        step = np.full(len(order), _ENDED, dtype=np.int64)
        inside = at < paths.offsets[order + 1]
        step[inside] = paths.codes[at[inside]]
        order = order[np.argsort(step, kind="stable")]
    lengths = paths.lengths[order]
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
    positions = np.repeat(paths.offsets[order] - offsets[:-1], lengths) + np.arange(offsets[-1])
    return Paths(offsets, paths.codes[positions], paths.weights[order])
