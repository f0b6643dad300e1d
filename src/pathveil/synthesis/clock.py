"""When synthetic visits happen: a model of slots, fitted to the noisy tables of times.

A trajectory of n visits has the slots s₁ ≤ … ≤ sₙ with a probability in proportion to

    first(s₁) · Π pause(sᵢ − sᵢ₋₁) · slot(sᵢ),

so nine hours after the morning is likely and nine hours after the evening is not, and whoever has
many visits makes short pauses, because all of them must fit. It is drawn slot by slot, exactly,
with V_r(s), the weight of all ways to place r more visits after one at s. Slots are also weighed
with how much a place likes them: the visits it has there over those it would have if every place
kept the same hours. The weights of firsts, pauses and slots are fitted by giving times to a sample
of trajectories, computing the same capped tables, and adjusting.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pathveil.model.measurements import Measurements
from pathveil.statistics.registry import FIRST_SLOTS, PAUSES, SLOTS, VISIT_SLOTS
from pathveil.statistics.statistic import Known, Statistic

# No place likes a slot more than so many times as much as any place does, or less.
MOST_LIKING, LEAST_LIKING = 8.0, 1 / 20
SMALLEST = 1e-9  # no pause and no slot is impossible
# Entries of the table of next slots (128 MB): it bounds how many visits are looked ahead.
LARGEST_TABLE = 1 << 25
MOST_AHEAD = 64


@dataclass(frozen=True, slots=True, eq=False)
class Clock:
    """T slots, n candidates.

    Attributes:
        first: float64, shape (T,); the weight of each slot as the first one.
        pauses: float64, shape (T,); the weight of each pause.
        slots: float64, shape (T,); the weight of each slot.
        keys: int64, ascending; visit slots, place·T + slot, whose liking is listed.
        likings: float64; theirs, at most `MOST_LIKING`.
        otherwise: float64, shape (n,); a place's liking of every other slot.
    """

    first: NDArray[np.float64]
    pauses: NDArray[np.float64]
    slots: NDArray[np.float64]
    keys: NDArray[np.int64]
    likings: NDArray[np.float64]
    otherwise: NDArray[np.float64]

    @classmethod
    def of(cls, measurements: Measurements) -> "Clock":
        """A first guess, before it is fitted: the measured shares as they are."""
        return cls(
            _measured_shares(measurements, FIRST_SLOTS),
            _measured_shares(measurements, PAUSES),
            _measured_shares(measurements, SLOTS),
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
            ways = ways / ways.max() + SMALLEST
        return first, moves


def _cumulative(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    reached = np.cumsum(weights, axis=-1)
    return reached / reached[..., -1:]


def _measured_shares(measurements: Measurements, statistic: Statistic) -> NDArray[np.float64]:
    """The estimated shares of the cells of a table."""
    table = measurements[statistic]
    return shares(statistic.denoise(table, measurements.scope, Known()).value)


def shares(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Shares of a sum, all of them above 0."""
    positive = counts / max(counts.sum(), 1.0) + SMALLEST
    result: NDArray[np.float64] = positive / positive.sum()
    return result


def _likings(
    measurements: Measurements,
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Listed visit slots, how much each place likes them, and how much it likes the others."""
    scope, table = measurements.scope, measurements[VISIT_SLOTS]
    named, slots = scope.named, scope.slots
    known = VISIT_SLOTS.denoise(table, scope, Known())
    place, slot = np.divmod(table.keys, slots)
    of_place = np.bincount(place, known.value, named)
    of_slot = np.bincount(slot, known.value, slots)
    total = max(of_slot.sum(), 1.0)
    expected = of_place[place] * of_slot[slot] / total
    # Where little is known a place is taken for any other.
    slack = table.scale
    liking = np.clip((known.value + slack) / (expected + slack), LEAST_LIKING, MOST_LIKING)
    if table.threshold is None:
        otherwise = np.ones(named)
    else:
        # What the listed slots would have got at any place but this one, others get less of here.
        listed = np.bincount(place, of_slot[slot] / total, named)
        trust = of_place / (of_place + table.threshold)
        otherwise = np.clip(1.0 - trust * np.minimum(listed, 1.0), LEAST_LIKING, 1.0)
    return table.keys, liking, otherwise
