"""How far flows are off, read from a table of them.

Where questions that nothing was fitted to tell little of a kind (`validated`; a city of few stops
has few questions), a table of that kind may tell more. Of every cell that a table lists
both the noisy count y and the released one e are known, and y = T + z with noise z of known law. So

    T − e = (y − e) − z

for every cell, however wrong the model is, and though the release was fitted to y. How y − e and z
hang together is not known, so the worst is assumed: that they are large together. The quantiles of
the two then add up, and half of what a level allows lies outside of each. Of a cell that a table
does not list y is between nobody and the threshold: the worst again, both ends are taken.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pathveil.core.paths import Paths
from pathveil.methods.calibrated.uncertainty.popularity_prior import simulated
from pathveil.statistics.constants import CONJUNCTION_DRAWS, ENOUGH_MOVES
from pathveil.statistics.measurement_plan import MeasurementPlan
from pathveil.statistics.measurements import Measurements
from pathveil.statistics.moves import MOVES
from pathveil.statistics.noisy_table import NoisyTable
from pathveil.statistics.statistic import Rows
from pathveil.statistics.trips import TRIPS

HALF = 0.5  # of what a level allows: for the residuals, and for the noise
_HALF_DECADES = np.concatenate((np.array([0.0, 1.0]), 10.0 ** np.arange(0.5, 12.1, 0.5)))


class Residuals(NamedTuple):
    """What a table says of released counts: its noisy ones less these, at least and at most.

    Attributes:
        released: float64; counts of cells.
        least, most: float64; the same if the table lists the cell. Of one that it does not list the
            noisy count is below the threshold, and not known.
    """

    released: NDArray[np.float64]
    least: NDArray[np.float64]
    most: NDArray[np.float64]


def trip_residuals(measurements: Measurements, released: Paths) -> Residuals | None:
    """Of every trip that is released or listed; None if the table of trips does not tell any.

    It does if it was counted as it is (not clipped, and scaled again). Trips from or to a location
    that it does not name are left out: few visit such a location at all.

    Args:
        measurements: the noisy tables.
        released: the released trajectories, over location codes.
    """
    if TRIPS not in measurements or measurements.trips_per_weight != 1 or not len(released):
        return None
    table, scope = measurements[TRIPS], measurements.scope
    rows = Rows(released.offsets, released.codes, scope.universe_size)
    cell = TRIPS.cell(rows.among(measurements.candidates), scope)[rows.not_empty]
    weights = released.weights[rows.not_empty][cell >= 0]
    cell = cell[cell >= 0]
    if table.threshold is None:
        counts = np.bincount(cell, weights, table.cells).astype(np.float64)
        left = table.counts - counts
        return Residuals(counts, left, left)
    keys, at = np.unique(np.concatenate((cell, table.keys)), return_inverse=True)
    counts = np.bincount(at[: len(cell)], weights, len(keys)).astype(np.float64)
    noisy = np.full((2, len(keys)), [[0.0], [float(table.threshold)]])
    noisy[:, np.searchsorted(keys, table.keys)] = table.counts
    # A trip that is neither released nor listed may be as frequent as the threshold lets it be.
    least, most = np.append(noisy - counts, [[0.0], [float(table.threshold)]], axis=1)
    return Residuals(np.append(counts, 0.0), least, most)


def worst_draws(
    found: Residuals, table: NoisyTable, draw: np.random.Generator
) -> list[tuple[int, NDArray[np.float64]]]:
    """True counts of cells by their size: at the smallest and the largest cell of each group.

    Args:
        found: of every cell.
        table: the noisy ones.
        draw: randomness.
    """
    noise = np.sort(simulated(table.noise, CONJUNCTION_DRAWS, draw))
    place = (np.arange(CONJUNCTION_DRAWS) + 0.5) / CONJUNCTION_DRAWS
    group_of = np.searchsorted(_HALF_DECADES, found.released, side="right")
    draws: list[tuple[int, NDArray[np.float64]]] = []
    for group in np.unique(group_of):
        inside = group_of == group
        ordered = np.sort(np.concatenate((found.least[inside], found.most[inside])))
        error = ordered[(place * len(ordered)).astype(np.int64)] + noise
        sizes = found.released[inside]
        ends = {int(sizes.min()), int(sizes.max())}
        draws.extend((end, np.maximum(np.round(end + error), 0.0)) for end in sorted(ends))
    return draws


# Moves: their table counts those that lead to a location for the first time, of some locations of
# a trajectory, so more are made than it counts. By how much more is released, cell by cell.


def move_draws(
    measurements: Measurements,
    plan: MeasurementPlan,
    released: Paths,
    draw: np.random.Generator,
) -> list[tuple[int, NDArray[np.float64]]]:
    """True counts of moves by their size, down to where the table lists every released move.

    Of a listed cell the noisy count y, the released one c that was counted likewise and the
    released count e of all such moves are known, so T = e·(y − z)/c·w, where w is how much more
    often the move is made, by its count in the table, than the release says. If the release knows
    nothing of which moves are made more often than the table counts, log w varies by √2 of what
    log(e/c) does among moves of this size. Residual and noise are taken to be large together.

    Args:
        measurements: the noisy tables.
        plan: the public caps.
        released: the released trajectories, over location codes.
        draw: randomness.
    """
    if MOVES not in measurements or measurements.trips_per_weight != 1 or not len(released):
        return []
    table, scope = measurements[MOVES], measurements.scope
    rows = Rows(released.offsets, released.codes, scope.universe_size)
    named = rows.among(measurements.candidates)
    row, cell = MOVES.row_cells(named, scope, plan[MOVES].cap)
    like = _Summed.of(cell, released.weights[row])
    made = _all_moves(Paths(released.offsets, named.positions, released.weights), scope.named)
    noisy = _Summed(table.keys, table.counts.astype(np.float64))
    counted, all_counts, listed = like.at(made.cells), made.counts, noisy.at(made.cells)
    known = (counted > 0) & (listed > 0)
    noise = np.sort(simulated(table.noise, CONJUNCTION_DRAWS, draw))
    more = draw.standard_normal(CONJUNCTION_DRAWS)
    place = (np.arange(CONJUNCTION_DRAWS) + 0.5) / CONJUNCTION_DRAWS
    group_of = np.searchsorted(_HALF_DECADES, all_counts, side="right")
    draws: list[tuple[int, NDArray[np.float64]]] = []
    inside = np.zeros(len(known), dtype=np.bool_)
    for group in np.unique(group_of)[::-1]:
        inside |= group_of == group  # a size of few moves is told with the next smaller one
        if not known[inside].all():
            break
        if np.count_nonzero(inside) < ENOUGH_MOVES:
            continue
        e, c, y = all_counts[inside], counted[inside], listed[inside]
        by_ratio = np.argsort(y / c)[(place * len(e)).astype(np.int64)]
        spread = np.sqrt(2.0) * np.log(e / c).std()
        factor = np.maximum(y[by_ratio] + noise, 0.0) / c[by_ratio] * np.exp(spread * more)
        ends = sorted({int(e.min()), int(e.max())})
        draws.extend((end, np.round(end * factor)) for end in ends)
        inside = np.zeros(len(known), dtype=np.bool_)
    return draws


class _Summed(NamedTuple):
    """Counts of some cells, in their order."""

    cells: NDArray[np.int64]
    counts: NDArray[np.float64]

    @classmethod
    def of(cls, cells: NDArray[np.integer], weights: NDArray[np.int64]) -> "_Summed":
        found, at = np.unique(cells, return_inverse=True)
        return cls(found.astype(np.int64), np.bincount(at, weights, len(found)).astype(np.float64))

    def at(self, cells: NDArray[np.int64]) -> NDArray[np.float64]:
        """The counts of these cells; 0 where there is none."""
        position = np.searchsorted(self.cells, cells)
        found = np.append(self.cells, -1)[position] == cells
        return np.where(found, np.append(self.counts, 0.0)[position], 0.0)


def _all_moves(paths: Paths, named: int) -> _Summed:
    """How often each move between different named locations is made."""
    row = np.repeat(np.arange(len(paths)), paths.lengths)
    codes = paths.codes.astype(np.int64)
    first, second = codes[:-1], codes[1:]
    moves = (row[1:] == row[:-1]) & (first != second) & (first < named) & (second < named)
    cells = first[moves] * named + second[moves]
    return _Summed.of(cells, paths.weights[row[:-1][moves]])
