"""Pseudo-projection (PrefixSpan): the compiled half of `patterns`.

A projection of a pattern is the list of its matches: a path that supports it and the position in
that path right after the match. With gaps only the first match of a path matters, because
whatever follows a later match also follows the first; a contiguous pattern keeps all matches.
Matches at the end of a path are left out: nothing can follow them.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import njit
from pathveil.core.paths import Paths


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Projection:
    """The matches of one pattern.

    Attributes:
        rows: int32, shape (n,), ascending; the path of each match.
        positions: int32, shape (n,); the one after the match, counted from the path's start.
    """

    rows: NDArray[np.int32]
    positions: NDArray[np.int32]


class ProjectedPaths:
    """Distinct paths, ready to be projected, over the locations that occur.

    These are numbered anew, from 0 in the same order; all codes here are their numbers.

    Attributes:
        contiguous: as given.
        locations: all numbers, int64, shape (m,).

    Args:
        paths: distinct paths.
        present: the codes of the locations that occur, ascending, int64, shape (m,).
        contiguous: whether a pattern's locations must follow each other directly.
    """

    def __init__(self, paths: Paths, present: NDArray[np.int64], *, contiguous: bool) -> None:
        self._paths = paths
        self._size = size = len(present)
        self.contiguous = contiguous
        self.locations = np.arange(size, dtype=np.int64)
        # The scans wait for memory: a narrow type (uint8 up to 255 locations) is a quarter faster.
        narrow = np.min_scalar_type(size)
        number = np.zeros(present.max(initial=0) + 1, dtype=narrow)
        number[present] = self.locations
        self._codes = number[paths.codes]
        self._ahead = np.ones(len(paths.codes), dtype=narrow)
        if not contiguous:
            _count_distinct_ahead(paths.offsets, self._codes, size, self._ahead)

    def root(self) -> Projection:
        """The projection of the empty pattern."""
        rows = np.arange(len(self._paths), dtype=np.int32)
        lengths = self._paths.lengths
        if self.contiguous:
            rows = np.repeat(rows, lengths)
            positions = np.arange(len(rows), dtype=np.int32)
            positions -= np.repeat(self._paths.offsets[:-1].astype(np.int32), lengths)
            return Projection(rows, positions)
        rows = rows[lengths > 0]
        return Projection(rows, np.zeros(len(rows), dtype=np.int32))

    def extensions(
        self, projection: Projection, candidates: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The support of the pattern extended by each of some locations, and its matches.

        Args:
            projection: of the pattern itself.
            candidates: the locations, int64, shape (m,), distinct.

        Returns:
            Two int64 arrays of shape (m,): support, and length of the projection.
        """
        is_candidate = np.zeros(self._size, dtype=np.bool_)
        is_candidate[candidates] = True
        supports, sizes = _count_extensions(
            self._paths.offsets,
            self._codes,
            self._paths.weights,
            self._ahead,
            projection.rows,
            projection.positions,
            is_candidate,
            len(candidates),
            self.contiguous,
        )
        return supports[candidates], sizes[candidates]

    def project(
        self, projection: Projection, codes: NDArray[np.int64], sizes: NDArray[np.int64]
    ) -> list[Projection]:
        """The projections of the pattern extended by each of some locations, in one pass.

        Args:
            projection: of the pattern itself.
            codes: the locations, int64, shape (m,), distinct.
            sizes: the length of each extension's projection, int64, shape (m,).
        """
        borders = np.concatenate(([0], np.cumsum(sizes)))
        free = np.full(self._size, -1, dtype=np.int64)
        free[codes] = borders[:-1]
        rows, positions = _extend(
            self._paths.offsets,
            self._codes,
            self._ahead,
            projection.rows,
            projection.positions,
            free,
            len(codes),
            borders[-1],
            self.contiguous,
        )
        return [
            Projection(rows[start:end], positions[start:end]) for start, end in pairwise(borders)
        ]


@njit(cache=True)
def _count_distinct_ahead(
    offsets: NDArray[np.int64],
    codes: NDArray[np.unsignedinteger],
    size: int,
    ahead: NDArray[np.unsignedinteger],
) -> None:
    """Write how many distinct locations each position still has ahead of it in its path.

    A scan stops when it has met that many: one of the longest MSNBC paths (14,795 visits to a
    dozen pages) is then read for a few steps, not to its end.
    """
    seen_in = np.full(size, -1, np.int64)
    for row in range(len(offsets) - 1):
        distinct = 0
        for position in range(offsets[row + 1] - 1, offsets[row] - 1, -1):
            if seen_in[codes[position]] != row:
                seen_in[codes[position]] = row
                distinct += 1
            ahead[position] = distinct


@njit(cache=True)
def _count_extensions(
    offsets: NDArray[np.int64],
    codes: NDArray[np.unsignedinteger],
    weights: NDArray[np.int64],
    ahead: NDArray[np.unsignedinteger],
    rows: NDArray[np.int32],
    positions: NDArray[np.int32],
    is_candidate: NDArray[np.bool_],
    candidates: int,
    contiguous: bool,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Walk on from every match until no new location, or no missing candidate, is ahead."""
    supports = np.zeros(len(is_candidate), np.int64)
    sizes = np.zeros(len(is_candidate), np.int64)
    seen_in = np.full(len(is_candidate), -1, np.int32)
    for match in range(len(rows)):
        row = rows[match]
        position = offsets[row] + positions[match]
        left = np.int64(ahead[position])
        missing = candidates
        while left > 0 and missing > 0:
            code = codes[position]
            position += 1
            new = seen_in[code] != row
            if new or contiguous:
                seen_in[code] = row
                left -= 1
                if is_candidate[code]:
                    missing -= 1
                    if new:
                        supports[code] += weights[row]
                    if position < offsets[row + 1]:
                        sizes[code] += 1
    return supports, sizes


@njit(cache=True)
def _extend(
    offsets: NDArray[np.int64],
    codes: NDArray[np.unsignedinteger],
    ahead: NDArray[np.unsignedinteger],
    rows: NDArray[np.int32],
    positions: NDArray[np.int32],
    free: NDArray[np.int64],
    candidates: int,
    total: int,
    contiguous: bool,
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The walk of `_count_extensions` again, writing matches from ``free[code]`` on (-1: none)."""
    new_rows = np.empty(total, np.int32)
    new_positions = np.empty(total, np.int32)
    seen_in = np.full(len(free), -1, np.int32)
    for match in range(len(rows)):
        row = rows[match]
        position = offsets[row] + positions[match]
        left = np.int64(ahead[position])
        missing = candidates
        while left > 0 and missing > 0:
            code = codes[position]
            position += 1
            if seen_in[code] != row or contiguous:
                seen_in[code] = row
                left -= 1
                if free[code] >= 0:
                    missing -= 1
                    if position < offsets[row + 1]:
                        new_rows[free[code]] = row
                        new_positions[free[code]] = position - offsets[row]
                        free[code] += 1
    return new_rows, new_positions
