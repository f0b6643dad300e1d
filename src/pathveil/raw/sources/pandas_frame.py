"""A pandas frame: each used column by its dtype, and where that says nothing, cell by cell.

A column of dtype ``object`` holds anything. Arrow would look at all cells and choose one type for
them: one ``Decimal`` would turn everybody's 7 into 7.0, one date cut everybody's times, one time
with an offset shift everybody's clock. So here each cell is read by itself (`text_of_value`),
and what has no text spoils its own row only. Nothing is refused by a value: only by a dtype.
"""

import numbers
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from math import isfinite
from typing import Any, Final
from uuid import UUID

import numpy as np

from pathveil.errors import InputError
from pathveil.raw.sources.arrow_table import (
    PIECE_ROWS,
    UNREADABLE,
    check_types,
    is_list_type,
    table_pieces,
)
from pathveil.raw.sources.columns import Columns
from pathveil.raw.sources.raw_rows import RawRows, attempt
from pathveil.raw.sources.text_values import LARGEST_EXACT_FLOAT
from pathveil.universe.universe import Universe


class PandasFrame:
    """A pandas frame: its used columns are converted one by one, the others are left alone.

    pandas exports all columns or none, and fails on a column of mixed types that nobody asked
    for.

    Args:
        frame: a pandas DataFrame.
    """

    label = "the table"

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self._converted: dict[str, Any] = {}
        self.names = [str(name) for name in frame.columns]

    def is_list(self, column: str) -> bool:
        """Whether the column's dtype is a list: an Arrow dtype; ``object`` does not say."""
        return not self._is_object(column) and is_list_type(self.column(column).type)

    def showable(self, universe: Universe | None, wanted: Sequence[str]) -> bool:  # noqa: ARG002
        """A frame's column names are not a row of data."""
        return True

    def check(self, columns: Columns) -> None:
        """By the dtypes.

        Raises:
            InputError: if the locations' dtype leaves open whether a row is a visit or a list, and
                no order column tells that it is a visit; or a type can't be read.
        """
        location = columns.location
        if location is not None and columns.order is None and self._is_object(location):
            raise InputError(
                f"The location column {location[:80]!r} is of pandas' dtype object, which does not "
                "say whether a row is one visit or a list of them. Convert it to text with "
                "astype('string'), or to lists with astype(pandas.ArrowDtype(pyarrow.list_("
                "pyarrow.string()))); or name the order column, if a row is a visit."
            )
        check_types(_table(PandasFrame(self._frame.iloc[:0]), columns).schema, columns)

    def pieces(self, columns: Columns) -> Iterator[Callable[[], RawRows]]:
        """Yield slices of the frame, in its order."""
        self.check(columns)
        yield from table_pieces(_table(self, columns), columns)

    def column(self, name: str) -> Any:
        """A column as Arrow."""
        if name not in self._converted:
            self._converted[name] = attempt(lambda: _converted(self._series(name)), UNREADABLE)
        return self._converted[name]

    def _is_object(self, name: str) -> bool:
        return _says_nothing(self._series(name).dtype)

    def _series(self, name: str) -> Any:
        return self._frame.iloc[:, self.names.index(name)]


def _table(frame: PandasFrame, columns: Columns) -> Any:
    import pyarrow as pa

    return pa.table({name: frame.column(name) for name in columns.used})


def _says_nothing(dtype: Any) -> bool:
    """Whether a dtype says nothing about its values."""
    return isinstance(dtype, np.dtype) and dtype.kind == "O"


def _is_text(dtype: Any) -> bool:
    """Whether cells of a dtype, which may say nothing about them, are read by their text."""
    return _says_nothing(dtype) or getattr(dtype, "name", None) in ("string", "str")


def _converted(series: Any) -> Any:
    """A column as Arrow: by its dtype, or the texts of its cells."""
    import pyarrow as pa

    dtype = series.dtype
    if _says_nothing(dtype) or getattr(dtype, "storage", None) == "python":
        return _texts(series.to_numpy(dtype=object))
    categories = getattr(dtype, "categories", None)
    if categories is not None and _is_text(categories.dtype):
        codes = pa.array(series.cat.codes.to_numpy())
        indices = pa.compute.if_else(pa.compute.less(codes, 0), None, codes)
        return _texts(categories.to_numpy(dtype=object)).combine_chunks().take(indices)
    # Without its index, whose values may be of any kind and which nobody asked for.
    return pa.table(series.reset_index(drop=True).to_frame()).column(0)


def _texts(values: Any) -> Any:
    """Cells by their text, an Arrow array of bytes."""
    import pyarrow as pa

    parts = [
        texts_of_cells(values[start : start + PIECE_ROWS])
        for start in range(0, len(values), PIECE_ROWS)
    ]
    return pa.chunked_array(parts, pa.large_binary())


def texts_of_cells(values: Any) -> Any:
    """Cells of any kinds by their text, each on its own: an Arrow array of bytes."""
    import pyarrow as pa

    try:  # nothing but text: the same bytes, faster
        return pa.array(values, pa.large_string(), from_pandas=True).cast(pa.large_binary())
    except (pa.ArrowException, TypeError, ValueError):
        return pa.array([_text_or_nothing(value) for value in values], pa.large_binary())


def _text_or_nothing(value: Any) -> bytes | None:
    try:
        text = text_of_value(value)
        return text if isinstance(text, bytes | None) else text.encode("utf-8", "surrogatepass")
    except Exception:  # noqa: BLE001  (whatever a strange object does, it spoils its own row)
        return None


def text_of_value(value: Any) -> str | bytes | None:
    """The text of one cell: what a column of its own kind would give; None if it has none.

    Text and bytes are themselves; whole numbers, and floats that are whole, their digits; other
    numbers their shortest form; dates and times ISO 8601, a time with an offset in UTC. What is
    missing (None, NaN, NaT, NA), infinite or of another kind (a list, say) has no text.
    """
    return next((text(value) for kinds, text in _TEXTS if isinstance(value, kinds)), None)


def _text_of_float(value: float) -> str | None:
    value = float(value)
    if not isfinite(value):
        return None
    is_integer = value == int(value) and abs(value) <= LARGEST_EXACT_FLOAT
    return str(int(value)) if is_integer else repr(value)


def _text_of_time(value: datetime) -> str | None:
    if value != value:  # noqa: PLR0124  (NaT is a time that is not itself)
        return None
    return str(value if value.tzinfo is None else value.astimezone(UTC))


# The first that fits holds: a bool is a number too, and a time a date.
_TEXTS: Final[tuple[tuple[tuple[type, ...], Callable[[Any], str | bytes | None]], ...]] = (
    ((str, bytes), lambda text: text),
    ((bool, np.bool_), lambda truth: "true" if truth else "false"),
    ((numbers.Integral,), lambda number: str(int(number))),
    ((float, np.floating), _text_of_float),
    ((Decimal,), lambda number: str(number) if number.is_finite() else None),
    ((datetime,), _text_of_time),
    ((date, UUID), str),
    ((np.datetime64,), lambda time: None if np.isnat(time) else str(time)),
)
