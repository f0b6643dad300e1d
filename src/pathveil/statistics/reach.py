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
        return np.where(rows.not_empty, reach_cells(rows.positions, *rows.distinct, scope.bit), -1)

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
    positions: NDArray[np.int32],
    starts: NDArray[np.int64],
    at: NDArray[np.int32],
    bit: NDArray[np.int8],
) -> NDArray[np.int64]:
    """The cell of each trajectory, candidate bin · POPULAR_BINS + popular bin; int64.

    Args:
        positions: int32; positions among the n candidates, or n for any other location.
        starts: see `first_visits.distinct_visits`.
        at: likewise.
        bit: int8, shape (n + 1,); not negative for popular candidates.
    """
    candidates, popular = _counted(positions, starts, at, bit)
    bins = _BIN[np.minimum(candidates, len(_BIN) - 1)]
    cells: NDArray[np.int64] = bins * POPULAR_BINS + np.minimum(popular, POPULAR_BINS - 1)
    return cells


@compiled
def _counted(
    positions: NDArray[np.int32],
    starts: NDArray[np.int64],
    at: NDArray[np.int32],
    bit: NDArray[np.int8],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How many candidates each row visits, and how many popular ones."""
    rows, size = len(starts) - 1, len(bit) - 1
    candidates = np.zeros(rows, dtype=np.int64)
    popular = np.zeros(rows, dtype=np.int64)
    for row in range(rows):
        named = liked = 0
        for i in range(starts[row], starts[row + 1]):
            position = positions[at[i]]
            named += position < size
            liked += bit[position] >= 0
        candidates[row], popular[row] = named, liked
    return candidates, popular


REACH = Reach()
