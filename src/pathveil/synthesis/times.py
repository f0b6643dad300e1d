"""Give synthetic trajectories times: the last step of a synthesis with a time grid.

Every single trajectory gets slots of its own, which never decrease. The work is cut into chunks
with seeds of their own, so the result depends on the seeds only, and not on the threads.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import njit
from pathveil.model.measurement_plan import MeasurementPlan
from pathveil.model.measurements import Measurements
from pathveil.model.paths import Paths
from pathveil.statistics.pauses import pauses
from pathveil.statistics.registry import PAUSES, SLOTS
from pathveil.statistics.slots import first_values
from pathveil.synthesis.canonical import merge_identical
from pathveil.synthesis.clock import MOST_LIKING, Clock, shares
from pathveil.synthesis.threads import in_threads

CHUNK = 1 << 14  # trajectories
# Draws of a slot until a place likes it; the last one is taken as it is.
TRIES = 30
# The fit: so many rounds of so many trajectories, each changing a weight by a factor in between.
ROUNDS, SAMPLE, LARGEST_CHANGE = 24, 20_000, 3.0
# Three tables pull at the same slots: each goes so far towards its own aim.
DAMPING = 0.4
SMALL = 1e-4  # shares below this are not told apart


def with_times(
    paths: Paths,
    measurements: Measurements,
    plan: MeasurementPlan,
    draw: np.random.Generator,
) -> Paths:
    """The same trajectories as pair codes, slot·|L| + location, each distinct one once.

    Args:
        paths: over location codes, all of them candidates, with whole weights.
        measurements: the noisy tables, with those of times.
        plan: the public caps with which they were measured.
        draw: randomness for the synthesis.
    """
    size = measurements.universe_size
    position = np.zeros(size, dtype=np.int32)
    position[measurements.candidates] = np.arange(len(measurements.candidates), dtype=np.int32)
    if len(paths) == 0:
        return paths
    places = Paths(paths.offsets, position[paths.codes], paths.weights)
    rows = np.repeat(np.arange(len(paths)), paths.weights)
    clock = _fit(places, rows, Clock.of(measurements), plan, draw)
    offsets, slots = _draw_slots(places, rows, clock, draw)
    at = paths.offsets[rows] - offsets[:-1]
    codes = paths.codes[np.arange(len(slots)) + np.repeat(at, np.diff(offsets))]
    # Merged under small numbers in the same order: |L|·T of them may be too many for a table.
    used, ranks = np.unique(slots * np.int32(size) + codes, return_inverse=True)
    single = Paths(offsets, ranks.astype(np.int32), np.ones(len(rows), dtype=np.int64))
    merged = merge_identical(single, max(len(used), 2))
    return Paths(merged.offsets, used[merged.codes], merged.weights)


def _fit(
    places: Paths,
    rows: NDArray[np.int64],
    clock: Clock,
    plan: MeasurementPlan,
    draw: np.random.Generator,
) -> Clock:
    """Adjust the weights, measured shares to begin with, until a sample has the measured tables."""
    wanted_first, wanted_pauses, wanted_slots = clock.first, clock.pauses, clock.slots
    sample = rows[:: max(1, len(rows) // SAMPLE)]
    # A trajectory has one first slot and several others: their weights work as often.
    power = DAMPING / max(1.0, float(np.diff(places.offsets)[sample].mean()))
    for _ in range(ROUNDS):
        offsets, slots = _draw_slots(places, sample, clock, draw)
        clock = replace(
            clock,
            first=_adjusted(
                clock.first, wanted_first, slots[offsets[:-1]].astype(np.int64), DAMPING
            ),
            pauses=_adjusted(
                clock.pauses, wanted_pauses, pauses(offsets, slots, plan[PAUSES].cap), power
            ),
            slots=_adjusted(
                clock.slots, wanted_slots, first_values(offsets, slots, plan[SLOTS].cap), power
            ),
        )
    return clock


def _adjusted(
    weights: NDArray[np.float64],
    wanted: NDArray[np.float64],
    found: NDArray[np.int64],
    power: float,
) -> NDArray[np.float64]:
    got = shares(np.bincount(found, minlength=len(weights)).astype(np.float64))
    change = np.clip((wanted + SMALL) / (got + SMALL), 1 / LARGEST_CHANGE, LARGEST_CHANGE)
    return shares(weights * change**power)


def _draw_slots(
    places: Paths, rows: NDArray[np.int64], clock: Clock, draw: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Slots for all visits of some rows: the rows' offsets, and the slots."""
    starts = range(0, len(rows), CHUNK)
    seeds = draw.integers(2**63, size=len(starts))
    first, moves = clock.steps(int(np.diff(places.offsets).max(initial=1)))

    def chunk(task: tuple[int, int]) -> NDArray[np.int32]:
        start, seed = task
        slots: NDArray[np.int32] = _give(
            rows[start : start + CHUNK], places.offsets, places.codes,
            first, moves, clock.keys, clock.likings, clock.otherwise, seed,
        )  # fmt: skip
        return slots

    tasks = zip(starts, seeds.tolist(), strict=True)
    slots = np.concatenate((np.zeros(0, dtype=np.int32), *in_threads(chunk, tasks)))
    lengths = np.diff(places.offsets)[rows]
    return np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(lengths))), slots


@njit(cache=True, nogil=True, error_model="numpy")
def _give(
    rows: NDArray[np.int64],
    offsets: NDArray[np.int64],
    places: NDArray[np.int32],
    first: NDArray[np.float32],
    moves: NDArray[np.float32],
    keys: NDArray[np.int64],
    likings: NDArray[np.float64],
    otherwise: NDArray[np.float64],
    seed: int,
) -> NDArray[np.int32]:
    depth, count = first.shape
    state = np.full(1, seed, dtype=np.uint64)
    visits = 0
    for row in rows:
        visits += offsets[row + 1] - offsets[row]
    slots = np.empty(visits, dtype=np.int32)
    done = 0
    for row in rows:
        slot = -1
        for i in range(offsets[row], offsets[row + 1]):
            following = min(offsets[row + 1] - i, depth) - 1
            chances = first[following] if slot < 0 else moves[following, slot]
            there = 0
            for _ in range(TRIES):
                there = _first_above(chances, _uniform(state))
                liking = _liking(keys, likings, otherwise, places[i], there, count)
                if _uniform(state) * MOST_LIKING < liking:
                    break
            slot = max(there, slot)  # a row's rounding may not send anybody back
            slots[done] = slot
            done += 1
    return slots


@njit(cache=True, nogil=True)
def _liking(
    keys: NDArray[np.int64],
    likings: NDArray[np.float64],
    otherwise: NDArray[np.float64],
    place: int,
    slot: int,
    count: int,
) -> float:
    """How much a place likes a slot."""
    key = np.int64(place) * count + slot
    low, high = 0, len(keys)
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    listed = low < len(keys) and keys[low] == key
    return np.float64(likings[low] if listed else otherwise[place])


@njit(cache=True, nogil=True)
def _first_above(values: NDArray[np.float32], level: float) -> int:
    """The first position whose cumulative share is above ``level``; the last if none is."""
    low, high = 0, len(values) - 1
    while low < high:
        middle = (low + high) // 2
        if values[middle] > level:
            high = middle
        else:
            low = middle + 1
    return low


@njit(cache=True, nogil=True)
def _uniform(state: NDArray[np.uint64]) -> float:
    """As in `walk`, and here again because numba's cache does not see changes in other files."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    bits = state[0]
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    bits ^= bits >> np.uint64(31)
    return np.float64(bits >> np.uint64(11)) * 2.0**-53
