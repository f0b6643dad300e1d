"""Which measured cells each synthetic trajectory adds to, and what those cells should come to.

The calibration compares synthetic trajectories with six tables: lengths, shapes, last locations,
first locations (the top of the prefix tree), visits and pairs. Their cells are numbered one table
after another. The cells of a trajectory are found by the same functions, with the same caps, that
the gate applies to people's trajectories, so a cap biases nothing: both sides are cut alike.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pathveil.model.measurement_plan import MeasurementPlan
from pathveil.model.measurements import TreeLevel
from pathveil.model.paths import Paths
from pathveil.statistics.first_visits import first_visits, pair_cells
from pathveil.statistics.shapes import DISTINCT_BINS, shape_cells
from pathveil.statistics.visits import visit_cells
from pathveil.synthesis.denoise import SMALLEST_VARIANCE, Estimates
from pathveil.synthesis.habits import Habits
from pathveil.synthesis.popularity import PopularityEstimates


@dataclass(frozen=True, slots=True, eq=False)
class Targets:
    """Cells of all tables, and what is known about their counts. n candidates.

    Attributes:
        counts: float64, shape (cells,), ≥ 0.
        variances: float64, shape (cells,), ≥ 1.
        first_cell: int64, shape (n + 1,); the cell of each first location, −1 if it has none.
        pair_keys: int64, sorted; the pairs a·n + b that have a cell.
        starts: the first cell of lengths, shapes, last locations, visits and pairs.
    """

    counts: NDArray[np.float64]
    variances: NDArray[np.float64]
    first_cell: NDArray[np.int64]
    pair_keys: NDArray[np.int64]
    starts: tuple[int, int, int, int, int]

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
            pairs.first * candidates + pairs.second,
            (0, int(ends[0]), int(ends[1]), int(ends[2]), int(ends[3])),
        )


def find_cells(
    chunk: Paths, targets: Targets, plan: MeasurementPlan
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """All (row, cell) pairs of a chunk of trajectories, none of them empty."""
    size = len(targets.first_cell) - 1
    offsets, codes = chunk.offsets, chunk.codes
    lengths, shapes, last_locations, visits, pairs = targets.starts
    every = np.arange(len(chunk), dtype=np.int32)
    shape = shape_cells(offsets, codes, size)
    last = codes[offsets[1:] - 1]
    named = last < size
    first = targets.first_cell[codes[offsets[:-1]]]
    kept = first >= 0
    visit_rows, visit = visit_cells(offsets, codes, size, plan.visits_cap)
    pair_rows, pair = _listed_pairs(chunk, targets.pair_keys, size, plan.most_distinct)
    rows = np.concatenate((every, every, every[named], every[kept], visit_rows, pair_rows))
    cells = np.concatenate(
        (
            lengths + shape // DISTINCT_BINS,
            shapes + shape,
            last_locations + last[named],
            first[kept],
            visits + visit,
            pairs + pair,
        )
    )
    return rows, cells.astype(np.int32)


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


def _listed_pairs(
    chunk: Paths, keys: NDArray[np.int64], size: int, most_distinct: int
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The pairs of the trajectories that have a cell, as positions in ``keys``."""
    if not len(keys):
        return np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64)
    visited, _ = first_visits(chunk.offsets, chunk.codes, size, most_distinct)
    rows, pairs = pair_cells(visited, size)
    position = np.minimum(np.searchsorted(keys, pairs), len(keys) - 1)
    listed = keys[position] == pairs
    return rows[listed], position[listed]
