"""Long-form CSV: one line per visit, cells read as bytes, no types inferred.

The first line holds the column names. The delimiter (comma, semicolon, tab or bar) is the one
that the first line uses most. Text is UTF-8, or what a public choice says (`text_file`). A line
whose number of cells differs from the header's is dropped on its own; see `csv_lines` for what a
line is.
"""

import csv
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from pathveil.errors import InputError
from pathveil.progress_reports import report_progress
from pathveil.raw.sources.columns import Columns, resembles_columns
from pathveil.raw.sources.raw_rows import RawRows, attempt
from pathveil.raw.sources.text_file import DEFAULT_ENCODING, TextFile
from pathveil.universe.universe import Universe

_DELIMITERS = (",", ";", "\t", "|")
_MAX_HEADER = 2**20
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class CsvFile:
    """A CSV file, opened: its header is read, its rows are not.

    Args:
        path: the file; it may be packed.
        encoding: of its text.

    Raises:
        InputError: if the header can't be read.
    """

    def __init__(self, path: Path, encoding: str = DEFAULT_ENCODING) -> None:
        self._file = TextFile(path, encoding)
        with self._file.opened() as (text, _):
            head = text.read(_MAX_HEADER)
        if not head:
            raise InputError(f"The file {path} is empty; it needs a header line and rows.")
        self._header_size = _header_size(head, path)
        header = _decode(head[: self._header_size], path)
        self._delimiter = max(_DELIMITERS, key=header.count)
        self.label = str(path)
        self.names: list[str] = attempt(
            lambda: next(csv.reader([header], delimiter=self._delimiter)),
            f"The header of {path} can't be read as CSV.",
        )

    def is_list(self, column: str) -> bool:  # noqa: ARG002
        """A cell of a CSV file is never a list."""
        return False

    def showable(self, universe: Universe | None, wanted: Sequence[str]) -> bool:
        """Whether the first line is surely a header, so that an error may list its cells.

        If somebody forgot the header, the first line is a person's row: a cell of it is a
        number, a timestamp or a known location, and no cell is like a column name.
        """
        from pathveil.raw.sources.order_values import is_order_text

        known = universe or ()
        if any(name in known or is_order_text(name) for name in self.names):
            return False
        return resembles_columns(self.names, wanted)

    def check(self, columns: Columns) -> None:
        """Cells are text, of which any can be read."""

    def pieces(self, columns: Columns) -> Iterator[Callable[[], RawRows]]:
        """Yield the rows of one block of lines after the other."""
        from pathveil.raw.sources.csv_lines import line_blocks

        parse = partial(_parse, columns=columns, names=self.names, delimiter=self._delimiter)
        with self._file.opened() as (text, file):
            text.read(self._header_size)
            size = self._file.path.stat().st_size
            for block, too_long in line_blocks(text):
                report_progress(file.tell(), size)
                yield partial(parse, block, too_long)


def _header_size(head: bytes, path: Path) -> int:
    ends = [head.find(end) + 1 for end in (b"\n", b"\r") if end in head]
    if not ends and len(head) == _MAX_HEADER:
        raise InputError(f"The file {path} has no header: its first line does not end.")
    end = min(ends, default=len(head))
    return end + 1 if head[end - 1 : end + 1] == b"\r\n" else end


def _decode(header: bytes, path: Path) -> str:
    header = header.removeprefix(_BYTE_ORDER_MARK).strip(b"\r\n")
    if b"\0" in header:
        raise InputError(
            f"The header of {path} is not text; if it is UTF-16, say so with encoding=… or "
            "--encoding utf-16."
        )
    text = attempt(
        header.decode,
        f"The header of {path} is not text of that encoding (UTF-8, unless you said otherwise); "
        "Windows and Excel mostly write --encoding windows-1252 (encoding=… in Python).",
    )
    if not text.strip():
        raise InputError(f"The file {path} does not begin with a header line of column names.")
    return text


def _parse(
    block: bytes, too_long: int, *, columns: Columns, names: list[str], delimiter: str
) -> RawRows:
    """Turn a block of lines into rows."""
    from pathveil.raw.sources.csv_lines import split_fields
    from pathveil.raw.sources.degrees import text_degrees
    from pathveil.raw.sources.order_values import text_order_keys
    from pathveil.raw.sources.text_columns import NO_TEXTS, Points

    positions = [names.index(name) for name in columns.used]
    fields, malformed = split_fields(block, delimiter, len(names), positions)
    texts = dict(zip(columns.used, fields, strict=True))
    points = None
    if columns.latitude is not None and columns.longitude is not None:
        points = Points.of(
            text_degrees(texts[columns.latitude], columns.written),
            text_degrees(texts[columns.longitude], columns.written),
        )
    return RawRows(
        unit=texts[columns.unit],
        trajectory=None if columns.trajectory is None else texts[columns.trajectory],
        order=None
        if columns.order is None
        else text_order_keys(texts[columns.order], columns.written),
        location=NO_TEXTS if columns.location is None else texts[columns.location],
        unreadable=too_long + malformed,
        points=points,
        too_long=too_long,
        in_lines=True,
    )
