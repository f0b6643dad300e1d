"""Trips: where a trajectory begins, and where it ends.

A cell is a·n + b over n candidates: from a to b, which may be the same. A trajectory begins once,
and ends once, so it adds 1 to one cell, however long it is. It is what an origin-destination table
counts.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import compiled
from pathveil.statistics.constants import DENSE_TRIPS, INVENTED_PAIRS
from pathveil.statistics.denoise import Estimates
from pathveil.statistics.noisy_table import NoisyTable
from pathveil.statistics.outlook import Outlook
from pathveil.statistics.pairs import WHOLE_PAIRS, denoise_pairs, pair_threshold
from pathveil.statistics.statistic import HABITS, Known, OneCell, Rows, Scope, Statistic, Visit


class Trips(OneCell):
    """See above."""

    name = "trips"
    words = "where trajectories begin and end"
    because = "it begins once and ends once"
    stage = HABITS
    of_candidates = True
    dense_up_to = DENSE_TRIPS
    learnt_up_to = WHOLE_PAIRS

    def size(self, scope: Scope) -> int:
        """All ordered pairs of candidates."""
        return scope.named * scope.named

    def cell(self, rows: Rows, scope: Scope) -> NDArray[np.int64]:
        """First and last; a row that begins or ends elsewhere has none."""
        return _trip_cells(rows.offsets, rows.positions, scope.named)

    def oracle(self, visits: Sequence[Visit], scope: Scope, cap: int) -> Iterator[int]:
        """The first one and the last one."""
        if visits:
            begins, ends = (scope.position_of(visits[i].location) for i in (0, -1))
            if begins is not None and ends is not None:
                yield begins * scope.named + ends

    def invented(self, scope: Scope) -> Fraction:
        """Few against the trips that occur."""
        return INVENTED_PAIRS

    def denoise(self, table: NoisyTable, scope: Scope, known: Known) -> Estimates:
        """No trip is more frequent than visits to its ends."""
        first, second = np.divmod(table.keys, max(scope.named, 1))
        return denoise_pairs(table, first, second, first >= 0, table.cells, known)

    def compared(self) -> Sequence[Statistic]:
        """The trips with an estimate."""
        return (self,)

    def typical(self, outlook: Outlook) -> float:
        """That of an ordered pair; smaller ones are hidden by a threshold, or else by the noise."""
        count = outlook.typical_pair(np.ones(len(outlook.shares)))
        return count / pair_threshold(outlook, 2.0 * float(INVENTED_PAIRS))


@compiled
def _trip_cells(
    offsets: NDArray[np.int64], positions: NDArray[np.int32], size: int
) -> NDArray[np.int64]:
    cells = np.full(len(offsets) - 1, -1, dtype=np.int64)
    for row in range(len(cells)):
        if offsets[row] < offsets[row + 1]:
            begins, ends = positions[offsets[row]], positions[offsets[row + 1] - 1]
            if begins < size and ends < size:
                cells[row] = np.int64(begins) * size + ends
    return cells


TRIPS = Trips()
