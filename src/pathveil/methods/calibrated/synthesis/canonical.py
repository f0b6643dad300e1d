"""Rows in canonical order: ascending by their codes, the shorter first, each distinct row once."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import njit
from pathveil.core.paths import Paths
from pathveil.threads import in_threads

PARTS = 32  # that are sorted apart: enough for the threads, whatever the popularity of locations
_WORD = 64


def merge_identical(paths: Paths, size: int) -> Paths:
    """The same multiset with every path once, in canonical order.

    Args:
        paths: over codes in [0, size); none of them empty.
        size: how many codes there are.
    """
    # Paths that start with different locations can be sorted apart, and at the same time.
    first = paths.codes[paths.offsets[:-1]]
    reached = np.cumsum(np.bincount(first, minlength=size))
    part = ((PARTS * reached - 1) // max(len(paths), 1)).astype(np.int16)[first]
    by_part = np.argsort(part, kind="stable")
    edges = np.searchsorted(part[by_part], np.arange(1, PARTS))
    parts = in_threads(lambda rows: _merge_part(paths, rows, size), np.split(by_part, edges))
    return concatenate_paths(list(parts))


def _merge_part(paths: Paths, rows: NDArray[np.int64], size: int) -> Paths:
    """The same for some rows."""
    order, differs = _canonical_order(paths, rows, size)
    starts = np.flatnonzero(differs)
    weights = paths.weights[order]
    if len(starts):
        weights = np.add.reduceat(weights, starts)
    return take_rows(paths, order[starts], weights)


def concatenate_paths(parts: Sequence[Paths]) -> Paths:
    """All rows of all parts, one after another."""
    lengths = [part.lengths for part in parts]
    return Paths(
        np.cumsum(np.concatenate((np.zeros(1, dtype=np.int64), *lengths))),
        np.concatenate((np.zeros(0, dtype=np.int32), *(part.codes for part in parts))),
        np.concatenate((np.zeros(0, dtype=np.int64), *(part.weights for part in parts))),
    )


def take_rows(paths: Paths, rows: NDArray[np.int64], weights: NDArray[np.int64]) -> Paths:
    """Some rows, in that order, with new weights."""
    offsets, codes = _take(paths.offsets, paths.codes, rows)
    return Paths(offsets, codes, weights)


def drop_code(paths: Paths, code: int) -> Paths:
    """Leave out one code everywhere, and the rows that are empty then."""
    kept = paths.codes != code
    before = np.concatenate((np.zeros(1, np.int64), np.cumsum(kept)))
    offsets = before[paths.offsets]
    not_empty = np.diff(offsets) > 0
    ends = offsets[1:][not_empty]
    return Paths(
        np.concatenate((np.zeros(1, np.int64), ends)), paths.codes[kept], paths.weights[not_empty]
    )


def _canonical_order(
    paths: Paths, rows: NDArray[np.int64], size: int
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """These rows in order, and which of them differ from the one before.

    Sorts by as many codes as fit into one word; then, wherever several rows agree so far and are
    not at their end, by the next ones; and so on.
    """
    bits = int(size).bit_length()  # codes are raised by 1: 0 is the end of a row
    per_word = _WORD // bits
    last_code = np.uint64((1 << bits) - 1)
    order = rows.copy()
    differs = np.zeros(len(rows), dtype=np.bool_)
    differs[:1] = True
    open_rows = np.arange(len(rows))
    start = 0
    while len(open_rows):
        rows = order[open_rows]
        group = np.cumsum(differs)[open_rows]
        words = _pack(paths.offsets, paths.codes, rows, start, per_word, bits)
        inner = np.argsort(words) if start == 0 else np.lexsort((words, group))
        order[open_rows], words = rows[inner], words[inner]
        differs[open_rows[1:]] |= words[1:] != words[:-1]
        # Alone is a row that differs from the one before it and from the one after it.
        alone = differs & np.append(differs[1:], True)
        open_rows = open_rows[~alone[open_rows] & (words & last_code > 0)]
        start += per_word
    return order, differs


@njit(cache=True, nogil=True)
def _pack(
    offsets: NDArray[np.int64],
    codes: NDArray[np.int32],
    rows: NDArray[np.int64],
    start: int,
    per_word: int,
    bits: int,
) -> NDArray[np.uint64]:
    """Codes ``start`` … ``start + per_word − 1`` of each row in one word, in order of weight."""
    words = np.zeros(len(rows), dtype=np.uint64)
    for i in range(len(rows)):
        word = np.uint64(0)
        begin, end = offsets[rows[i]] + start, offsets[rows[i] + 1]
        for j in range(begin, begin + per_word):
            word <<= np.uint64(bits)
            if j < end:
                word |= np.uint64(codes[j] + 1)
        words[i] = word
    return words


@njit(cache=True, nogil=True)
def _take(
    offsets: NDArray[np.int64], codes: NDArray[np.int32], rows: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    new_offsets = np.zeros(len(rows) + 1, dtype=np.int64)
    for i in range(len(rows)):
        new_offsets[i + 1] = new_offsets[i] + offsets[rows[i] + 1] - offsets[rows[i]]
    new_codes = np.empty(new_offsets[-1], dtype=np.int32)
    for i in range(len(rows)):
        start = offsets[rows[i]]
        for j in range(new_offsets[i + 1] - new_offsets[i]):
            new_codes[new_offsets[i] + j] = codes[start + j]
    return new_offsets, new_codes
