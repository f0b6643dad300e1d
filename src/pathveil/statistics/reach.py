"""Reach: how many candidate locations a trajectory visits, and how many popular ones, in bins.

Tables of visits, moves and pairs look at the beginning of a trajectory only. A trajectory has one
reach however long it is, so this table says for a sensitivity of 1 how far the long ones get.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import compiled
from pathveil.statistics.denoise import Estimates, sparse_estimates
from pathveil.statistics.noisy_table import NoisyTable
from pathveil.statistics.outlook import Outlook
from pathveil.statistics.shapes import DISTINCT_ENDS, PLAIN_MEDIAN
from pathveil.statistics.statistic import HABITS, Known, OneCell, Rows, Scope, Statistic, Visit

# Numbers of distinct candidates: none, and then the bins of shapes.
CANDIDATE_BINS = len(DISTINCT_ENDS) + 2
POPULAR_BINS = 14  # 0, 1 … 12, more
REACHES = CANDIDATE_BINS * POPULAR_BINS
_BIN = np.append(0, np.searchsorted(DISTINCT_ENDS, np.arange(1, DISTINCT_ENDS[-1] + 2)) + 1)


class Reach(OneCell):
    """See above."""

    name = "reach"
    words = "how many frequent locations, and how many popular ones, are visited, in bins"
    because = "it visits one number of candidates, and of popular ones"
    stage = HABITS
    repeats = True
    counts_each = True
    of_candidates = True

    def size(self, scope: Scope) -> int:
        """The same for every universe."""
        return REACHES

    def cell(self, rows: Rows, scope: Scope) -> NDArray[np.int64]:
        """The reach; an empty row has none."""
        return np.where(rows.not_empty, reach_cells(rows.offsets, rows.positions, scope.bit), -1)

    def oracle(self, visits: Sequence[Visit], scope: Scope, cap: int) -> Iterator[int]:
        """Two sets."""
        if visits:
            named = {scope.position_of(visit.location) for visit in visits} - {None}
            popular = named & set(scope.popular.tolist())
            longer = sum(int(end) < len(named) for end in DISTINCT_ENDS)
            yield (longer + bool(named)) * POPULAR_BINS + min(len(popular), POPULAR_BINS - 1)

    def typical(self, outlook: Outlook) -> float:
        """Some fifty cells matter."""
        return outlook.total / 50.0

    def denoise(self, table: NoisyTable, scope: Scope, known: Known) -> Estimates:
        """Errors in a reach are absolute, so the median is the ordinary one."""
        return sparse_estimates(table.counts, table.noise, floor=PLAIN_MEDIAN)

    def compared(self) -> Sequence[Statistic]:
        """Cell by cell."""
        return (self,)


def reach_cells(
    offsets: NDArray[np.int64], codes: NDArray[np.int32], bit: NDArray[np.int8]
) -> NDArray[np.int64]:
    """The cell of each trajectory, candidate bin · POPULAR_BINS + popular bin; int64.

    Args:
        offsets: int64; where each row begins, and the end.
        codes: int32; positions among the n candidates, or n for any other location.
        bit: int8, shape (n + 1,); not negative for popular candidates.
    """
    candidates, popular = _distinct(offsets, codes, bit)
    bins = _BIN[np.minimum(candidates, len(_BIN) - 1)]
    cells: NDArray[np.int64] = bins * POPULAR_BINS + np.minimum(popular, POPULAR_BINS - 1)
    return cells


@compiled
def _distinct(
    offsets: NDArray[np.int64], codes: NDArray[np.int32], bit: NDArray[np.int8]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    rows, size = len(offsets) - 1, len(bit) - 1
    candidates = np.zeros(rows, dtype=np.int64)
    popular = np.zeros(rows, dtype=np.int64)
    seen_in = np.full(size, -1, dtype=np.int64)
    for row in range(rows):
        for i in range(offsets[row], offsets[row + 1]):
            code = codes[i]
            if code < size and seen_in[code] != row:
                seen_in[code] = row
                candidates[row] += 1
                if bit[code] >= 0:
                    popular[row] += 1
    return candidates, popular


REACH = Reach()
