"""Slots: the time slot of each of the first ``cap`` visits. T cells.

A trajectory adds at most ``cap``, and all of it to one cell if its visits are in one slot.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import compiled
from pathveil.statistics.denoise import Estimates, posterior_means
from pathveil.statistics.noisy_table import NoisyTable
from pathveil.statistics.outlook import Outlook
from pathveil.statistics.statistic import (
    TIMES,
    Bound,
    Known,
    OfVisits,
    RowCells,
    Rows,
    Scope,
    Visit,
)


class Slots(OfVisits):
    """See above."""

    name = "slots"
    words = "when visits happen"
    adds = "k"
    because = "one for each of its first k visits"
    stage = TIMES
    repeats = True

    def bound(self, cap: int) -> Bound:
        """The slots may be the same."""
        return Bound(cap, cap * cap)

    def size(self, scope: Scope) -> int:
        """T."""
        return scope.slots

    def row_cells(self, rows: Rows, scope: Scope, cap: int) -> RowCells:
        """At most ``cap`` for each row."""
        lengths = np.minimum(np.diff(rows.offsets), cap)
        return np.repeat(np.arange(len(lengths)), lengths), self.cells(rows, scope, cap)

    def cells(self, rows: Rows, scope: Scope, cap: int) -> NDArray[np.int64]:
        """The slots alone."""
        return first_values(rows.offsets, rows.timed, cap)

    def oracle(self, visits: Sequence[Visit], scope: Scope, cap: int) -> Iterator[int]:
        """One after the other."""
        return (visit.slot for visit in visits[:cap])

    def typical(self, outlook: Outlook) -> float:
        """Of all slots."""
        return max(outlook.total * outlook.mean_length / outlook.slots, outlook.least)

    def denoise(self, table: NoisyTable, scope: Scope, known: Known) -> Estimates:
        """Means, for hardly a slot is quite empty."""
        return posterior_means(table.counts, table.noise)


@compiled
def first_values(
    offsets: NDArray[np.int64], values: NDArray[np.int32], most: int
) -> NDArray[np.int64]:
    """The first ``most`` values of every row, one after another; int64."""
    found = np.empty(len(values), dtype=np.int64)
    number = 0
    for row in range(len(offsets) - 1):
        for i in range(offsets[row], min(offsets[row] + most, offsets[row + 1])):
            found[number] = values[i]
            number += 1
    return found[:number].copy()


SLOTS = Slots()
