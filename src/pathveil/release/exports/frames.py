"""A release as a table in memory: Arrow, pandas, polars."""

from typing import Any

from pathveil.errors import ParameterError
from pathveil.release.exports.published import Published


def to_arrow(release: Published, names: str) -> Any:
    """See `Release.to_arrow`."""
    import pyarrow as pa

    from pathveil.release.exports.column_names import choose_names
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
