"""Pauses: how many slots lie between two visits in a row, among the first ``cap`` visits. T cells.

A trajectory adds at most ``cap`` − 1 in all, and all of it to one cell if its pauses are the same.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import compiled
from pathveil.statistics.outlook import Outlook
from pathveil.statistics.slots import Slots
from pathveil.statistics.statistic import Bound, RowCells, Rows, Scope, Visit


class Pauses(Slots):
    """See above."""

    name = "pauses"
    words = "between two visits in a row, in slots of time"
    adds = "k − 1"
    because = "one for each of its first k visits but the first"

    def bound(self, cap: int) -> Bound:
        """The pauses may be the same; at least 1, so that noise has a scale."""
        most = max(cap - 1, 1)
        return Bound(most, most * most)

    def row_cells(self, rows: Rows, scope: Scope, cap: int) -> RowCells:
        """At most ``cap`` − 1 for each row."""
        lengths = np.minimum(np.diff(rows.offsets), cap)
        found = np.repeat(np.arange(len(lengths)), np.maximum(lengths - 1, 0))
        return found, pauses(rows.offsets, rows.timed, cap)

    def cells(self, rows: Rows, scope: Scope, cap: int) -> NDArray[np.int64]:
        """The pauses alone."""
        return pauses(rows.offsets, rows.timed, cap)

    def oracle(self, visits: Sequence[Visit], scope: Scope, cap: int) -> Iterator[int]:
        """Differences."""
        slots = [visit.slot for visit in visits[:cap]]
        return (after - before for before, after in pairwise(slots))

    def caps(self, outlook: Outlook) -> range:
        """At least two visits."""
        return range(2, max(outlook.height, 2) + 1)

    def added(self, outlook: Outlook, cap: int) -> NDArray[np.float64]:
        """All visits but the first."""
        return np.minimum(outlook.lengths, cap) - 1.0

    def typical(self, outlook: Outlook) -> float:
        """Of all slots; most pauses are short ones."""
        return max(outlook.total * (outlook.mean_length - 1.0) / outlook.slots, outlook.least)


@compiled
def pauses(offsets: NDArray[np.int64], slots: NDArray[np.int32], most: int) -> NDArray[np.int64]:
    """The pauses of all rows, int64, in slots.

    Args:
        offsets: int64; where each row begins, and the end.
        slots: int32; the slot of each visit, never decreasing in a row.
        most: how many visits of a row are looked at.
    """
    found = np.empty(len(slots), dtype=np.int64)
    number = 0
    for row in range(len(offsets) - 1):
        for i in range(offsets[row] + 1, min(offsets[row] + most, offsets[row + 1])):
            found[number] = slots[i] - slots[i - 1]
            number += 1
    return found[:number].copy()


PAUSES = Pauses()
