"""What a rehearsal finds out about rows: which are malformed and why, which stops are unknown.

Exact facts about people, for the curator's terminal only: nothing may store or publish them, and
no run that publishes makes them. It looks on while the steps of a run are taken (`steps`) and
changes nothing of them.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from pathveil.raw.bounding import BoundedTrajectories, Visits
from pathveil.raw.discretize import Locator
from pathveil.raw.sources.columns import Columns
from pathveil.raw.sources.order_text import TIMESTAMP
from pathveil.raw.sources.raw_rows import RawRows
from pathveil.raw.sources.text_codes import MALFORMED, TextCodes, hash_texts
from pathveil.raw.sources.text_columns import Texts
from pathveil.raw.sources.unit_text import UnitTexts

_EXAMPLES = 5  # lines that are named for each trouble
_MOST_NAMED = 10  # unknown stops
_LINE_FEED, _CARRIAGE_RETURN = ord("\n"), ord("\r")
EMPTY, NO_TEXT, NO_ORDER, NO_DEGREES, NO_CELLS = (
    "is empty", "is no text in this encoding", "is no number and no time in this format",
    "are no degrees", "a cell too few or too many, an open quote, or over 1 MB",
)  # fmt: skip


@dataclass(frozen=True, slots=True, repr=False)
class Trouble:
    """Why rows are malformed; each row counts once, for the first reason.

    Attributes:
        column: which column; None if the line has no columns that could be told apart.
        reason: what is wrong with it.
        rows: how many rows.
        first: the numbers of the first of them: lines of a CSV file, else rows.
    """

    column: str | None
    reason: str
    rows: int
    first: tuple[int, ...]


@dataclass(frozen=True, slots=True, repr=False)
class Findings:
    """What there is to know about the rows of a source.

    Attributes:
        troubles: why rows are malformed.
        unknown: labels that the universe does not have, the most frequent first, and how many
            visits name each.
        unknown_labels: how many such labels there are.
        period: the first and the last time, in seconds since 1970; None without times.
        units: units with a trajectory that is used.
        trajectories: trajectories that are used.
        visits: visits in them.
        twice: visits of the same unit and trajectory to the same location at the same order value
            as another one.
    """

    troubles: tuple[Trouble, ...]
    unknown: tuple[tuple[str, int], ...]
    unknown_labels: int
    period: tuple[int, int] | None
    units: int
    trajectories: int
    visits: int
    twice: int


@dataclass(frozen=True, slots=True, repr=False)
class _Look:
    """What was found in one piece: how long it is, and (column, reason, rows in it) of it."""

    size: int
    found: tuple[tuple[str | None, str, NDArray[np.int64]], ...]


class Inspection:
    """Looks on while a source is read, in several threads.

    Args:
        columns: the columns in use.
    """

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._looks: dict[int, _Look] = {}
        self._labels, self._named = TextCodes(), np.zeros(0, dtype=np.int64)
        self._period: tuple[int, int] | None = None
        self._units = self._trajectories = self._visits = self._twice = 0
        self._first = 1
        self._lock = Lock()

    def __repr__(self) -> str:
        return "Inspection(<private>)"

    def numbered(self, pieces: Iterator[Callable[[], RawRows]]) -> Iterator[Callable[[], RawRows]]:
        """The same pieces, which know their place."""
        for number, piece in enumerate(pieces):
            yield partial(_numbered, piece, number)

    def look(self, rows: RawRows, locator: Locator | None, *, exact_units: bool) -> None:
        """Look at the rows of a piece."""
        good = np.ones(len(rows.unit), dtype=np.bool_)
        found: list[tuple[str | None, str, NDArray[np.int64]]] = []

        def note(column: str | None, reason: str, bad: NDArray[np.bool_]) -> None:
            bad_rows = np.flatnonzero(bad & good)
            if len(bad_rows):
                found.append((column, reason, bad_rows))
                good[bad_rows] = False

        texts = {self._columns.unit: rows.unit if exact_units else UnitTexts.of(rows.unit).texts}
        if self._columns.trajectory is not None and rows.trajectory is not None:
            texts[self._columns.trajectory] = rows.trajectory
        if self._columns.location is not None and rows.lengths is None:
            texts[self._columns.location] = rows.location
        for column, cells in texts.items():
            note(column, EMPTY, cells.starts == cells.stops)
            note(column, NO_TEXT, hash_texts(cells) == MALFORMED)
        readable = None if rows.order is None else rows.order.readable()
        if readable is not None:
            note(self._columns.order, NO_ORDER, ~readable)
        if rows.points is not None:
            note(f"{self._columns.latitude} and {self._columns.longitude}", NO_DEGREES,
                 ~rows.points.readable())  # fmt: skip
        unknown = self._unknown(rows, good, locator)
        size, found = _in_lines(rows, found) if rows.in_lines else (len(good), found)
        with self._lock:
            self._first = 2 if rows.in_lines else 1
            self._looks[rows.piece] = _Look(size, tuple(found))
            self._note_period(rows, good)
            self._note_unknown(unknown)

    def _unknown(
        self, rows: RawRows, good: NDArray[np.bool_], locator: Locator | None
    ) -> Texts | None:
        """The labels of the visits to locations that the universe does not have."""
        if locator is None or rows.points is not None:
            return None
        code, readable = getattr(locator, "locator", locator).locate(rows)
        if rows.lengths is not None:
            good = np.repeat(good, np.maximum(rows.lengths, 0))
        return rows.location.take(np.flatnonzero(good & readable & (code < 0)))

    def _note_unknown(self, unknown: Texts | None) -> None:
        if unknown is None or not len(unknown):
            return
        codes = self._labels.add(unknown, hash_texts(unknown))
        named = np.bincount(codes, minlength=len(self._labels))
        named[: len(self._named)] += self._named
        self._named = named

    def _note_period(self, rows: RawRows, good: NDArray[np.bool_]) -> None:
        if rows.order is None or rows.order.rest is None:
            return
        times = rows.order.integer[good & (rows.order.rest >= TIMESTAMP)]
        if len(times):
            seen = [int(times.min()), int(times.max()), *(self._period or ())]
            self._period = min(seen), max(seen)

    def look_at_units(self, visits: Visits, bounded: BoundedTrajectories) -> None:
        """Look at all visits of some units, and at what is left of them."""
        keys = [visits.location, visits.rest, visits.integer, visits.trajectory, visits.unit]
        known = [key for key in keys if key is not None]
        twice = 0
        if visits.integer is not None and len(visits.unit):
            order = np.lexsort(known)
            same = np.ones(len(order) - 1, dtype=np.bool_)
            for key in known:
                same &= key[order][1:] == key[order][:-1]
            twice = int(np.count_nonzero(same))
        with self._lock:
            self._units += len(np.unique(visits.unit))
            self._trajectories += len(bounded.offsets) - 1
            self._visits += len(bounded.codes)
            self._twice += twice

    def findings(self) -> Findings:
        """All of it, once everything is read."""
        troubles: dict[tuple[str | None, str], tuple[int, tuple[int, ...]]] = {}
        first = self._first
        for _, look in sorted(self._looks.items()):
            for column, reason, bad_rows in look.found:
                rows, named = troubles.get((column, reason), (0, ()))
                numbers = (*named, *(first + bad_rows[:_EXAMPLES]).tolist())
                troubles[column, reason] = rows + len(bad_rows), numbers[:_EXAMPLES]
            first += look.size
        most = np.argsort(-self._named, kind="stable")[:_MOST_NAMED]
        labels = self._labels.values
        return Findings(
            troubles=tuple(Trouble(*key, *rows) for key, rows in troubles.items()),
            unknown=tuple((_text(labels, i), int(self._named[i])) for i in most.tolist()),
            unknown_labels=len(self._labels),
            period=self._period,
            units=self._units,
            trajectories=self._trajectories,
            visits=self._visits,
            twice=self._twice,
        )  # fmt: skip


def _text(texts: Texts, i: int) -> str:
    return bytes(texts.data[texts.starts[i] : texts.stops[i]]).decode()


def _numbered(piece: Callable[[], RawRows], number: int) -> RawRows:
    return replace(piece(), piece=number)


def _in_lines(
    rows: RawRows, found: list[tuple[str | None, str, NDArray[np.int64]]]
) -> tuple[int, list[tuple[str | None, str, NDArray[np.int64]]]]:
    """The lines of a block of CSV instead of its rows, and those that are no rows."""
    data = rows.unit.data
    ends = np.flatnonzero(data == _LINE_FEED)
    if not len(ends):
        ends = np.flatnonzero(data == _CARRIAGE_RETURN)
    line = np.searchsorted(ends, rows.unit.starts) + rows.too_long
    in_lines = [(column, reason, line[bad_rows]) for column, reason, bad_rows in found]
    if rows.unreadable:
        starts = np.append(0, ends + 1)
        starts = starts[starts < len(data)]
        blank = (data[starts] == _LINE_FEED) | (data[starts] == _CARRIAGE_RETURN)
        others = np.setdiff1d(np.flatnonzero(~blank) + rows.too_long, line)
        others = np.append(np.arange(rows.too_long), others)[: rows.unreadable]
        in_lines.append((None, NO_CELLS, others))
    is_last = len(data) > 0 and data[-1] not in (_LINE_FEED, _CARRIAGE_RETURN)
    return len(ends) + int(is_last) + rows.too_long, in_lines
