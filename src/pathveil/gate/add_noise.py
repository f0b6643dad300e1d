"""Noise on every cell of a table, empty ones included: the one way in which anything is measured.

In the order of this file: noise on exact counts, the occupied cells of a table in ranges of bounded
size, the empty cells that pass a threshold (Theorem 4), and the two kinds of table made of them.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import njit
from pathveil.core.noise import Gaussian, Laplace, Noise
from pathveil.gate.gaussian import gaussian_noise, gaussian_passing
from pathveil.gate.geometric import Geometric, noise_geometric, skip_geometric
from pathveil.gate.randomness import Randomness
from pathveil.statistics.noisy_table import NoisyTable

MOST_OCCUPIED = 1 << 16


# NoisyCount (Procedure 1, line 12): an exact count plus two-sided geometric noise.
#
# Sensitivity: on one level of the tree a trajectory is counted in one node at most, so adding or
# removing a unit with at most c trajectories changes the level's vector of counts by at most c in
# L1. Noise with P[X = x] = (1 − α)/(1 + α)·α^|x| and α = e^(−ε/(h·c)) changes the probability of
# any outcome by at most a factor α^(−c) = e^(ε/h): one level is ε/h-differentially private, and h
# levels compose to ε.


def discrete_laplace(
    size: int, level_epsilon: Fraction, randomness: Randomness
) -> NDArray[np.int64]:
    """Integer noise: the difference of two geometric numbers has exactly the law above."""
    geometric = noise_geometric(level_epsilon)
    return geometric.draw(size, randomness) - geometric.draw(size, randomness)


# Gaussian noise. A unit changes the vector of counts by at most Δ in L2. The Rényi divergence of
# order a between noise of parameter σ² and the same noise shifted by a whole number d is at most
# a·d²/(2σ²) (Canonne, Kamath and Steinke, 2020, theorem 4: for whole shifts exactly the formula of
# continuous Gaussian noise), for independent cells they add up, so that of the table is at most
# a·Δ²/(2σ²): the table is ρ-zero-concentrated differentially private with ρ = Δ²/(2σ²).


def drawn(size: int, noise: Noise, randomness: Randomness) -> NDArray[np.int64]:
    """Integer noise of a law."""
    if isinstance(noise, Laplace):
        return discrete_laplace(size, noise.epsilon, randomness)
    if isinstance(noise, Gaussian):
        return gaussian_noise(noise.variance).draw(size, randomness)
    raise TypeError("There is no such noise.")


# A table's occupied cells as a stream, cut into ranges that each hold a bounded number of them.
#
# So that noise needs memory for one range and for what passes, not for a whole level: an engine out
# of core or on a cluster has more non-empty children than one process should hold.
#
# Every cell of the table is in exactly one range, empty ones too: a range goes from where the last
# one ended to its own last occupied cell, and the last range goes to the end of the table. Where
# the cuts fall depends on exact counts, and on nothing else (not on the blocks in which an engine
# happens to deliver). They do not show in what is published: given the counts, each cell has noise
# and a test of its own, independent of all others, whichever range it is in; so the table has the
# law of the tests cell by cell, and the argument for it knows of no ranges.


Cells = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Some occupied cells, ascending, and their exact counts."""


@dataclass(frozen=True, slots=True, repr=False)
class Range:
    """The cells from ``begin`` to before ``end``. Private: it holds exact counts.

    Attributes:
        begin: the first cell.
        end: the cell after the last one.
        occupied: int64, ascending; the cells with a count ≥ 1, from ``begin`` on as 0, 1, 2 ….
        counts: int64; their exact counts.
    """

    begin: int
    end: int
    occupied: NDArray[np.int64]
    counts: NDArray[np.int64]


