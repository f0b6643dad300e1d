"""Trajectories as n-grams: one row for each place in a trajectory at which an n-gram can start.

A trajectory x₁ … x_l is written $ x₁ … x_l $ with a boundary symbol $, which is the start symbol in
front and the termination symbol at the end. One that is longer than h is cut there and gets the
symbol CUT instead: it did not end, and yet the counts of what follows an n-gram add up to the
count of the n-gram. From each place but the last up to ``longest`` symbols are read. The prefixes
of such a row are all n-grams that start there, so counting n-grams is counting prefixes.
"""

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import njit
from pathveil.raw.database import TrajectoryDatabase
from pathveil.universe.universe import Universe

EXTRA_SYMBOLS = 2
"""After the locations 0 … |L| − 1: the boundary $ is |L|, CUT is |L| + 1."""


def grams_of(database: TrajectoryDatabase, height: int, longest: int) -> TrajectoryDatabase:
    """A row for each starting place. Private, as the database is.

    A trajectory becomes at most h + 1 rows: one for $ and one for each of its first h locations.
    One without locations becomes none.
    """
    offsets, codes = _windows(
        database.offsets, database.codes, len(database.universe), height, longest
    )
    symbols = Universe([*map(str, range(len(database.universe))), "$", "CUT"])
    most = (height + 1) * database.max_trajectories_per_unit
    return TrajectoryDatabase(offsets, codes, symbols, most)


@njit(cache=True)
def _windows(
    offsets: NDArray[np.int64],
    codes: NDArray[np.int32],
    boundary: int,
    height: int,
    longest: int,
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    windows = 0
    for row in range(len(offsets) - 1):
        length = min(offsets[row + 1] - offsets[row], height)
        windows += length + 1 if length > 0 else 0
    new_offsets = np.zeros(windows + 1, dtype=np.int64)
    new_codes = np.empty(windows * longest, dtype=np.int32)
    symbols = np.empty(height + 2, dtype=np.int32)
    window = written = 0
    for row in range(len(offsets) - 1):
        length = min(offsets[row + 1] - offsets[row], height)
        if length == 0:
            continue
        symbols[0] = boundary
        symbols[1 : length + 1] = codes[offsets[row] : offsets[row] + length]
        is_cut = offsets[row + 1] - offsets[row] > height
        symbols[length + 1] = boundary + 1 if is_cut else boundary
        for start in range(length + 1):
            stop = min(start + longest, length + 2)
            new_codes[written : written + stop - start] = symbols[start:stop]
            written += stop - start
            window += 1
            new_offsets[window] = written
    return new_offsets, new_codes[:written].copy()
