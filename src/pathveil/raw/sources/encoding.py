"""Rows into coded visits, without the malformed rows and the visits outside the universe.

Runs in several threads at once: nothing here is changed by a piece.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pathveil.raw.discretize import Locator
from pathveil.raw.sources.raw_rows import RawRows
from pathveil.raw.sources.text_codes import MALFORMED, hash_texts, repeats
from pathveil.raw.sources.text_columns import NO_TEXTS, OrderKeys, Texts
from pathveil.raw.sources.unit_text import UnitTexts


@dataclass(frozen=True, slots=True, repr=False)
class EncodedPiece:
    """The n visits of a piece that are well formed and inside the universe, in its order.

    Visits of one unit and trajectory that follow each other form a run (in list form those of one
    row); there are r of them. Sources are mostly grouped, so what belongs to a run is kept once.

    Attributes:
        run_starts: int64, shape (r + 1,); the visits of run i are those from ``run_starts[i]``.
        unit: the unit of each run.
        unit_hashes: uint64, shape (r,).
        unit_forms: uint64, shape (r,); in which form it was written (see `UnitTexts`), or None.
        trajectory: the trajectory id of each run; None without such a column.
        row: int64, shape (r,); the row of the piece that is the run, in list form without a
            trajectory column, where each row is a trajectory of its own. Else None.
        order: the order value of each visit; None without such a column.
        location: int32, shape (n,); location codes.
        rows: how many rows the piece had, dropped ones included.
        malformed: how many rows (in list form: rows or items) were dropped.
        unordered: how many of these have an order that can't be read.
        outside: how many visits were dropped because they are outside the universe.
    """

    run_starts: NDArray[np.int64]
    unit: Texts
    unit_hashes: NDArray[np.uint64]
    unit_forms: NDArray[np.uint64] | None
    trajectory: Texts | None
    row: NDArray[np.int64] | None
    order: OrderKeys | None
    location: NDArray[np.int32]
    rows: int
    malformed: int
    unordered: int
    outside: int


def encode(rows: RawRows, locator: Locator, *, exact_units: bool = False) -> EncodedPiece:
    """Encode a piece.

    A row is malformed if its unit, trajectory or location is empty, not UTF-8 or holds a NUL, if
    its order is not an order value, its list is missing, or its coordinates are not degrees. An
    item of a list is malformed like a location.

    Args:
        rows: rows of the source.
        locator: how rows name their locations.
        exact_units: whether units are what was written, and not the normal form of it.
    """
    units = UnitTexts(rows.unit, None) if exact_units else UnitTexts.of(rows.unit)
    unit = _Identities.of(units.texts)
    trajectory = _Identities.of(NO_TEXTS if rows.trajectory is None else rows.trajectory)
    good = _well_formed_rows(rows, unit, trajectory)
    row = np.arange(len(good))
    if rows.lengths is not None:
        row = np.repeat(row, np.maximum(rows.lengths, 0))
    location, readable = locator.locate(rows)
    in_good_row = good if rows.lengths is None else good[row]
    usable = in_good_row & readable
    kept = np.flatnonzero(usable & (location >= 0))
    row = row[kept]
    run_starts = _run_starts(rows, units, unit, trajectory, row)
    first_row = row[run_starts[:-1]]
    return EncodedPiece(
        run_starts=run_starts,
        unit=unit.texts.take(first_row),
        unit_hashes=unit.hashes[first_row],
        unit_forms=None if units.forms is None else units.forms[first_row],
        trajectory=None if rows.trajectory is None else rows.trajectory.take(first_row),
        row=first_row if _rows_are_trajectories(rows) else None,
        order=None if rows.order is None else rows.order.take(kept),
        location=location[kept],
        rows=len(good) + rows.unreadable,
        malformed=_count(~good) + _count(in_good_row & ~readable) + rows.unreadable,
        unordered=_unordered(rows),
        outside=_count(usable) - len(kept),
    )


@dataclass(frozen=True, slots=True, repr=False)
class _Identities:
    """Texts with their hashes."""

    texts: Texts
    hashes: NDArray[np.uint64]

    @classmethod
    def of(cls, texts: Texts) -> "_Identities":
        return cls(texts, hash_texts(texts))

    def repeats(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether the text of each of some rows is that of the one before."""
        texts = self.texts
        return repeats(texts.starts, texts.stops, texts.data, self.hashes, rows)


def _well_formed_rows(
    rows: RawRows, unit: _Identities, trajectory: _Identities
) -> NDArray[np.bool_]:
    """Which rows are well formed, apart from their locations; bool, shape (n,)."""
    good: NDArray[np.bool_] = unit.hashes != MALFORMED
    if rows.trajectory is not None:
        good &= trajectory.hashes != MALFORMED
    readable = None if rows.order is None else rows.order.readable()
    if readable is not None:
        good &= readable
    if rows.lengths is not None:
        good &= rows.lengths >= 0
    return good


def _unordered(rows: RawRows) -> int:
    readable = None if rows.order is None else rows.order.readable()
    return 0 if readable is None else _count(~readable)


def _rows_are_trajectories(rows: RawRows) -> bool:
    return rows.lengths is not None and rows.trajectory is None


def _run_starts(
    rows: RawRows,
    units: UnitTexts,
    unit: _Identities,
    trajectory: _Identities,
    row: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Where a visit's unit (or its form) or trajectory is not the one before; and, at the end, n.

    In list form a row is a run by itself. Where no source has an order (a cluster), runs are
    ordered by their contents, so whether two rows of a unit are one run must not depend on
    whether another unit's row stands between them.
    """
    if rows.lengths is not None:
        goes_on = np.append(False, row[1:] == row[:-1])[: len(row)]
    else:
        goes_on = unit.repeats(row)
        if rows.trajectory is not None:
            goes_on &= trajectory.repeats(row)
        if units.forms is not None:
            forms = units.forms[row]
            goes_on[1:] &= forms[1:] == forms[:-1]
    return np.append(np.flatnonzero(~goes_on), len(row))


def _count(mask: NDArray[np.bool_]) -> int:
    return int(np.count_nonzero(mask))
