"""Which measured cells each synthetic trajectory adds to, and what those cells should come to.

The calibration compares synthetic trajectories with eight tables: lengths, shapes, last
locations, first locations (the top of the prefix tree), visits, pairs, visited sets and reach.
Their cells are numbered one table after another. The cells of a trajectory are found by the same
functions, with the same caps, that the gate applies to people's trajectories, so a cap biases
nothing: both sides are cut alike.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from pathveil.model.measurement_plan import MeasurementPlan
from pathveil.model.measurements import TreeLevel
from pathveil.model.paths import Paths
from pathveil.statistics.first_visits import first_visits
from pathveil.statistics.reach import reach_cells
from pathveil.statistics.shapes import DISTINCT_BINS, shape_cells
from pathveil.statistics.visited_sets import visited_sets
from pathveil.statistics.visits import visit_cells
from pathveil.synthesis.denoise import SMALLEST_VARIANCE, Estimates
from pathveil.synthesis.habits import Habits, SetEstimates
from pathveil.synthesis.popularity import PopularityEstimates


@dataclass(frozen=True, slots=True, eq=False)
class Targets:
    """Cells of all tables, and what is known about their counts. n candidates.

    Attributes:
        counts: float64, shape (cells,), ≥ 0.
        variances: float64, shape (cells,), ≥ 1.
        first_cell: int64, shape (n + 1,); the cell of each first location, −1 if it has none.
        pair_starts, pair_ends: int64; the pairs {a, b} with a < b that have a cell are those with
            b in ``pair_ends[pair_starts[a]:pair_starts[a + 1]]``, ascending.
        sets: the visited sets that have a cell.
        starts: the first cell of lengths, shapes, last locations, visits, pairs, sets and
            reach.
    """

    counts: NDArray[np.float64]
    variances: NDArray[np.float64]
    first_cell: NDArray[np.int64]
    pair_starts: NDArray[np.int64]
    pair_ends: NDArray[np.int64]
    sets: SetEstimates
    starts: tuple[int, ...]

    @classmethod
    def of(
        cls, popularity: PopularityEstimates, habits: Habits, tree: Sequence[TreeLevel]
    ) -> "Targets":
        """Collect them. ``popularity`` is that of the candidates."""
        candidates = len(popularity.last_locations.value)
        labels, first = _first_locations(tree, candidates)
        pairs = habits.pairs
        tables = [
            popularity.lengths,
            popularity.shapes,
            popularity.last_locations,
            popularity.visits,
            Estimates(pairs.value, pairs.variance),
            habits.sets.counts,
            habits.reach,
            first,
        ]
        ends = np.cumsum([table.value.size for table in tables])
        first_cell = np.full(candidates + 1, -1, dtype=np.int64)
        first_cell[labels] = np.arange(ends[-2], ends[-1])
        variances = np.concatenate([table.variance.ravel() for table in tables])
        return cls(
            np.maximum(np.concatenate([table.value.ravel() for table in tables]), 0.0),
            np.maximum(variances, SMALLEST_VARIANCE),
            first_cell,
            np.searchsorted(pairs.first, np.arange(candidates + 1)),
            pairs.second,
            habits.sets,
            (0, *ends[:-2].tolist()),
        )


def find_cells(
    chunk: Paths, targets: Targets, plan: MeasurementPlan
) -> tuple[NDArray[np.int32], NDArray[np.uint32]]:
    """All (row, cell) pairs of a chunk of trajectories, none of them empty."""
    size = len(targets.first_cell) - 1
    offsets, codes = chunk.offsets, chunk.codes
    lengths, shapes, last_locations, visits, pairs, sets, reach = targets.starts
    every = np.arange(len(chunk), dtype=np.int32)
    shape = shape_cells(offsets, codes, size)
    last = codes[offsets[1:] - 1]
    named = last < size
    first = targets.first_cell[codes[offsets[:-1]]]
    kept = first >= 0
    visit_rows, visit = visit_cells(offsets, codes, size, plan.visits_cap)
    visited, _ = first_visits(offsets, codes, size, plan.most_distinct)
    pair_rows, pair = _listed_pairs(visited, size, targets.pair_starts, targets.pair_ends)
    visited_set = visited_sets(offsets, codes, targets.sets.bit)
    place = np.searchsorted(targets.sets.keys, visited_set)
    listed = np.append(targets.sets.keys, -1)[place] == visited_set
    rows = np.concatenate(
        (every, every, every, every[named], every[kept], visit_rows, pair_rows, every[listed])
    )
    cells = np.concatenate(
        (
            lengths + shape // DISTINCT_BINS,
            shapes + shape,
            reach + reach_cells(offsets, codes, targets.sets.bit),
            last_locations + last[named],
            first[kept],
            visits + visit,
            pairs + pair,
            sets + place[listed],
        )
    )
    return rows, cells.astype(np.uint32)


def _first_locations(
    tree: Sequence[TreeLevel], candidates: int
) -> tuple[NDArray[np.int64], Estimates]:
    """The top of the tree: labels and noisy counts; nobody ends before the first location."""
    if not tree:
        nothing = np.zeros(0)
        return np.zeros(0, dtype=np.int64), Estimates(nothing, nothing)
    top = tree[0]
    places = top.label < candidates
    counts = top.table.counts[places].astype(np.float64)
    return top.label[places], Estimates(counts, np.full(len(counts), 2 * top.table.scale**2))


@njit(cache=True, nogil=True)
def _listed_pairs(
    visited: NDArray[np.int32],
    size: int,
    pair_starts: NDArray[np.int64],
    pair_ends: NDArray[np.int64],
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Those of `statistics.first_visits.pair_cells` that have a cell here: (row, which one)."""
    count, most = visited.shape
    rows = np.empty(count * most * (most - 1) // 2, dtype=np.int32)
    pairs = np.empty(len(rows), dtype=np.int64)
    found = 0
    for row in range(count):
        for i in range(most):
            there = visited[row, i]
            if there < 0:
                break
            for j in range(i):
                low, high = min(visited[row, j], there), max(visited[row, j], there)
                if high >= size:  # an unnamed place
                    continue
                start, stop = pair_starts[low], pair_starts[low + 1]
                while start < stop:
                    middle = (start + stop) >> 1
                    if pair_ends[middle] >= high:
                        stop = middle
                    else:
                        start = middle + 1
                if start < pair_starts[low + 1] and pair_ends[start] == high:
                    rows[found], pairs[found] = row, start
                    found += 1
    return rows[:found].copy(), pairs[:found].copy()
