"""The shape of a trajectory: how long it is, and how many different locations it visits.

A trajectory has one shape: it adds 1 to one cell. The bins are public: lengths 1 to 16, then four
to a doubling; distinct locations 1 to 12, then 13–16, 17–24 and more.
"""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pathveil.statistics.constants import (
    CERTAIN_SCALES,
    DOUBT_AFTER_A_GAP,
    DOUBT_OF_SHAPES,
    LENGTHS_ALIKE,
)
from pathveil.statistics.denoise import Estimates, posterior, sparse_estimates
from pathveil.statistics.noisy_table import NoisyTable
from pathveil.statistics.statistic import FIRST_LOOK, Known, OneCell, Rows, Scope, Statistic, Visit

Block: TypeAlias = tuple[slice, slice]  # some bins of lengths, and some of distinct locations

FIRST_LENGTHS, LENGTH_BINS = 16, 40
# The longest length of each bin but the last, which is open-ended.
LENGTH_ENDS = np.unique(
    np.concatenate(
        (
            np.arange(1, FIRST_LENGTHS + 1),
            np.floor(FIRST_LENGTHS * 2.0 ** (np.arange(1, LENGTH_BINS - FIRST_LENGTHS) / 4)),
        )
    ).astype(np.int64)
)
DISTINCT_ENDS = np.array([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 16, 24], dtype=np.int64)
DISTINCT_BINS = len(DISTINCT_ENDS) + 1
SINGLE_NUMBERS = 12  # of distinct locations that have a bin of their own
# What a bin of distinct locations stands for.
DISTINCT_VALUES = np.array([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 20, 32], dtype=np.float64)
SHAPE_CELLS = LENGTH_BINS * DISTINCT_BINS
# A floor above all counts: errors in a shape are absolute, so the median is the ordinary one.
PLAIN_MEDIAN = 1e18
LEAST_MEAN = 1e-3  # trajectories of a shape that is believed to occur
# The bins of all numbers up to the first of the open bin.
_LENGTH_BIN = np.searchsorted(LENGTH_ENDS, np.arange(LENGTH_ENDS[-1] + 2))
_DISTINCT_BIN = np.searchsorted(DISTINCT_ENDS, np.arange(DISTINCT_ENDS[-1] + 2))


class Shapes(OneCell):
    """See above."""

    name = "shapes"
    words = "the number of visits and of different locations, in bins"
    because = "it has one shape"
    stage = FIRST_LOOK
    repeats = True

    def size(self, scope: Scope) -> int:
        """The same for every universe."""
        return SHAPE_CELLS

    def cell(self, rows: Rows, scope: Scope) -> NDArray[np.int64]:
        """The shape."""
        return shape_cells(np.diff(rows.offsets), np.diff(rows.distinct[0]))

    def oracle(self, visits: Sequence[Visit], scope: Scope, cap: int) -> Iterator[int]:
        """How many ends of bins lie below."""
        if visits:
            distinct = len({visit.location for visit in visits})
            longer = sum(int(end) < len(visits) for end in LENGTH_ENDS)
            yield longer * DISTINCT_BINS + sum(int(end) < distinct for end in DISTINCT_ENDS)

    def denoise(self, table: NoisyTable, scope: Scope, known: Known) -> Estimates:
        """Shapes that can occur, shape (LENGTH_BINS, DISTINCT_BINS); the others are empty.

        Those of similar length are denoised by themselves, and of these such as visit more than
        twelve locations. Most shapes of short trajectories occur and hardly any of very long ones,
        or of such as go everywhere: what is a count among the former is noise among the latter,
        and one trajectory of 300 visits, or to all of twenty stops, that nobody made spoils more
        than fifty of 3. Shapes that noise alone explains nearly as well are taken not to occur.
        If that holds of all, and yet there are trajectories (`Known.has_trajectories`), they are
        taken for short ones.
        """
        bins = (LENGTH_BINS, DISTINCT_BINS)
        counts, possible = table.counts.reshape(bins), possible_shapes(scope.universe_size)
        value, variance = np.zeros(bins), np.ones(bins)
        for block, nearest in _blocks():
            cells = possible[block]
            # Who is much longer than everybody else, or goes to many more, is more likely noise.
            is_near = not nearest or any(value[near].any() for near in nearest)
            doubt = DOUBT_OF_SHAPES if is_near else DOUBT_AFTER_A_GAP
            found = sparse_estimates(
                counts[block][cells], table.noise, floor=PLAIN_MEDIAN, doubt=doubt
            )
            value[block][cells], variance[block][cells] = found.value, found.variance
        if known.has_trajectories and not value.any():
            short = slice(LENGTHS_ALIKE)
            likely = posterior(counts[short][possible[short]], table.noise)
            value[short][possible[short]] = np.maximum(likely.mean, LEAST_MEAN)
            variance[short][possible[short]] = likely.variance
        return Estimates(value, variance)

    def compared(self) -> Sequence[Statistic]:
        """Lengths are known much better than single shapes."""
        return (LENGTHS, self)


