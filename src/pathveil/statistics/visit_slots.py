"""Visit slots: the candidate and the time slot of each of the first ``cap`` visits.

A cell is candidate·T + slot. A trajectory adds at most ``cap``, and all of it to one cell if it
stays where it is in one slot.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import compiled
from pathveil.statistics.constants import DENSE_CELLS, INVENTED_SLOTS
from pathveil.statistics.denoise import Estimates, sparse_estimates
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


class VisitSlots(OfVisits):
    """See above."""

    name = "visit slots"
    words = "where and when visits happen"
    adds = "k"
    because = "one for each of its first k visits"
    stage = TIMES
    of_candidates = True
    dense_up_to = DENSE_CELLS

    def bound(self, cap: int) -> Bound:
        """Location and slot may be the same."""
        return Bound(cap, cap * cap)

    def size(self, scope: Scope) -> int:
        """T for each candidate."""
        return scope.named * scope.slots

    def row_cells(self, rows: Rows, scope: Scope, cap: int) -> RowCells:
        """At most ``cap`` for each row."""
        return visit_slots(rows.offsets, rows.positions, rows.timed, scope.named, scope.slots, cap)

    def oracle(self, visits: Sequence[Visit], scope: Scope, cap: int) -> Iterator[int]:
        """Visits to other locations have no cell."""
        positions = [(scope.position_of(visit.location), visit.slot) for visit in visits[:cap]]
        return (
            position * scope.slots + slot for position, slot in positions if position is not None
        )

    def invented(self, scope: Scope) -> Fraction:
        """Few against the cells that occur."""
        return INVENTED_SLOTS

    def typical(self, outlook: Outlook) -> float:
        """Of all locations and slots."""
        cells = outlook.slots * outlook.named
        return max(outlook.total * outlook.mean_length / cells, outlook.least)

    def denoise(self, table: NoisyTable, scope: Scope, known: Known) -> Estimates:
        """All listed cells, also those that are probably empty: a location may dislike a slot."""
        found = sparse_estimates(
            table.counts, table.noise, hidden=table.hidden, threshold=table.threshold
        )
        return Estimates(found.value, found.variance, table.keys)


@compiled
def visit_slots(
    offsets: NDArray[np.int64],
    positions: NDArray[np.int32],
    slots: NDArray[np.int32],
    named: int,
    count: int,
    most: int,
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The (row, cell) pairs; visits to unnamed locations have no cell.

    Args:
        offsets: int64; where each row begins, and the end.
        positions: int32; positions among the candidates, or ``named`` for any other location.
        slots: int32; the slot of each visit.
        named: the number of candidates.
        count: T.
        most: how many visits of a row are looked at.
    """
    rows = np.empty(len(slots), dtype=np.int32)
    cells = np.empty(len(slots), dtype=np.int64)
    found = 0
    for row in range(len(offsets) - 1):
        for i in range(offsets[row], min(offsets[row] + most, offsets[row + 1])):
            if positions[i] < named:
                rows[found] = row
                cells[found] = np.int64(positions[i]) * count + slots[i]
                found += 1
    return rows[:found].copy(), cells[:found].copy()


VISIT_SLOTS = VisitSlots()
