"""Rows from Arrow: what Parquet files and tables in memory share."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pathveil.raw.sources.columns import Columns
from pathveil.raw.sources.raw_rows import RawRows, attempt
from pathveil.raw.sources.text_columns import NO_TEXTS, Points, Texts
from pathveil.universe.universe import Universe

PIECE_ROWS = 2**17


def table_pieces(table: Any, columns: Columns) -> Iterator[Callable[[], RawRows]]:
    """Cut an Arrow table into deferred pieces, without copying.

    A piece ends where a chunk of a column does: chunks are not joined, because chunks of a
    dictionary with small codes can have more values together than such codes can number.

    Args:
        table: an Arrow table with the columns in use.
        columns: their roles.
    """
    for batch in table.to_reader(max_chunksize=PIECE_ROWS):
        yield partial(rows_of, batch, columns)


def check_types(schema: Any, columns: Columns) -> None:
    """Refuse columns by their Arrow types: what rows of these types would be refused for.

    Raises:
        InputError: if a type can't be read.
    """
    import pyarrow as pa

    known = [name for name in columns.used if name in schema.names]
    if len(known) == len(columns.used):
        fields = [pa.field(name, schema.field(name).type) for name in known]
        rows_of(pa.RecordBatch.from_pylist([], schema=pa.schema(fields)), columns)


def is_list_type(kind: Any) -> bool:
    """Whether an Arrow type is a list of one type of items, whatever its layout."""
    import pyarrow as pa

    types = pa.types
    return bool(
        types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
        or types.is_list_view(kind) or types.is_large_list_view(kind)
    )  # fmt: skip


def rows_of(batch: Any, columns: Columns) -> RawRows:
    """The rows of an Arrow batch."""
    from pathveil.raw.sources.order_values import arrow_order_keys
    from pathveil.raw.sources.text_values import texts_of

    location, lengths = _locations(batch, columns.location)
    trajectory = order = None
    if columns.trajectory is not None:
        ids = _array(batch, columns.trajectory)
        trajectory = texts_of(ids, "trajectory", columns.trajectory)
    if columns.order is not None:
        order = arrow_order_keys(_array(batch, columns.order), columns.order, columns.written)
    return RawRows(
        unit=texts_of(_array(batch, columns.unit), "unit", columns.unit),
        trajectory=trajectory,
        order=order,
        location=location,
        lengths=lengths,
        points=_points(batch, columns),
    )


def _locations(batch: Any, column: str | None) -> tuple[Texts, NDArray[np.int64] | None]:
    """The texts of the locations, and in list form the lengths of the lists."""
    from pathveil.raw.sources.text_values import texts_of

    if column is None:
        return NO_TEXTS, None
    location, lengths = _array(batch, column), None
    if is_list_type(location.type):
        lengths = location.value_lengths().cast("int64").fill_null(-1).to_numpy()
        lengths = np.asarray(lengths, dtype=np.int64)
        location = location.flatten()
    return texts_of(location, "location", column), lengths


def _points(batch: Any, columns: Columns) -> Points | None:
    from pathveil.raw.sources.degrees import arrow_degrees

    if columns.latitude is None or columns.longitude is None:
        return None
    return Points.of(
        arrow_degrees(_array(batch, columns.latitude), columns.latitude, columns.written),
        arrow_degrees(_array(batch, columns.longitude), columns.longitude, columns.written),
    )


def _array(batch: Any, column: str) -> Any:
    """A column as an Arrow array, without its extension type."""
    import pyarrow as pa

    from pathveil.raw.sources.text_values import uuid_texts

    array = batch.column(column)
    if not isinstance(array, pa.ExtensionArray):
        return array
    if array.type.extension_name == "arrow.uuid":
        return uuid_texts(array.storage)
    return array.storage


# Tables in memory: anything that exports an Arrow stream (pyarrow, polars, DuckDB …).


UNREADABLE = (
    "The table can't be read through Arrow; convert its columns to text, whole numbers, dates or "
    "times, or write it to a Parquet file."
)


class ArrowStream:
    """A table in memory that exports an Arrow stream.

    Args:
        table: an object with ``__arrow_c_stream__``.

    Raises:
        InputError: if the object does not export a table.
    """

    label = "the table"

    def __init__(self, table: Any) -> None:
        import pyarrow as pa

        self._stream = attempt(lambda: pa.RecordBatchReader.from_stream(table), UNREADABLE)
        self.names: list[str] = list(self._stream.schema.names)

    def is_list(self, column: str) -> bool:
        """Whether the column's type is a list."""
        return is_list_type(self._stream.schema.field(column).type)

    def showable(self, universe: Universe | None, wanted: Sequence[str]) -> bool:  # noqa: ARG002
        """A table's column names are not a row of data."""
        return True

    def check(self, columns: Columns) -> None:
        """By the types of the stream."""
        check_types(self._stream.schema, columns)

    def pieces(self, columns: Columns) -> Iterator[Callable[[], RawRows]]:
        """Yield the stream's batches in slices, in their order."""
        import pyarrow as pa

        while (batch := attempt(self._next_batch, UNREADABLE)) is not None:
            yield from table_pieces(pa.Table.from_batches([batch]), columns)

    def _next_batch(self) -> Any:
        try:
            return self._stream.read_next_batch()
        except StopIteration:
            return None
