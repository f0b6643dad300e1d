"""What the pages of a Parquet file say that they unpack to.

A Parquet file says at its end how large its columns are, and again before each page. Who reads it
allocates what stands before the page, so a file of some kilobytes whose end lies would take
gigabytes. pyarrow shows the end only; this walks from page to page and reads what stands before
them (Thrift's compact protocol), and nothing of the pages.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedReader
from typing import Any

_USUAL, _LONGEST = 512, 1 << 16  # bytes before a page; its least and greatest label are among them
_DEEPEST = 8
# Kinds of fields; the others do not stand before pages.
_TRUE, _FALSE, _BYTE, _INT16, _INT32, _INT64, _DOUBLE, _BINARY, _STRUCT = (*range(1, 9), 12)
# Fields of a page's header, by the numbers of parquet.thrift; the values of each kind of page.
_UNPACKED, _PACKED, _VALUES = 2, 3, 1
_KINDS_OF_PAGE = (5, 7, 8)  # data, dictionary, data of the second version


class PagesError(ValueError):
    """It is not as any program writes it."""


@dataclass(frozen=True)
class Page:
    """What stands before a page.

    Attributes:
        unpacked: its bytes after decompression.
        values: how many it holds.
    """

    unpacked: int
    values: int


def pages(file: BufferedReader, metadata: Any) -> Iterator[Page]:
    """All pages that pyarrow would read of a file.

    Args:
        file: the file.
        metadata: pyarrow's, of its end.

    Raises:
        PagesError: if something else than pages is there.
    """
    for group in range(metadata.num_row_groups):
        for number in range(metadata.num_columns):
            column = metadata.row_group(group).column(number)
            start, size = _start(column), column.total_compressed_size
            if start < 0 or size < 0:
                raise PagesError
            yield from _pages_between(file, start, start + size)


def _start(column: Any) -> int:
    """Where pyarrow begins to read a column; one of no values has a dictionary and no data."""
    start: int = column.data_page_offset
    has_data = start > 0 or column.num_values > 0
    dictionary = column.dictionary_page_offset if column.has_dictionary_page else None
    if dictionary is not None and dictionary > 0 and (dictionary < start or not has_data):
        return int(dictionary)
    return start


def _pages_between(file: BufferedReader, at: int, end: int) -> Iterator[Page]:
    while at < end:
        header, length = _header(file, at)
        kinds = [header[kind] for kind in _KINDS_OF_PAGE if kind in header]
        yield Page(_size(header, _UNPACKED), sum(_size(kind, _VALUES) for kind in kinds))
        at += length + _size(header, _PACKED)


def _size(fields: Any, number: int) -> int:
    size = fields.get(number) if isinstance(fields, dict) else None
    if not isinstance(size, int) or size < 0:
        raise PagesError
    return size


def _header(file: BufferedReader, at: int) -> tuple[dict[int, Any], int]:
    """The fields before a page, and how many bytes they take."""
    for most in (_USUAL, _LONGEST):
        file.seek(at)
        fields = _Fields(file.read(most))
        try:
            return fields.struct(0), fields.at
        except IndexError:  # they go on
            continue
    raise PagesError


class _Fields:
    """Reads numbers and structures; skips over all else."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self.at = 0

    def struct(self, depth: int) -> dict[int, Any]:
        found: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._signed()
            if number in found or depth > _DEEPEST:  # readers disagree about which of two counts
                raise PagesError
            found[number] = self._value(head & 15, depth)
        return found

    def _value(self, kind: int, depth: int) -> Any:
        if kind == _STRUCT:
            return self.struct(depth + 1)
        if kind == _INT32:  # the only kind of number that is looked at
            return self._signed()
        if kind in (_INT16, _INT64):
            self._number()
        elif kind == _BINARY:
            self._skip(self._number())
        elif kind in (_BYTE, _DOUBLE):
            self._skip(1 if kind == _BYTE else 8)
        elif kind not in (_TRUE, _FALSE):
            raise PagesError
        return None

    def _skip(self, size: int) -> None:
        self.at += size
        if self.at > len(self._content):
            raise IndexError

    def _byte(self) -> int:
        self.at += 1
        return self._content[self.at - 1]

    def _number(self) -> int:
        number = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            number |= (byte & 127) << shift
            if not byte >> 7:
                return number
        raise PagesError

    def _signed(self) -> int:
        number = self._number()
        return (number >> 1) ^ -(number & 1)
