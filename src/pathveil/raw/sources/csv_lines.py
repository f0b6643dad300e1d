"""Which bytes are text: UTF-8, checked one value at a time."""

from collections.abc import Iterator
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import njit
from pathveil.raw.sources.text_columns import Texts

# ruff: noqa: PLR2004  (the bounds of Unicode's own table)


@njit(cache=True, nogil=True)
def is_text_bytes(data: NDArray[np.uint8], start: int, stop: int) -> bool:
    """Whether bytes are UTF-8 without a NUL, and not empty."""
    if start == stop:
        return False
    while start < stop:
        length = 1 if 0 < data[start] < 0x80 else _sequence_length(data, start, stop)
        if length == 0:
            return False
        start += length
    return True


@njit(cache=True, nogil=True)
def _sequence_length(data: NDArray[np.uint8], start: int, stop: int) -> int:
    """The length of the multi-byte character that starts here, or 0 if it is malformed.

    Unicode 16, table 3-7: overlong forms, surrogates and code points past U+10FFFF are refused.
    """
    first = data[start]
    low, high = 0x80, 0xBF
    if 0xC2 <= first <= 0xDF:
        length = 2
    elif 0xE0 <= first <= 0xEF:
        length = 3
        low = 0xA0 if first == 0xE0 else 0x80
        high = 0x9F if first == 0xED else 0xBF
    elif 0xF0 <= first <= 0xF4:
        length = 4
        low = 0x90 if first == 0xF0 else 0x80
        high = 0x8F if first == 0xF4 else 0xBF
    else:
        return 0
    if start + length > stop or not low <= data[start + 1] <= high:
        return 0
    for i in range(start + 2, start + length):
        if not 0x80 <= data[i] <= 0xBF:
            return 0
    return length


# A CSV file as lines: one line, one row, whatever the lines around it hold.
#
# In CSV at large a quote left open swallows the rows that follow, so one person's stray quote
# would make other people's rows disappear, and one endless cell would stop the whole read. Here a
# row ends where its line ends (``\n``, ``\r`` or both), quoted or not. A line that leaves a quote
# open, has too many or too few cells, or is longer than `MAX_LINE` bytes is dropped on its own.
# Empty lines are no rows. The price: a cell can't hold a line break.
#
# A quote opens a quoted part at the start of a cell only. In it delimiters are ordinary and two
# quotes are one; after it the cell goes on as it is. That is what Python's csv module does with
# a single line.


MAX_LINE = 2**20
BLOCK = 2**20

_QUOTE, _LINE_FEED, _CARRIAGE_RETURN = ord('"'), ord("\n"), ord("\r")
_ONE = np.uint64(1)


def line_blocks(file: BinaryIO) -> Iterator[tuple[bytes, int]]:
    """Cut the rest of a file into blocks of whole lines.

    Args:
        file: open for reading bytes, at the start of a line.

    Yields:
        A block of whole lines, and how many lines before it were dropped because they are much
        too long to keep. (A line in the block may still be longer than `MAX_LINE`.)
    """
    kept = b""
    skipping = False  # inside a line that is already too long
    while chunk := file.read(BLOCK):
        end = max(chunk.rfind(b"\n"), chunk.rfind(b"\r")) + 1
        if end == 0:
            if not skipping:
                kept += chunk
            if len(kept) > MAX_LINE:
                kept, skipping = b"", True
            continue
        start = _first_line_end(chunk) if skipping else 0
        yield kept + chunk[start:end], int(skipping)
        kept, skipping = chunk[end:], False
    if kept or skipping:
        yield kept, int(skipping)


def _first_line_end(chunk: bytes) -> int:
    ends = [chunk.find(end) + 1 for end in (b"\n", b"\r") if end in chunk]
    return min(ends)


def split_fields(
    block: bytes, delimiter: str, width: int, positions: list[int]
) -> tuple[list[Texts], int]:
    """Split a block of lines into the cells of some columns.

    Args:
        block: whole lines.
        delimiter: the character between cells.
        width: how many cells a line must have.
        positions: which columns to return.

    Returns:
        The texts of each of these columns, one for every well-formed line, and how many lines
        are not.
    """
    data = np.frombuffer(bytearray(block), dtype=np.uint8)
    slots = np.full(width, -1, dtype=np.int64)
    slots[positions] = np.arange(len(positions))
    most = 1 + sum(np.count_nonzero(data == end) for end in (_LINE_FEED, _CARRIAGE_RETURN))
    starts = np.empty((len(positions), most), dtype=np.int64)
    stops = np.empty((len(positions), most), dtype=np.int64)
    rows, malformed = _split(data, ord(delimiter), slots, starts, stops)
    columns = [Texts(starts[i, :rows], stops[i, :rows], data) for i in range(len(positions))]
    return columns, malformed


@njit(cache=True, nogil=True)
def _split(  # noqa: C901, PLR0912  (helpers called for each cell would double its time)
    data: NDArray[np.uint8],
    delimiter: int,
    slots: NDArray[np.int64],
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
) -> tuple[int, int]:
    """Fill ``starts`` and ``stops`` line by line: (well-formed lines, other lines)."""
    ends_field = np.zeros(256, dtype=np.bool_)
    ends_field[delimiter] = ends_field[_LINE_FEED] = ends_field[_CARRIAGE_RETURN] = True
    width = len(slots)
    rows = malformed = 0
    # Unsigned, because a signed index costs a test for negatives at every byte.
    at, size = np.uint64(0), np.uint64(len(data))
    while at < size:
        if data[at] == _LINE_FEED or data[at] == _CARRIAGE_RETURN:
            at += _ONE
            continue
        first, field, closed = at, 0, True
        while True:
            start = stop = at
            if at < size and data[at] == _QUOTE:
                closed = False
                at += _ONE
                start = stop = at
                while at < size and (data[at] == delimiter or not ends_field[data[at]]):
                    if data[at] == _QUOTE:
                        at += _ONE
                        if at == size or data[at] != _QUOTE:
                            closed = True
                            break
                    # Two quotes leave a gap of one, which is closed in place.
                    data[stop] = data[at]
                    stop += _ONE
                    at += _ONE
            if stop < at:
                while at < size and not ends_field[data[at]]:
                    data[stop] = data[at]
                    stop += _ONE
                    at += _ONE
            else:
                while at < size and not ends_field[data[at]]:
                    at += _ONE
                stop = at
            if field < width and slots[field] >= 0:
                starts[slots[field], rows] = start
                stops[slots[field], rows] = stop
            field += 1
            if at == size or data[at] != delimiter:
                break
            at += _ONE
        if closed and field == width and at - first <= MAX_LINE:
            rows += 1
        else:
            malformed += 1
    return rows, malformed
