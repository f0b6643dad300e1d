"""How far flows are off, read from a table of them that lists every cell.

Where questions that nothing was fitted to tell little of a kind (`validated`; a city of few stops
has few questions), a table of that kind may tell more. Of every cell of a table without a threshold
both the noisy count y and the released one e are known, and y = T + z with noise z of known law. So

    T − e = (y − e) − z

for every cell, however wrong the model is, and though the release was fitted to y. How y − e and z
hang together is not known, so the worst is assumed: that they are large together. The quantiles of
the two then add up, and half of what a level allows lies outside of each.
"""

import numpy as np
from numpy.typing import NDArray

from pathveil.core.paths import Paths
from pathveil.methods.calibrated.uncertainty.popularity_prior import simulated
from pathveil.statistics.constants import CONJUNCTION_DRAWS
from pathveil.statistics.measurements import Measurements
from pathveil.statistics.noisy_table import NoisyTable
from pathveil.statistics.statistic import Rows
from pathveil.statistics.trips import TRIPS

HALF = 0.5  # of what a level allows: for the residuals, and for the noise
_HALF_DECADES = np.concatenate((np.array([0.0, 1.0]), 10.0 ** np.arange(0.5, 12.1, 0.5)))


def released_trips(measurements: Measurements, released: Paths) -> NDArray[np.float64] | None:
    """The released count of every cell of the table of trips; None if that does not tell trips.

    It does if it lists all cells, as they were counted (not clipped, and scaled again), and every
    released trajectory is in one.

    Args:
        measurements: the noisy tables.
        released: the released trajectories, over location codes.
    """
    if TRIPS not in measurements or measurements.trips_per_weight != 1:
        return None
    table, scope = measurements[TRIPS], measurements.scope
    if table.threshold is not None or not len(released):
        return None
    rows = Rows(released.offsets, released.codes, scope.universe_size)
    cell = TRIPS.cell(rows.among(measurements.candidates), scope)[rows.not_empty]
    if np.any(cell < 0):
        return None
    counts = np.bincount(cell, released.weights[rows.not_empty], table.cells)
    return counts.astype(np.float64)


def worst_draws(
    released: NDArray[np.float64], table: NoisyTable, draw: np.random.Generator
) -> list[tuple[int, NDArray[np.float64]]]:
    """True counts of cells by their size: at the smallest and the largest cell of each group.

    Args:
        released: the count of every cell.
        table: the noisy ones.
        draw: randomness.
    """
    noise = np.sort(simulated(table.noise, CONJUNCTION_DRAWS, draw))
    place = (np.arange(CONJUNCTION_DRAWS) + 0.5) / CONJUNCTION_DRAWS
    residuals = table.counts - released
    group_of = np.searchsorted(_HALF_DECADES, released, side="right")
    draws: list[tuple[int, NDArray[np.float64]]] = []
    for group in np.unique(group_of):
        inside = group_of == group
        ordered = np.sort(residuals[inside])
        error = ordered[(place * len(ordered)).astype(np.int64)] + noise
        ends = {int(released[inside].min()), int(released[inside].max())}
        draws.extend((end, np.maximum(np.round(end + error), 0.0)) for end in sorted(ends))
    return draws
