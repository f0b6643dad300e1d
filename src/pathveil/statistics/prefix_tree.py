"""The prefix tree over the candidates, level by level; ending is one more child of every node.

A trajectory is followed while it stays among the candidates; if it ends before the last level, END
(the label n) comes after its last location. A level looks only at the children of nodes whose noisy
count passed on the level above: its cells are (such a node)·(n + 1) + label. A trajectory has one
prefix of each length, or has ended, or has left the candidates: it adds at most 1 to a level.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import compiled
from pathveil.statistics.constants import (
    CONCENTRATION,
    INVENTED_CHILDREN,
    MOST_TREE_LEVELS,
    WORTH_OF_DEEPER,
)
from pathveil.statistics.denoise import Estimates
from pathveil.statistics.noisy_table import NoisyTable
from pathveil.statistics.outlook import Outlook, log_threshold
from pathveil.statistics.statistic import Known, OneCell, Rows, Scope, Statistic, Visit

NUMBERED_AT_ONCE = 1 << 22  # cells of a level
# A level is measured if such shares of all trajectories reach the one above, and it.
LEAST_REACHING_ABOVE, LEAST_REACHING = 0.05, 0.02


class PrefixTreeLevel(OneCell):
    """One level of it.

    Args:
        level: from 1.
    """

    words = "how trajectories begin, and whether they end there"
    because = "it has one prefix of each length, or has ended"
    of_candidates = True
    dense_up_to = 0

    def __init__(self, level: int) -> None:
        self.level = level
        self.name = self.stage = f"prefix tree, level {level}"

    def size(self, scope: Scope) -> int:
        """So many labels for every node that is looked at."""
        return self._nodes(scope) * (scope.named + 1)

    def is_open(self, scope: Scope) -> bool:
        """Whether any node of the level above passed and can go on."""
        return len(scope.levels) == self.level - 1 and self._nodes(scope) > 0

    def invented(self, scope: Scope) -> Fraction:
        """Few against the children of a node."""
        return INVENTED_CHILDREN * self._nodes(scope)

    def _nodes(self, scope: Scope) -> int:
        return int(opened(scope, self.level - 1)[-1]) if self.level > 1 else 1

    def cell(self, rows: Rows, scope: Scope) -> NDArray[np.int64]:
        """The child of the row's node that it goes to."""
        key = (self.level, *scope.levels[: self.level - 1])
        return rows.latest(key, lambda: self._cell(rows, scope))

    def _cell(self, rows: Rows, scope: Scope) -> NDArray[np.int64]:
        if self.level == 1:
            node = np.where(rows.not_empty, 0, -1)
        else:
            cells = LEVELS[self.level - 2].cell(rows, scope)
            node = _nodes_of(cells, scope, self.level - 1)
        return _children(rows.offsets, rows.positions, node, self.level, scope.named)

    def oracle(self, visits: Sequence[Visit], scope: Scope, cap: int) -> Iterator[int]:
        """From the root, one published level after the other."""
        end = scope.named
        path = [*(scope.position_of(visit.location) for visit in visits), end] if visits else []
        node = 0
        for table, label in zip(scope.levels[: self.level - 1], path, strict=False):
            going_on = [key for key in table.keys.tolist() if key % (end + 1) != end]
            if label is None or node * (end + 1) + label not in going_on:
                return
            node = going_on.index(node * (end + 1) + label)
        if len(path) >= self.level and (there := path[self.level - 1]) is not None:
            yield node * (end + 1) + there

    def typical(self, outlook: Outlook) -> float:
        """A prefix becomes rarer with every location; a threshold hides the rare ones."""
        likely = outlook.same**self.level * CONCENTRATION ** (self.level - 1)
        invented = 2.0 * float(INVENTED_CHILDREN)
        return max(outlook.least, outlook.total * likely) / log_threshold(outlook.named, invented)

    def worth(self, outlook: Outlook, usual: float) -> float:
        """In proportion to who gets there; nothing, if all that it tells is who has ended."""
        if self.level > 1 and (
            outlook.reaching(self.level - 1) < LEAST_REACHING_ABOVE
            or outlook.reaching(self.level) < LEAST_REACHING
        ):
            return 0.0
        return usual * WORTH_OF_DEEPER ** (self.level - 1) * outlook.reaching(self.level)

    def denoise(self, table: NoisyTable, scope: Scope, known: Known) -> Estimates:
        """The counts as they are; the synthesis knows more, of all levels together."""
        is_location = table.keys % (scope.named + 1) < scope.named
        counts = table.counts[is_location].astype(np.float64)
        return Estimates(counts, np.full(len(counts), 2 * table.scale**2), table.keys[is_location])

    def compared(self) -> Sequence[Statistic]:
        """The top level: first locations. The synthesis starts from the others as they are."""
        return (self,) if self.level == 1 else ()


