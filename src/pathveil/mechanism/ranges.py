"""A table's occupied cells as a stream, cut into ranges that each hold a bounded number of them.

So that noise needs memory for one range and for what passes, not for a whole level: an engine out
of core or on a cluster has more non-empty children than one process should hold.

Every cell of the table is in exactly one range, empty ones too: a range goes from where the last
one ended to its own last occupied cell, and the last range goes to the end of the table. Where
the cuts fall depends on exact counts, and on nothing else (not on the blocks in which an engine
happens to deliver). They do not show in what is published: given the counts, each cell has noise
and a test of its own, independent of all others, whichever range it is in; so the table has the
law of the tests cell by cell, and the argument for it knows of no ranges.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MOST_OCCUPIED = 1 << 16

Cells = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Some occupied cells, ascending, and their exact counts."""


@dataclass(frozen=True, slots=True, repr=False)
class Range:
    """The cells from ``begin`` to before ``end``. Private: it holds exact counts.

    Attributes:
        begin: the first cell.
        end: the cell after the last one.
        occupied: int64, ascending; the cells with a count ≥ 1, from ``begin`` on as 0, 1, 2 ….
        counts: int64; their exact counts.
    """

    begin: int
    end: int
    occupied: NDArray[np.int64]
    counts: NDArray[np.int64]


def ranges(blocks: Iterable[Cells], cells: int) -> Iterator[Range]:
    """The whole table, range by range.

    Args:
        blocks: its occupied cells, ascending within and across blocks, each cell once.
        cells: the number of all cells.

    Raises:
        RuntimeError: if the cells do not ascend: an engine that gives a count twice, or too late,
            would give a unit more than its share.
    """
    begin = 0
    for occupied, counts in _of_one_size(blocks):
        is_last = len(occupied) < MOST_OCCUPIED
        end = cells if is_last else int(occupied[-1]) + 1
        if len(occupied) and not _ascend(occupied, begin, cells):
            raise RuntimeError("an engine gave the counts of a level out of order")
        yield Range(begin, end, occupied - begin, counts)
        begin = end


def _ascend(occupied: NDArray[np.int64], begin: int, cells: int) -> bool:
    is_inside = begin <= occupied[0] and occupied[-1] < cells
    return bool(is_inside and np.all(occupied[:-1] < occupied[1:]))


def _of_one_size(blocks: Iterable[Cells]) -> Iterator[Cells]:
    """The same cells in blocks of MOST_OCCUPIED, and a last one of fewer, which may be empty."""
    occupied = counts = np.empty(0, dtype=np.int64)
    for more, their_counts in blocks:
        # What waits is less than a block, so this copies little; and a whole level not at all.
        occupied = np.concatenate((occupied, more)) if len(occupied) else more
        counts = np.concatenate((counts, their_counts)) if len(counts) else their_counts
        full = len(occupied) // MOST_OCCUPIED * MOST_OCCUPIED
        for start in range(0, full, MOST_OCCUPIED):
            stop = start + MOST_OCCUPIED
            yield occupied[start:stop], counts[start:stop]
        occupied, counts = occupied[full:], counts[full:]
    yield occupied, counts
