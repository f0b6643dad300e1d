"""Tables in memory: anything that exports an Arrow stream (pyarrow, polars, DuckDB …)."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pathveil.model.universe import Universe
from pathveil.raw.sources.arrow_columns import is_list_type, table_pieces
from pathveil.raw.sources.columns import Columns
from pathveil.raw.sources.failures import attempt
from pathveil.raw.sources.raw_rows import RawRows

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
