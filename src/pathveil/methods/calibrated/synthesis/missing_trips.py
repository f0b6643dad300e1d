"""Trips that were measured and that too few synthetic trajectories make: more of them are made.

The calibration weighs trajectories; it can't make one. The movement model knows where people go
from here, and not where those who set out at a end up. So for a measured trip from a to b some
trajectories that begin at a are copied, and end at b instead. What that spoils (visits, moves,
lengths) the calibration mends, as long as both kinds are there.
"""

import numpy as np
from numpy.typing import NDArray

from pathveil.core.paths import Paths
from pathveil.methods.calibrated.synthesis.canonical import SmallPaths, take_rows
from pathveil.methods.calibrated.synthesis.estimates import Estimated
from pathveil.statistics.constants import ENOUGH_OF_A_TRIP
from pathveil.statistics.statistic import places_among
from pathveil.statistics.trips import TRIPS

BLOCK = 1 << 18  # trajectories that are looked at together


def with_missing_trips(
    paths: SmallPaths, known: Estimated, draw: np.random.Generator
) -> SmallPaths:
    """The same trajectories, and more where a measured trip is made by too few of them.

    Args:
        paths: over positions of candidates, none of them empty; if they are fewer than were
            measured, each stands for several, and if they are more for a part of one.
        known: the denoised tables.
        draw: randomness for the synthesis.
    """
    trips = known.listed(TRIPS)
    if not len(trips.value) or not len(paths):
        return paths
    enough = ENOUGH_OF_A_TRIP * (int(paths.weights.sum()) / known.total) * trips.value
    wanted, size = trips.listed_keys, known.scope.named
    made = np.zeros(len(wanted))
    for start in range(0, len(paths), BLOCK):
        made += _times_made(paths, slice(start, start + BLOCK), wanted, size)
    missing = np.maximum(enough - made, 0.0)
    # If all are told (`synthesis.rare_trips`), thousands of them are made by hardly anybody: of
    # those some are made, not one of each.
    rare = (trips.value < 1.0) & (len(wanted) == size * size)
    missing[rare] = np.floor(missing[rare] + draw.random(np.count_nonzero(rare)))
    missing = np.ceil(missing).astype(np.int64)
    copies = _copies(paths, wanted, missing, size, draw)
    return SmallPaths.joined((paths, copies), size + 1)


def _times_made(
    paths: SmallPaths, rows: slice, wanted: NDArray[np.int64], size: int
) -> NDArray[np.float64]:
    """Of some rows, those that begin and end at named locations: as often as each trip is made."""
    first, last = paths.codes[paths.offsets[:-1][rows]], paths.codes[paths.offsets[1:][rows] - 1]
    is_named = (first < size) & (last < size)
    cells = first[is_named].astype(np.int64) * size + last[is_named]
    at = places_among(wanted, cells, size * size)
    listed = at >= 0
    weights = paths.weights[rows][is_named][listed]
    return np.bincount(at[listed], weights, len(wanted)).astype(np.float64)


def _copies(
    paths: SmallPaths,
    wanted: NDArray[np.int64],
    missing: NDArray[np.int64],
    size: int,
    draw: np.random.Generator,
) -> Paths:
    """So many trajectories of each trip: others that begin there, with another end."""
    begin, end = np.divmod(np.repeat(wanted, missing), size)
    is_begin = np.zeros(size + 1, dtype=np.bool_)
    is_begin[begin] = True
    first = paths.codes[paths.offsets[:-1]]
    goes_on = np.flatnonzero(is_begin[first] & (np.diff(paths.offsets) > 1))
    by_first = goes_on[np.argsort(first[goes_on], kind="stable")]
    starts = np.searchsorted(first[by_first], np.arange(size + 1))
    count = np.diff(starts)[begin]
    has_one = count > 0
    begin, end, count = begin[has_one], end[has_one], count[has_one]
    rows = by_first[starts[begin] + (draw.random(len(begin)) * count).astype(np.int64)]
    copied = take_rows(paths, rows, np.ones(len(rows), dtype=np.int64))
    copied.codes[copied.offsets[1:] - 1] = end
    return copied
