"""Returns: second, third and fourth visits to each location, together.

A cell is a location. A trajectory adds 1 for each of its visits that is a second, third or fourth
one to where it goes, and for ``cap`` of them at most: if there are more, for ``cap`` that are
evenly spread. With the visits they say how often people come back to where they have been.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import compiled
from pathveil.statistics.denoise import Estimates, named_estimates
from pathveil.statistics.first_visits import spread
from pathveil.statistics.noisy_table import NoisyTable
from pathveil.statistics.outlook import Outlook
from pathveil.statistics.statistic import (
    VISITED,
    Bound,
    Known,
    OfVisits,
    RowCells,
    Rows,
    Scope,
    Statistic,
    Visit,
)

MOST_RETURNS = 3  # to one location that count


class Returns(OfVisits):
    """See above."""

    name = "returns"
    words = "second, third and fourth visits to each location"
    adds, because = "k", "one for each of at most k such visits"
    stage = VISITED

    def bound(self, cap: int) -> Bound:
        """At most three to one cell, so the squares are largest if it is always three."""
        times, rest = divmod(cap, MOST_RETURNS)
        return Bound(cap, times * MOST_RETURNS**2 + rest**2)

    def size(self, scope: Scope) -> int:
        """One for each location."""
        return scope.universe_size

    def row_cells(self, rows: Rows, scope: Scope, cap: int) -> RowCells:
        """At most ``cap`` for each row."""
        return return_cells(rows.offsets, rows.codes, rows.size, cap)

    def oracle(self, visits: Sequence[Visit], scope: Scope, cap: int) -> Iterator[int]:
        """Nobody returns to an unnamed location: each is another one."""
        times, later = Counter[int](), list[int]()
        for location, _ in visits:
            if isinstance(location, int):
                times[location] += 1
                if 1 < times[location] <= 1 + MOST_RETURNS:
                    later.append(location)
        return iter(spread(later, cap))

    def denoise(self, table: NoisyTable, scope: Scope, known: Known) -> Estimates:
        """As visits; to one location nobody returns more than three times."""
        return named_estimates(table.counts, table.noise, floor=known.floor)

    def among(self, estimates: Estimates, candidates: NDArray[np.int64]) -> Estimates:
        """The columns of the candidates."""
        return Estimates(estimates.value[candidates], estimates.variance[candidates])

    def compared(self) -> Sequence[Statistic]:
        """Cell by cell."""
        return (self,)

    def added(self, outlook: Outlook, cap: int) -> NDArray[np.float64]:
        """Visits beyond the distinct locations, as far as they count."""
        later = np.minimum(outlook.lengths - outlook.distinct, MOST_RETURNS * outlook.distinct)
        return np.clip(later, 0.0, cap)

    def typical(self, outlook: Outlook) -> float:
        """In proportion to the visits."""
        return outlook.typical_visits * self._per_visit(outlook)

    def worth(self, outlook: Outlook, usual: float) -> float:
        """The more visits are returns, the more they are worth."""
        return usual * outlook.mean(self.added(outlook, outlook.height)) / outlook.mean_length

    def _per_visit(self, outlook: Outlook) -> float:
        return outlook.mean(self.added(outlook, outlook.height)) / outlook.mean_distinct


@compiled
def return_cells(
    offsets: NDArray[np.int64], codes: NDArray[np.int32], universe_size: int, cap: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The (row, cell) pairs; at most ``cap`` per row."""
    most = longest = 0
    for row in range(len(offsets) - 1):
        length = offsets[row + 1] - offsets[row]
        most += min(cap, length)
        longest = max(longest, length)
    rows = np.empty(most, dtype=np.int32)
    cells = np.empty(most, dtype=np.int32)
    later = np.empty(longest + 1, dtype=np.int32)
    # The last row that visited a location, and how often it returned there: row · 4 + times.
    seen = np.full(universe_size + 1, -1, dtype=np.int64)
    found = 0
    for row in range(len(offsets) - 1):
        count, never = 0, row * (MOST_RETURNS + 1)
        for i in range(offsets[row], offsets[row + 1]):
            code = codes[i]
            last = seen[code]
            later[count] = code  # no branch: nobody could foresee it
            count += (never <= last) & (last < never + MOST_RETURNS) & (code < universe_size)
            seen[code] = min(max(last, never - 1) + 1, never + MOST_RETURNS)
        for j in range(min(count, cap)):
            rows[found] = row
            cells[found] = later[j] if count <= cap else later[(2 * j + 1) * count // (2 * cap)]
            found += 1
    return rows[:found], cells[:found]


RETURNS = Returns()