class Lengths(OneCell):
    """The lengths of trajectories in bins: sums over the table of shapes, not measured."""

    name = "lengths"
    words = "the number of visits, in bins"
    because = "it has one length"
    stage = FIRST_LOOK

    def size(self, scope: Scope) -> int:
        """The same for every universe."""
        return LENGTH_BINS

    def cell(self, rows: Rows, scope: Scope) -> NDArray[np.int64]:
        """The bin of the length."""
        return np.where(rows.not_empty, length_bins(np.diff(rows.offsets)), -1)

    def oracle(self, visits: Sequence[Visit], scope: Scope, cap: int) -> Iterator[int]:
        """That of the shape."""
        return (cell // DISTINCT_BINS for cell in SHAPES.oracle(visits, scope, cap))


def _blocks() -> Iterator[tuple[Block, list[Block]]]:
    """Shapes that are alike, and the blocks of those that are next shorter or visit next fewer."""
    lengths = [slice(i, i + LENGTHS_ALIKE) for i in range(0, LENGTH_BINS, LENGTHS_ALIKE)]
    distinct = [slice(SINGLE_NUMBERS), slice(SINGLE_NUMBERS, DISTINCT_BINS)]
    for i, length in enumerate(lengths):
        for j, different in enumerate(distinct):
            shorter = [(lengths[i - 1], different)] if i else []
            fewer = [(length, distinct[j - 1])] if j else []
            yield (length, different), shorter + fewer


def length_bins(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """The bin of each length ≥ 1."""
    return _LENGTH_BIN[np.minimum(lengths, len(_LENGTH_BIN) - 1)]


def shape_cells(lengths: NDArray[np.int64], distinct: NDArray[np.int64]) -> NDArray[np.int64]:
    """The cell of each trajectory, length bin · DISTINCT_BINS + distinct bin; -1 if it is empty.

    Args:
        lengths: int64; how many visits they have.
        distinct: int64; how many different locations they visit; unnamed locations all differ.
    """
    distinct_bins = _DISTINCT_BIN[np.minimum(distinct, len(_DISTINCT_BIN) - 1)]
    return np.where(lengths > 0, length_bins(lengths) * DISTINCT_BINS + distinct_bins, -1)


def possible_shapes(universe_size: int) -> NDArray[np.bool_]:
    """Which shapes can occur: no more distinct locations than visits, nor than the universe has.

    Shape (LENGTH_BINS, DISTINCT_BINS).
    """
    longest = np.append(LENGTH_ENDS, np.iinfo(np.int64).max)[:LENGTH_BINS]
    fewest = np.concatenate((np.ones(1, np.int64), DISTINCT_ENDS + 1))
    return (fewest[None, :] <= longest[:, None]) & (fewest[None, :] <= universe_size)


def shape_values(
    counts: NDArray[np.float64], universe_size: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Visits, and different locations, that the shapes stand for; float64, shape (SHAPE_CELLS,).

    The open bin of distinct locations stands for as many per visit as the bins below it have.

    Args:
        counts: float64, shape (LENGTH_BINS, DISTINCT_BINS); how frequent the shapes are.
        universe_size: |L|.
    """
    starts = np.concatenate((np.ones(1), LENGTH_ENDS + 1.0))
    middles = np.append((starts[:-1] + LENGTH_ENDS) / 2, starts[-1])[:LENGTH_BINS]
    lengths = np.repeat(middles, DISTINCT_BINS).reshape(LENGTH_BINS, DISTINCT_BINS)
    distinct = np.tile(DISTINCT_VALUES, (LENGTH_BINS, 1))
    many = slice(8, DISTINCT_BINS - 1)
    visits = float((counts[:, many] * lengths[:, many]).sum())
    different = float((counts[:, many] * distinct[:, many]).sum())
    per_visit = min(max(different / visits, 0.1), 1.0) if visits > 0 else 0.7
    distinct[:, -1] = np.maximum(DISTINCT_ENDS[-1] + 1.0, per_visit * lengths[:, -1])
    distinct = np.minimum(np.minimum(distinct, lengths), universe_size)
    return lengths.ravel(), distinct.ravel()


def count_shapes(total: NoisyTable, shapes: NoisyTable, scope: Scope) -> tuple[float, Estimates]:
    """How many trajectories there are, 0 if none stands out of the noise, and of which shapes.

    The noise on one count can be taken for trajectories, so the shapes have to tell of them; unless
    the count is so large that it is hardly ever noise.
    """
    has_trajectories = total.counts[0] > CERTAIN_SCALES * total.scale
    known = SHAPES.denoise(shapes, scope, Known(has_trajectories=bool(has_trajectories)))
    number = float(max(total.counts[0], 0)) if known.value.any() else 0.0
    scaling = number / max(float(known.value.sum()), 1e-9)
    return number, Estimates(known.value * scaling, known.variance)


SHAPES = Shapes()
LENGTHS = Lengths()
