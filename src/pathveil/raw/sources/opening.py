"""Find out what a source is: by its first bytes and its name, or by what it can export."""

import os
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from pathveil.errors import InputError, ParameterError, PathveilError
from pathveil.plain_files import open_named
from pathveil.raw.sources.databases.addresses import (
    file_kind,
    named_database,
    open_database,
    refuse_query,
)
from pathveil.raw.sources.lake_tables import Snapshot, named_table, open_table, refuse_snapshot
from pathveil.raw.sources.object_store import PARQUET_NAMES, is_data, is_stored, open_stored
from pathveil.raw.sources.raw_rows import Source
from pathveil.raw.sources.text_file import DEFAULT_ENCODING, is_zip

_PARQUET_MAGIC = b"PAR1"
_OLD_EXCEL = b"\xd0\xcf\x11\xe0"
_WILD = "*?["


def open_source(
    source: Any,
    *,
    query: str | None = None,
    table: str | None = None,
    encoding: str = DEFAULT_ENCODING,
    snapshot: Snapshot = None,
) -> Source:
    """Open a file, a database or wrap a table. Looks at names and types of columns only.

    Args:
        source: the path of a CSV file (also packed), an Excel workbook or a Parquet file, a
            folder or a pattern of Parquet files (``s3://…`` too), a database, a table
            (``delta:PLACE``, ``iceberg:NAME``), or an object with ``__arrow_c_stream__``.
        query: which rows of a database to read.
        table: the table of a database, instead of a query; or the sheet of a workbook.
        encoding: of a CSV file.
        snapshot: of a Delta or Iceberg table, if not its newest.

    Raises:
        ParameterError: if a database is given without a query or a table, or one of these
            without a database, or an encoding without a CSV file, or a snapshot that is not there.
        InputError: if it is none of these, or can't be opened.
    """
    if isinstance(source, Opened):
        return source.source
    if named_table(source) is None:
        refuse_snapshot(snapshot)
    if isinstance(source, str | os.PathLike):
        named = _open_named(source, query, table, encoding, snapshot)
        return _open_file(Path(source), query, table, encoding) if named is None else named
    refuse_query(query, table)
    refuse_encoding(encoding)
    from pathveil.raw.sources.arrow_table import ArrowStream
    from pathveil.raw.sources.pandas_frame import PandasFrame

    if not hasattr(source, "__arrow_c_stream__"):
        raise InputError(
            f"Can't read trajectories from a {type(source).__name__}; give the path of a CSV or "
            "Parquet file, or a pandas, polars or Arrow table."
        )
    if type(source).__module__.partition(".")[0] == "pandas" and hasattr(source, "iloc"):
        return PandasFrame(source)
    return ArrowStream(source)


@dataclass(frozen=True, slots=True, repr=False)
class Opened:
    """A source that is open already: what can be exported once only is not opened twice."""

    source: Source


def refuse_encoding(encoding: str) -> None:
    """Refuse an encoding for what says itself how it is encoded.

    Raises:
        ParameterError: if there is one.
    """
    if encoding != DEFAULT_ENCODING:
        raise ParameterError(
            "An encoding is for CSV files only; other files, databases and tables say theirs "
            "themselves: leave it out."
        )


def _open_named(
    source: str | os.PathLike[str],
    query: str | None,
    table: str | None,
    encoding: str,
    snapshot: Snapshot,
) -> Source | None:
    """What an address or a prefix says what it is; None for the path of a file."""
    if not isinstance(source, str):
        return None
    lake, database = named_table(source), named_database(source)
    if lake or database or is_stored(source):
        refuse_encoding(encoding)
    if database:
        return open_database(*database, query, table)
    if lake or is_stored(source):
        refuse_query(query, table)
    if lake:
        return open_table(*lake, snapshot)
    return open_stored(source) if is_stored(source) else None


def _open_file(path: Path, query: str | None, table: str | None, encoding: str) -> Source:
    from pathveil.raw.sources.csv_file import CsvFile
    from pathveil.raw.sources.excel_sheet import ExcelSheet, is_workbook
    from pathveil.raw.sources.parquet_file import ParquetFiles

    try:
        if several := parquet_files(path):
            refuse_query(query, table)
            refuse_encoding(encoding)
            return ParquetFiles(list(map(str, several)), root=str(_root_of(path)), label=str(path))
        if kind := file_kind(path):
            refuse_encoding(encoding)
            return open_database(kind, os.fspath(path), query, table)
        with open_named(path) as file:
            magic = file.read(len(_PARQUET_MAGIC))
        if is_zip(magic) and is_workbook(path):
            refuse_query(query, None)
            refuse_encoding(encoding)
            return ExcelSheet(path, table)
        refuse_query(query, table)
        if magic == _OLD_EXCEL:
            raise InputError(
                f"{path} is a workbook of an old Excel; save it as .xlsx, Parquet or CSV."
            )
        if magic == _PARQUET_MAGIC or path.suffix.lower() in PARQUET_NAMES:
            refuse_encoding(encoding)
            return ParquetFiles([str(path)])
        return CsvFile(path, encoding)
    except OSError as error:
        raise InputError(f"Can't read {path}: {error.strerror or 'unknown failure'}.") from None
    except ValueError as error:
        if isinstance(error, PathveilError):
            raise
        raise InputError("That can't be the path of a file.") from None  # a NUL in it


def parquet_files(path: Path) -> list[Path]:
    """The files of a folder or of a pattern, sorted by name; none if it is a single file.

    What begins with ``.`` or ``_`` (a marker, a half-written file) is not data.

    Raises:
        InputError: if there is no Parquet file.
    """
    if path.is_dir():
        return _files_of_folder(path)
    if path.exists() or not any(sign in str(path) for sign in _WILD):
        return []
    root = _root_of(path)
    found = [
        file
        for file in root.glob(str(path.relative_to(root)))
        if file.is_file()
        and not any(part.startswith((".", "_")) for part in file.relative_to(root).parts)
    ]
    if not found:
        raise InputError(
            f"{path} is a pattern without Parquet files; give a file, or such a folder."
        )
    return sorted(found)


def _files_of_folder(folder: Path) -> list[Path]:
    """Every Parquet file below a folder; there may be very many."""

    def fail(error: OSError) -> None:  # else a folder that may not be read would look empty
        raise error

    found: list[list[str]] = []
    for top, below, names in os.walk(folder, onerror=fail):
        below[:] = [name for name in below if not name.startswith((".", "_"))]
        parts = list(Path(top).relative_to(folder).parts)
        found += [[*parts, name] for name in names if is_data(PurePosixPath(name))]
    if not found:
        raise InputError(
            f"{folder} is a folder without Parquet files; give a file, or such a folder."
        )
    return [folder.joinpath(*parts) for parts in sorted(found)]


def _root_of(path: Path) -> Path:
    """The folder below which a folder or a pattern is searched."""
    if path.is_dir():
        return path
    parts = path.parts
    wild = next(i for i, part in enumerate(parts) if any(sign in part for sign in _WILD))
    return Path(*parts[:wild])
