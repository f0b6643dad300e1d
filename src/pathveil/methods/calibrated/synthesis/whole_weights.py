"""From calibrated weights to whole ones: each row is rounded by what is owed to what it visits.

A release has whole trajectories, and the calibrated weights are parts of them: of few people there
are several rows for each, so most rows are left out. To leave rows out by a rule that looks at
their weights alone is to draw a sample, and a sample of 20,000 people is off by a tenth where 100
of them go. So it is remembered what rounding owes so far: to each location, to each move from one
to the next, to each two of the first few locations of a row; and to all rows, those of one shape
(how many visits, and different locations) and those of one trip (first and last location). A row is
rounded up if more than a half is owed, its own weight counted: the average over its locations,
moves and pairs, and what is owed to all, to its shape, or long rows would come last, and to its
trip, or small flows would be off by as much as there are of them. From then on they owe the
difference. This is how a picture is made of black and white dots (error diffusion; Floyd and
Steinberg, 1976), with locations and moves for neighbouring dots: what many rows have in common is
off by about 1, however many they are.
"""

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import njit
from pathveil.methods.calibrated.synthesis.canonical import SmallPaths

# Moves and pairs have a place in a table by a hash: two that share one only round less well.
TABLE_BITS = 20
_GOLDEN = 0x9E3779B97F4A7C15
MOST_PAIRED = 8  # distinct locations of a row whose pairs are looked at
MOST_TOLD = 64  # lengths, and numbers of distinct locations, that are told apart
HALF = 0.5


def whole_weights(
    paths: SmallPaths, weights: NDArray[np.float64], size: int, offset: float
) -> NDArray[np.int64]:
    """Each weight, rounded up or down.

    Args:
        paths: over codes in [0, size).
        weights: float64, ≥ 0.
        size: how many codes there are.
        offset: in [0, 1); where the sum of all begins, as in `complete.rounded_weights`.
    """
    # Of one type each: compiled once.
    offsets, codes = paths.offsets.astype(np.int64), paths.codes.astype(np.int32)
    return _diffused(offsets, codes, weights, size, offset - HALF)


@njit(cache=True, nogil=True)
def _diffused(
    offsets: NDArray[np.int64],
    codes: NDArray[np.int32],
    weights: NDArray[np.float64],
    size: int,
    begin: float,
) -> NDArray[np.int64]:
    whole = np.empty(len(weights), dtype=np.int64)
    in_all = begin
    by_shape = np.zeros((MOST_TOLD + 1, MOST_TOLD + 1), dtype=np.float32)
    by_location = np.zeros(size, dtype=np.float32)
    by_move = np.zeros(1 << TABLE_BITS, dtype=np.float32)
    by_pair = np.zeros(1 << TABLE_BITS, dtype=np.float32)
    by_trip = np.zeros(1 << TABLE_BITS, dtype=np.float32)
    last_seen = np.full(size, -1, dtype=np.int64)
    distinct = np.empty(size, dtype=np.int64)
    moves = np.empty(MOST_PAIRED, dtype=np.int64)
    pairs = np.empty(MOST_PAIRED * MOST_PAIRED, dtype=np.int64)
    for row in range(len(weights)):
        start, length = offsets[row], offsets[row + 1] - offsets[row]
        if length > len(moves):
            moves = np.empty(2 * length, dtype=np.int64)
        owed, count = 0.0, 0
        found = paired = 0
        for i in range(length):
            here = np.int64(codes[start + i])
            if i > 0:
                moves[i] = _place(codes[start + i - 1], here, size)
                owed += by_move[moves[i]]
                count += 1
            if last_seen[here] == row:
                continue
            last_seen[here] = row
            owed += by_location[here]
            count += 1
            for j in range(found if found < MOST_PAIRED else 0):
                other = distinct[j]
                pairs[paired] = _place(min(here, other), max(here, other), size)
                owed += by_pair[pairs[paired]]
                count += 1
                paired += 1
            distinct[found] = here
            found += 1
        least = np.floor(weights[row])
        part = weights[row] - least
        shape = min(length, MOST_TOLD), min(found, MOST_TOLD)
        trip = _place(codes[start], codes[start + length - 1], size)
        whole_row = in_all + by_shape[shape] + by_trip[trip]
        is_up = whole_row + owed / max(count, 1) + part > HALF
        whole[row] = np.int64(least) + is_up
        change = part - is_up
        in_all += change
        by_shape[shape] += change
        by_trip[trip] += change
        for i in range(found):
            by_location[distinct[i]] += change
        for i in range(1, length):
            by_move[moves[i]] += change
        for i in range(paired):
            by_pair[pairs[i]] += change
    return whole


@njit(cache=True, nogil=True)
def _place(one: np.integer, other: np.integer, size: int) -> np.int64:
    """Of two codes in their table."""
    mixed = (np.uint64(one) * np.uint64(size) + np.uint64(other)) * np.uint64(_GOLDEN)
    return np.int64(mixed >> np.uint64(64 - TABLE_BITS))
