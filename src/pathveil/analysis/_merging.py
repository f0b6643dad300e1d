"""Merge identical rows: compiled, imported only when a question needs it.

A database is mostly repetitions (989,818 MSNBC sequences are 169,714 distinct paths over 10,476
distinct sets of locations), so everything downstream works on distinct rows with weights.
"""

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import njit
from pathveil.core.paths import Paths


def distinct_paths(paths: Paths) -> Paths:
    """The same multiset with every path once, in the order of first appearance."""
    ids, first = _distinct_rows(paths.offsets, paths.codes)
    if len(first) == len(paths):  # as those of a release without times are
        return paths
    weights = np.zeros(len(first), dtype=np.int64)
    np.add.at(weights, ids, paths.weights)
    lengths = paths.lengths[first]
    offsets = np.zeros(len(first) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    shift = np.repeat(paths.offsets[first] - offsets[:-1], lengths)
    return Paths(offsets, paths.codes[np.arange(offsets[-1]) + shift], weights)


def distinct_location_sets(paths: Paths, universe_size: int) -> Paths:
    """The sets of locations that paths visit, each once; the codes of a row ascend."""
    offsets, codes = _first_visits(paths.offsets, paths.codes, universe_size)
    # Transposing twice sorts the codes of every row in linear time.
    by_location = transpose(offsets, codes, universe_size)
    offsets, codes = transpose(*by_location, len(paths))
    return distinct_paths(Paths(offsets, codes, paths.weights))


@njit(cache=True)
def transpose(
    offsets: NDArray[np.int64], values: NDArray[np.int32], size: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Turn rows of values in ``[0, size)`` into, for each value, the ascending rows holding it."""
    starts = np.zeros(size + 1, np.int64)
    for value in values:
        starts[value + 1] += 1
    starts = np.cumsum(starts)
    free = starts[:-1].copy()
    rows = np.empty(len(values), np.int32)
    for row in range(len(offsets) - 1):
        for position in range(offsets[row], offsets[row + 1]):
            value = values[position]
            rows[free[value]] = row
            free[value] += 1
    return starts, rows


@njit(cache=True)
def positions_by_code(
    codes: NDArray[np.int32], size: int, positions: NDArray[np.signedinteger]
) -> tuple[NDArray[np.int64], NDArray[np.signedinteger]]:
    """Where each of the values ``code % size`` stands, ascending, written into ``positions``.

    As `transpose` of rows of one value each, without a number for each of the rows.
    """
    starts = np.zeros(size + 1, np.int64)
    for code in codes:
        starts[code % size + 1] += 1
    starts = np.cumsum(starts)
    free = starts[:-1].copy()
    for position in range(len(codes)):
        value = codes[position] % size
        positions[free[value]] = position
        free[value] += 1
    return starts, positions


@njit(cache=True)
def _first_visits(
    offsets: NDArray[np.int64], codes: NDArray[np.int32], universe_size: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Drop every visit to a location that its path has visited before."""
    seen_by = np.full(universe_size, -1, np.int64)
    kept_offsets = np.zeros_like(offsets)
    kept = np.empty(len(codes), np.int32)
    size = 0
    for row in range(len(offsets) - 1):
        for position in range(offsets[row], offsets[row + 1]):
            code = codes[position]
            if seen_by[code] != row:
                seen_by[code] = row
                kept[size] = code
                size += 1
        kept_offsets[row + 1] = size
    return kept_offsets, kept[:size].copy()


@njit(cache=True)
def _distinct_rows(
    offsets: NDArray[np.int64], codes: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number the distinct rows by first appearance: (number of each row, first row of each)."""
    rows = len(offsets) - 1
    capacity = 1
    while capacity < 2 * rows:
        capacity *= 2
    table = np.full(capacity, -1, np.int64)
    ids = np.empty(rows, np.int64)
    first = np.empty(rows, np.int64)
    distinct = 0
    for row in range(rows):
        slot = _hash(codes, offsets[row], offsets[row + 1]) & (capacity - 1)
        while table[slot] >= 0 and not _same(offsets, codes, first[table[slot]], row):
            slot = (slot + 1) & (capacity - 1)
        if table[slot] < 0:
            table[slot] = distinct
            first[distinct] = row
            distinct += 1
        ids[row] = table[slot]
    return ids, first[:distinct].copy()


@njit(cache=True)
def _hash(codes: NDArray[np.int32], start: int, end: int) -> np.int64:
    value = np.uint64(end - start)
    for position in range(start, end):
        value = (value ^ np.uint64(codes[position])) * np.uint64(0x9E3779B97F4A7C15)
        value ^= value >> np.uint64(29)
    return np.int64(value >> np.uint64(1))


@njit(cache=True)
def _same(offsets: NDArray[np.int64], codes: NDArray[np.int32], one: int, other: int) -> bool:
    length = offsets[one + 1] - offsets[one]
    if offsets[other + 1] - offsets[other] != length:
        return False
    for step in range(length):  # noqa: SIM110  (a generator inside all() does not compile)
        if codes[offsets[one] + step] != codes[offsets[other] + step]:
            return False
    return True
