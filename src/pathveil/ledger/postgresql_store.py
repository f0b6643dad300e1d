"""A ledger in a PostgreSQL database, for teams.

Turns are taken with an advisory lock, which the server releases when a connection ends, however it
ends. It needs no more rights than SELECT and INSERT, so that the people who publish can be kept
from changing what they wrote; the primary key stops two entries with one number even if somebody
bypasses the lock. Messages never quote the driver: it may quote the address.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pathveil.errors import LedgerError
from pathveil.ledger.entries import Row

if TYPE_CHECKING:
    from sqlalchemy import URL, Connection, Engine

_LOCK = 0x70617468  # "path"
_CONNECT_SECONDS = 10
_SETTINGS = (
    "SET LOCAL synchronous_commit = on",
    "SET LOCAL lock_timeout = '60s'",
    "SET LOCAL idle_in_transaction_session_timeout = '60s'",  # a client that fell off the network
)
_TABLE = "CREATE TABLE IF NOT EXISTS pathveil_ledger (number BIGINT PRIMARY KEY, entry TEXT NOT NULL, hash TEXT NOT NULL)"  # noqa: E501
_EXISTS = "SELECT to_regclass('pathveil_ledger') IS NOT NULL"
_ROWS = "SELECT number, entry, hash FROM pathveil_ledger ORDER BY number"
_INSERT = "INSERT INTO pathveil_ledger (number, entry, hash) VALUES (:number, :entry, :hash)"

_REASONS = {
    "42501": "the database user may not do this (SELECT and INSERT on pathveil_ledger are needed; "
    "to make the ledger, CREATE)",
    "42": "its table pathveil_ledger is not a ledger's",
    "25006": "the server is read-only",
    "53": "the server is out of room or connections",
    "55P03": "other processes keep it busy; try again",
    "23505": "somebody else appended to it at the same moment; try again",
}


class PostgresqlStore:
    """A ledger in the table ``pathveil_ledger`` of a database.

    Args:
        url: ``postgresql://[user[:password]@]host[:port]/database``; what it leaves out comes
            from libpq's environment (PGPASSWORD, PGSERVICE, a password file …).
    """

    label = "the PostgreSQL ledger"

    def __init__(self, url: str) -> None:
        self._url = _parsed(url)

    def read(self) -> list[Row]:
        """All rows, by number."""
        with self._transaction() as connection:
            return _Turn(connection).rows()

    @contextmanager
    def exclusive(self, *, create: bool = False) -> Iterator["_Turn"]:
        """One transaction, alone: all that happens in it is kept, or nothing."""
        with self._transaction() as connection:
            for setting in _SETTINGS:
                _run(connection, setting)
            _run(connection, "SELECT pg_advisory_xact_lock(:key)", key=_LOCK)
            exists = _run(connection, _EXISTS).scalar()
            if create and not exists:
                _run(connection, _TABLE)
            elif not exists:
                raise LedgerError(
                    "There is no ledger in that PostgreSQL database. Make one with `pathveil "
                    "ledger init NAME --limit EPSILON --ledger URL`."
                )
            yield _Turn(connection)

    @contextmanager
    def _transaction(self) -> Iterator["Connection"]:
        """A connection that commits at the end; the database's failures in our words."""
        engine = _engine(self._url)
        from sqlalchemy.exc import SQLAlchemyError

        try:
            connected = engine.connect()
        except SQLAlchemyError:  # the driver does not tell these cases apart
            raise LedgerError(
                f"Can't use {self.label}: the server can't be reached, or it does not accept the "
                "database, the user or the password. No entry was added."
            ) from None
        try:
            with connected as connection, connection.begin():
                yield connection
        except SQLAlchemyError as error:
            state = getattr(getattr(error, "orig", None), "sqlstate", None) or ""
            raise LedgerError(f"Can't use {self.label}: {_reason(state)}") from None


class _Turn:
    """See `pathveil.ledger.store.Transaction`."""

    def __init__(self, connection: "Connection") -> None:
        self._connection = connection

    def rows(self) -> list[Row]:
        if not _run(self._connection, _EXISTS).scalar():
            return []
        return [Row(*row) for row in _run(self._connection, _ROWS)]

    def append(self, row: Row) -> None:
        _run(self._connection, _INSERT, number=row.number, entry=row.text, hash=row.hash)


def _run(connection: "Connection", statement: str, **values: object) -> Any:
    from sqlalchemy import text

    return connection.execute(text(statement), values)


def _parsed(url: str) -> "URL":
    try:
        from sqlalchemy import make_url
        from sqlalchemy.exc import ArgumentError
    except ModuleNotFoundError:
        raise LedgerError(
            "A PostgreSQL ledger needs two more packages: pip install 'pathveil[postgresql]'."
        ) from None
    try:
        return make_url(url).set(drivername="postgresql+psycopg")
    except (ArgumentError, ValueError):
        raise LedgerError(
            "That is not the address of a PostgreSQL database; write it as "
            "postgresql://user@host/database."
        ) from None


def _engine(url: "URL") -> "Engine":
    from sqlalchemy import NullPool, create_engine

    try:
        return create_engine(
            url,
            poolclass=NullPool,
            hide_parameters=True,
            connect_args={"connect_timeout": _CONNECT_SECONDS},
        )
    except ModuleNotFoundError:
        raise LedgerError(
            "A PostgreSQL ledger needs a driver: pip install 'pathveil[postgresql]'."
        ) from None


def _reason(state: str) -> str:
    """Why it failed, from the SQLSTATE alone."""
    for code in (state, state[:2]):
        if code in _REASONS:
            return f"{_REASONS[code]}. No entry was added."
    return "the connection was lost. See `pathveil ledger history` for whether the entry was added."
