"""Parquet, in long form or with a list column: a file, or very many, in a folder or a store."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path, PurePosixPath
from typing import Any, Final

from pathveil.errors import InputError
from pathveil.plain_files import NotPlainError, open_named
from pathveil.progress_reports import report_progress
from pathveil.raw.sources.arrow_table import (
    PIECE_ROWS,
    check_types,
    is_list_type,
    rows_of,
    table_pieces,
)
from pathveil.raw.sources.columns import Columns
from pathveil.raw.sources.raw_rows import RawRows, attempt
from pathveil.threads import in_threads
from pathveil.universe.universe import Universe

_MISSING = "__HIVE_DEFAULT_PARTITION__"
_TOGETHER: Final = 2**26  # bytes of small files, unpacked, that make a piece together
_FOOTERS: Final = 64  # that a thread reads one after the other


class ParquetFiles:
    """Parquet files of one table, opened: their schemas are read, their rows are not.

    Args:
        paths: the files, in the order in which their rows count. A folder named ``key=value``
            (Hive's partitions) between ``root`` and a file is a column of that file.
        root: the folder below which folders are partitions; None for a single file.
        label: what to call the source in errors. A path below it is not told: the folders of
            partitions are values of rows.
        store: the Arrow file system that has the files; None for that of this machine.

    Raises:
        InputError: if a file is truncated or damaged, or lacks a column that another has.
    """

    def __init__(
        self,
        paths: Sequence[str],
        *,
        root: str | None = None,
        label: str | None = None,
        store: Any = None,
    ) -> None:
        self.label = paths[0] if label is None else label
        self._root = root
        self._store = store
        self._damaged = (
            f"The file {self.label} is not a readable Parquet file (truncated or damaged?)."
            if len(paths) == 1
            else f"A file of {self.label} is not a readable Parquet file (truncated or damaged?)."
        )
        self._forms: dict[tuple[bytes, int], _Form] = {}
        self._files = self._look_at(paths)
        self.names = self._files[0].form.names
        if any(set(form.names) != set(self.names) for form in self._forms.values()):
            raise InputError(f"The files of {self.label} do not all have the same columns.")

    def is_list(self, column: str) -> bool:
        """Whether the column's type is a list."""
        kinds = {is_list_type(form.schema.field(column).type) for form in self._forms.values()}
        if len(kinds) > 1:
            raise InputError(
                f"The column {column[:80]!r} holds lists in some files of {self.label} only."
            )
        return kinds.pop()

    def is_integer(self, column: str) -> bool:
        """Whether the column's type is a whole number, in every file."""
        import pyarrow as pa

        kinds = [form.schema.field(column).type for form in self._forms.values()]
        return all(pa.types.is_integer(kind) for kind in kinds)

    def showable(self, universe: Universe | None, wanted: Sequence[str]) -> bool:  # noqa: ARG002
        """A Parquet schema is never a row of data."""
        return True

    def check(self, columns: Columns) -> None:
        """By the types of every file."""
        for form in self._forms.values():
            check_types(form.schema, columns)

    def pieces(self, columns: Columns) -> Iterator[Callable[[], RawRows]]:
        """Yield the rows in the order of the files. Row groups of any size are never whole here.

        A large file comes in batches, read one after the other; small ones are read together, by
        whoever takes the piece.
        """
        done = 0
        for files in _together(self._files):
            if len(files) > 1:
                report_progress(done + len(files), len(self._files))
                yield partial(self._rows_of_many, files, columns)
            else:
                yield from self._pieces_of_one(files[0], columns, done)
            done += len(files)

    def _look_at(self, paths: Sequence[str]) -> "list[_File]":
        """Read the footers, some in each thread."""
        jobs = (paths[at : at + _FOOTERS] for at in range(0, len(paths), _FOOTERS))
        found: list[_File] = []
        for some in in_threads(lambda job: [self._footer(path) for path in job], jobs):
            found += [self._known(*footer) for footer in some]
        return found

    def _footer(self, path: str) -> tuple[str, Any, int, int]:
        def footer() -> tuple[str, Any, int, int]:
            with self._opened(path) as file:
                of = file.metadata
                groups = range(of.num_row_groups)
                unpacked = sum(of.row_group(group).total_byte_size for group in groups)
                return path, file.schema_arrow.remove_metadata(), of.num_rows, unpacked

        if self._store is None:
            self._check_plain(path)
        return attempt(footer, self._damaged)

    def _check_plain(self, path: str) -> None:
        """Refuse what Arrow would wait for: a pipe that nobody writes to."""
        try:
            open_named(Path(path)).close()
        except NotPlainError:
            problem = f"A file of {self.label} is a pipe or a device, not a plain file."
            raise InputError(problem) from None

    def _known(self, path: str, stored: Any, rows: int, unpacked: int) -> "_File":
        """A file, whose form is kept once for all files that have it."""
        import pyarrow as pa

        keys = [key for key in self._partitions(path) if key not in stored.names]
        form = stored
        for key in keys:
            form = form.append(pa.field(key, pa.binary()))
        name = form.serialize().to_pybytes(), len(keys)
        known = self._forms.setdefault(name, _Form(form, list(form.names), frozenset(keys)))
        return _File(path, known, rows, unpacked)

    def _partitions(self, path: str) -> Mapping[str, bytes]:
        if self._root is None:
            return {}
        return partitions_of(PurePosixPath(path).relative_to(self._root))

    @contextmanager
    def _opened(self, path: str) -> Iterator[Any]:
        """A file; here by the bytes of its name, which need not be text."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        store = self._store
        source = pa.OSFile(os.fsencode(path)) if store is None else store.open_input_file(path)
        with source:
            yield pq.ParquetFile(source)

    def _pieces_of_one(
        self, file: "_File", columns: Columns, before: int
    ) -> Iterator[Callable[[], RawRows]]:
        import pyarrow as pa

        with ExitStack() as stack:
            opened = attempt(lambda: stack.enter_context(self._opened(file.path)), self._damaged)
            stored = file.form.stored(columns.used)
            batches = attempt(
                lambda: opened.iter_batches(PIECE_ROWS, columns=stored), self._damaged
            )
            rows = 0
            while (batch := attempt(partial(next, batches, None), self._damaged)) is not None:
                table = self._whole(pa.Table.from_batches([batch]), file, columns)
                rows += table.num_rows
                report_progress(before + rows / max(file.rows, 1), len(self._files))
                yield from table_pieces(table, columns)

    def _rows_of_many(self, files: "Sequence[_File]", columns: Columns) -> RawRows:
        import pyarrow as pa

        tables = attempt(lambda: [self._read(file, columns) for file in files], self._damaged)
        return rows_of(pa.concat_tables(tables).combine_chunks().to_batches()[0], columns)

    def _read(self, file: "_File", columns: Columns) -> Any:
        with self._opened(file.path) as opened:
            table = opened.read(columns=file.form.stored(columns.used), use_threads=False)
            return _joinable(self._whole(table, file, columns))

    def _whole(self, table: Any, file: "_File", columns: Columns) -> Any:
        """The columns in use, those that the folders stand for among them."""
        import pyarrow as pa

        partitions = self._partitions(file.path)
        for name in columns.used:
            if name in file.form.partitions:
                table = table.append_column(name, pa.repeat(partitions[name], table.num_rows))
        return table


@dataclass(frozen=True, slots=True)
class _Form:
    """What files have in common: their columns, and which of these are folders' names."""

    schema: Any
    names: list[str]
    partitions: frozenset[str]

    def stored(self, names: Sequence[str]) -> list[str]:
        return [name for name in names if name not in self.partitions]


@dataclass(frozen=True, slots=True)
class _File:
    """A file, how many rows it has, and how many bytes they are, about."""

    path: str
    form: _Form
    rows: int
    unpacked: int


def _together(files: Sequence[_File]) -> Iterator[list[_File]]:
    """Neighbours that make one piece: of one form, and small. Files without rows are left out."""
    for _, alike in groupby((file for file in files if file.rows), lambda file: id(file.form)):
        some: list[_File] = []
        rows = unpacked = 0
        for file in alike:
            rows, unpacked = rows + file.rows, unpacked + file.unpacked
            if some and (rows > PIECE_ROWS or unpacked > _TOGETHER):
                yield some
                some, rows, unpacked = [], file.rows, file.unpacked
            some.append(file)
        yield some


def _joinable(table: Any) -> Any:
    """The same cells in types that many tables together do not outgrow.

    A dictionary's codes may be too small for the values of all, and offsets of 32 bits for their
    bytes; how many others there are must not decide whether a row can be read.
    """
    import pyarrow as pa

    schema = pa.schema([field.with_type(_wide(field.type)) for field in table.schema])
    return table if schema == table.schema else table.cast(schema)


def _wide(kind: Any) -> Any:
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        return _wide(kind.value_type)
    if pa.types.is_string(kind) or pa.types.is_string_view(kind):
        return pa.large_string()
    if pa.types.is_binary(kind) or pa.types.is_binary_view(kind):
        return pa.large_binary()
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return pa.large_list(_wide(kind.value_type))
    return kind


def partitions_of(path: PurePosixPath) -> Mapping[str, bytes]:
    """The columns that the folders of a relative path stand for, and their values.

    A folder may be one person's, and its name any bytes: they are a value like all others.
    """
    from urllib.parse import unquote, unquote_to_bytes

    pairs = [part.split("=", 1) for part in path.parts[:-1] if "=" in part]
    return {
        unquote(key): b"" if value == _MISSING else unquote_to_bytes(os.fsencode(value))
        for key, value in pairs
    }
