"""Bring each unit's visits together: split every piece by a hash of the unit, then join.

A source is rarely grouped by unit (taps come sorted by time), and a table of all units does not
fit a processor's cache. So each piece is split into buckets by the unit's hash as it is read; a
bucket then holds all visits of its units, is small enough for the cache, and is worked on alone.
The split decides nothing but the order in which units are stored.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import njit
from pathveil.errors import InputError
from pathveil.raw.bounding import NO_VISITS, Visits, rows_by_code
from pathveil.raw.sources.encoding import EncodedPiece
from pathveil.raw.sources.text_codes import TextCodes, copied, hash_texts
from pathveil.raw.sources.text_columns import NO_TEXTS, OrderKeys, Texts
from pathveil.raw.sources.unit_text import merged_forms
from pathveil.raw.trajectory_ids import rank_trajectory_ids

BUCKETS = 64
_BUCKET_SHIFT = np.uint64(64 - 6)  # the upper 6 bits: the hash tables use the lower ones
_MAX_ROWS = 2**31 - 1


@dataclass(frozen=True, slots=True, repr=False)
class PartitionedPiece:
    """The visits of a piece by bucket; inside a bucket in the order of the source.

    Attributes:
        run_places: int64, shape (BUCKETS + 1,); where each bucket's runs start.
        visit_places: int64, shape (BUCKETS + 1,); where each bucket's visits start.
        run_sizes: int32, shape (r,); how many visits each run has.
        unit: the unit of each run.
        unit_forms: uint64, shape (r,); in which form it was written (see `UnitTexts`), or None.
        trajectory: the trajectory id of each run; None without such a column.
        row: int64, shape (r,); the row of the piece that is the run. Only where each row is a
            trajectory of its own, else None.
        order: the order value of each visit; None without such a column.
        location: int32, shape (n,); location codes.
        rows: how many rows the piece had, dropped ones included.
        malformed: how many rows or list items were dropped as malformed.
        unordered: how many of these have an order that can't be read.
        outside: how many visits were dropped because they are outside the universe.
    """

    run_starts: NDArray[np.int64]
    visit_starts: NDArray[np.int64]
    run_sizes: NDArray[np.int32]
    unit: Texts
    unit_forms: NDArray[np.uint64] | None
    trajectory: Texts | None
    row: NDArray[np.int64] | None
    order: OrderKeys | None
    location: NDArray[np.int32]
    rows: int
    malformed: int
    unordered: int
    outside: int


def partition(piece: EncodedPiece) -> PartitionedPiece:
    """Split a piece's visits into buckets by the hash of their unit."""
    bucket = (piece.unit_hashes >> _BUCKET_SHIFT).astype(np.int32)
    run_starts, runs = rows_by_code(bucket, BUCKETS)
    run_sizes = np.diff(piece.run_starts)[runs]
    visits = _visits_of_runs(piece.run_starts, runs, len(piece.location))
    return PartitionedPiece(
        run_starts=run_starts,
        visit_starts=np.concatenate([[0], np.cumsum(run_sizes)])[run_starts],
        run_sizes=run_sizes.astype(np.int32),
        unit=copied(piece.unit, runs),
        unit_forms=None if piece.unit_forms is None else piece.unit_forms[runs],
        trajectory=None if piece.trajectory is None else copied(piece.trajectory, runs),
        row=None if piece.row is None else piece.row[runs],
        order=None if piece.order is None else piece.order.take(visits),
        location=piece.location[visits],
        rows=piece.rows,
        malformed=piece.malformed,
        unordered=piece.unordered,
        outside=piece.outside,
    )


