"""Rows in canonical order: ascending by their codes, the shorter first, each distinct row once."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import njit
from pathveil.core.paths import Paths
from pathveil.threads import in_threads

PARTS = 32  # that are sorted apart: enough for the threads, whatever the popularity of locations
_WORD = 64
_LEAST_ROOM = 1 << 10
_BLOCK = 1 << 18  # rows that are copied at a time
_Number = TypeVar("_Number", bound=np.integer)
_Code = TypeVar("_Code", bound=np.integer)


@dataclass(frozen=True, slots=True, eq=False)
class SmallPaths:
    """The same as `Paths` in half of the bytes: what all synthetic trajectories are held in.

    Weights stay whole: one path can stand for more people than 32 bits count, if noise says so.

    Attributes:
        offsets: uint32, shape (n + 1,).
        codes: uint16, or int32 if there are too many codes.
        weights: int64, shape (n,).
    """

    offsets: NDArray[np.uint32]
    codes: NDArray[np.integer]
    weights: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.weights)

    @classmethod
    def joined(cls, parts: "Iterable[Paths | SmallPaths]", size: int) -> "SmallPaths":
        """All rows of all parts, one after another; a part may be made when it is asked for.

        Args:
            parts: over codes in [0, size).
            size: how many codes there are.
        """
        smallest = np.uint16 if size <= 1 << 16 else np.int32
        return cls(*_joined(parts, np.uint32, smallest))


class _Growing(Generic[_Number]):
    """An array to whose end others are copied: unlike `np.concatenate` it never holds all twice.

    A large array grows where it is, or is moved page by page by the operating system.
    """

    def __init__(self, dtype: type[_Number]) -> None:
        self.used = 0
        self._values: NDArray[_Number] = np.empty(_LEAST_ROOM, dtype)

    def add(self, more: NDArray[np.integer]) -> None:
        """Put some more at the end."""
        end = self.used + len(more)
        if end > len(self._values):
            self._values.resize(end + end // 32, refcheck=False)
        self._values[self.used : end] = more
        self.used = end

    def whole(self) -> NDArray[_Number]:
        """All of it; nothing may be added afterwards."""
        self._values.resize(self.used, refcheck=False)
        return self._values


def merge_identical(paths: Paths, size: int) -> Paths:
    """The same multiset with every path once, in canonical order.

    Args:
        paths: over codes in [0, size); none of them empty.
        size: how many codes there are.
    """
    return concatenate_paths(merged_parts(paths, size))


def merged_parts(paths: Paths | SmallPaths, size: int) -> Iterator[Paths]:
    """The same, part by part."""
    # Paths that start with different locations can be sorted apart, and at the same time.
    first = paths.codes[paths.offsets[:-1]]
    reached = np.cumsum(np.bincount(first, minlength=size))
    part = ((PARTS * reached - 1) // max(len(paths), 1)).astype(np.int16)[first]
    by_part = np.argsort(part, kind="stable")
    edges = np.searchsorted(part[by_part], np.arange(1, PARTS))
    return in_threads(lambda rows: _merge_part(paths, rows, size), np.split(by_part, edges))


def _merge_part(paths: Paths | SmallPaths, rows: NDArray[np.int64], size: int) -> Paths:
    """The same for some rows."""
    part = take_rows(paths, rows, paths.weights[rows].astype(np.int64))
    order, differs = _canonical_order(part, size)
    starts = np.flatnonzero(differs)
    weights = part.weights[order]
    if len(starts):
        weights = np.add.reduceat(weights, starts)
    return take_rows(part, order[starts], weights)


def concatenate_paths(parts: Iterable[Paths]) -> Paths:
    """All rows of all parts, one after another; a part may be made when it is asked for."""
    return Paths(*_joined(parts, np.int64, np.int32))


def _joined(
    parts: Iterable[Paths | SmallPaths], numbers: type[_Number], code: type[_Code]
) -> tuple[NDArray[_Number], NDArray[_Code], NDArray[np.int64]]:
    """Their offsets, codes and weights."""
    offsets, codes, weights = _Growing(numbers), _Growing(code), _Growing(np.int64)
    offsets.add(np.zeros(1, dtype=np.int64))
    for part in parts:
        offsets.add(part.offsets[1:].astype(np.int64) + codes.used)
        codes.add(part.codes)
        weights.add(part.weights)
    return offsets.whole(), codes.whole(), weights.whole()


def take_rows(
    paths: Paths | SmallPaths, rows: NDArray[np.int64], weights: NDArray[np.int64]
) -> Paths:
    """Some rows, in that order, with new weights."""
    offsets, codes = _take(paths.offsets, paths.codes, rows)
    return Paths(offsets, codes, weights)


def block_of(paths: Paths | SmallPaths, start: int, stop: int) -> Paths:
    """The rows from ``start`` to before ``stop``."""
    offsets = paths.offsets[start : stop + 1].astype(np.int64)
    codes = paths.codes[offsets[0] : offsets[-1]].astype(np.int32)
    return Paths(offsets - offsets[0], codes, paths.weights[start:stop].astype(np.int64))


def taken_by_blocks(
    paths: Paths | SmallPaths, weights: NDArray[np.integer], names: NDArray[np.integer]
) -> Iterator[Paths]:
    """The rows of a positive weight, with new weights and other codes, some at a time.

    Args:
        paths: over codes below the number of names.
        weights: ≥ 0; of each row.
        names: the code for each code.
    """
    rows = np.flatnonzero(weights)
    small = names.astype(np.int32)
    for start in range(0, len(rows), _BLOCK):
        block = rows[start : start + _BLOCK]
        part = take_rows(paths, block, weights[block].astype(np.int64))
        # In place; any mode but the default, which makes a copy on the way. All codes are there.
        np.take(small, part.codes, out=part.codes, mode="clip")
        yield part


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


def _canonical_order(paths: Paths, size: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The rows in order, and which of them differ from the one before.

    Sorts by as many codes as fit into one word; then, wherever several rows agree so far and are
    not at their end, by the next ones; and so on.
    """
    bits = int(size).bit_length()  # codes are raised by 1: 0 is the end of a row
    per_word = _WORD // bits
    last_code = np.uint64((1 << bits) - 1)
    order = np.arange(len(paths))
    differs = np.zeros(len(paths), dtype=np.bool_)
    differs[:1] = True
    open_rows = np.arange(len(paths))
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
    offsets: NDArray[np.integer], codes: NDArray[np.integer], rows: NDArray[np.int64]
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
