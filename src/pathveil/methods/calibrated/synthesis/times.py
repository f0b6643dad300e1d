"""When synthetic visits happen: a model of slots, fitted to the noisy tables of times.

A trajectory of n visits has the slots s₁ ≤ … ≤ sₙ with a probability in proportion to

    first(s₁) · Π pause(sᵢ − sᵢ₋₁) · slot(sᵢ),

so nine hours after the morning is likely and nine hours after the evening is not, and whoever has
many visits makes short pauses, because all of them must fit. It is drawn slot by slot, exactly,
with V_r(s), the weight of all ways to put r more visits after one at s. Slots are also weighed
with how much a location likes them: the visits it has there over those it would have if all kept
the same hours. The weights of firsts, pauses and slots are fitted by giving times to a sample of
trajectories, computing the same capped tables, and adjusting.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import njit
from pathveil.core.paths import Paths
from pathveil.methods.calibrated.synthesis.canonical import merge_identical
from pathveil.methods.calibrated.synthesis.ridden_hours import occupied_slots
from pathveil.statistics.constants import (
    LEAST_TIME_WEIGHT,
    SMALL_SHARE,
    TIME_DAMPING,
    TIME_ROUNDS,
    TIME_SAMPLE,
    TIME_STEP,
)
from pathveil.statistics.first_slots import FIRST_SLOTS
from pathveil.statistics.measurement_plan import MeasurementPlan
from pathveil.statistics.measurements import Measurements
from pathveil.statistics.pauses import PAUSES, pauses
from pathveil.statistics.slots import SLOTS, first_values
from pathveil.statistics.statistic import Known, Statistic
from pathveil.statistics.visit_slots import VISIT_SLOTS
from pathveil.threads import in_threads
from pathveil.times.time_grid import TimeGrid

# No location likes a slot more than so many times as much as any location does, or less.
MOST_LIKING, LEAST_LIKING = 8.0, 1 / 20
# Entries of the table of next slots (128 MB): it bounds how many visits are looked ahead.
LARGEST_TABLE = 1 << 25
MOST_AHEAD = 64
CHUNK = 1 << 14  # trajectories
MOST_TIMED = 1 << 22  # trajectories that get times of their own
# Draws of a slot until a location likes it; the last one is taken as it is.
TRIES = 30


@dataclass(frozen=True, slots=True, eq=False)
class Clock:
    """T slots, n candidates.

    Attributes:
        first: float64, shape (T,); the weight of each slot as the first one.
        pauses: float64, shape (T,); the weight of each pause.
        slots: float64, shape (T,); the weight of each slot.
        keys: int64, ascending; visit slots, location·T + slot, whose liking is listed.
        likings: float64; theirs, at most `MOST_LIKING`.
        otherwise: float64, shape (n + 1,); a location's liking of every other slot; the last one is
            of locations that are no candidates.
    """

    first: NDArray[np.float64]
    pauses: NDArray[np.float64]
    slots: NDArray[np.float64]
    keys: NDArray[np.int64]
    likings: NDArray[np.float64]
    otherwise: NDArray[np.float64]

    @classmethod
    def of(cls, measurements: Measurements, grid: TimeGrid) -> "Clock":
        """A first guess, before it is fitted: the measured shares, but nothing where noise is."""
        occupied = occupied_slots(measurements[SLOTS], measurements[FIRST_SLOTS], grid)
        return cls(
            _measured_shares(measurements, FIRST_SLOTS, occupied),
            _measured_shares(measurements, PAUSES),
            _measured_shares(measurements, SLOTS, occupied),
            *_likings(measurements),
        )

    def steps(self, longest: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Cumulative shares of the first slot and of the next one, by how many visits follow it.

        Args:
            longest: the most visits of a trajectory.

        Returns:
            float32, shapes (R, T) and (R, T, T); R is as many visits as are looked ahead.
        """
        count = len(self.slots)
        rows = np.arange(count)
        ahead = rows[None, :] - rows[:, None]
        weights = np.where(ahead >= 0, self.pauses[np.maximum(ahead, 0)] * self.slots, 0.0)
        depth = max(1, min(longest, MOST_AHEAD, LARGEST_TABLE // count**2))
        first = np.empty((depth, count), dtype=np.float32)
        moves = np.empty((depth, count, count), dtype=np.float32)
        ways = np.ones(count)
        for following in range(depth):
            first[following] = _cumulative(self.first * ways)
            moves[following] = _cumulative(weights * ways)
            ways = weights @ ways
            ways = ways / ways.max() + LEAST_TIME_WEIGHT
        return first, moves


def _cumulative(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    reached = np.cumsum(weights, axis=-1)
    return reached / reached[..., -1:]


def _measured_shares(
    measurements: Measurements, statistic: Statistic, occupied: NDArray[np.bool_] | bool = True
) -> NDArray[np.float64]:
    """The estimated shares of the cells of a table."""
    table = measurements[statistic]
    return shares(statistic.denoise(table, measurements.scope, Known()).value * occupied)


def shares(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Shares of a sum, all of them above 0."""
    positive = counts / max(counts.sum(), 1.0) + LEAST_TIME_WEIGHT
    result: NDArray[np.float64] = positive / positive.sum()
    return result


def _likings(
    measurements: Measurements,
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Listed visit slots, how much each location likes them, and how much it likes the others."""
    scope, table = measurements.scope, measurements[VISIT_SLOTS]
    named, slots = scope.named, scope.slots
    known = VISIT_SLOTS.denoise(table, scope, Known())
    location, slot = np.divmod(table.keys, slots)
    of_location = np.bincount(location, known.value, named)
    of_slot = np.bincount(slot, known.value, slots)
    total = max(of_slot.sum(), 1.0)
    expected = of_location[location] * of_slot[slot] / total
    # Where little is known a location is taken for any other.
    slack = table.scale
    liking = np.clip((known.value + slack) / (expected + slack), LEAST_LIKING, MOST_LIKING)
    if table.threshold is None:
        otherwise = np.ones(named)
    else:
        # What the listed slots would have got elsewhere, the others get less of at this location.
        listed = np.bincount(location, of_slot[slot] / total, named)
        trust = of_location / (of_location + table.threshold)
        otherwise = np.clip(1.0 - trust * np.minimum(listed, 1.0), LEAST_LIKING, 1.0)
    return table.keys, liking, np.append(otherwise, 1.0)


# Give synthetic trajectories times: the last step of a synthesis with a time grid.
#
# Every single trajectory gets slots of its own, which never decrease. The work is cut into chunks
# with seeds of their own, so the result depends on the seeds only, and not on the threads.


def with_times(
    paths: Paths,
    measurements: Measurements,
    plan: MeasurementPlan,
    grid: TimeGrid,
    draw: np.random.Generator,
) -> Paths:
    """The same trajectories as pair codes, slot·|L| + location, each distinct one once.

    Args:
        paths: over location codes, with whole weights.
        measurements: the noisy tables, with those of times.
        plan: the public caps with which they were measured.
        grid: the public slots.
        draw: randomness for the synthesis.
    """
    size = measurements.universe_size
    position = np.full(size, len(measurements.candidates), dtype=np.int32)
    position[measurements.candidates] = np.arange(len(measurements.candidates), dtype=np.int32)
    if len(paths) == 0:
        return paths
    positions = Paths(paths.offsets, position[paths.codes], paths.weights)
    rows, weights = _copies(paths.weights)
    clock = _fit(positions, Clock.of(measurements, grid), plan, draw)
    offsets, slots = _draw_slots(positions, rows, clock, draw)
    at = paths.offsets[rows] - offsets[:-1]
    codes = paths.codes[np.arange(len(slots)) + np.repeat(at, np.diff(offsets))]
    # Merged under small numbers in the same order: |L|·T of them may be too many for a table.
    used, ranks = np.unique(slots * np.int32(size) + codes, return_inverse=True)
    single = Paths(offsets, ranks.astype(np.int32), weights)
    merged = merge_identical(single, max(len(used), 2))
    return Paths(merged.offsets, used[merged.codes], merged.weights)


def _copies(weights: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Which path each trajectory that gets times of its own has, and for how many it stands.

    For one each, as long as they are not more than `MOST_TIMED`; else a path has fewer copies, in
    proportion and one at least, which share its weight as evenly as whole numbers can.
    """
    ratio = min(1.0, MOST_TIMED / float(weights.sum()))
    copies = np.minimum(np.maximum(np.ceil(weights * ratio).astype(np.int64), 1), weights)
    rows = np.repeat(np.arange(len(weights)), copies)
    turn = np.arange(len(rows)) - np.repeat(np.cumsum(copies) - copies, copies)
    each, rest = np.divmod(weights, copies)
    return rows, each[rows] + (turn < rest[rows])


def _fit(
    positions: Paths,
    clock: Clock,
    plan: MeasurementPlan,
    draw: np.random.Generator,
) -> Clock:
    """Adjust the weights, measured shares to begin with, until a sample has the measured tables."""
    wanted_first, wanted_pauses, wanted_slots = clock.first, clock.pauses, clock.slots
    reached = np.cumsum(positions.weights)
    total = int(reached[-1])
    every = np.arange(0, total, max(1, total // TIME_SAMPLE))
    sample = np.searchsorted(reached, every, side="right")
    # A trajectory has one first slot and several others: their weights work as often.
    power = TIME_DAMPING / max(1.0, float(np.diff(positions.offsets)[sample].mean()))
    for _ in range(TIME_ROUNDS):
        offsets, slots = _draw_slots(positions, sample, clock, draw)
        clock = replace(
            clock,
            first=_adjusted(
                clock.first, wanted_first, slots[offsets[:-1]].astype(np.int64), TIME_DAMPING
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
    change = np.clip((wanted + SMALL_SHARE) / (got + SMALL_SHARE), 1 / TIME_STEP, TIME_STEP)
    return shares(weights * change**power)


def _draw_slots(
    positions: Paths, rows: NDArray[np.int64], clock: Clock, draw: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Slots for all visits of some rows: the rows' offsets, and the slots."""
    starts = range(0, len(rows), CHUNK)
    seeds = draw.integers(2**63, size=len(starts))
    first, moves = clock.steps(int(np.diff(positions.offsets).max(initial=1)))

    def chunk(task: tuple[int, int]) -> NDArray[np.int32]:
        start, seed = task
        slots: NDArray[np.int32] = _give(
            rows[start : start + CHUNK], positions.offsets, positions.codes,
            first, moves, clock.keys, clock.likings, clock.otherwise, seed,
        )  # fmt: skip
        return slots

    tasks = zip(starts, seeds.tolist(), strict=True)
    slots = np.concatenate((np.zeros(0, dtype=np.int32), *in_threads(chunk, tasks)))
    lengths = np.diff(positions.offsets)[rows]
    return np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(lengths))), slots


@njit(cache=True, nogil=True, error_model="numpy")
def _give(
    rows: NDArray[np.int64],
    offsets: NDArray[np.int64],
    positions: NDArray[np.int32],
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
                liking = _liking(keys, likings, otherwise, positions[i], there, count)
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
    location: int,
    slot: int,
    count: int,
) -> float:
    """How much a location likes a slot."""
    key = np.int64(location) * count + slot
    low, high = 0, len(keys)
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    listed = low < len(keys) and keys[low] == key
    return np.float64(likings[low] if listed else otherwise[location])


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
