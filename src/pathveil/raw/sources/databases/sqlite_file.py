"""SQLite files, opened read-only, with Python's own driver.

SQLite has types by value, not by column, so nothing is inferred: each value is what its text
says, and a column of a piece that holds one kind of value is only converted faster.
"""

import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pathveil.raw.sources.arrow_table import PIECE_ROWS
from pathveil.raw.sources.databases.queries import ask
from pathveil.raw.sources.text_values import float_texts

_ALLOWED = {
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_RECURSIVE,
}
_BUSY_SECONDS = 10
_FAILS = "the query fails"
_REASONS = (  # by the error's name and SQLite's own text, in English everywhere
    (r"^SQLITE_(NOTADB|CORRUPT)", "it is not a SQLite database, or it is damaged"),
    (r"^SQLITE_(BUSY|LOCKED)", "another process writes to it; try again"),
    (r"^SQLITE_(AUTH|READONLY)", "the query is not read-only; give a SELECT"),
    (r" no such table", "the query names a table that it does not have"),
    (r" no such column", "the query names a column that its tables do not have"),
    (
        r"syntax error|incomplete input|unrecognized token|one statement",
        "it does not understand the query; it must be one SELECT statement",
    ),
)


class SqliteFile:
    """A SQLite file.

    Args:
        path: the file, which exists.
    """

    def __init__(self, path: Path) -> None:
        self.label = str(path)
        self._path = path

    def columns(self, statement: str) -> list[tuple[str, Any]]:
        """The columns of a statement, of which no row is fetched. Their types are the values'."""
        with self._connection() as connection:
            cursor = ask(
                lambda: connection.execute(f"{statement} LIMIT 0"),
                self._problem,
                connection.interrupt,
            )
            return [(column[0], None) for column in cursor.description]

    def tables(self, statement: str) -> Iterator[Any]:
        """The rows of a statement as SQLite finds them."""
        import pyarrow as pa

        with self._connection() as connection:
            stop = connection.interrupt
            cursor = ask(lambda: connection.execute(statement), self._problem, stop)
            names = [column[0] for column in cursor.description]
            while rows := ask(lambda: cursor.fetchmany(PIECE_ROWS), self._problem, stop):
                columns = [_column(values) for values in zip(*rows, strict=True)]
                yield pa.table(columns, names=names)

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        uri = f"file:{quote(str(self._path.absolute()))}?mode=ro"
        connection = ask(
            lambda: sqlite3.connect(uri, uri=True, timeout=_BUSY_SECONDS, check_same_thread=False),
            self._problem,
        )
        try:
            connection.text_factory = bytes  # text that is not UTF-8 spoils its own row only
            ask(lambda: connection.execute("PRAGMA temp_store = MEMORY"), self._problem)
            connection.set_authorizer(_authorize)
            yield connection
        finally:
            connection.close()

    def _problem(self, error: Exception) -> str:
        return f"Can't read from {self._path}: {_reason(error)}."


def _authorize(action: int, *_details: str | None) -> int:
    """Reading is allowed; attaching a file, writing and settings are not."""
    return sqlite3.SQLITE_OK if action in _ALLOWED else sqlite3.SQLITE_DENY


def _reason(error: Exception) -> str:
    found = f"{getattr(error, 'sqlite_errorname', None) or ''} {error}"
    return next((reason for pattern, reason in _REASONS if re.search(pattern, found)), _FAILS)


def _column(values: Sequence[Any]) -> Any:
    """An Arrow array of values as SQLite has them: integers, floats, text as bytes, or None.

    Integers alone and text alone are converted faster; their cells read like those of `_mixed`.
    """
    import pyarrow as pa

    kinds = {type(value) for value in values} - {type(None)}
    if kinds <= {bytes}:
        return pa.array(values, pa.large_binary())
    return pa.array(values, pa.int64()) if kinds == {int} else _mixed(values)


def _mixed(values: Sequence[Any]) -> Any:
    """Values of any kinds, each by its own text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    floats = [value if isinstance(value, float) else None for value in values]
    texts = float_texts(pa.array(floats, pa.float64())).cast(pa.large_binary())
    others = [str(value).encode() if isinstance(value, int) else value for value in values]
    plain = [None if isinstance(value, float) else value for value in others]
    return pc.coalesce(pa.array(plain, pa.large_binary()), texts)
