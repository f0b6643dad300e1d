"""Intervals of single answers: of the cells that a noisy table lists.

Most answers of a release have the interval of their kind and size. Some a noisy table counts one by
one, and lists: of these more is known, each by itself. A cell is two locations, asked for in one
way (`core.error_table.KINDS`): visited in any order, the smaller code first; or in this order, one
straight after the other, from the first to the last, the first two of all.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Found(NamedTuple):
    """What is known of some answers that were looked up.

    Attributes:
        known: bool; whether a cell is listed.
        row: int64; which one; any, if none is.
    """

    known: NDArray[np.bool_]
    row: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ListedCells:
    """Listed cells in ascending order of (kind, first, second).

    Attributes:
        kind: int64; which of `core.error_table.KINDS`.
        first, second: int64; location codes.
        best: int64; the middle of what the true count may be.
        bounds: int64, shape (cells, levels, 2); low and high for each of `LEVELS`.
    """

    kind: NDArray[np.int64]
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    best: NDArray[np.int64]
    bounds: NDArray[np.int64]

    @classmethod
    def nothing(cls, levels: int) -> "ListedCells":
        """No cell."""
        none = np.zeros(0, dtype=np.int64)
        return cls(none, none, none, none, np.zeros((0, levels, 2), dtype=np.int64))

    def __len__(self) -> int:
        return len(self.kind)

    @cached_property
    def _codes(self) -> int:
        return int(max(self.first.max(initial=-1), self.second.max(initial=-1))) + 1

    @cached_property
    def _keys(self) -> NDArray[np.int64]:
        return (self.kind * self._codes + self.first) * self._codes + self.second

    def find(self, kind: int, first: NDArray[np.int64], second: NDArray[np.int64]) -> Found:
        """Look cells of one kind up; codes that are of no location are listed nowhere."""
        inside = np.minimum(first, second) >= 0
        inside &= np.maximum(first, second) < self._codes
        wanted = (kind * self._codes + first) * self._codes + second
        row = np.minimum(np.searchsorted(self._keys, wanted), max(len(self) - 1, 0))
        if not len(self):
            return Found(np.zeros(len(first), dtype=np.bool_), row)
        return Found(inside & (self._keys[row] == wanted), row)

    def problem(self, kinds: int, locations: int) -> str | None:
        """What is wrong with cells that claim to be listed, or None.

        Args:
            kinds: how many there are.
            locations: likewise.
        """
        low, high = self.bounds[..., 0], self.bounds[..., 1]
        ends = np.concatenate((self.first, self.second))
        problems = {
            "there is no such kind of question": np.any((self.kind < 0) | (self.kind >= kinds)),
            "there is no such location": np.any((ends < 0) | (ends >= locations)),
            "the cells are not in order": np.any(np.diff(self._keys) <= 0),
            "a bound is negative, or low is above high": np.any(low < 0) or np.any(low > high),
            "the intervals do not widen with the level": np.any(np.diff(low, axis=1) > 0)
            or np.any(np.diff(high, axis=1) < 0),
        }
        return next((problem for problem, found in problems.items() if found), None)
