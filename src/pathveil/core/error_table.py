"""Answers with intervals: a count that knows how far it may be off, and the table that tells it."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from pathveil.core.listed_cells import Found, ListedCells
from pathveil.errors import QueryError

Row = TypeVar("Row")

LEVELS = (50, 60, 70, 80, 90, 95)  # per cent
USUAL_LEVEL = 0.9
# What ``locations`` says of a row for queries that ask for an unnamed location and others.
WITH_UNNAMED = -1

# What is asked: visits in any order; in an order, others between; one straight after another; from
# the first location to the last; the first locations of all; trajectories of a length; visits in a
# slot of time; visits to locations at some hours.
KINDS = ANY, ORDERED, MOVE, TRIP, PREFIX, LENGTH, SLOT, HOURS = (
    "any", "ordered", "move", "trip", "prefix", "length", "slot", "hours",
)  # fmt: skip

# How many locations a row asks for, at least, that stands for more of them.
_STANDS_FOR_MORE = {ANY: 3, ORDERED: 3, PREFIX: 2}

# The marks of answers, by the width of the 90% interval: half of it over its middle, so that 0 is
# a certain count and 1 one that may be nobody's.
RELIABLE, ROUGH, NOISE = MARKS = ("reliable", "rough", "noise")
MOST_RELIABLE, MOST_ROUGH = 0.25, 0.6
RULE = (
    "reliable: half the 90% interval is at most 25% of its middle; rough: at most 60%; noise: "
    "wider, so that the answer can't be told from noise"
)


def marks_of(low: NDArray[np.int64], high: NDArray[np.int64]) -> list[str]:
    """The marks of answers with these 90% intervals, by `RULE`."""
    width = (high - low) / np.maximum(high + low, 1)
    width = np.where(high > 0, width, 1.0)
    return [MARKS[i] for i in np.searchsorted([MOST_RELIABLE, MOST_ROUGH], width).tolist()]


# An answer with its interval: a whole number that knows how far it may be off.


class Estimate(int):
    """A count, and the interval that holds the true one. Works wherever an int does.

    Attributes:
        low: the least the true count may be; None if the release has no intervals.
        high: the most it may be; None if the release has no intervals.
        level: how often such intervals hold the truth, in (0, 1); None likewise.
        best: the middle of what the true count may be: the released count, drawn to where the
            truth of such answers lies. Lists show it. None likewise.
        mark: "reliable", "rough" or "noise", by `RULE`; None likewise.
        is_bound: whether nothing was measured that tells how far such an answer is off, so that
            the interval is a bound that needs no model: from nobody (of a zone: who visits the most
            visited of its locations) to the most who may visit the rarest of what is asked for.
    """

    low: int | None
    high: int | None
    level: float | None
    best: int | None
    mark: str | None
    is_bound: bool

    def __new__(
        cls,
        value: int,
        low: int | None = None,
        high: int | None = None,
        level: float | None = None,
        *,
        best: int | None = None,
        mark: str | None = None,
        is_bound: bool = False,
    ) -> Self:
        """A count; the interval is given whole or not at all."""
        self = super().__new__(cls, value)
        self.low, self.high, self.level = low, high, level
        self.best, self.mark, self.is_bound = best, mark, is_bound
        return self

    def __repr__(self) -> str:
        if self.low is None or self.high is None or self.level is None:
            return int.__repr__(self)
        return f"{int(self):,} ({self.low:,} to {self.high:,}, {self.level:.0%})"

    @property
    def shown(self) -> int:
        """What a list shows: `best`, or the count if nothing better is known."""
        return int(self) if self.best is None else self.best


def as_estimate(count: int) -> Estimate:
    """A count with its interval, if it has one."""
    return count if isinstance(count, Estimate) else Estimate(count)


def largest_first(rows: Iterable[Row], answer: Callable[[Row], int]) -> list[Row]:
    """The rows of a list in the order of what it shows; of equals as they stood.

    Which rows are in a list follows from the released counts; what is shown of each is better
    known, and may stand in another order.
    """
    return sorted(rows, key=lambda row: -as_estimate(answer(row)).shown)


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """Many answers of one kind with their intervals.

    Attributes:
        counts: int64; as released.
        low, high: int64; low ≤ count ≤ high.
        best: int64; the middle of what the true counts may be.
        marks: one of `MARKS` each.
        is_bound: bool; see `Estimate`.
        level: of the intervals.
    """

    counts: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    best: NDArray[np.int64]
    marks: list[str]
    is_bound: NDArray[np.bool_]
    level: float

    def estimates(self) -> Iterator[Estimate]:
        """One by one."""
        columns = (self.counts, self.low, self.high, self.best, self.is_bound)
        rows = zip(*(column.tolist() for column in columns), self.marks, strict=True)
        for count, low, high, best, is_bound, mark in rows:
            yield Estimate(count, low, high, self.level, best=best, mark=mark, is_bound=is_bound)


# The error table of a release: from the size of an answer to the interval around it.
#
# The table is small, travels with the release, and is all that is needed to give intervals: rows
# (kind, number of locations asked for, estimate, level) → (low, high). Between two estimates of the
# table the bounds are interpolated on a logarithmic scale; beyond the last one they grow in
# proportion, and below the first one they are as far away as there. Of a kind without rows nothing
# is known but the bound that needs no model.


@dataclass(frozen=True, eq=False)
class ErrorTable:
    """Intervals by kind of question, number of locations and size of the estimate.

    Attributes:
        locations: int64, ascending within a kind; how many distinct locations are asked for. The
            largest also stands for more. −1: at least two, one of which no released trajectory
            visits.
        estimate: int64, ≥ 0, ascending within ``locations``; the released count.
        bounds: int64, shape (rows, levels, 2); low and high for each level of `LEVELS`.
            0 ≤ low ≤ high; they widen with the level.
        kind: int64, ascending; which of `KINDS`. Empty: all are of the first.
        best: int64; the middle of what the true count may be. Empty: the estimate itself.
        listed: cells that a noisy table lists, with intervals of their own; None in bundles that
            were written before there were any.
    """

    locations: NDArray[np.int64]
    estimate: NDArray[np.int64]
    bounds: NDArray[np.int64]
    kind: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    best: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    listed: ListedCells | None = None

    def __post_init__(self) -> None:
        rows = len(self.locations)
        if not len(self.kind):
            object.__setattr__(self, "kind", np.zeros(rows, dtype=np.int64))
        if not len(self.best):
            object.__setattr__(self, "best", self.estimate)

    @cached_property
    def _blocks(self) -> dict[tuple[str, int], slice]:
        borders = np.flatnonzero((np.diff(self.kind) != 0) | (np.diff(self.locations) != 0)) + 1
        starts = [0, *borders.tolist()] if len(self.kind) else []
        ends = [*starts[1:], len(self.kind)]
        return {
            (KINDS[self.kind[start]], int(self.locations[start])): slice(start, end)
            for start, end in zip(starts, ends, strict=True)
        }

    def tells(self, kind: str, locations: int = 1) -> bool:
        """Whether something was measured that tells the errors of such answers."""
        return self._block(kind, locations) is not None

    def _block(self, kind: str, locations: int) -> slice | None:
        most = max((many for each, many in self._blocks if each == kind), default=0)
        more = most if most >= _STANDS_FOR_MORE.get(kind, locations) else locations
        return self._blocks.get((kind, min(locations, more)))

    def problem(self) -> str | None:
        """What is wrong with a table that claims to be one, or None."""
        if np.any((self.kind < 0) | (self.kind >= len(KINDS))):
            return "there is no such kind of question"
        next_kind = np.diff(self.kind) > 0
        later = next_kind | (np.diff(self.locations) > 0)
        low, high = self.bounds[..., 0], self.bounds[..., 1]
        problems = {
            "the rows are not in order": np.any(np.diff(self.kind) < 0)
            or np.any((np.diff(self.locations) < 0) & ~next_kind)
            or np.any((np.diff(self.estimate) <= 0) & ~later),
            "it does not say anything about one location": (ANY, 1) not in self._blocks,
            "a bound is negative, or low is above high": np.any(low < 0) or np.any(low > high),
            "the intervals do not widen with the level": np.any(np.diff(low, axis=1) > 0)
            or np.any(np.diff(high, axis=1) < 0),
        }
        return next((problem for problem, found in problems.items() if found), None)

    def answers(
        self,
        kind: str,
        locations: NDArray[np.int64],
        estimates: NDArray[np.int64],
        all_named: NDArray[np.bool_],
        most: NDArray[np.int64],
        level: float = USUAL_LEVEL,
        *,
        least: NDArray[np.int64] | int = 0,
        cells: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None,
    ) -> Answers:
        """Many answers of one kind, with intervals and marks.

        Args:
            kind: one of `KINDS`.
            locations: how many distinct locations each query asks for.
            estimates: the released counts.
            all_named: whether released trajectories visit each of the query's locations.
            most: the bound that needs no model: no true count is larger.
            level: one of 0.5, 0.6, 0.7, 0.8, 0.9 and 0.95.
            least: likewise, none is smaller; for answers of which the table tells nothing.
            cells: the two locations of each, by their codes, in the order of the question, or the
                smaller first if any order will do; negative where it asks for others. Such as are
                listed have intervals of their own.

        Raises:
            QueryError: if it is another level.
        """
        asked = kind, locations, estimates, all_named
        listed = None if cells is None else self._listed(kind, *cells)
        low, high, best, known = self._found_or_listed(asked, level, listed)
        usual = low, high
        if level != USUAL_LEVEL:
            usual = self._found_or_listed(asked, USUAL_LEVEL, listed)[:2]
        bounded, least = np.maximum(most, estimates), np.minimum(least, estimates)
        low, at_usual = (np.where(known, side, least) for side in (low, usual[0]))
        high, at_most = (
            np.where(known, np.minimum(side, bounded), bounded) for side in (high, usual[1])
        )
        marks = marks_of(at_usual, at_most)
        best = np.clip(np.where(known, best, estimates), low, high)
        return Answers(estimates, low, high, best, marks, ~known, level)

    def _listed(
        self, kind: str, first: NDArray[np.int64], second: NDArray[np.int64]
    ) -> Found | None:
        """Which of these cells are listed; None if none can be."""
        if not self.listed:
            return None
        return self.listed.find(KINDS.index(kind), first, second)

    def _found_or_listed(
        self,
        asked: tuple[str, NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]],
        level: float,
        listed: Found | None,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
        """As `_found`; of cells that are listed, what is known of each by itself."""
        low, high, best, known = self._found(*asked, level)
        if listed is None or self.listed is None:
            return low, high, best, known
        bounds, estimates = self.listed.bounds[listed.row, _column(level)], asked[2]
        return (
            np.where(listed.known, np.minimum(bounds[:, 0], estimates), low),
            np.where(listed.known, np.maximum(bounds[:, 1], estimates), high),
            np.where(listed.known, self.listed.best[listed.row], best),
            known | listed.known,
        )

    def intervals(
        self,
        locations: NDArray[np.int64],
        estimates: NDArray[np.int64],
        all_named: NDArray[np.bool_],
        level: float = USUAL_LEVEL,
        kind: str = ANY,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Low and high of many answers by the table alone, int64; low ≤ estimate ≤ high."""
        return self._found(kind, locations, estimates, all_named, level)[:2]

    def _found(
        self,
        kind: str,
        locations: NDArray[np.int64],
        estimates: NDArray[np.int64],
        all_named: NDArray[np.bool_],
        level: float,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
        """Low, high, best, and whether the table tells; where not, all are the estimate."""
        column = _column(level)
        asked_for = locations
        if (ANY, WITH_UNNAMED) in self._blocks and kind == ANY:
            asked_for = np.where((locations > 1) & ~all_named, WITH_UNNAMED, locations)
        low, high, best = estimates.copy(), estimates.copy(), estimates.copy()
        known = np.zeros(len(estimates), dtype=np.bool_)
        for many in np.unique(asked_for):
            block = self._block(kind, int(many))
            if block is None:
                continue
            asked = asked_for == many
            known |= asked
            found = self._interpolate(block, column, estimates[asked].astype(np.float64))
            low[asked] = np.minimum(np.floor(found[0]), estimates[asked])
            high[asked] = np.maximum(np.ceil(found[1]), estimates[asked])
            best[asked] = np.round(found[2])
        return low, high, best, known

    def _interpolate(
        self, block: slice, column: int, estimates: NDArray[np.float64]
    ) -> list[NDArray[np.float64]]:
        grid, position = np.log1p(self.estimate[block]), np.log1p(estimates)
        # Beyond the end of the table the relative error stays what it is there.
        beyond = np.maximum(estimates / max(float(self.estimate[block][-1]), 1.0), 1.0)
        # Before its beginning the error itself does.
        before = np.maximum(float(self.estimate[block][0]) - estimates, 0.0)
        curves = (self.bounds[block, column, 0], self.bounds[block, column, 1], self.best[block])
        found = [np.expm1(np.interp(position, grid, np.log1p(curve))) for curve in curves]
        return [np.round(np.maximum(curve * beyond - before, 0.0), 6) for curve in found]


def _column(level: float) -> int:
    per_cent = round(100 * level, 9)
    if per_cent not in LEVELS:
        offered = ", ".join(f"{known / 100:g}" for known in LEVELS)
        raise QueryError(f"There are no intervals for the level {level:g}; choose from {offered}.")
    return LEVELS.index(int(per_cent))
