"""Calibrate: weigh the synthetic trajectories so that their tables become the measured ones.

Among all weights, find those that stay closest to the model's and yet agree with the noisy tables
as well as noise allows: minimise

    KL(w ‖ b) + Σ_c (S_c(w) − t_c)² / (2·κ_c·v_c),    S_c(w) = sum of w over the rows of cell c,

where b are the weights to begin with (if there are more rows than people, the model's times a share
of a person), t_c the estimated count of a cell and v_c its variance. This
is raking (an entropy projection) with slack: tables that contradict one another, or that no
weights can meet, do no harm, and noise is followed only as far as it is small. If people were drawn
by the model, each by itself, κ_c would be 1 (that is what the KL divergence says of them); it is
less because the model is wrong (`Targets.trust`).

Its dual has one number λ_c for each cell. The best weights are w_i = b_i·exp(Σ λ_c over the cells
of row i), and λ minimises the smooth convex function

    Σ_i w_i(λ) − Σ_c t_c·λ_c + ½·Σ_c κ_c·v_c·λ_c²

whose gradient is S − t + κ·v·λ. A quasi-Newton method finds it in a few dozen passes over the rows.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import njit
from pathveil.core.paths import Paths
from pathveil.methods.calibrated.synthesis.canonical import SmallPaths, block_of
from pathveil.methods.calibrated.synthesis.quasi_newton import Point, dot, minimise
from pathveil.methods.calibrated.synthesis.target_cells import Targets, find_cells
from pathveil.statistics.constants import (
    CLOSE_ENOUGH,
    FEWEST_STEPS,
    FOLLOWED_CHANCE,
    LARGEST_MULTIPLIER,
    MOST_STEPS,
    MOST_WORK,
    SAMPLE,
    SAMPLED,
    SAMPLED_FROM,
    SHORTENING,
    SHORTEST_STEP,
)
from pathveil.threads import in_threads

CHUNK = 1 << 15  # rows: their weights stay in a core's own cache


@dataclass(frozen=True, slots=True, eq=False)
class _Chunk:
    """Consecutive rows, ordered by how many cells they add to: loops of a length are predictable.

    Its cells have numbers of its own, in the order in which they are met: two bytes are enough for
    most chunks, and what is looked up at a time is small and close together.

    Attributes:
        order: uint16; which row of the chunk comes where.
        starts: uint32; the i-th adds to the cells ``cells[starts[i]:starts[i + 1]]``.
        cells: uint16, or uint32 if there are too many; positions in ``used``. (Unsigned, because
            numba looks out for negative positions otherwise.)
        used: uint32; the cells that the chunk adds to.
        base: uint32; the model's weights of its rows, in that order.
        each: how many people a weight of 1 stands for, to begin with.
    """

    order: NDArray[np.uint16]
    starts: NDArray[np.uint32]
    cells: NDArray[np.unsignedinteger]
    used: NDArray[np.uint32]
    base: NDArray[np.uint32]
    each: float

    @property
    def people(self) -> float:
        """For how many people its rows stand, to begin with."""
        return float(self.base.sum()) * self.each


def calibrate(
    paths: Paths | SmallPaths, targets: Targets, each: float = 1.0
) -> NDArray[np.float64]:
    """The calibrated weights of paths, float64, > 0.

    Args:
        paths: synthetic, none of them empty, with the model's weights.
        targets: the cells and what is known about them.
        each: how many people a weight of 1 stands for: less than 1 if more rows were made than
            there are people.
    """
    starts = range(0, len(paths), CHUNK)
    chunks = list(in_threads(lambda start: _chunk(paths, start, targets, each), starts))
    best = np.zeros(len(targets.counts))
    if len(paths) >= SAMPLED_FROM:
        every = max(SAMPLED, len(paths) // SAMPLE)
        some = [_sampled(chunk, every) for chunk in chunks]
        best = _multipliers(some, _of_a_sample(targets, every, each), best)
    best = _multipliers(chunks, targets, best)
    weights = in_threads(lambda chunk: _chunk_weights(chunk, best), chunks)
    return np.concatenate((np.zeros(0), *weights))


def _multipliers(
    chunks: list[_Chunk], targets: Targets, start: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The best λ that is found from a first guess on."""
    occupied = np.zeros(len(targets.counts), dtype=np.bool_)
    for chunk in chunks:
        occupied[chunk.used] = True
    # A cell that no trajectory adds to can't be calibrated: it is left at λ = 0.
    counts = np.where(occupied, targets.counts, 0.0)
    slack = targets.trust * targets.variances

    def dual(multipliers: NDArray[np.float64]) -> Point:
        total, sums = _sums(chunks, multipliers)
        value = total - dot(counts, multipliers) + dot(slack, multipliers**2) / 2
        return Point(multipliers, value, sums - counts + slack * multipliers, sums + slack)

    # Thousands of cells of which nearly nothing is known are always close: they do not count.
    known = counts > np.sqrt(targets.variances)

    def is_close(point: Point) -> bool:
        deviations = point.slope(LARGEST_MULTIPLIER)[known] ** 2 / targets.variances[known]
        return bool(deviations.sum() <= CLOSE_ENOUGH**2 * len(deviations))

    # A step looks at every cell of every row: the more there are, the fewer steps are affordable.
    work = sum(len(chunk.cells) for chunk in chunks)
    steps = min(max(MOST_WORK // max(work, 1), FEWEST_STEPS), MOST_STEPS)
    begin = _no_worse_than_none(dual, start, sum(chunk.people for chunk in chunks))
    return minimise(dual, begin, LARGEST_MULTIPLIER, is_close, steps).position


def _no_worse_than_none(
    dual: Callable[[NDArray[np.float64]], Point], start: NDArray[np.float64], none: float
) -> Point:
    """A first guess, drawn towards λ = 0 until it is no worse than that.

    What a sample of the rows led to can make other rows e¹⁰ times too heavy where next to no noise
    holds the multipliers back, and from there the affordable steps do not lead home.

    Args:
        dual: the function.
        start: the guess.
        none: the function at λ = 0, which is the sum of all weights to begin with.
    """
    length = 1.0
    while length > SHORTEST_STEP:
        point = dual(length * start)
        if point.value <= none:
            return point
        length *= SHORTENING
    return dual(np.zeros(len(start)))


def _of_a_sample(targets: Targets, every: int, each: float) -> Targets:
    """A sum over every k-th row is off by chance, too: by a variance of k − 1 for each row.

    To follow a sample far beyond that leads away from what all rows say, and takes longer.
    """
    by_chance = (every - 1) * each * np.maximum(targets.counts, 1.0)
    return replace(targets, variances=targets.variances + FOLLOWED_CHANCE * by_chance)


def _sampled(chunk: _Chunk, every: int = SAMPLED) -> _Chunk:
    """Every so many of its rows, which stand for the others; those of much weight are all there.

    Most steps of the calibration go a long way, and need no more than that; rows are in order, so
    what is left out is like what is kept.
    """
    frequent = chunk.base >= every
    weight = np.where(frequent, 1, every).astype(np.uint32)
    rare = np.flatnonzero(~frequent)
    kept = np.sort(np.concatenate((np.flatnonzero(frequent), rare[every // 2 :: every])))
    starts, cells = _rows_of(chunk.starts, chunk.cells, kept)
    cells, used = _numbered(cells, len(chunk.used))
    base = chunk.base[kept] * weight[kept]
    return replace(
        chunk, order=chunk.order[kept], starts=starts, cells=cells, used=chunk.used[used], base=base
    )


def _chunk(paths: Paths | SmallPaths, start: int, targets: Targets, each: float) -> _Chunk:
    part = block_of(paths, start, min(start + CHUNK, len(paths)))
    rows, cells = find_cells(part, targets)
    counts = np.bincount(rows, minlength=len(part))
    order = np.argsort(counts.astype(np.uint16), kind="stable")
    starts = np.concatenate((np.zeros(1), np.cumsum(counts[order]))).astype(np.uint32)
    free = np.empty(len(part), dtype=np.uint32)
    free[order] = starts[:-1]
    cells, used = _numbered(_row_by_row(rows, cells, free), len(targets.counts))
    base = part.weights[order].astype(np.uint32)
    return _Chunk(order.astype(np.uint16), starts, cells, used, base, each)


def _numbered(
    cells: NDArray[np.unsignedinteger], size: int
) -> tuple[NDArray[np.unsignedinteger], NDArray[np.uint32]]:
    """Cells below ``size`` by numbers of their own, and which cell has which number."""
    numbers, used = _renumber(cells, size)
    is_small = len(used) <= np.iinfo(np.uint16).max
    return numbers.astype(np.uint16) if is_small else numbers, used


def _chunk_weights(chunk: _Chunk, multipliers: NDArray[np.float64]) -> NDArray[np.float64]:
    weights = np.empty(len(chunk.base))
    weights[chunk.order] = _weigh(chunk, multipliers)
    return weights


def _weigh(chunk: _Chunk, multipliers: NDArray[np.float64]) -> NDArray[np.float64]:
    """In the chunk's own order. NumPy's exp is several times as quick as that of compiled code."""
    exponents = _exponents(chunk.starts, chunk.cells, multipliers[chunk.used])
    with np.errstate(over="ignore"):  # a step that is much too long: it will be shortened
        weights: NDArray[np.float64] = np.exp(exponents, out=exponents)
    weights *= chunk.base
    weights *= chunk.each
    return weights


def _chunk_sums(
    chunk: _Chunk, multipliers: NDArray[np.float64]
) -> tuple[float, NDArray[np.float64]]:
    weights = _weigh(chunk, multipliers)
    return float(weights.sum()), _by_cell(chunk.starts, chunk.cells, weights, len(chunk.used))


def _sums(
    chunks: list[_Chunk], multipliers: NDArray[np.float64]
) -> tuple[float, NDArray[np.float64]]:
    """The sum of all weights, and that of each cell; added up in order, so always the same."""
    total, sums = 0.0, np.zeros(len(multipliers))
    found = in_threads(lambda chunk: _chunk_sums(chunk, multipliers), chunks)
    for chunk, (weight, by_cell) in zip(chunks, found, strict=True):
        total += weight
        _add(sums, chunk.used, by_cell)
    return total, sums


@njit(cache=True, nogil=True)
def _row_by_row(
    rows: NDArray[np.int32], cells: NDArray[np.uint32], free: NDArray[np.uint32]
) -> NDArray[np.uint32]:
    """Put the cells of each row beside one another, from where ``free`` says on; it is used up."""
    sorted_cells = np.empty_like(cells)
    for i in range(len(rows)):
        sorted_cells[free[rows[i]]] = cells[i]
        free[rows[i]] += np.uint32(1)
    return sorted_cells


@njit(cache=True, nogil=True)
def _renumber(
    cells: NDArray[np.unsignedinteger], size: int
) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    number = np.zeros(size, dtype=np.uint32)  # from 1 on: 0 is a cell that was not met
    numbers = np.empty(len(cells), dtype=np.uint32)
    used = np.empty(min(size, len(cells)), dtype=np.uint32)
    count = 0
    for i in range(len(cells)):
        if number[cells[i]] == 0:
            used[count] = cells[i]
            count += 1
            number[cells[i]] = count
        numbers[i] = number[cells[i]] - np.uint32(1)
    return numbers, used[:count].copy()


@njit(cache=True, nogil=True)
def _add(sums: NDArray[np.float64], used: NDArray[np.uint32], by_cell: NDArray[np.float64]) -> None:
    for i in range(len(used)):
        sums[used[i]] += by_cell[i]


@njit(cache=True, nogil=True)
def _rows_of(
    starts: NDArray[np.uint32], cells: NDArray[np.unsignedinteger], kept: NDArray[np.int64]
) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """The cells of some rows."""
    new_starts = np.zeros(len(kept) + 1, dtype=np.uint32)
    for i in range(len(kept)):
        new_starts[i + 1] = new_starts[i] + starts[kept[i] + 1] - starts[kept[i]]
    new_cells = np.empty(new_starts[-1], dtype=np.uint32)  # of one type: compiled once
    for i in range(len(kept)):
        new_cells[new_starts[i] : new_starts[i + 1]] = cells[starts[kept[i]] : starts[kept[i] + 1]]
    return new_starts, new_cells


@njit(cache=True, nogil=True)
def _exponents(
    starts: NDArray[np.uint32], cells: NDArray[np.unsignedinteger], multipliers: NDArray[np.float64]
) -> NDArray[np.float64]:
    exponents = np.empty(len(starts) - 1)
    for row in range(len(exponents)):
        exponent = 0.0
        for i in range(starts[row], starts[row + 1]):
            exponent += multipliers[cells[i]]
        exponents[row] = exponent
    return exponents


@njit(cache=True, nogil=True)
def _by_cell(
    starts: NDArray[np.uint32],
    cells: NDArray[np.unsignedinteger],
    weights: NDArray[np.float64],
    size: int,
) -> NDArray[np.float64]:
    sums = np.zeros(size)
    for row in range(len(weights)):
        for i in range(starts[row], starts[row + 1]):
            sums[cells[i]] += weights[row]
    return sums