class Partitions:
    """All pieces of a source, to be taken bucket by bucket.

    Args:
        pieces: the pieces, in the order of the source.

    Raises:
        InputError: if there are more rows or visits than 32-bit codes can number.
    """

    def __init__(self, pieces: Sequence[PartitionedPiece]) -> None:
        self.rows = sum(piece.rows for piece in pieces)
        self.malformed = sum(piece.malformed for piece in pieces)
        self.unordered = sum(piece.unordered for piece in pieces)
        self.outside = sum(piece.outside for piece in pieces)
        if max(self.rows, sum(len(piece.location) for piece in pieces)) > _MAX_ROWS:
            raise InputError(f"There are more than {_MAX_ROWS:,} visits; split the data by unit.")
        self._pieces = pieces
        self._first_rows = np.cumsum([0, *(piece.rows for piece in pieces)])

    def visits(self, bucket: int, *, hashed: bool = False) -> Visits:
        """The visits of one bucket's units, in the order of the source.

        Args:
            bucket: which bucket.
            hashed: whether the hashes of the units are wanted too.
        """
        pieces = self._pieces
        if not pieces:
            return NO_VISITS
        runs = [slice(*piece.run_starts[bucket : bucket + 2]) for piece in pieces]
        visits = [slice(*piece.visit_starts[bucket : bucket + 2]) for piece in pieces]
        sizes = _joined([piece.run_sizes for piece in pieces], runs)
        unit, units = _coded([piece.unit for piece in pieces], runs)
        trajectory = self._trajectories(runs)
        integer, rest = _joined_order([piece.order for piece in pieces], visits)
        forms = _joined_or_zeros([piece.unit_forms for piece in pieces], runs)
        return Visits(
            unit=np.repeat(unit, sizes),
            trajectory=trajectory if trajectory is None else np.repeat(trajectory, sizes),
            integer=integer,
            rest=rest,
            location=_joined([piece.location for piece in pieces], visits),
            units=len(units),
            unit_hash=hash_texts(units.values) if hashed else None,
            merged_forms=merged_forms(unit, forms, len(units)),
        )

    def _trajectories(self, runs: Sequence[slice]) -> NDArray[np.int32] | None:
        """The rank of each run's trajectory; None if a unit has only one."""
        if self._pieces[0].row is not None:
            rows = [
                piece.row[part] + first
                for piece, part, first in zip(self._pieces, runs, self._first_rows, strict=False)
                if piece.row is not None
            ]
            return np.concatenate(rows).astype(np.int32)
        ids = [piece.trajectory for piece in self._pieces if piece.trajectory is not None]
        if not ids:
            return None
        codes, distinct = _coded(ids, runs)
        return rank_trajectory_ids(distinct.values)[codes]


def _coded(columns: Sequence[Texts], parts: Sequence[slice]) -> tuple[NDArray[np.int32], TextCodes]:
    """Number the texts of some parts, by first appearance."""
    codes = TextCodes()
    joined = _joined_texts(columns, parts)
    return codes.add(joined, hash_texts(joined)), codes


def _joined(columns: Sequence[NDArray[Any]], parts: Sequence[slice]) -> NDArray[Any]:
    return np.concatenate([column[part] for column, part in zip(columns, parts, strict=True)])


def _joined_texts(columns: Sequence[Texts], parts: Sequence[slice]) -> Texts:
    """The texts of some parts; each column's texts lie one after the other."""
    starts, stops, data, size = [], [], [], 0
    for column, part in zip(columns, parts, strict=True):
        if part.start == part.stop:
            continue
        first, last = column.starts[part.start], column.stops[part.stop - 1]
        starts.append(column.starts[part] + (size - first))
        stops.append(column.stops[part] + (size - first))
        data.append(column.data[first:last])
        size += last - first
    if not starts:
        return NO_TEXTS
    return Texts(np.concatenate(starts), np.concatenate(stops), np.concatenate(data))


def _joined_order(
    columns: Sequence[OrderKeys | None], parts: Sequence[slice]
) -> tuple[NDArray[np.int64] | None, NDArray[np.uint64] | None]:
    """The whole parts and the rests; both None without an order, the latter if all are 0."""
    keys = [column for column in columns if column is not None]
    if not keys:
        return None, None
    integer = _joined([column.integer for column in keys], parts)
    return integer, _joined_or_zeros([column.rest for column in keys], parts)


def _joined_or_zeros(
    columns: Sequence[NDArray[np.uint64] | None], parts: Sequence[slice]
) -> NDArray[np.uint64] | None:
    """Columns joined, with zeros where one is None; None if all are."""
    if all(column is None for column in columns):
        return None
    return np.concatenate([
        np.zeros(part.stop - part.start, dtype=np.uint64) if column is None else column[part]
        for column, part in zip(columns, parts, strict=True)
    ])  # fmt: skip


@njit(cache=True, nogil=True)
def _visits_of_runs(
    run_starts: NDArray[np.int64], runs: NDArray[np.int64], size: int
) -> NDArray[np.int64]:
    """The visits of the given runs, one run after the other."""
    visits = np.empty(size, dtype=np.int64)
    filled = 0
    for run in runs:
        for visit in range(run_starts[run], run_starts[run + 1]):
            visits[filled] = visit
            filled += 1
    return visits
