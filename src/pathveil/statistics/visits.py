"""Visits: how many trajectories visit each location.

A cell is a location. A trajectory adds 1 for each of its distinct locations, and for ``cap`` of
them at most: if there are more, for ``cap`` that are evenly spread over it.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import compiled
from pathveil.statistics.denoise import Estimates, named_estimates
from pathveil.statistics.first_visits import distinct_visits, spread
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


class Visits(OfVisits):
    """See above."""

    name = "visits"
    words = "how many trajectories visit each location"
    adds, because = "k", "one for each of at most k of its distinct locations"
    stage = VISITED

    def bound(self, cap: int) -> Bound:
        """The locations differ, and so do the cells."""
        return Bound(cap, cap)

    def size(self, scope: Scope) -> int:
        """One for each location."""
        return scope.universe_size

    def row_cells(self, rows: Rows, scope: Scope, cap: int) -> RowCells:
        """At most ``cap`` for each row."""
        return _visit_cells(rows.codes, *rows.distinct, rows.size, cap)

    def oracle(self, visits: Sequence[Visit], scope: Scope, cap: int) -> Iterator[int]:
        """An unnamed location takes a turn but has no cell."""
        distinct = list(dict.fromkeys(visit.location for visit in visits))
        return (location for location in spread(distinct, cap) if isinstance(location, int))

    def denoise(self, table: NoisyTable, scope: Scope, known: Known) -> Estimates:
        """What is next to nothing stays unnamed.

        The floor is 0.1% of all trajectories, the sanity bound of the paper's relative error.
        """
        return named_estimates(table.counts, table.noise, floor=known.floor)

    def among(self, estimates: Estimates, candidates: NDArray[np.int64]) -> Estimates:
        """The columns of the candidates."""
        return Estimates(estimates.value[candidates], estimates.variance[candidates])

    def compared(self) -> Sequence[Statistic]:
        """Cell by cell."""
        return (self,)

    def added(self, outlook: Outlook, cap: int) -> NDArray[np.float64]:
        """Distinct locations."""
        return np.minimum(outlook.distinct, cap)

    def typical(self, outlook: Outlook) -> float:
        """Between the average location and the one that the average visit goes to."""
        return outlook.typical_visits


def visit_cells(
    offsets: NDArray[np.int64], codes: NDArray[np.int32], universe_size: int, cap: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The (row, cell) pairs; at most ``cap`` per row."""
    return _visit_cells(codes, *distinct_visits(offsets, codes, universe_size), universe_size, cap)


@compiled
def _visit_cells(
    codes: NDArray[np.int32],
    starts: NDArray[np.int64],
    at: NDArray[np.int32],
    universe_size: int,
    cap: int,
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The same, of those that `distinct_visits` found."""
    rows = np.empty(len(at), dtype=np.int32)
    cells = np.empty(len(at), dtype=np.int32)
    found = 0
    for row in range(len(starts) - 1):
        begin, count = starts[row], starts[row + 1] - starts[row]
        for j in range(min(count, cap)):
            code = codes[at[begin + (j if count <= cap else (2 * j + 1) * count // (2 * cap))]]
            if code < universe_size:  # an unnamed location takes a turn but has no cell
                rows[found] = row
                cells[found] = code
                found += 1
    return rows[:found], cells[:found]


VISITS = Visits()
