"""Noise on every cell of a table, listed cell by cell or only above a threshold.

The one way in which anything is measured. A unit changes the counts of all cells by at most
``sensitivity`` in L1 (the caller's argument, in words, beside the statistic), and every cell gets
independent noise of parameter ε' = budget/sensitivity, so the noisy table costs its budget. Cells
without trajectories get the same noise as the others: explicitly in a dense table, by the
statistical process of Theorem 4 in a sparse one.
"""

from collections.abc import Iterable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from pathveil.mechanism.empty_nodes import passing_empty_nodes
from pathveil.mechanism.noisy_count import discrete_laplace
from pathveil.mechanism.randomness import Randomness
from pathveil.mechanism.ranges import Cells, Range, ranges
from pathveil.statistics.noisy_table import NoisyTable


def dense_table(counts: NDArray[np.int64], epsilon: Fraction, randomness: Randomness) -> NoisyTable:
    """Every cell with its noisy count."""
    noisy = counts + discrete_laplace(len(counts), epsilon, randomness)
    return NoisyTable(np.arange(len(counts)), noisy, len(counts), epsilon)


def sparse_table(
    blocks: Iterable[Cells],
    cells: int,
    epsilon: Fraction,
    threshold: int,
    randomness: Randomness,
) -> NoisyTable:
    """The cells whose noisy count reaches the threshold, empty ones among them.

    Of the exact counts one range at a time is held (`ranges`), and of the rest what passed.

    Args:
        blocks: the cells with a count ≥ 1 and their exact counts, ascending. How they are cut into
            blocks does not matter: the same words give the same table.
        cells: the number of all cells.
        epsilon: the noise parameter of one count.
        threshold: θ.
        randomness: where the words come from.
    """
    passed = [
        _passing(part, epsilon, threshold, randomness) for part in ranges(blocks, cells)
    ]  # never empty: a table has at least one range
    keys, counts = (np.concatenate(column) for column in zip(*passed, strict=True))
    return NoisyTable(keys, counts, cells, epsilon, threshold)


def _passing(
    part: Range, epsilon: Fraction, threshold: int, randomness: Randomness
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The cells of a range that pass θ, ascending, and their noisy counts."""
    occupied, size = part.occupied, part.end - part.begin
    noisy = part.counts + discrete_laplace(len(occupied), epsilon, randomness)
    passed = noisy >= threshold
    empty_keys, empty_counts = passing_empty_nodes(occupied, size, epsilon, threshold, randomness)
    keys = np.concatenate((occupied[passed], empty_keys))
    listed = np.concatenate((noisy[passed], empty_counts))
    # Sorted together, so that nothing tells a kept empty cell from a kept occupied one.
    order = np.argsort(keys)
    return part.begin + keys[order], listed[order]
