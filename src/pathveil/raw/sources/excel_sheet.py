"""A sheet of an Excel workbook: the first row names the columns, each cell is read by itself.

A cell of a workbook has its own type: text, a number, a date. It is read as a cell of pandas'
dtype ``object`` is (`pandas_frame.text_of_value`), so that one person's text among the numbers of a
column changes nobody else's. Excel keeps 15 digits of a number: write longer ids as text.
"""

import re
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from pathveil.errors import InputError, ParameterError, did_you_mean
from pathveil.raw.sources.arrow_table import PIECE_ROWS, rows_of
from pathveil.raw.sources.columns import Columns, resembles_columns
from pathveil.raw.sources.notation import Writing
from pathveil.raw.sources.pandas_frame import text_of_value, texts_of_cells
from pathveil.raw.sources.raw_rows import RawRows, attempt
from pathveil.raw.sources.text_columns import OrderKeys
from pathveil.raw.sources.text_file import LARGEST_RATIO, LARGEST_UNPACKED
from pathveil.universe.universe import Universe

_WORKBOOK = "xl/workbook.xml"
_READ_AT_ONCE = 2**20
_CELL = re.compile(rb'<c [^>]{0,40}?r="([A-Z]{1,3})(\d{1,7})"')
_LONGEST_CELL = 64
_MOST_CELLS = 2**26


def is_workbook(path: Path) -> bool:
    """Whether a zip archive is an Excel workbook (.xlsx, .xlsm)."""
    try:
        with zipfile.ZipFile(path) as archive:
            return _WORKBOOK in archive.namelist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        return False


class ExcelSheet:
    """A sheet, opened.

    Args:
        path: the workbook.
        sheet: its name; None if there is only one.

    Raises:
        ParameterError: if there is no such sheet, or there are several and none is named.
        InputError: if the workbook can't be read, or unpacks to too much.
    """

    def __init__(self, path: Path, sheet: str | None) -> None:
        self.label = str(path)
        _check_size(path)
        damaged = f"The file {path} is not an Excel workbook that can be read."
        book = attempt(lambda: _calamine().CalamineWorkbook.from_path(str(path)), damaged)
        self._sheet = attempt(
            lambda: book.get_sheet_by_name(_chosen(book.sheet_names, sheet)), damaged
        )
        header = [str(name) for name in next(self._rows(), None) or []]
        while header and not header[-1]:
            header.pop()  # a row that is longer than the header makes the sheet wider
        if not header:
            raise InputError(f"The sheet of {path} does not begin with a row of column names.")
        self.names = header

    def is_list(self, column: str) -> bool:  # noqa: ARG002
        """A cell of a sheet is never a list."""
        return False

    def showable(self, universe: Universe | None, wanted: Sequence[str]) -> bool:
        """Whether the first row is surely a header; see `CsvFile.showable`."""
        from pathveil.raw.sources.order_values import is_order_text

        known = universe or ()
        if any(name in known or is_order_text(name) for name in self.names):
            return False
        return resembles_columns(self.names, wanted)

    def check(self, columns: Columns) -> None:
        """Cells are text, of which any can be read."""

    def pieces(self, columns: Columns) -> Iterator[Callable[[], RawRows]]:
        """Yield the rows in slices. One without any cell is no row."""
        positions = [self.names.index(name) for name in columns.used]
        below = islice(self._rows(), 1, None)
        rows = (row for row in below if row is None or any(cell != "" for cell in row))
        while piece := list(islice(rows, PIECE_ROWS)):
            readable = [row for row in piece if row is not None]
            cells = [[row[at] for row in readable] for at in positions]
            yield partial(_parse, cells, columns, len(piece) - len(readable))

    def _rows(self) -> Iterator[list[Any] | None]:
        """The rows; None for one that has a cell beyond what Python's types hold."""
        rows = iter(self._sheet.iter_rows())
        while True:
            row = None
            try:
                row = next(rows)
            except StopIteration:
                return
            except MemoryError:  # no row's fault
                raise
            except Exception:  # noqa: BLE001, S110  (one row's fault drops one row)
                pass
            except BaseException as error:
                if type(error).__name__ != "PanicException":  # the same, from Rust
                    raise
            yield row


