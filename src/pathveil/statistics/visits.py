"""Visits with their multiplicity: the first, second, third and fourth visit to each location.

Cell (m − 1)·|L| + x is "an m-th visit to x". A trajectory adds at most 1 to a cell, and it stops
adding after its first ``cap`` cells: it adds at most ``cap`` in all. The first visits are how many
trajectories visit x at all; the later ones say how often people come back.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import compiled
from pathveil.statistics.denoise import Estimates, sparse_estimates
from pathveil.statistics.noisy_table import NoisyTable
from pathveil.statistics.statistic import (
    POPULARITY,
    Bound,
    Known,
    OfVisits,
    RowCells,
    Rows,
    Scope,
    Statistic,
    Visit,
)

MULTIPLICITIES = 4


class Visits(OfVisits):
    """See above."""

    name = "visits"
    words = "first, second, third and fourth visits to each location"
    adds, because = "h", "counting stops after h cells"
    stage = POPULARITY

    def bound(self, cap: int) -> Bound:
        """An m-th visit to x happens once: the cells differ."""
        return Bound(cap, cap)

    def size(self, scope: Scope) -> int:
        """So many multiplicities of every location."""
        return MULTIPLICITIES * scope.universe_size

    def row_cells(self, rows: Rows, scope: Scope, cap: int) -> RowCells:
        """At most ``cap`` for each row."""
        return visit_cells(rows.offsets, rows.codes, rows.size, cap)

    def oracle(self, visits: Sequence[Visit], scope: Scope, cap: int) -> Iterator[int]:
        """An unnamed location takes a turn but has no cell."""
        times, taken = Counter[int | str](), 0
        for location, _ in visits:
            times[location] += 1
            if taken < cap and times[location] <= MULTIPLICITIES:
                taken += 1
                if isinstance(location, int):
                    yield (times[location] - 1) * scope.universe_size + location

    def denoise(self, table: NoisyTable, scope: Scope, known: Known) -> Estimates:
        """Each multiplicity by itself, shape (MULTIPLICITIES, |L|); none more than the one before.

        The floor is 0.1% of all trajectories, the sanity bound of the paper's relative error.
        """
        noisy = table.counts.reshape(MULTIPLICITIES, scope.universe_size)
        value, variance = np.empty(noisy.shape), np.empty(noisy.shape)
        for times, counts in enumerate(noisy):
            found = sparse_estimates(counts, table.scale, floor=known.floor)
            value[times], variance[times] = found.value, found.variance
            if times > 0:
                value[times] = np.minimum(value[times], value[times - 1])
        return Estimates(value, variance)

    def among(self, estimates: Estimates, candidates: NDArray[np.int64]) -> Estimates:
        """The columns of the candidates."""
        return Estimates(estimates.value[..., candidates], estimates.variance[..., candidates])

    def compared(self) -> Sequence[Statistic]:
        """Cell by cell."""
        return (self,)


@compiled
def visit_cells(
    offsets: NDArray[np.int64], codes: NDArray[np.int32], universe_size: int, cap: int
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The (row, cell) pairs; at most ``cap`` per row."""
    most = 0
    for row in range(len(offsets) - 1):
        most += min(cap, offsets[row + 1] - offsets[row])
    rows = np.empty(most, dtype=np.int32)
    cells = np.empty(most, dtype=np.int64)
    times = np.zeros(universe_size, dtype=np.int64)
    found = 0
    for row in range(len(offsets) - 1):
        taken = 0
        i = offsets[row]
        while i < offsets[row + 1] and taken < cap:
            code = codes[i]
            i += 1
            if code == universe_size:  # takes a turn but has no cell
                taken += 1
                continue
            times[code] += 1
            if times[code] <= MULTIPLICITIES:
                rows[found] = row
                cells[found] = (times[code] - 1) * universe_size + code
                found += 1
                taken += 1
        for j in range(offsets[row], i):
            if codes[j] < universe_size:
                times[codes[j]] = 0
    return rows[:found], cells[:found]


VISITS = Visits()
