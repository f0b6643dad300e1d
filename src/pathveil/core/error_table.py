"""Answers with intervals: a count that knows how far it may be off, and the table that tells it."""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from pathveil.errors import QueryError

LEVELS = (50, 60, 70, 80, 90, 95)  # per cent
USUAL_LEVEL = 0.9
# What ``locations`` says of a row for queries that ask for an unnamed location and others.
WITH_UNNAMED = -1


# An answer with its interval: a whole number that knows how far it may be off.


class Estimate(int):
    """A count, and the interval that holds the true one. Works wherever an int does.

    Attributes:
        low: the least the true count may be; None if the release has no intervals.
        high: the most it may be, if it is not 0; None if the release has no intervals.
        level: how often such intervals hold the truth, in (0, 1); None likewise.
    """

    low: int | None
    high: int | None
    level: float | None

    def __new__(
        cls,
        value: int,
        low: int | None = None,
        high: int | None = None,
        level: float | None = None,
    ) -> Self:
        """A count; the interval is given whole or not at all."""
        self = super().__new__(cls, value)
        self.low, self.high, self.level = low, high, level
        return self

    def __repr__(self) -> str:
        if self.low is None or self.high is None or self.level is None:
            return int.__repr__(self)
        return f"{int(self):,} ({self.low:,} to {self.high:,}, {self.level:.0%})"


# The error table of a release: from the size of an answer to the interval around it.
#
# The table is small, travels with the release, and is all that is needed to give intervals: rows
# (number of locations asked for, estimate, level) → (low, high). Between two estimates of the table
# the bounds are interpolated on a logarithmic scale; beyond the last one they grow in proportion.


@dataclass(frozen=True, eq=False)
class ErrorTable:
    """Intervals by number of locations and size of the estimate.

    Attributes:
        locations: int64, ascending; how many distinct locations are asked for. The largest also
            stands for more. −1: at least two, one of which no released trajectory visits.
        estimate: int64, ≥ 0, ascending within ``locations``; the released count.
        bounds: int64, shape (rows, levels, 2); low and high for each level of `LEVELS`.
            0 ≤ low ≤ high; they widen with the level.
    """

    locations: NDArray[np.int64]
    estimate: NDArray[np.int64]
    bounds: NDArray[np.int64]

    @cached_property
    def _blocks(self) -> dict[int, slice]:
        kinds, starts = np.unique(self.locations, return_index=True)
        ends = np.append(starts[1:], len(self.locations))
        return {
            int(kind): slice(start, end)
            for kind, start, end in zip(kinds, starts, ends, strict=True)
        }

    def problem(self) -> str | None:
        """What is wrong with a table that claims to be one, or None."""
        later = np.diff(self.locations) > 0
        low, high = self.bounds[..., 0], self.bounds[..., 1]
        problems = {
            "it does not say anything about one, two and three locations": not {1, 2, 3}
            <= self._blocks.keys(),
            "the rows are not in order": np.any(np.diff(self.locations) < 0)
            or np.any((np.diff(self.estimate) <= 0) & ~later),
            "a bound is negative, or low is above high": np.any(low < 0) or np.any(low > high),
            "the intervals do not widen with the level": np.any(np.diff(low, axis=1) > 0)
            or np.any(np.diff(high, axis=1) < 0),
        }
        return next((problem for problem, found in problems.items() if found), None)

    def intervals(
        self,
        locations: NDArray[np.int64],
        estimates: NDArray[np.int64],
        all_named: NDArray[np.bool_],
        level: float = USUAL_LEVEL,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Low and high of many answers, int64; low ≤ estimate ≤ high.

        Args:
            locations: how many distinct locations each query asks for.
            estimates: the released counts.
            all_named: whether released trajectories visit each of the query's locations.
            level: one of 0.5, 0.6, 0.7, 0.8, 0.9 and 0.95.

        Raises:
            QueryError: if it is another level.
        """
        column = _column(level)
        most = max(self._blocks)
        kinds = np.minimum(locations, most)
        if WITH_UNNAMED in self._blocks:
            kinds = np.where((locations > 1) & ~all_named, WITH_UNNAMED, kinds)
        low, high = estimates.copy(), estimates.copy()
        for kind in np.unique(kinds):
            block = self._blocks.get(int(kind))
            if block is None:
                continue
            asked = kinds == kind
            found = self._interpolate(block, column, estimates[asked].astype(np.float64))
            low[asked] = np.minimum(np.floor(found[0]), estimates[asked])
            high[asked] = np.maximum(np.ceil(found[1]), estimates[asked])
        return low, high

    def _interpolate(
        self, block: slice, column: int, estimates: NDArray[np.float64]
    ) -> list[NDArray[np.float64]]:
        grid, position = np.log1p(self.estimate[block]), np.log1p(estimates)
        # Beyond the end of the table the relative error stays what it is there.
        beyond = np.maximum(estimates / max(float(self.estimate[block][-1]), 1.0), 1.0)
        bounds = np.log1p(self.bounds[block, column])
        return [
            np.round(np.expm1(np.interp(position, grid, bounds[:, side])) * beyond, 6)
            for side in (0, 1)
        ]


def _column(level: float) -> int:
    per_cent = round(100 * level, 9)
    if per_cent not in LEVELS:
        offered = ", ".join(f"{known / 100:g}" for known in LEVELS)
        raise QueryError(f"There are no intervals for the level {level:g}; choose from {offered}.")
    return LEVELS.index(int(per_cent))