def ranges(blocks: Iterable[Cells], cells: int) -> Iterator[Range]:
    """The whole table, range by range.

    Args:
        blocks: its occupied cells, ascending within and across blocks, each cell once.
        cells: the number of all cells.

    Raises:
        RuntimeError: if the cells do not ascend: an engine that gives a count twice, or too late,
            would give a unit more than its share.
    """
    begin = 0
    for occupied, counts in _of_one_size(blocks):
        is_last = len(occupied) < MOST_OCCUPIED
        end = cells if is_last else int(occupied[-1]) + 1
        if len(occupied) and not _ascend(occupied, begin, cells):
            raise RuntimeError("an engine gave the counts of a table out of order")
        yield Range(begin, end, occupied - begin, counts)
        begin = end


def gathered(blocks: Iterable[Cells], cells: int) -> NDArray[np.int64]:
    """The exact counts of all cells of a small table, empty ones too; `ranges` checks the order."""
    counts = np.zeros(cells, dtype=np.int64)
    for part in ranges(blocks, cells):
        counts[part.begin + part.occupied] = part.counts
    return counts


def _ascend(occupied: NDArray[np.int64], begin: int, cells: int) -> bool:
    is_inside = begin <= occupied[0] and occupied[-1] < cells
    return bool(is_inside and np.all(occupied[:-1] < occupied[1:]))


def _of_one_size(blocks: Iterable[Cells]) -> Iterator[Cells]:
    """The same cells in blocks of MOST_OCCUPIED, and a last one of fewer, which may be empty."""
    occupied = counts = np.empty(0, dtype=np.int64)
    for more, their_counts in blocks:
        # What waits is less than a block, so this copies little; and a whole level not at all.
        occupied = np.concatenate((occupied, more)) if len(occupied) else more
        counts = np.concatenate((counts, their_counts)) if len(counts) else their_counts
        full = len(occupied) // MOST_OCCUPIED * MOST_OCCUPIED
        for start in range(0, full, MOST_OCCUPIED):
            stop = start + MOST_OCCUPIED
            yield occupied[start:stop], counts[start:stop]
        occupied, counts = occupied[full:], counts[full:]
    yield occupied, counts


# Theorem 4: the empty children that pass the threshold, without looking at each of them.
#
# Every (node, location) pair of a level with no trajectory would get noise and a test. All tests
# are independent and succeed with the same probability p_θ, so it is the same to walk over the
# pairs in order and jump from one success to the next: the number of failures in between is
# geometric with ratio 1 − p_θ. A success has count θ + J with J geometric with ratio α, because the
# noise's tail forgets where it began. The result has the law of the explicit tests exactly, in time
# proportional to the number of successes; |L| only appears in the arithmetic.


