"""Bounded trajectories in batches: packed for a disk or a shuffle, unpacked for one pass.

A batch is one string of bytes that holds some whole trajectories. What a pass makes of it, the
counts of its tables, is found by the same code as in memory; an engine out of core or on a cluster
keeps the bytes, and adds up the counts.

No trajectory is ever in two batches, and a batch that is not whole is refused: half a trajectory
would be counted as one of its own, and its unit would have more than its share. Nor is any unit,
where its trajectories are told apart from others' (`BoundedTrajectories.trips`): what is bounded
for a unit as a whole can be bounded in each batch by itself.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pathveil.raw.bounding import BoundedTrajectories
from pathveil.raw.database import first_trips
from pathveil.raw.engines.memory_counter import rows_of
from pathveil.raw.engines.protocol import Cells
from pathveil.raw.observed import recoded
from pathveil.statistics.statistic import Rows

MOST_VISITS = 1 << 19  # of a batch, about, if it has more than one unit
# Whole numbers of 8 bytes: how many trajectories, how many bytes a code has, and how many numbers
# there are behind the codes (`BoundedTrajectories.trips`): one of each trajectory, or none.
_HEADER: Final = 3


def packed(bounded: BoundedTrajectories, height: int | None) -> Iterator[bytes]:
    """Trajectories as batches of whole units; cut after ``height`` visits, if no more is looked at.

    If a unit's trajectories are not told apart from others' (no ``trips``), nothing asks for whole
    units, and any two trajectories may be in two batches.
    """
    offsets = bounded.offsets
    codes: NDArray[np.integer] = bounded.codes
    if height is not None:
        offsets, codes = _cut(offsets, codes, height)
    # Trajectories weigh something, too: there may be any number of empty ones.
    weight = offsets[:-1] + np.arange(len(offsets) - 1)
    ends = np.arange(MOST_VISITS, int(weight[-1]) + 1 if len(weight) else 0, MOST_VISITS)
    cuts = np.searchsorted(weight, ends)
    if bounded.trips is not None:
        first = np.append(np.flatnonzero(bounded.trips > 0), len(weight))  # of each unit, the end
        cuts = first[np.searchsorted(first, cuts)]
    bounds = np.unique([0, *cuts, len(weight)])
    for first, last in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        lengths = np.diff(offsets[first : last + 1]).astype("<i4")
        part = codes[offsets[first] : offsets[last]]
        trips = b""
        if bounded.trips is not None:
            trips = bounded.trips[first:last].astype("<i4").tobytes()
        header = np.array([last - first, part.itemsize, len(trips) // 4], dtype="<i8")
        yield b"".join((header.tobytes(), lengths.tobytes(), part.tobytes(), trips))


def unpacked(pack: bytes | memoryview) -> tuple[NDArray[np.int64], NDArray[np.integer]]:
    """The offsets and codes of a batch.

    Raises:
        RuntimeError: if it is not whole.
    """
    rows, size, trips = np.frombuffer(pack, "<i8", _HEADER).tolist()
    start = _HEADER * 8
    lengths = np.frombuffer(pack, "<i4", rows, offset=start)
    offsets = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(lengths, dtype=np.int64)))
    start += lengths.nbytes
    visits = int(offsets[-1])
    if len(pack) != start + size * visits + 4 * trips or trips not in (0, rows):
        raise RuntimeError("a batch of trajectories is not whole")
    # A copy: compiled code would be compiled once more for what can't be written.
    return offsets, np.frombuffer(pack, f"<i{size}", visits, offset=start).copy()


def unpacked_trips(pack: bytes | memoryview) -> NDArray[np.int32] | None:
    """How many trajectories the units of a whole batch have; None if that is not kept."""
    trips = int(np.frombuffer(pack, "<i8", _HEADER)[2])
    return np.frombuffer(pack[len(pack) - 4 * trips :], "<i4").copy() if trips else None


def _cut(
    offsets: NDArray[np.int64], codes: NDArray[np.integer], height: int
) -> tuple[NDArray[np.int64], NDArray[np.integer]]:
    lengths = np.diff(offsets)
    if not len(lengths) or lengths.max() <= height:
        return offsets, codes
    place = np.arange(len(codes)) - np.repeat(offsets[:-1], lengths)
    kept = np.concatenate(([0], np.cumsum(np.minimum(lengths, height))))
    return kept, codes[place < height]


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """How batches are seen; all of it is public, but the size of a universe that is yet unknown.

    Attributes:
        size: |L| of the packed codes.
        is_timed: whether they are pairs of a slot and a location.
        named: which locations are left, in their new order, once they were discovered.
        candidates: from which they are seen, once these were chosen.
        most: c, once it was chosen with privacy; until then, and if it was given, None.
    """

    size: int
    is_timed: bool
    named: NDArray[np.int64] | None = None
    candidates: NDArray[np.int64] | None = None
    most: int | None = None

    def among(self, candidates: NDArray[np.int64]) -> "View":
        """The same, from some candidates."""
        return replace(self, candidates=candidates)

    def rows(self, pack: bytes | memoryview) -> Rows:
        """The trajectories of a batch."""
        offsets, codes = unpacked(pack)
        trips = unpacked_trips(pack)
        if self.most is not None and trips is not None:
            offsets, codes, trips = first_trips(offsets, codes, trips, self.most)
        size = self.size
        if self.named is not None:
            offsets, codes = recoded(offsets, codes, size, self.named)
            size = len(self.named)
        rows = rows_of(offsets, codes, size, is_timed=self.is_timed)
        rows = rows if trips is None else replace(rows, trips=trips)
        return rows if self.candidates is None else rows.among(self.candidates)


Block = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
"""Tables, cells and counts, by (table, cell)."""


class SortedSums:
    """Sums that an engine sorted by (table, cell), in blocks, as one stream for each table.

    Args:
        blocks: as they come.
    """

    def __init__(self, blocks: Iterator[Block]) -> None:
        self._blocks = (block for block in blocks if len(block[0]))
        self._block: Block | None = next(self._blocks, None)  # so that all is counted by now

    def of(self, table: int) -> Iterator[Cells]:
        """The stream of a table; those of smaller ones must have been taken."""
        while self._block is not None:
            tables, cells, counts = self._block
            if tables[0] < table:
                raise RuntimeError("an engine gave the counts of a table too late")
            end = int(np.searchsorted(tables, table, side="right"))
            if end:
                yield cells[:end], counts[:end]
            if end < len(tables):
                self._block = tables[end:], cells[end:], counts[end:]
                return
            self._block = next(self._blocks, None)
