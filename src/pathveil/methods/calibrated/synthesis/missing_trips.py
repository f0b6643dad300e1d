"""Trips that were measured and that too few synthetic trajectories make: more of them are made.

The calibration weighs trajectories; it can't make one. The movement model knows where people go
from here, and not where those who set out at a end up. So for a measured trip from a to b some
trajectories that begin at a are copied, and end when they come to b; or, if none of some does, at
b instead. What that spoils (visits, moves, lengths) the calibration mends, as long as both kinds
are there.
"""

import numpy as np
from numpy.typing import NDArray

from pathveil.core.paths import Paths
from pathveil.methods.calibrated.synthesis.canonical import SmallPaths, concatenate_paths, take_rows
from pathveil.methods.calibrated.synthesis.estimates import Estimated
from pathveil.statistics.constants import ENOUGH_OF_A_TRIP
from pathveil.statistics.statistic import places_among
from pathveil.statistics.trips import TRIPS

BLOCK = 1 << 18  # trajectories that are looked at together
TRIES = 8  # trajectories that are looked at for one that comes to the end; by argument


def with_missing_trips(
    paths: SmallPaths, known: Estimated, draw: np.random.Generator
) -> SmallPaths:
    """The same trajectories, and more where a measured trip is made by too few of them.

    Args:
        paths: over positions of candidates, none of them empty; if they are fewer than were
            measured, each stands for several.
        known: the denoised tables.
        draw: randomness for the synthesis.
    """
    trips = known.listed(TRIPS)
    if not len(trips.value) or not len(paths):
        return paths
    enough = ENOUGH_OF_A_TRIP * min(1.0, int(paths.weights.sum()) / known.total) * trips.value
    wanted, size = trips.listed_keys, known.scope.named
    made = np.zeros(len(wanted))
    for start in range(0, len(paths), BLOCK):
        made += _times_made(paths, slice(start, start + BLOCK), wanted, size)
    missing = np.maximum(enough - made, 0.0)
    # Of thousands of trips that hardly anybody makes, some are made: not one of each.
    rare = trips.value < 1.0
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
    parts = []
    for _ in range(TRIES):
        rows = by_first[starts[begin] + (draw.random(len(begin)) * count).astype(np.int64)]
        tried = take_rows(paths, rows, np.ones(len(rows), dtype=np.int64))
        lengths = _until(tried, end)
        parts.append(_shortened(tried, lengths))
        left = lengths == 0
        begin, end, count = begin[left], end[left], count[left]
    rows = by_first[starts[begin] + (draw.random(len(begin)) * count).astype(np.int64)]
    copied = take_rows(paths, rows, np.ones(len(rows), dtype=np.int64))
    copied.codes[copied.offsets[1:] - 1] = end
    return concatenate_paths([*parts, copied])


def _until(paths: Paths, end: NDArray[np.int64]) -> NDArray[np.int64]:
    """How long each is if it ends where it comes to its end after it began; 0 if it never does."""
    lengths = np.diff(paths.offsets)
    row = np.repeat(np.arange(len(lengths)), lengths)
    place = np.arange(len(row)) - paths.offsets[:-1][row]
    there = np.flatnonzero((paths.codes == end[row]) & (place > 0))
    found = np.zeros(len(lengths), dtype=np.int64)
    found[row[there[::-1]]] = place[there[::-1]] + 1  # the first one is written last
    return found


def _shortened(paths: Paths, lengths: NDArray[np.int64]) -> Paths:
    """The first so many visits of each; without those of none."""
    row = np.repeat(np.arange(len(lengths)), np.diff(paths.offsets))
    kept = np.arange(len(row)) - paths.offsets[:-1][row] < lengths[row]
    some = lengths > 0
    ends = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths[some])))
    return Paths(ends, paths.codes[kept], paths.weights[some])