def opened(scope: Scope, level: int) -> NDArray[np.int64]:
    """How many nodes of a measured level can go on, before each of them and in all; int64."""
    label = scope.levels[level - 1].keys % (scope.named + 1)
    return np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(label != scope.named)))


def _nodes_of(cells: NDArray[np.int64], scope: Scope, level: int) -> NDArray[np.int64]:
    """The number of each row's node among those that passed and can go on, −1 if it did not.

    Of a level that is not too large all cells are numbered, so that nothing is searched for. Of a
    large one the cell is searched for among the children of its parent, which are few.
    """
    above, known = scope.levels[level - 1], scope.numbered
    if above.cells > NUMBERED_AT_ONCE:
        if (level, "starts") not in known:
            parents = above.cells // (scope.named + 1)
            edges = np.arange(parents + 1) * (scope.named + 1)
            known[level, "opened"] = opened(scope, level)
            known[level, "starts"] = np.searchsorted(above.keys, edges)
        opens, starts = known[level, "opened"], known[level, "starts"]
        return passed(cells, above.keys, opens, starts, scope.named)
    if level not in scope.numbered:
        scope.numbered[level] = _numbered(scope, level)
    nodes: NDArray[np.int64] = scope.numbered[level][cells]
    return nodes


def _numbered(scope: Scope, level: int) -> NDArray[np.int64]:
    """The number of each cell's node, −1 if it did not pass; one more for cell −1."""
    above, number = scope.levels[level - 1], opened(scope, level)
    goes_on = np.diff(number) > 0
    nodes = np.full(above.cells + 1, -1, dtype=np.int64)
    nodes[above.keys[goes_on]] = number[:-1][goes_on]
    return nodes


@compiled
def _children(
    offsets: NDArray[np.int64],
    positions: NDArray[np.int32],
    node: NDArray[np.int64],
    level: int,
    end: int,
) -> NDArray[np.int64]:
    """The cell of each row that is at a node; −1 for the others."""
    cells = np.full(len(node), -1, dtype=np.int64)
    for row in range(len(node)):
        if node[row] < 0:
            continue
        length = offsets[row + 1] - offsets[row]
        if length >= level:
            position = positions[offsets[row] + level - 1]
            if position < end:
                cells[row] = node[row] * (end + 1) + position
        elif length == level - 1:
            cells[row] = node[row] * (end + 1) + end
    return cells


@compiled
def passed(
    cells: NDArray[np.int64],
    keys: NDArray[np.int64],
    opened: NDArray[np.int64],
    starts: NDArray[np.int64],
    end: int,
) -> NDArray[np.int64]:
    """`_nodes_of`, by search: the children of parent p are ``keys[starts[p]:starts[p + 1]]``."""
    node = np.full(len(cells), -1, dtype=np.int64)
    for row in range(len(cells)):
        cell = cells[row]
        if cell < 0:
            continue
        parent = cell // (end + 1)
        if cell - parent * (end + 1) == end:
            continue
        low, high = starts[parent], starts[parent + 1]
        last = high
        while low < high:
            middle = (low + high) >> 1
            if keys[middle] < cell:
                low = middle + 1
            else:
                high = middle
        if low < last and keys[low] == cell:
            node[row] = opened[low]
    return node


LEVELS = tuple(PrefixTreeLevel(level) for level in range(1, MOST_TREE_LEVELS + 1))
