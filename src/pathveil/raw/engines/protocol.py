"""What an engine must do: count tables, and the children of nodes, in passes over trajectories.

A table is whatever a function of one trajectory counts: the cells that a trajectory adds to are
found by the same compiled code everywhere, and all that an engine does by itself is to sum. So a
new table needs nothing from any engine.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import compiled
from pathveil.statistics.statistic import Rows
from pathveil.universe.universe import Universe


@dataclass(frozen=True, slots=True, repr=False)
class ExactCounts:
    """Exact counts of one level, or of a block of it. Private: only the gate may read them.

    A type of its own, so that no function that takes noisy counts can be handed these.

    Attributes:
        node: int64, shape (m,); which surviving node, by its position in its level.
        location: int32, shape (m,); the child's location code.
        count: int64, shape (m,); |tr(u)| ≥ 1.

    Sorted by (node, location), each pair once: the noise is drawn in this order, so every
    engine gives the same tree from the same random words.
    """

    node: NDArray[np.int64]
    location: NDArray[np.int32]
    count: NDArray[np.int64]

    @classmethod
    def gathered(cls, blocks: Iterable["ExactCounts"]) -> "ExactCounts":
        """A whole level, for what can't be done block by block."""
        listed = list(blocks)
        if len(listed) == 1:
            return listed[0]
        none = np.empty(0, dtype=np.int64)
        return cls(
            np.concatenate([none, *(block.node for block in listed)]),
            np.concatenate([none.astype(np.int32), *(block.location for block in listed)]),
            np.concatenate([none, *(block.count for block in listed)]),
        )

    def __repr__(self) -> str:
        return "ExactCounts(<private>)"


@dataclass(frozen=True, slots=True)
class Survivors:
    """The nodes that passed the threshold on one level; noisy, so no longer private.

    Attributes:
        parent: int64, shape (n,); position of the parent among the previous survivors.
        location: int32, shape (n,); location code.

    Sorted by (parent, location). The root is the single survivor of level 0.

    With a taxonomy a survivor can be a zone, code |L| + z. It holds the trajectories of its parent
    that go on to a location of the zone that is not itself a survivor under that parent: so each
    trajectory still is in at most one survivor.
    """

    parent: NDArray[np.int64]
    location: NDArray[np.int32]

    @classmethod
    def root(cls) -> "Survivors":
        """Level 0: the virtual root, which holds every trajectory."""
        return cls(np.zeros(1, dtype=np.int64), np.full(1, -1, dtype=np.int32))

    def __len__(self) -> int:
        return len(self.parent)


class PrefixCounter(Protocol):
    """An engine, used once for one tree: it is called for levels 0, 1, 2, … in this order."""

    @property
    def universe(self) -> Universe:
        """The public universe."""
        ...

    @property
    def max_trajectories_per_unit(self) -> int:
        """c: how many trajectories one unit has at most."""
        ...

    def count_children(self, survivors: Survivors) -> Iterator[ExactCounts]:
        """The non-empty children of the survivors (Procedure 1, line 11) with exact counts.

        In blocks of any size, which follow each other in the order of `ExactCounts`. They have
        to be taken, all or none, before the next level is asked for.
        """
        ...


Cells = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Occupied cells of a table, ascending, each once, and their exact counts. Private."""


class Tables(Protocol):
    """Some tables that are counted together: public choices only, sent to a cluster's workers.

    A count is a sum over trajectories of what each adds by itself. So the counts of some whole
    trajectories, and those of all others, add up to the counts of all: an engine may cut its data
    between any two trajectories, and nowhere else.
    """

    @property
    def sizes(self) -> Sequence[int]:
        """How many cells each table has."""
        ...

    def count(self, rows: Rows, table: int) -> Cells:
        """What some whole trajectories add to the cells of one table."""
        ...

    def add(self, rows: Rows, table: int, sums: NDArray[np.int64], lock: Lock) -> None:
        """Add the same to an array of all its cells, which threads share."""
        ...


COUNTED_AT_ONCE = 1 << 24  # cells that are counted in one array rather than by sorting
SPARSELY = 64  # times as many cells as there are to count: sorting them is quicker, too


class CellTables(ABC):
    """Tables to which a trajectory adds 1 in some cells. Satisfies `Tables`."""

    @property
    @abstractmethod
    def sizes(self) -> Sequence[int]:
        """How many cells each table has."""

    @abstractmethod
    def cells(self, rows: Rows, table: int) -> NDArray[np.integer]:
        """The cells that some whole trajectories add 1 to, in any order: private."""

    def count(self, rows: Rows, table: int) -> Cells:
        """See `Tables`."""
        cells, size = self.cells(rows, table), self.sizes[table]
        if size > min(COUNTED_AT_ONCE, SPARSELY * len(cells)):
            return np.unique(cells, return_counts=True)
        counts = np.bincount(cells, minlength=size)
        occupied = np.flatnonzero(counts)
        return occupied, counts[occupied]

    def add(self, rows: Rows, table: int, sums: NDArray[np.int64], lock: Lock) -> None:
        """See `Tables`."""
        # Of one type: which tables have an array depends on the data, and what is compiled for a
        # type must have been compiled in the rehearsal.
        cells = self.cells(rows, table).astype(np.int64, copy=False)
        with lock:
            _add_ones(sums, cells)


@compiled
def _add_ones(sums: NDArray[np.int64], cells: NDArray[np.int64]) -> None:
    for i in range(len(cells)):
        sums[cells[i]] += 1


class TableCounter(Protocol):
    """An engine that counts any tables, in one pass over the trajectories."""

    def among(self, candidates: NDArray[np.int64]) -> "TableCounter":
        """The same trajectories, seen from some candidates."""
        ...

    def count_tables(self, tables: Tables) -> Iterator[Iterator[Cells]]:
        """For each table, in their order, its occupied cells in ascending order and their counts.

        In blocks of any size. Those of a table have to be taken before the next table is asked
        for: neither a table nor all of them have to fit into memory.
        """
        ...
