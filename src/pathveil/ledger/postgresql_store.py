"""A ledger in a PostgreSQL database, for teams.

Turns are taken with an advisory lock, which the server releases when a connection ends, however it
ends. The entries need no more rights than SELECT and INSERT, so that the people who publish can be
kept from changing what they wrote; the primary key stops two entries with one number even if
somebody bypasses the lock. The totals are one row that is replaced: who may change it gains
nothing, because the last entry vouches for it. Without rights to it a charge replays the entries.

A trigger, a rule, a row policy or another constraint could make an insert do something else than
insert, or hide a row, so a table that has any is not used. Messages never quote the driver: it may
quote the address.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pathveil.errors import LedgerError
from pathveil.ledger.entries import Row
from pathveil.ledger.store import NOTHING_ADDED, Glance

if TYPE_CHECKING:
    from sqlalchemy import URL, Connection, Engine

_LOCK = 0x70617468  # "path"
_CONNECT_SECONDS = 10
_SETTINGS = (
    "SET LOCAL synchronous_commit = on",
    "SET LOCAL lock_timeout = '60s'",
    "SET LOCAL idle_in_transaction_session_timeout = '60s'",  # a client that fell off the network
)
_COLUMNS = {
    "pathveil_ledger": ["number bigint", "entry text", "hash text"],
    "pathveil_totals": ["id bigint", "totals text"],
}
_ROWS = "SELECT number, entry, hash FROM pathveil_ledger"
_INSERT = "INSERT INTO pathveil_ledger (number, entry, hash) VALUES (:number, :entry, :hash)"
_KEEP = (
    "INSERT INTO pathveil_totals (id, totals) VALUES (0, :totals) "
    "ON CONFLICT (id) DO UPDATE SET totals = excluded.totals"
)
_EXISTS = "SELECT to_regclass(:name) IS NOT NULL"
_MAY = "SELECT coalesce(has_table_privilege(to_regclass(:name), :right), false)"
_MAY_CREATE = "SELECT coalesce(has_schema_privilege(current_schema(), 'CREATE'), false)"
_AS_OF_ONE_MOMENT = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
# A plain table that is written to the log, with our columns, none of them with a default, and
# nothing attached to it but its key.
_IS_OURS = """
SELECT c.relkind = 'r' AND c.relpersistence = 'p' AND NOT c.relrowsecurity
    AND NOT EXISTS (SELECT 1 FROM pg_trigger WHERE tgrelid = c.oid)
    AND NOT EXISTS (SELECT 1 FROM pg_rewrite WHERE ev_class = c.oid)
    AND NOT EXISTS (SELECT 1 FROM pg_inherits WHERE c.oid IN (inhparent, inhrelid))
    AND NOT EXISTS (
        SELECT 1 FROM pg_constraint WHERE conrelid = c.oid AND contype NOT IN ('p', 'n'))
    AND ARRAY(
        SELECT attname || ' ' || format_type(atttypid, atttypmod) FROM pg_attribute
        WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped AND NOT atthasdef
        ORDER BY attnum) = CAST(:columns AS text[])
FROM pg_class c WHERE c.oid = to_regclass(:name)
"""

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
        with self._reading() as turn:
            return [] if turn is None else turn.rows()

    def glance(self) -> Glance:
        """Its two ends, and the totals."""
        with self._reading() as turn:
            return Glance(None, None, None) if turn is None else turn.glance()

    def row(self, number: int) -> Row | None:
        """One row, through a connection of its own."""
        with self._reading() as turn:
            return None if turn is None else turn.row(number)

    @contextmanager
    def exclusive(self, *, create: bool = False) -> Iterator["_Turn"]:
        """One transaction, alone: all that happens in it is kept, or nothing."""
        with self._transaction() as connection:
            for setting in _SETTINGS:
                _run(connection, setting)
            _run(connection, "SELECT pg_advisory_xact_lock(:key)", key=_LOCK)
            exists = _exists(connection, "pathveil_ledger")
            if create and not exists:
                _create(connection, "pathveil_ledger")
            elif not exists:
                raise LedgerError(
                    "There is no ledger in that PostgreSQL database. Make one with `pathveil "
                    "ledger init NAME --limit EPSILON --ledger URL`."
                )
            may_create = create or _run(connection, _MAY_CREATE).scalar()
            if may_create and not _exists(connection, "pathveil_totals"):
                _create(connection, "pathveil_totals")
            self._check_ours(connection)
            yield _Turn(connection)

    @contextmanager
    def _reading(self) -> Iterator["_Turn | None"]:
        """What was committed, as of one moment; None if there is no ledger."""
        with self._transaction() as connection:
            _run(connection, _AS_OF_ONE_MOMENT)
            if not _exists(connection, "pathveil_ledger"):
                yield None
                return
            self._check_ours(connection)
            yield _Turn(connection)

    def _check_ours(self, connection: "Connection") -> None:
        for name, columns in _COLUMNS.items():
            is_ours = _run(connection, _IS_OURS, name=name, columns=columns).scalar()
            if is_ours is False:  # None: it is not there
                raise LedgerError(
                    f"Can't use {self.label}: its table {name} is not a ledger's, or somebody "
                    "added triggers, rules, policies or constraints to it. No entry was added."
                )

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
        return self._found("ORDER BY number")

    def row(self, number: int) -> Row | None:
        return next(iter(self._found("WHERE number = :number", number=number)), None)

    def glance(self) -> Glance:
        first = next(iter(self._found("ORDER BY number LIMIT 1")), None)
        last = next(iter(self._found("ORDER BY number DESC LIMIT 1")), None)
        return Glance(first, last, self._totals())

    def append(self, row: Row, totals: str | None) -> None:
        _run(self._connection, _INSERT, number=row.number, entry=row.text, hash=row.hash)
        if totals is not None and self._may("SELECT", "INSERT", "UPDATE"):
            _run(self._connection, _KEEP, totals=totals)

    def _found(self, which: str, **values: int) -> list[Row]:
        return [Row(*row) for row in _run(self._connection, f"{_ROWS} {which}", **values)]

    def _totals(self) -> str | None:
        if not self._may("SELECT"):
            return None
        kept = _run(self._connection, "SELECT totals FROM pathveil_totals WHERE id = 0")
        text: str | None = kept.scalar()
        return text

    def _may(self, *rights: str) -> bool:
        """Whether the totals are there, and the user has these rights to them."""
        name = "pathveil_totals"
        return all(
            _run(self._connection, _MAY, name=name, right=right).scalar() for right in rights
        )


def _exists(connection: "Connection", name: str) -> bool:
    return bool(_run(connection, _EXISTS, name=name).scalar())


def _create(connection: "Connection", name: str) -> None:
    key, *others = _COLUMNS[name]
    columns = [f"{key} PRIMARY KEY", *(f"{column} NOT NULL" for column in others)]
    _run(connection, f"CREATE TABLE {name} ({', '.join(columns)})")


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
            return f"{_REASONS[code]}. {NOTHING_ADDED}"
    return "the connection was lost. See `pathveil ledger history` for whether the entry was added."