def passing_empty_nodes(
    occupied: NDArray[np.int64],
    pairs: int,
    level_epsilon: Fraction,
    threshold: int,
    randomness: Randomness,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The empty pairs of a level that pass θ, and their noisy counts.

    Args:
        occupied: int64, sorted; the pairs (node · |L| + location) that have trajectories.
        pairs: number of all pairs, occupied or not.
        level_epsilon: ε̄, the noise parameter of one count.
        threshold: θ ≥ 0.
        randomness: where the words come from.

    Returns:
        The passing pairs, sorted, and their counts; both int64.
    """
    skips = skip_geometric(level_epsilon, threshold)
    ranks = _walk(pairs - len(occupied), skips, randomness)
    counts = threshold + noise_geometric(level_epsilon).draw(len(ranks), randomness)
    return rank_to_pair(ranks, occupied), counts


def passing_empty_gaussians(
    occupied: NDArray[np.int64],
    pairs: int,
    variance: Fraction,
    threshold: int,
    randomness: Randomness,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The same for Gaussian noise of parameter σ² (`gate.gaussian` has the argument)."""
    passing = gaussian_passing(variance, threshold)
    ranks = _walk(pairs - len(occupied), passing.skips, randomness)
    is_kept, counts = passing.counts(len(ranks), randomness)
    return rank_to_pair(ranks[is_kept], occupied), counts[is_kept]


def _passing_empties(
    occupied: NDArray[np.int64], pairs: int, noise: Noise, threshold: int, randomness: Randomness
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    if isinstance(noise, Laplace):
        return passing_empty_nodes(occupied, pairs, noise.epsilon, threshold, randomness)
    if isinstance(noise, Gaussian):
        return passing_empty_gaussians(occupied, pairs, noise.variance, threshold, randomness)
    raise TypeError("There is no such noise.")


def rank_to_pair(ranks: NDArray[np.int64], occupied: NDArray[np.int64]) -> NDArray[np.int64]:
    """The pair that is the ``rank``-th empty one, for sorted occupied pairs.

    Before the j-th occupied pair lie ``occupied[j] - j`` empty ones, so the number of occupied
    pairs before a rank is found with one binary search.
    """
    empties_before = occupied - np.arange(len(occupied))
    return ranks + np.searchsorted(empties_before, ranks, side="right")


def _walk(length: int, skips: Geometric, randomness: Randomness) -> NDArray[np.int64]:
    """The successes among ``length`` independent tests, as sorted ranks."""
    batches: list[NDArray[np.int64]] = []
    position, batch = -1, 16
    while True:
        ranks, position = _advance(skips.draw(batch, randomness), position, length)
        batches.append(ranks)
        if position >= length:
            return np.concatenate(batches)
        batch = min(4 * batch, 1 << 20)


@njit(cache=True)
def _advance(skips: NDArray[np.int64], position: int, length: int) -> tuple[NDArray[np.int64], int]:
    """Jump from ``position`` over the skips until ``length`` is passed; the landings within it."""
    ranks = np.empty(len(skips), dtype=np.int64)
    for i in range(len(skips)):
        position = position + 1 + skips[i]  # at most 2^62 + 2^62: the skips saturate
        if position >= length:
            return ranks[:i], position
        ranks[i] = position
    return ranks, position


# Noise on every cell of a table, listed cell by cell or only above a threshold.
#
# The one way in which anything is measured. A unit changes the counts of all cells by at most
# ``sensitivity`` in L1 (the caller's argument, in words, beside the statistic), and every cell gets
# independent noise of parameter ε' = budget/sensitivity, so the noisy table costs its budget; or
# by at most Δ in L2, and noise of parameter σ² = Δ²/(2·budget), for a budget in ρ. Cells
# without trajectories get the same noise as the others: explicitly in a dense table, by the
# statistical process of Theorem 4 in a sparse one.


def dense_table(counts: NDArray[np.int64], noise: Noise, randomness: Randomness) -> NoisyTable:
    """Every cell with its noisy count."""
    noisy = counts + drawn(len(counts), noise, randomness)
    return NoisyTable(np.arange(len(counts)), noisy, len(counts), noise)


def sparse_table(
    blocks: Iterable[Cells],
    cells: int,
    noise: Noise,
    threshold: int,
    randomness: Randomness,
) -> NoisyTable:
    """The cells whose noisy count reaches the threshold, empty ones among them.

    Of the exact counts one range at a time is held (`ranges`), and of the rest what passed.

    Args:
        blocks: the cells with a count ≥ 1 and their exact counts, ascending. How they are cut into
            blocks does not matter: the same words give the same table.
        cells: the number of all cells.
        noise: on one count.
        threshold: θ.
        randomness: where the words come from.
    """
    passed = [
        _passing(part, noise, threshold, randomness) for part in ranges(blocks, cells)
    ]  # never empty: a table has at least one range
    keys, counts = (np.concatenate(column) for column in zip(*passed, strict=True))
    return NoisyTable(keys, counts, cells, noise, threshold)


def _passing(
    part: Range, noise: Noise, threshold: int, randomness: Randomness
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The cells of a range that pass θ, ascending, and their noisy counts."""
    occupied, size = part.occupied, part.end - part.begin
    noisy = part.counts + drawn(len(occupied), noise, randomness)
    passed = noisy >= threshold
    empty_keys, empty_counts = _passing_empties(occupied, size, noise, threshold, randomness)
    keys = np.concatenate((occupied[passed], empty_keys))
    listed = np.concatenate((noisy[passed], empty_counts))
    # Sorted together, so that nothing tells a kept empty cell from a kept occupied one.
    order = np.argsort(keys)
    return part.begin + keys[order], listed[order]
