"""Find out what a source is: by its first bytes and its name, or by what it can export."""

import os
from pathlib import Path
from typing import Any

from pathveil.errors import InputError
from pathveil.raw.sources.raw_rows import Source

_PARQUET_MAGIC = b"PAR1"
_PARQUET_NAMES = (".parquet", ".pq")


def open_source(source: Any) -> Source:
    """Open a file or wrap a table.

    Args:
        source: the path of a CSV or Parquet file, or an object with ``__arrow_c_stream__``.

    Raises:
        InputError: if it is neither, or can't be opened.
    """
    if isinstance(source, str | os.PathLike):
        return _open_file(Path(source))
    from pathveil.raw.sources.arrow_table import ArrowStream, PandasFrame

    if not hasattr(source, "__arrow_c_stream__"):
        raise InputError(
            f"Can't read trajectories from a {type(source).__name__}; give the path of a CSV or "
            "Parquet file, or a pandas, polars or Arrow table."
        )
    if type(source).__module__.partition(".")[0] == "pandas" and hasattr(source, "iloc"):
        return PandasFrame(source)
    return ArrowStream(source)


def _open_file(path: Path) -> Source:
    from pathveil.raw.sources.csv_file import CsvFile
    from pathveil.raw.sources.parquet_file import ParquetFile

    try:
        if path.is_dir():
            raise InputError(f"{path} is a folder; give one CSV or Parquet file.")
        with path.open("rb") as file:
            magic = file.read(len(_PARQUET_MAGIC))
        if magic == _PARQUET_MAGIC or path.suffix.lower() in _PARQUET_NAMES:
            return ParquetFile(path)
        return CsvFile(path)
    except OSError as error:
        raise InputError(f"Can't read {path}: {error.strerror or 'unknown failure'}.") from None
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError("That can't be the path of a file.") from None  # a NUL in it
