"""A release in other formats: tables in memory, and files that appear whole or not at all."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from pathveil.core.texts import escape
from pathveil.errors import ParameterError, ReleaseError, did_you_mean
from pathveil.folders import staged_file
from pathveil.promise.certificate import CERTIFICATE_FILE, NOT_PRIVATE
from pathveil.release.exports.flow_lines import (
    FLOWS,
    write_geojson,
    write_geoparquet,
    write_points,
)
from pathveil.release.exports.flow_tables import (
    LAYOUTS,
    VISITS,
    check_table,
    flow_table,
    write_table_csv,
    write_table_excel,
)
from pathveil.release.exports.published import ColumnNames, Published, choose_names
from pathveil.release.exports.visit_rows import visit_batches
from pathveil.release.exports.xes import write_xes

FORMATS: Final = ("csv", "parquet", "xlsx", "geojson", "geoparquet", "xes")


# A release as a table in memory: Arrow, pandas, polars.


def to_arrow(release: Published, names: str) -> Any:
    """See `Release.to_arrow`."""
    import pyarrow as pa

    from pathveil.release.exports.published import choose_names
    from pathveil.release.exports.visit_rows import visit_batches

    schema, batches = visit_batches(release, choose_names(names))
    return pa.Table.from_batches(batches, schema)


def to_pandas(release: Published, names: str) -> Any:
    """See `Release.to_pandas`."""
    _check_installed("pandas")
    return to_arrow(release, names).to_pandas()


def to_polars(release: Published, names: str) -> Any:
    """See `Release.to_polars`."""
    _check_installed("polars")
    import polars as pl

    return pl.from_arrow(to_arrow(release, names))


def _check_installed(package: str) -> None:
    from importlib.util import find_spec

    if find_spec(package) is None:
        raise ParameterError(f"That needs {package}: pip install {package}.")


# Write a release as one file of another format: whole or not at all.


def choose_format(path: Path, chosen: str | None) -> str:
    """The format asked for, or else the one that the file's ending says.

    Raises:
        ParameterError: if we do not write it.
    """
    found = path.suffix.lower().removeprefix(".") if chosen is None else chosen
    if found not in FORMATS:
        raise ParameterError(
            f"Formats are {', '.join(FORMATS)}; name one with format=… or --format, or give the "
            f"file that ending.{did_you_mean(found, FORMATS)}"
        )
    return found


def check_target(path: Path, *, overwrite: bool) -> None:
    """Refuse a place where nothing may be written.

    Raises:
        ReleaseError: if something is there, or it lies in a bundle, which an added file spoils.
    """
    if "\0" in str(path):
        raise ReleaseError("The path of a file can't hold a NUL character.")
    if path.is_dir():
        raise ReleaseError(f"{path} is a folder; give the name of a file.")
    if os.path.lexists(path) and not overwrite:
        raise ReleaseError(
            f"{path} exists already; choose another name, or overwrite it with overwrite=True or "
            "--force."
        )
    if (path.absolute().parent / CERTIFICATE_FILE).exists():
        raise ReleaseError(
            f"{path.parent} is a release bundle, which an added file makes invalid; write "
            "somewhere else."
        )


def export(
    release: Any, path: Path, *, kind: str | None, names: str, flows: str | None, overwrite: bool
) -> Path:
    """See `Release.export`."""
    chosen = choose_format(path, kind)
    write = _writer(release, chosen, names, flows)
    check_target(path, overwrite=overwrite)
    try:
        with staged_file(path) as staging:
            write(staging)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else "writing failed"
        raise ReleaseError(f"Could not write {path}: {reason}. Nothing was left behind.") from None
    return path


def _writer(release: Any, kind: str, names: str, flows: str | None) -> Callable[[Path], None]:
    """How to write it; what can be refused is refused here, before a file is made."""
    if kind in _TABLES and (flows is not None or kind == "xlsx"):
        table = flow_table(release, VISITS if flows is None else flows, names)
        return lambda path: _TABLES[kind](table, path)
    flows = "transitions" if flows is None else flows
    check_table(flows, names if names in LAYOUTS else "pathveil")
    if flows == VISITS and kind == "geojson":
        return lambda path: write_points(release, path)
    if flows not in FLOWS:
        raise ParameterError(
            f"The table {flows!r} can't be written as {kind}; give csv, parquet or xlsx."
        )
    columns = choose_names(names)
    return {
        "csv": lambda path: _write_csv(release, path, columns),
        "parquet": lambda path: _write_parquet(release, path, columns),
        "geojson": lambda path: write_geojson(release, path, flows),
        "geoparquet": lambda path: write_geoparquet(release, path, flows),
        "xes": lambda path: write_xes(release, path),
    }[kind]


def _write_csv(release: Published, path: Path, names: ColumnNames) -> None:
    import pyarrow.csv

    schema, batches = visit_batches(release, names, escape)
    with pyarrow.csv.CSVWriter(path, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)


def _write_table_parquet(table: Any, path: Path) -> None:
    import pyarrow.parquet as pq

    pq.write_table(table, path, compression="zstd")


_TABLES: Final[dict[str, Callable[[Any, Path], None]]] = {
    "csv": write_table_csv,
    "parquet": _write_table_parquet,
    "xlsx": write_table_excel,
}


def _write_parquet(release: Published, path: Path, names: ColumnNames) -> None:
    import pyarrow.parquet as pq

    schema, batches = visit_batches(release, names)
    if not release.is_private:
        schema = schema.with_metadata({"pathveil": NOT_PRIVATE})
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for batch in batches:
            writer.write_batch(batch.cast(schema))
