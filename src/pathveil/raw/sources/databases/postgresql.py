"""PostgreSQL through ADBC: Arrow batches as they arrive, in a read-only transaction.

The server enforces what matters: the transaction is read-only, the query stands inside
``SELECT … FROM (query)``, where its grammar takes a SELECT only, and one prepared statement is one
statement. What the user may read is the role's affair: docs/databases.md makes a read-only one.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from pathveil.errors import ParameterError
from pathveil.raw.sources.databases.queries import ask

_CONNECT_SECONDS = 10

_LOST: Final = "the connection to the server was lost before all rows had arrived; try again"
_TIMEOUT: Final = (
    "the server stopped the query at its statement timeout; make the query cheaper or raise "
    "statement_timeout for the role"
)
_WRITES: Final = "the server refused the query because it is not read-only; give a SELECT"
_AUTHENTICATION: Final = (
    "the server does not accept the user or the password; set PGUSER and PGPASSWORD, or PGPASSFILE"
)
_BAD_ADDRESS: Final = (
    "the address is not one that PostgreSQL understands; write postgresql://user@host/database"
)
_NO_DATABASE: Final = "the server has no such database"
_UNREACHABLE: Final = "the server can't be reached; check the address, and PGHOST and PGPORT"

_STOPPED: Final = (
    "the server stopped the query before all rows had arrived; a calculation or a conversion in it "
    "may fail"
)

_BY_STATE = {
    "28": _AUTHENTICATION,
    "3D": _NO_DATABASE,
    "42501": "the database user may not read that table; grant it SELECT",
    "42P01": "the query names a table that the database does not have",
    "3F": "the query names a schema that the database does not have",
    "42703": "the query names a column that its tables do not have",
    "42": "the server does not understand the query; it must be one SELECT statement",
    "25": _WRITES,
    "0A": _WRITES,
    "57014": _TIMEOUT,
    "57": _LOST,
    "08": _LOST,
    "53": "the server is out of room or connections",
    "22": "the server could not compute the query; a calculation or a conversion in it fails",
}
# libpq gives no state when it connects, and the driver none once rows flow. Servers may speak
# other languages, so each list ends with what is always true.
_BY_TEXT_CONNECTING = (
    (r"password|authentication|role .* (does not exist|is not permitted)|pg_hba", _AUTHENTICATION),
    (r"database .* does not exist", _NO_DATABASE),
    (r"invalid|end of string|unexpected|missing|unrecognized", _BAD_ADDRESS),
    (r"", _UNREACHABLE),
)  # fmt: skip
_BY_TEXT_READING = (
    (r"statement timeout", _TIMEOUT),
    (r"read-only transaction|read-write mode", _WRITES),
    (r"connection|PQgetCopyData|terminat|SSL", _LOST),
    (r"", _STOPPED),
)  # fmt: skip


class Postgresql:
    """A PostgreSQL database.

    Args:
        address: ``postgresql://[user[:password]@][host][:port][/database]``; what it leaves out
            comes from libpq's environment (PGUSER, PGPASSWORD, PGPASSFILE, PGSERVICE …).
    """

    label = "the PostgreSQL database"

    def __init__(self, address: str) -> None:
        self._address = _with_timeout(address)

    def columns(self, statement: str) -> list[tuple[str, Any]]:
        """The columns of a statement, which the server prepares but does not run."""
        with self._cursor() as cursor:
            schema = _ask(lambda: cursor.adbc_execute_schema(statement), cursor)
        return [(field.name, field.type) for field in schema]

    def tables(self, statement: str) -> Iterator[Any]:
        """The rows of a statement as they arrive, some megabytes at a time."""
        import pyarrow as pa

        with self._cursor() as cursor:
            _ask(lambda: cursor.execute(statement), cursor)
            reader = _ask(cursor.fetch_record_batch, cursor)
            try:
                while (batch := _ask(lambda: next(reader, None), cursor)) is not None:
                    yield pa.Table.from_batches([batch])
            finally:
                reader.close()

    @contextmanager
    def _cursor(self) -> Iterator[Any]:
        driver = _driver()
        connection = ask(lambda: driver.connect(self._address), _problem_connecting)
        try:
            with connection.cursor() as cursor:
                _ask(lambda: cursor.execute("SET TRANSACTION READ ONLY"), cursor)
                yield cursor
        finally:
            connection.close()


def _driver() -> Any:
    try:
        import adbc_driver_postgresql.dbapi
    except ImportError:
        raise ParameterError(
            "Reading from PostgreSQL needs a driver: install pathveil[databases]."
        ) from None
    return adbc_driver_postgresql.dbapi


def _ask(call: Callable[[], Any], cursor: Any) -> Any:
    return ask(call, _problem, cursor.adbc_cancel)


def _with_timeout(address: str) -> str:
    if "connect_timeout" in address:
        return address
    return f"{address}{'&' if '?' in address else '?'}connect_timeout={_CONNECT_SECONDS}"


def _problem_connecting(error: Exception) -> str:
    return _sentence(_by_text(error, _BY_TEXT_CONNECTING))


def _problem(error: Exception) -> str:
    state = getattr(error, "sqlstate", None) or ""
    for code in (state, state[:2]):
        if code in _BY_STATE:
            return _sentence(_BY_STATE[code])
    return _sentence(_by_text(error, _BY_TEXT_READING))


def _by_text(error: Exception, table: tuple[tuple[str, str], ...]) -> str:
    text = str(error)
    return next(reason for pattern, reason in table if re.search(pattern, text))


def _sentence(reason: str) -> str:
    return f"Can't read from the PostgreSQL database: {reason}."
