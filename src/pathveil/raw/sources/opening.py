"""Find out what a source is: by its first bytes and its name, or by what it can export."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pathveil.errors import InputError, ParameterError, PathveilError
from pathveil.raw.sources.databases.addresses import (
    file_kind,
    named_database,
    open_database,
    refuse_query,
)
from pathveil.raw.sources.lake_tables import Snapshot, named_table, open_table, refuse_snapshot
from pathveil.raw.sources.raw_rows import Source
from pathveil.raw.sources.text_file import DEFAULT_ENCODING, is_zip

_PARQUET_MAGIC = b"PAR1"
_OLD_EXCEL = b"\xd0\xcf\x11\xe0"
_PARQUET_NAMES = (".parquet", ".pq")
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
            folder or a pattern of Parquet files, a database, a table (``delta:PLACE``,
            ``iceberg:NAME``), or an object with ``__arrow_c_stream__``.
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
    if lake := named_table(source):
        refuse_query(query, table)
        refuse_encoding(encoding)
        return open_table(*lake, snapshot)
    refuse_snapshot(snapshot)
    if isinstance(source, str | os.PathLike):
        named = named_database(source) if isinstance(source, str) else None
        if named is not None:
            refuse_encoding(encoding)
            return open_database(*named, query, table)
        return _open_file(Path(source), query, table, encoding)
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


def _open_file(path: Path, query: str | None, table: str | None, encoding: str) -> Source:
    from pathveil.raw.sources.csv_file import CsvFile
    from pathveil.raw.sources.excel_sheet import ExcelSheet, is_workbook
    from pathveil.raw.sources.parquet_file import ParquetFiles

    try:
        if several := parquet_files(path):
            refuse_query(query, table)
            refuse_encoding(encoding)
            return ParquetFiles(several, root=_root_of(path), label=str(path))
        if kind := file_kind(path):
            refuse_encoding(encoding)
            return open_database(kind, os.fspath(path), query, table)
        with path.open("rb") as file:
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
        if magic == _PARQUET_MAGIC or path.suffix.lower() in _PARQUET_NAMES:
            refuse_encoding(encoding)
            return ParquetFiles([path])
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
        found = [file for ending in _PARQUET_NAMES for file in path.rglob(f"*{ending}")]
    elif not path.exists() and any(sign in str(path) for sign in _WILD):
        root = _root_of(path)
        found = [file for file in root.glob(str(path.relative_to(root))) if file.is_file()]
    else:
        return []
    root = _root_of(path)
    found = [
        file
        for file in found
        if not any(part.startswith((".", "_")) for part in file.relative_to(root).parts)
    ]
    if not found:
        what = "is a folder" if path.is_dir() else "is a pattern"
        raise InputError(f"{path} {what} without Parquet files; give a file, or such a folder.")
    return sorted(found)


def _root_of(path: Path) -> Path:
    """The folder below which a folder or a pattern is searched."""
    if path.is_dir():
        return path
    parts = path.parts
    wild = next(i for i, part in enumerate(parts) if any(sign in part for sign in _WILD))
    return Path(*parts[:wild])
