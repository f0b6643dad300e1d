"""Trajectories over the candidate locations only, with their end written out.

A trajectory is followed while it stays among the candidates and for ``levels`` locations at most;
if it ends before that, END (one more location) is appended. One that leaves the candidates is cut
there without an END. What becomes of a trajectory depends on it alone, so units stay what they
were.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from pathveil.model.universe import Universe
from pathveil.raw.database import TrajectoryDatabase


def candidate_prefixes(
    database: TrajectoryDatabase, candidates: NDArray[np.int64], levels: int
) -> TrajectoryDatabase:
    """The prefixes as a database over ``len(candidates)`` + 1 locations, the last one END."""
    position = np.full(len(database.universe), -1, dtype=np.int32)
    position[candidates] = np.arange(len(candidates), dtype=np.int32)
    offsets, codes = _follow(database.offsets, database.codes, position, len(candidates), levels)
    labels = Universe([*map(str, range(len(candidates))), "END"])
    return TrajectoryDatabase(offsets, codes, labels, database.max_trajectories_per_unit)


@njit(cache=True)
def _follow(
    offsets: NDArray[np.int64],
    codes: NDArray[np.int32],
    position: NDArray[np.int32],
    end: int,
    levels: int,
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    rows = len(offsets) - 1
    new_offsets = np.zeros(rows + 1, dtype=np.int64)
    most = 0
    for row in range(rows):
        most += min(offsets[row + 1] - offsets[row] + 1, levels)
    new_codes = np.empty(most, dtype=np.int32)
    written = 0
    for row in range(rows):
        length = offsets[row + 1] - offsets[row]
        step = 0
        while step < min(length, levels) and position[codes[offsets[row] + step]] >= 0:
            new_codes[written] = position[codes[offsets[row] + step]]
            written += 1
            step += 1
        if 0 < length == step and step < levels:
            new_codes[written] = end
            written += 1
        new_offsets[row + 1] = written
    return new_offsets, new_codes[:written].copy()
