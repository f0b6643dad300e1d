"""Parquet, in long form or with a list column, one row group after the other."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from pathveil.model.universe import Universe
from pathveil.raw.sources.arrow_columns import is_list_type, table_pieces
from pathveil.raw.sources.columns import Columns
from pathveil.raw.sources.failures import attempt
from pathveil.raw.sources.raw_rows import RawRows


class ParquetFile:
    """A Parquet file, opened: its schema is read, its rows are not.

    Args:
        path: the file.

    Raises:
        InputError: if the file is truncated or damaged.
    """

    def __init__(self, path: Path) -> None:
        import pyarrow.parquet as pq

        self.label = str(path)
        self._path = path
        self._damaged = f"The file {path} is not a readable Parquet file (truncated or damaged?)."
        self._schema = attempt(lambda: pq.read_schema(path), self._damaged)
        self.names: list[str] = list(self._schema.names)

    def is_list(self, column: str) -> bool:
        """Whether the column's type is a list."""
        return is_list_type(self._schema.field(column).type)

    def showable(self, universe: Universe | None, wanted: Sequence[str]) -> bool:  # noqa: ARG002
        """A Parquet schema is never a row of data."""
        return True

    def pieces(self, columns: Columns) -> Iterator[Callable[[], RawRows]]:
        """Yield the row groups in slices, in the order of the file."""
        import pyarrow.parquet as pq

        file = attempt(lambda: pq.ParquetFile(self._path), self._damaged)
        try:
            for group in range(file.num_row_groups):
                read = partial(file.read_row_group, group, columns=list(columns.used))
                yield from table_pieces(attempt(read, self._damaged), columns)
        finally:
            file.close()
