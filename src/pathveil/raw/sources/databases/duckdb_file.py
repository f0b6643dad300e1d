"""DuckDB files, opened read-only: no other file, no extension, no spilling to disk."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pathveil.errors import InputError, ParameterError
from pathveil.raw.sources.arrow_table import PIECE_ROWS
from pathveil.raw.sources.databases.queries import ask

# Without a temporary directory a query that does not fit into memory fails: nothing is spilled.
_OPENING = {
    "temp_directory": "",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}
_SETTINGS = (
    "SET python_enable_replacements = false",  # a table's name must not mean a Python variable
    "SET enable_external_access = false",  # COPY … TO, ATTACH, read_csv …
    "SET lock_configuration = true",
)
_REASONS = {
    "CatalogException": "the query names a table or a function that it does not have",
    "BinderException": "the query names a column that its tables do not have, or mixes types",
    "ParserException": "it does not understand the query; it must be one SELECT statement",
    "SyntaxException": "it does not understand the query; it must be one SELECT statement",
    "PermissionException": "the query reaches outside the file, which is not allowed",
    "OutOfMemoryException": "the query needs more memory than DuckDB may use; leave ORDER BY out",
    "ConversionException": "a conversion in the query fails",
}


class DuckdbFile:
    """A DuckDB file.

    Args:
        path: the file, which exists.
    """

    def __init__(self, path: Path) -> None:
        self.label = str(path)
        self._path = path

    def columns(self, statement: str) -> list[tuple[str, Any]]:
        """The columns of a statement, which is not run."""
        with self._connection() as connection:
            self._check_single(connection, statement)
            empty = f"{statement} LIMIT 0"
            table = ask(lambda: connection.sql(empty).to_arrow_table(), self._problem)
            return [(field.name, field.type) for field in table.schema]

    def tables(self, statement: str) -> Iterator[Any]:
        """The rows of a statement as DuckDB computes them."""
        import pyarrow as pa

        with self._connection() as connection:
            stop = connection.interrupt
            reader = ask(
                lambda: connection.sql(statement).to_arrow_reader(PIECE_ROWS), self._problem, stop
            )
            try:
                while (batch := ask(lambda: next(reader, None), self._problem, stop)) is not None:
                    yield pa.Table.from_batches([batch])
            finally:
                reader.close()

    def _check_single(self, connection: Any, statement: str) -> None:
        """DuckDB would run several statements one after the other, so they are counted first."""
        parsed = ask(lambda: connection.extract_statements(statement), self._problem)
        if [one.type.name for one in parsed] != ["SELECT"]:
            raise InputError(f"Can't read from {self._path}: {_REASONS['ParserException']}.")

    @contextmanager
    def _connection(self) -> Iterator[Any]:
        driver = _driver()
        connection = ask(
            lambda: driver.connect(str(self._path), read_only=True, config=_OPENING),
            lambda _: (
                f"Can't open {self._path}: it is not a DuckDB file of a version that we read, or "
                "another process writes to it."
            ),
        )
        try:
            for setting in _SETTINGS:
                connection.execute(setting)
            yield connection
        finally:
            connection.close()

    def _problem(self, error: Exception) -> str:
        reason = _REASONS.get(type(error).__name__, "the query fails, or the file is damaged")
        return f"Can't read from {self._path}: {reason}."


def _driver() -> Any:
    try:
        import duckdb
    except ImportError:
        raise ParameterError(
            "Reading a DuckDB file needs a driver: install pathveil[databases]."
        ) from None
    return duckdb