def _chosen(names: Sequence[str], sheet: str | None) -> str:
    if sheet is None and len(names) == 1:
        return names[0]
    if sheet is None:
        raise ParameterError(
            f"The workbook has {len(names)} sheets; say which one with table=… or --table NAME."
        )
    if sheet not in names:
        raise ParameterError(
            f"The workbook has no sheet {sheet[:80]!r}.{did_you_mean(sheet, names)}"
        )
    return sheet


def _check_size(path: Path) -> None:
    """Refuse a workbook that unpacks to too much; read through, for its table of sizes may lie.

    A sheet is held as a rectangle: one cell in its last corner would make it 17 thousand million
    cells large.
    """
    most = max(LARGEST_UNPACKED, LARGEST_RATIO * path.stat().st_size)
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            fits = sum(info.file_size for info in members) <= most
            fits = fits and all(_fits(archive, info) for info in members)
    except Exception:  # noqa: BLE001  (zlib and zipfile have many)
        fits = False
    if not fits:
        raise InputError(
            f"The workbook {path} is damaged, or too large: it unpacks to more than "
            f"{LARGEST_RATIO} times its size and {LARGEST_UNPACKED // 2**30} GB, or a cell far "
            "out makes a sheet too wide. Save the sheet as CSV."
        )


def _fits(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bool:
    """Whether a part of a workbook is whole and, if it is a sheet, a rectangle that fits memory."""
    rows = columns = 0
    before = b""
    with archive.open(info) as member:
        while piece := member.read(_READ_AT_ONCE):
            if info.filename.startswith("xl/worksheets/"):
                for column, row in _CELL.findall(before + piece):
                    columns = max(columns, _number(column))
                    rows = max(rows, int(row))
                before = piece[-_LONGEST_CELL:]
    return rows * columns <= _MOST_CELLS


def _number(letters: bytes) -> int:
    """The number of a column: A is 1, AA is 27."""
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number


def _parse(cells: list[list[Any]], columns: Columns, unreadable: int) -> RawRows:
    import pyarrow as pa

    # A number's own text has a point; where texts are read with a comma, it is given one.
    with_comma = columns.numeric if columns.written.decimal_comma else ()
    texts = {
        name: texts_of_cells([
            None if cell == "" else _with_comma(cell) if name in with_comma else cell
            for cell in column
        ])
        for name, column in zip(columns.used, cells, strict=True)
    }  # fmt: skip
    rows = replace(rows_of(pa.RecordBatch.from_pydict(texts), columns), unreadable=unreadable)
    if columns.order is None or columns.written.time_format is None or rows.order is None:
        return rows
    # A cell that is a date has no format: it is what it is.
    dates = np.array([isinstance(cell, date) for cell in cells[columns.used.index(columns.order)]])
    own = rows_of(pa.RecordBatch.from_pydict(texts), replace(columns, written=Writing(None))).order
    return rows if own is None else replace(rows, order=_merged(dates, own, rows.order))


def _with_comma(cell: Any) -> Any:
    if not isinstance(cell, float):
        return cell
    text = text_of_value(cell)
    return text.replace(".", ",") if isinstance(text, str) else text


def _merged(first: Any, one: OrderKeys, other: OrderKeys) -> OrderKeys:
    """The keys of one where ``first`` says so, else of the other."""

    def either(a: Any, b: Any) -> Any:
        zeros = np.zeros(len(first), dtype=(b if a is None else a).dtype)
        return np.where(first, zeros if a is None else a, zeros if b is None else b)

    return OrderKeys(
        either(one.integer, other.integer),
        None if one.rest is None and other.rest is None else either(one.rest, other.rest),
        None if one.zoneless is None and other.zoneless is None
        else either(one.zoneless, other.zoneless),
    )  # fmt: skip


def _calamine() -> Any:
    try:
        import python_calamine
    except ImportError:
        raise ParameterError(
            "Reading an Excel workbook needs a library: install pathveil[excel]."
        ) from None
    return python_calamine
