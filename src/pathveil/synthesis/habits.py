"""The second stage denoised: how people come back to places, which moves and pairs they make."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pathveil.model.measurements import Measurements, NoisyTable
from pathveil.statistics.actions import SHAPE, possible_actions
from pathveil.statistics.visited_sets import bits_of
from pathveil.synthesis.denoise import Estimates, posterior, sparse_estimates
from pathveil.synthesis.popularity import PLAIN_MEDIAN, PopularityEstimates


@dataclass(frozen=True, slots=True, eq=False)
class PairEstimates:
    """Estimated counts > 0 of pairs of candidates, in ascending order of (first, second).

    Attributes:
        first, second: int64; positions among the candidates.
        value: float64; the counts.
        variance: float64.
    """

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    value: NDArray[np.float64]
    variance: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Habits:
    """The second stage, denoised.

    Attributes:
        actions: float64, shape `statistics.actions.SHAPE`.
        moves: first visits to ``second`` that came from ``first``.
        pairs: trajectories that visit both; first < second.
        sets: visited sets with an estimated count > 0.
        reach: shape (REACHES,); see `statistics.reach`.
    """

    actions: NDArray[np.float64]
    moves: PairEstimates
    pairs: PairEstimates
    sets: "SetEstimates"
    reach: Estimates


@dataclass(frozen=True, slots=True, eq=False)
class SetEstimates:
    """Estimated counts > 0 of visited sets.

    Attributes:
        bit: int8, shape (n + 1,); the bit of each candidate in a set, −1 if it has none.
        keys: int64, ascending; the sets, see `statistics.visited_sets`.
        counts: their counts.
    """

    bit: NDArray[np.int8]
    keys: NDArray[np.int64]
    counts: Estimates


def estimate_habits(measurements: Measurements, popularity: PopularityEstimates) -> Habits:
    """Denoise actions, moves and pairs.

    Args:
        measurements: all of them.
        popularity: the first stage of the candidates only.
    """
    count = len(measurements.candidates)
    first, second = np.divmod(measurements.moves.keys, max(count, 1))
    moves = _estimate_pairs(
        measurements.moves, first, second, first != second, count * (count - 1), popularity
    )
    first, second = np.divmod(measurements.pairs.keys, max(count, 1))
    pairs = _estimate_pairs(
        measurements.pairs, first, second, first < second, count * (count - 1) // 2, popularity
    )
    return Habits(
        _estimate_actions(measurements.actions),
        moves,
        pairs,
        _estimate_sets(measurements, popularity.sanity_bound),
        # Errors in a reach are absolute, so the median is the ordinary one.
        sparse_estimates(measurements.reach.counts, measurements.reach.scale, floor=PLAIN_MEDIAN),
    )


def _estimate_sets(measurements: Measurements, floor: float) -> SetEstimates:
    table = measurements.visited_sets
    known = sparse_estimates(
        table.counts,
        table.scale,
        hidden=table.cells - len(table.keys),
        threshold=table.threshold,
        floor=floor,
    )
    some = known.value > 0
    return SetEstimates(
        bits_of(measurements.popular, len(measurements.candidates) + 1),
        table.keys[some],
        Estimates(known.value[some], known.variance[some]),
    )


def _estimate_actions(table: NoisyTable) -> NDArray[np.float64]:
    counts = table.counts.reshape(SHAPE)
    possible = possible_actions()
    actions = np.zeros(SHAPE)
    actions[possible] = posterior(counts[possible], table.scale).mean
    return actions


def _estimate_pairs(
    table: NoisyTable,
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    possible: NDArray[np.bool_],
    cells: int,
    popularity: PopularityEstimates,
) -> PairEstimates:
    """Denoise the cells that can be occupied, ``cells`` of them, listed or not."""
    first, second, noisy = first[possible], second[possible], table.counts[possible]
    known = sparse_estimates(
        noisy,
        table.scale,
        hidden=cells - len(noisy),
        threshold=table.threshold,
        floor=popularity.sanity_bound,
    )
    visitors = popularity.visits.value[0]
    # A pair is not more frequent than either of its ends.
    value = np.minimum(known.value, np.minimum(visitors[first], visitors[second]))
    some = value > 0
    return PairEstimates(first[some], second[some], value[some], known.variance[some])
