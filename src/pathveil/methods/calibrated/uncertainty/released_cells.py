"""How many released trajectories are in cells of two locations, however one asks for them."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import compiled
from pathveil.core.paths import Paths
from pathveil.statistics.measurements import Measurements
from pathveil.statistics.statistic import Rows, Statistic, places_among


class ReleasedCells:
    """What the released trajectories say of cells, over the candidates."""

    def __init__(self, measurements: Measurements, paths: Paths) -> None:
        self._scope, self._paths = measurements.scope, paths
        self.total = float(paths.weights.sum())

    def _blocks(self) -> Iterator[tuple[Rows, NDArray[np.int64]]]:
        for block in self._paths.blocks():
            rows = Rows(block.offsets, block.codes, self._scope.universe_size)
            yield rows.among(self._scope.candidates), block.weights

    def like(self, statistic: Statistic, cap: int, keys: NDArray[np.int64]) -> NDArray[np.float64]:
        """How many a table would count in each of some cells, which ascend."""
        counts = np.zeros(len(keys))
        for rows, weights in self._blocks():
            row, cell = statistic.row_cells(rows, self._scope, cap)
            at = places_among(keys, cell, statistic.size(self._scope))
            counts += np.bincount(at[at >= 0], weights[row[at >= 0]], len(keys))
        return counts

    def moves(self, keys: NDArray[np.int64]) -> NDArray[np.float64]:
        """How often moves are made."""
        counts, named = np.zeros(len(keys)), self._scope.named
        for rows, weights in self._blocks():
            codes = rows.positions.astype(np.int64)
            row = np.repeat(np.arange(len(weights)), np.diff(rows.offsets))
            moves = (row[1:] == row[:-1]) & (np.maximum(codes[:-1], codes[1:]) < named)
            cell = codes[:-1][moves] * named + codes[1:][moves]
            at = places_among(keys, cell, named**2)
            counts += np.bincount(at[at >= 0], weights[row[:-1][moves][at >= 0]], len(keys))
        return counts

    def together(
        self, first: NDArray[np.int64], second: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """How many visit both in any order, and the first before the second; cells ascend."""
        starts = np.searchsorted(first, np.arange(self._scope.named + 1))
        either, in_order = np.zeros(len(first)), np.zeros(len(first))
        for rows, weights in self._blocks():
            visited_together(
                rows.offsets, rows.positions, weights, starts, second, either, in_order
            )
        return either, in_order


@compiled
def visited_together(
    offsets: NDArray[np.int64],
    codes: NDArray[np.int32],
    weights: NDArray[np.int64],
    starts: NDArray[np.int64],
    partners: NDArray[np.int64],
    either: NDArray[np.float64],
    in_order: NDArray[np.float64],
) -> None:
    """Add how many rows visit each location and some partners of it.

    Args:
        offsets: where each row begins, and the end.
        codes: positions among the candidates; of others, as large as there are candidates.
        weights: how often each row counts.
        starts: where the partners of each location begin, and the end.
        partners: of all locations.
        either: added to, for each partner: who visits both.
        in_order: likewise: who visits the location, and later the partner.
    """
    size = len(starts) - 1
    seen_in = np.full(size, -1, dtype=np.int64)
    first_at = np.zeros(size, dtype=np.int64)
    last_at = np.zeros(size, dtype=np.int64)
    for row in range(len(offsets) - 1):
        for i in range(offsets[row], offsets[row + 1]):
            if codes[i] < size:
                if seen_in[codes[i]] != row:
                    seen_in[codes[i]] = row
                    first_at[codes[i]] = i
                last_at[codes[i]] = i
        for i in range(offsets[row], offsets[row + 1]):
            here = codes[i]
            if here >= size or first_at[here] != i:
                continue
            for k in range(starts[here], starts[here + 1]):
                there = partners[k]
                if seen_in[there] == row:
                    either[k] += weights[row]
                    if last_at[there] > i:
                        in_order[k] += weights[row]


def compile_together() -> None:
    """Count in one made-up row: for a rehearsal, in which no table may list anything."""
    none, counts = np.zeros(0, dtype=np.int64), np.zeros(0)
    offsets, codes, starts = np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(2, np.int64)
    visited_together(offsets, codes, none, starts, none, counts, counts)
