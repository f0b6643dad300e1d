"""Adding up the counts of blocks of trajectories: small tables in an array each, in place."""

from threading import Lock

import numpy as np

from pathveil.raw.engines.protocol import Cells, Tables
from pathveil.statistics.statistic import Rows

_MERGED_AT_ONCE = 1 << 22  # cells


class SmallSums:
    """The sums of those tables that are small enough for an array each. Threads may add to them.

    Args:
        tables: all tables.
        most: how many cells a small one has at most.
    """

    def __init__(self, tables: Tables, most: int) -> None:
        self._tables, self._count = tables, len(tables.sizes)
        self._sums = {
            table: np.zeros(size, dtype=np.int64)
            for table, size in enumerate(tables.sizes)
            if size <= most
        }
        self._locks = {table: Lock() for table in self._sums}

    def __contains__(self, table: int) -> bool:
        return table in self._sums

    def add(self, rows: Rows) -> list[tuple[int, Cells]]:
        """Add what some whole trajectories add; gives back what they add to the large tables."""
        large = []
        for table in range(self._count):
            if table in self._sums:
                self._tables.add(rows, table, self._sums[table], self._locks[table])
            else:
                large.append((table, self._tables.count(rows, table)))
        return large

    def cells(self, table: int) -> Cells:
        """The occupied cells of a small table, and their sums."""
        counts = self._sums[table]
        occupied = np.flatnonzero(counts)
        return occupied, counts[occupied]


class MergedSums:
    """The sums of a table that is too large for an array: of the cells that occur.

    Args:
        at_once: how many cells wait, at least, before they are merged.
    """

    def __init__(self, at_once: int = _MERGED_AT_ONCE) -> None:
        self._at_once = at_once
        none = np.zeros(0, dtype=np.int64)
        self._merged: Cells = (none, none)
        self._waiting: list[Cells] = []
        self._waits = 0  # of their cells

    def __len__(self) -> int:
        """How many cells are held; of some more than one sum."""
        return len(self._merged[0]) + self._waits

    def add(self, part: Cells) -> None:
        """Add what some whole trajectories add."""
        self._waiting.append(part)
        self._waits += len(part[0])
        if self._waits > max(self._at_once, len(self._merged[0])):
            self._merge()

    def cells(self) -> Cells:
        """The occupied cells, and their sums."""
        self._merge()
        return self._merged

    def _merge(self) -> None:
        parts = [self._merged, *self._waiting]
        self._waiting, self._waits = [], 0
        cells = np.concatenate([cells.astype(np.int64, copy=False) for cells, _ in parts])
        counts = np.concatenate([counts for _, counts in parts])
        # Sorted lists, one after another: that is what this sort is quick at.
        order = np.argsort(cells, kind="stable")
        cells, counts = cells[order], counts[order]
        first = np.flatnonzero(np.append(True, cells[1:] != cells[:-1])[: len(cells)])
        self._merged = cells[first], np.add.reduceat(counts, first) if len(first) else counts
