"""Tables in memory: anything that exports an Arrow stream (pyarrow, polars, pandas, DuckDB …)."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pathveil.model.universe import Universe
from pathveil.raw.sources.arrow_columns import is_list_type, table_pieces
from pathveil.raw.sources.columns import Columns
from pathveil.raw.sources.failures import attempt
from pathveil.raw.sources.raw_rows import RawRows

_UNREADABLE = (
    "The table can't be read through Arrow; make sure that every column holds values of one type "
    "(convert mixed columns to text), or write it to a Parquet file."
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

        self._stream = attempt(lambda: pa.RecordBatchReader.from_stream(table), _UNREADABLE)
        self.names: list[str] = list(self._stream.schema.names)

    def is_list(self, column: str) -> bool:
        """Whether the column's type is a list."""
        return is_list_type(self._stream.schema.field(column).type)

    def showable(self, universe: Universe | None, wanted: Sequence[str]) -> bool:  # noqa: ARG002
        """A table's column names are not a row of data."""
        return True

    def pieces(self, columns: Columns) -> Iterator[Callable[[], RawRows]]:
        """Yield the stream's batches in slices, in their order."""
        import pyarrow as pa

        while (batch := attempt(self._next_batch, _UNREADABLE)) is not None:
            yield from table_pieces(pa.Table.from_batches([batch]), columns)

    def _next_batch(self) -> Any:
        try:
            return self._stream.read_next_batch()
        except StopIteration:
            return None


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
        """Whether the column's values are lists."""
        return is_list_type(self._column(column).type)

    def showable(self, universe: Universe | None, wanted: Sequence[str]) -> bool:  # noqa: ARG002
        """A frame's column names are not a row of data."""
        return True

    def pieces(self, columns: Columns) -> Iterator[Callable[[], RawRows]]:
        """Yield slices of the frame, in its order."""
        import pyarrow as pa

        table = pa.table({name: self._column(name) for name in columns.used})
        yield from table_pieces(table, columns)

    def _column(self, name: str) -> Any:
        import pyarrow as pa

        if name not in self._converted:
            alone = self._frame.iloc[:, [self.names.index(name)]]
            self._converted[name] = attempt(lambda: pa.table(alone).column(0), _UNREADABLE)
        return self._converted[name]
