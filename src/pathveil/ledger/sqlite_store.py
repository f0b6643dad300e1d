"""A ledger in one SQLite file: write-ahead log, every commit synced to disk, one writer at a time.

Locks are the operating system's: they go when a process goes, however it goes. A commit that a
killed process did not finish is rolled back by whoever opens the file next.
"""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from pathveil.errors import LedgerError
from pathveil.ledger.entries import Row
from pathveil.model.new_folders import new_parents

_WAIT_SECONDS = 60
_TABLE = "CREATE TABLE IF NOT EXISTS pathveil_ledger (number INTEGER PRIMARY KEY, entry TEXT NOT NULL, hash TEXT NOT NULL)"  # noqa: E501
_ROWS = "SELECT number, entry, hash FROM pathveil_ledger ORDER BY number"
_INSERT = "INSERT INTO pathveil_ledger (number, entry, hash) VALUES (?, ?, ?)"
# FULL: a commit returns when the disk has it; fullfsync means that on macOS too.
_SETTINGS = ["PRAGMA synchronous = FULL", "PRAGMA fullfsync = ON", "PRAGMA trusted_schema = OFF"]

_REASONS = {
    sqlite3.SQLITE_NOTADB: "it is not a ledger, or it was overwritten",
    sqlite3.SQLITE_CORRUPT: "the file is damaged; restore it from a backup or an export",
    sqlite3.SQLITE_READONLY: "it can't be written here (read-only file or disk)",
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_CANTOPEN: "it can't be opened (is its folder there, and may you write to it?)",
    sqlite3.SQLITE_BUSY: "other processes keep it busy; try again",
    sqlite3.SQLITE_LOCKED: "other processes keep it busy; try again",
    sqlite3.SQLITE_PERM: "you may not open it",
    sqlite3.SQLITE_IOERR: "reading or writing the disk failed",
}


class SqliteStore:
    """A ledger file.

    Args:
        path: the file.
    """

    def __init__(self, path: Path) -> None:
        if "\0" in str(path):
            raise LedgerError("The path of a ledger can't hold a NUL character.")
        try:
            self._path = path.expanduser().absolute()
        except RuntimeError:
            raise LedgerError(
                f"Nobody has the home folder in {str(path)[:200]!r}; for a file whose name begins "
                "with ~ write ./~…"
            ) from None
        self.label = f"the ledger {path}"

    def read(self) -> list[Row]:
        """All rows, by number."""
        if not self._exists():
            return []
        with self._explained(), closing(self._connect()) as connection:
            return _rows(connection)

    @contextmanager
    def exclusive(self, *, create: bool = False) -> Iterator["_Turn"]:
        """One transaction: all that happens in it is kept, or nothing."""
        if create:
            self._make_file()
        elif not self._exists():
            raise LedgerError(
                f"There is no ledger at {self._path}. Make one with `pathveil ledger init NAME "
                "--limit EPSILON`, or say where it is with --ledger or PATHVEIL_LEDGER."
            )
        with self._explained(), closing(self._connect()) as connection:
            if create:
                _use_write_ahead_log(connection)
            connection.execute("BEGIN IMMEDIATE")
            try:
                if create:
                    _refuse_foreign(connection, self.label)
                    connection.execute(_TABLE)
                yield _Turn(connection)
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def _exists(self) -> bool:
        try:
            return self._path.stat().st_size > 0
        except FileNotFoundError:
            return False
        except OSError as error:
            raise LedgerError(f"Can't use {self.label}: {error.strerror}.") from None

    def _make_file(self) -> None:
        """An empty file that only its owner may read; SQLite gives its helpers the same rights."""
        try:
            with new_parents(self._path, mode=0o700):
                os.close(os.open(self._path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
        except OSError as error:
            reason = "Not a directory" if isinstance(error, FileExistsError) else error.strerror
            raise LedgerError(f"Can't make {self.label}: {reason}.") from None

    def _connect(self) -> sqlite3.Connection:
        address = f"file:{quote(str(self._path))}?mode=rw"
        connection = sqlite3.connect(
            address, uri=True, timeout=_WAIT_SECONDS, isolation_level=None, check_same_thread=False
        )
        try:
            for setting in _SETTINGS:
                connection.execute(setting)
        except BaseException:
            connection.close()
            raise
        return connection

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """SQLite's failures in our words."""
        try:
            yield
        except MemoryError:
            reason = "memory ran out, or it is damaged and asks for too much"
            raise LedgerError(f"Can't use {self.label}: {reason}. No entry was added.") from None
        except (sqlite3.Error, UnicodeDecodeError) as error:
            # Of a damaged schema SQLite's own message may not be text.
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the primary code
            reason = _REASONS.get(code, "it is not a ledger, or it is damaged")
            raise LedgerError(f"Can't use {self.label}: {reason}. No entry was added.") from None


class _Turn:
    """See `pathveil.ledger.store.Transaction`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def rows(self) -> list[Row]:
        return _rows(self._connection)

    def append(self, row: Row) -> None:
        self._connection.execute(_INSERT, row)


def _rows(connection: sqlite3.Connection) -> list[Row]:
    if not _has_table(connection):
        return []
    return [Row(*row) for row in connection.execute(_ROWS)]


def _has_table(connection: sqlite3.Connection) -> bool:
    found = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'pathveil_ledger'")
    return found.fetchone() is not None


def _refuse_foreign(connection: sqlite3.Connection, label: str) -> None:
    """Do not move into a database that holds something else."""
    others = connection.execute("SELECT 1 FROM sqlite_master WHERE name <> 'pathveil_ledger'")
    if others.fetchone() is not None:
        raise LedgerError(f"Can't use {label}: it is a database of something else.")


def _use_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Kept in the file from then on. Two first runs at once may have to wait for each other."""
    patience = time.monotonic() + _WAIT_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchone()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > patience:
                raise
            time.sleep(0.02)
        else:
            return
