"""Parquet, in long form or with a list column: a file, or many, one batch after the other."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pathveil.errors import InputError
from pathveil.progress_reports import report_progress
from pathveil.raw.sources.arrow_table import (
    PIECE_ROWS,
    check_types,
    is_list_type,
    table_pieces,
)
from pathveil.raw.sources.columns import Columns
from pathveil.raw.sources.raw_rows import RawRows, attempt
from pathveil.universe.universe import Universe

_MISSING = "__HIVE_DEFAULT_PARTITION__"


class ParquetFiles:
    """Parquet files of one table, opened: their schemas are read, their rows are not.

    Args:
        paths: the files, in the order in which their rows count. A folder named ``key=value``
            (Hive's partitions) between ``root`` and a file is a column of that file.
        root: the folder below which folders are partitions; None for a single file.
        label: what to call the source in errors.

    Raises:
        InputError: if a file is truncated or damaged, or lacks a column that another has.
    """

    def __init__(
        self, paths: Sequence[Path], *, root: Path | None = None, label: str | None = None
    ) -> None:
        self.label = str(paths[0]) if label is None else label
        self._files = [_OneFile(path, root) for path in paths]
        self.names = self._files[0].names
        if any(set(file.names) != set(self.names) for file in self._files):
            raise InputError(f"The files of {self.label} do not all have the same columns.")

    def is_list(self, column: str) -> bool:
        """Whether the column's type is a list."""
        kinds = {file.is_list(column) for file in self._files}
        if len(kinds) > 1:
            raise InputError(
                f"The column {column[:80]!r} holds lists in some files of {self.label} only."
            )
        return kinds.pop()

    def is_integer(self, column: str) -> bool:
        """Whether the column's type is a whole number, in every file."""
        return all(file.is_integer(column) for file in self._files)

    def showable(self, universe: Universe | None, wanted: Sequence[str]) -> bool:  # noqa: ARG002
        """A Parquet schema is never a row of data."""
        return True

    def check(self, columns: Columns) -> None:
        """By the types of every file."""
        for file in self._files:
            check_types(file.schema, columns)

    def pieces(self, columns: Columns) -> Iterator[Callable[[], RawRows]]:
        """Yield the rows in batches, file by file. Row groups of any size are never whole here."""
        for number, file in enumerate(self._files):
            rows = 0
            for table in file.tables(columns.used):
                rows += table.num_rows
                report_progress(number + rows / max(file.rows, 1), len(self._files))
                yield from table_pieces(table, columns)


class _OneFile:
    def __init__(self, path: Path, root: Path | None) -> None:
        import pyarrow.parquet as pq

        self._path = path
        self._damaged = f"The file {path} is not a readable Parquet file (truncated or damaged?)."
        self._schema = attempt(lambda: pq.read_schema(_opened(path)), self._damaged)
        stored = list(self._schema.names)
        partitions = {} if root is None else partitions_of(path.relative_to(root))
        self._partitions = {key: value for key, value in partitions.items() if key not in stored}
        self.names: list[str] = [*stored, *self._partitions]
        self.rows = 0  # known once it is opened

    @property
    def schema(self) -> Any:
        """The Arrow types of its columns, partitions among them."""
        import pyarrow as pa

        schema = self._schema
        for name in self._partitions:
            schema = schema.append(pa.field(name, pa.binary()))
        return schema

    def is_list(self, column: str) -> bool:
        return column not in self._partitions and is_list_type(self._schema.field(column).type)

    def is_integer(self, column: str) -> bool:
        import pyarrow as pa

        if column in self._partitions:
            return False
        return bool(pa.types.is_integer(self._schema.field(column).type))

    def tables(self, names: Sequence[str]) -> Iterator[Any]:
        """The rows as Arrow tables of a moderate size."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        stored = [name for name in names if name not in self._partitions]
        file = attempt(lambda: pq.ParquetFile(_opened(self._path)), self._damaged)
        self.rows = file.metadata.num_rows
        try:
            batches = attempt(lambda: file.iter_batches(PIECE_ROWS, columns=stored), self._damaged)
            take = partial(next, batches, None)
            while (batch := attempt(take, self._damaged)) is not None:
                table = pa.Table.from_batches([batch])
                for name in names:
                    if name in self._partitions:
                        value = pa.repeat(self._partitions[name], table.num_rows)
                        table = table.append_column(name, value)
                yield table
        finally:
            file.close()


def partitions_of(path: Path) -> Mapping[str, bytes]:
    """The columns that the folders of a relative path stand for, and their values.

    A folder may be one person's, and its name any bytes: they are a value like all others.
    """
    from urllib.parse import unquote, unquote_to_bytes

    pairs = [part.split("=", 1) for part in path.parts[:-1] if "=" in part]
    return {
        unquote(key): b"" if value == _MISSING else unquote_to_bytes(os.fsencode(value))
        for key, value in pairs
    }


def _opened(path: Path) -> Any:
    """A file by the bytes of its name, which need not be text."""
    import pyarrow as pa

    return pa.OSFile(os.fsencode(path))
