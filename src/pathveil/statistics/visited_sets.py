"""Visited sets: which of a few popular locations a trajectory visits at all.

A set is a whole number whose bit b says whether the b-th of those locations is visited. Every
trajectory has exactly one set, however long it is, so it adds 1 to the table of sets. No other
statistic knows so much about a trajectory for so little: all conjunctions of popular locations.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import compiled
from pathveil.statistics.constants import (
    DENSE_CELLS,
    INVENTED_SETS,
    MOST_POPULAR,
    WORTH_OF_ALL_SETS,
)
from pathveil.statistics.outlook import Outlook, log_threshold
from pathveil.statistics.statistic import (
    HABITS,
    OneCell,
    Rows,
    Scope,
    Statistic,
    Visit,
)


class VisitedSets(OneCell):
    """See above."""

    name = "visited sets"
    words = f"which of the {MOST_POPULAR} most popular locations are visited at all"
    because = "it has one set of popular locations that it visits"
    stage = HABITS
    repeats = True
    of_candidates = True
    dense_up_to = DENSE_CELLS

    def size(self, scope: Scope) -> int:
        """All sets."""
        return 1 << len(scope.popular)

    def cell(self, rows: Rows, scope: Scope) -> NDArray[np.int64]:
        """The set; an empty row has none."""
        return np.where(rows.not_empty, visited_sets(rows.offsets, rows.positions, scope.bit), -1)

    def oracle(self, visits: Sequence[Visit], scope: Scope, cap: int) -> Iterator[int]:
        """One bit for each popular location."""
        if visits:
            named = {scope.position_of(visit.location) for visit in visits}
            yield sum(
                1 << bit for bit, popular in enumerate(scope.popular.tolist()) if popular in named
            )

    def invented(self, scope: Scope) -> Fraction:
        """Few against the sets that occur."""
        return INVENTED_SETS

    def typical(self, outlook: Outlook) -> float:
        """A set is worth knowing if one in a hundred trajectories has it."""
        sets = 2.0 ** min(outlook.named, MOST_POPULAR)
        return outlook.total / 100.0 / log_threshold(sets, 2.0 * float(INVENTED_SETS))

    def worth(self, outlook: Outlook, usual: float) -> float:
        """The more, the more visits go to popular locations: up to `WORTH_OF_ALL_SETS` more."""
        return usual * (1.0 + WORTH_OF_ALL_SETS * outlook.covered**2)

    def compared(self) -> Sequence[Statistic]:
        """The sets with an estimate."""
        return (self,)


@compiled
def visited_sets(
    offsets: NDArray[np.int64], codes: NDArray[np.int32], bit: NDArray[np.int8]
) -> NDArray[np.int64]:
    """The set of each row, int64.

    Args:
        offsets: int64; where each row begins, and the end.
        codes: int32; the locations of all rows.
        bit: int8; the bit of each code, −1 if it has none.
    """
    sets = np.zeros(len(offsets) - 1, dtype=np.int64)
    for row in range(len(sets)):
        visited = 0
        for i in range(offsets[row], offsets[row + 1]):
            number = bit[codes[i]]
            if number >= 0:
                visited |= 1 << number
        sets[row] = visited
    return sets


VISITED_SETS = VisitedSets()
