"""The Markov baseline's measurements: exact cells of each statistic, and noise on all of them.

`markov_plan` has the sensitivity of each.
"""

from collections.abc import Mapping
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from bench.baselines.markov_plan import (
    DENSE_CELLS,
    INVENTED_CELLS,
    MarkovPlan,
)
from pathveil.core.noise import Laplace
from pathveil.core.thresholds import smallest_threshold
from pathveil.gate.add_noise import dense_table, sparse_table
from pathveil.gate.randomness import Randomness
from pathveil.raw.database import TrajectoryDatabase
from pathveil.statistics.noisy_table import NoisyTable

COUNTED_AT_ONCE = 1 << 23  # cells that are counted in one array rather than by sorting


def measure(
    database: TrajectoryDatabase, plan: MarkovPlan, randomness: Randomness
) -> dict[str, NoisyTable]:
    """Every statistic of the plan with its noise. Spends the plan's budget, all of it."""
    cells, size = statistic_cells(database, plan.height), plan.universe_size
    sizes = {"lengths": plan.height, "transitions": size * size, "trips": size * size}
    return {
        name: _noisy(
            cells[name],
            sizes.get(name, size),
            measurement.epsilon,
            randomness,
            is_dense=name == "lengths" or sizes.get(name, size) <= DENSE_CELLS,
        )
        for name, measurement in plan.measurements.items()
    }


def statistic_cells(database: TrajectoryDatabase, height: int) -> Mapping[str, NDArray[np.int64]]:
    """For each statistic the cells that the trajectories add 1 to, one entry each. Private.

    Pairs (i, j) are i·|L| + j; lengths l are l − 1. Trajectories without locations add nothing.
    """
    size = len(database.universe)
    starts, lengths = database.offsets[:-1], np.diff(database.offsets)
    starts, lengths = starts[lengths > 0], np.minimum(lengths[lengths > 0], height)
    # The places of the first h locations of every trajectory, and which of them are the last.
    ends = np.cumsum(lengths)
    place = np.arange(lengths.sum()) + np.repeat(starts - (ends - lengths), lengths)
    codes = database.codes[place].astype(np.int64)
    has_next = np.ones(len(codes), dtype=np.bool_)
    has_next[ends - 1] = False
    step = np.flatnonzero(has_next)
    first, last = codes[ends - lengths], codes[ends - 1]
    return {
        "lengths": lengths - 1,
        "transitions": codes[step] * size + codes[step + 1],
        "trips": first * size + last,
        "visits": codes,
        "first locations": first,
        "last locations": last,
    }


def _noisy(
    cells: NDArray[np.int64],
    size: int,
    epsilon: Fraction,
    randomness: Randomness,
    *,
    is_dense: bool,
) -> NoisyTable:
    """All cells or, if the table is large, a public fact, those above a threshold."""
    if is_dense:
        return dense_table(np.bincount(cells, minlength=size), Laplace(epsilon), randomness)
    if size > COUNTED_AT_ONCE:
        occupied, counts = np.unique(cells, return_counts=True)
    else:
        counts = np.bincount(cells, minlength=size)
        occupied = np.flatnonzero(counts)
        counts = counts[occupied]
    theta = smallest_threshold(epsilon, size, INVENTED_CELLS)
    return sparse_table([(occupied, counts)], size, Laplace(epsilon), theta, randomness)
