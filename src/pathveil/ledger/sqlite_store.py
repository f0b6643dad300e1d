"""A ledger in one SQLite file: rollback journal, every commit synced to disk, one writer at a time.

Locks are the operating system's, on the file itself: they go when a process goes, however it goes,
and they hold by whatever path the file is opened. That is why there is no write-ahead log: its
locks are in a file beside the database, so two mounts of the one file would have two sets of
them, and both could spend the same budget. A commit that a killed process did not finish is
rolled back by whoever opens the file next by the same path, unless others wrote since by another.

A trigger, a view or another constraint could make an insert do something else than insert, so
nothing is in the file but our two tables, spelled as we spell them.
"""

import os
import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from pathveil.errors import LedgerError
from pathveil.folders import new_parents
from pathveil.ledger.entries import Row
from pathveil.ledger.left_journal import begin_by_path, check_left_journal
from pathveil.ledger.store import NOTHING_ADDED, Glance

_WAIT_SECONDS = 60
_LEDGER = (
    "CREATE TABLE pathveil_ledger "
    "(number INTEGER PRIMARY KEY, entry TEXT NOT NULL, hash TEXT NOT NULL)"
)
_TOTALS = "CREATE TABLE pathveil_totals (id INTEGER PRIMARY KEY, totals TEXT NOT NULL)"
_OURS = {("pathveil_ledger", _LEDGER), ("pathveil_totals", _TOTALS)}
_OBJECTS = "SELECT name, sql FROM sqlite_master"
_ROWS = "SELECT number, entry, hash FROM pathveil_ledger"
_INSERT = "INSERT INTO pathveil_ledger (number, entry, hash) VALUES (?, ?, ?)"
_KEEP = "INSERT OR REPLACE INTO pathveil_totals (id, totals) VALUES (0, ?)"
# EXTRA: a commit returns when the disk has it, and has forgotten the journal that would undo it;
# fullfsync means that on macOS too.
_SETTINGS = ["PRAGMA synchronous = EXTRA", "PRAGMA fullfsync = ON", "PRAGMA trusted_schema = OFF"]

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

_UNWRITABLE = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)


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
        """One transaction: all that happens in it is kept, or nothing."""
        exists = self._exists()
        if create:
            self._make_file()
        elif not exists:
            raise LedgerError(
                f"There is no ledger at {self._path}. Make one with `pathveil ledger init NAME "
                "--limit EPSILON`, or say where it is with --ledger or PATHVEIL_LEDGER."
            )
        with self._explained(), closing(self._connect()) as connection:
            self._tables(connection)  # another program's database stays as it is
            _use_rollback_journal(connection)
            begin_by_path(connection, self._path)
            try:
                yield self._prepared(connection, create=create)
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def _prepared(self, connection: sqlite3.Connection, *, create: bool) -> "_Turn":
        """A turn at tables that are ours; what is missing of them is made."""
        names = self._tables(connection)
        if not names and create:
            connection.execute(_LEDGER)
        if names == {"pathveil_ledger"} or (not names and create):
            connection.execute(_TOTALS)
        return _Turn(connection, self._tables(connection))

    def _tables(self, connection: sqlite3.Connection) -> set[str]:
        """Which of our tables are there.

        Raises:
            LedgerError: if anything else is in the database of a ledger.
        """
        found = set(connection.execute(_OBJECTS).fetchall())
        names = {name for name, _ in found & _OURS}
        if found - _OURS:
            if any(name == "pathveil_ledger" for name, _ in found):
                raise LedgerError(
                    f"Can't use {self.label}: it is not a ledger, or somebody added to it: it "
                    "holds tables, triggers, views or rules that no ledger has. Restore it from a "
                    "backup or an export. No entry was added."
                )
            raise LedgerError(f"Can't use {self.label}: it is a database of something else.")
        return names

    @contextmanager
    def _reading(self) -> Iterator["_Turn | None"]:
        """What was committed, as of one moment; None if there is no ledger."""
        if not self._exists():
            yield None
            return
        with self._explained(), closing(self._connect_to_read()) as connection:
            connection.execute("BEGIN")
            yield _Turn(connection, self._tables(connection))

    def _connect_to_read(self) -> sqlite3.Connection:
        """Also from a disk that can't be written, where a write-ahead log can't be opened.

        Ledgers of earlier versions have one. If nothing is in it, the file is all there is.
        """
        try:
            return self._connect()
        except sqlite3.OperationalError as error:
            is_unwritable = error.sqlite_errorcode & 0xFF in _UNWRITABLE
            if not is_unwritable or any(map(self._has_beside, ("-wal", "-journal"))):
                raise
            return self._connect("immutable=1&mode=ro")

    def _has_beside(self, suffix: str) -> bool:
        """Whether SQLite has something to bring into the file, or it can't be known."""
        try:
            return self._path.with_name(self._path.name + suffix).stat().st_size > 0
        except FileNotFoundError:
            return False
        except OSError:
            return True

    def _exists(self) -> bool:
        try:
            found = self._path.stat()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise LedgerError(f"Can't use {self.label}: {error.strerror}.") from None
        if not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):
            raise LedgerError(
                f"Can't use {self.label}: it is a pipe or a device, not a plain file."
            )
        return found.st_size > 0

    def _make_file(self) -> None:
        """An empty file that only its owner may read; SQLite gives its helpers the same rights."""
        try:
            with new_parents(self._path, mode=0o700):
                os.close(os.open(self._path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
        except OSError as error:
            reason = "Not a directory" if isinstance(error, FileExistsError) else error.strerror
            raise LedgerError(f"Can't make {self.label}: {reason}.") from None

    def _connect(self, how: str = "mode=rw") -> sqlite3.Connection:
        check_left_journal(self._path, self.label)
        address = f"file:{quote(str(self._path))}?{how}"
        connection = sqlite3.connect(
            address, uri=True, timeout=_WAIT_SECONDS, isolation_level=None, check_same_thread=False
        )
        try:
            for setting in _SETTINGS:
                connection.execute(setting)
            connection.execute("SELECT 1 FROM sqlite_master").fetchone()  # opens all it needs
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
            raise LedgerError(f"Can't use {self.label}: {reason}. {NOTHING_ADDED}") from None
        except (sqlite3.Error, UnicodeDecodeError) as error:
            # Of a damaged schema SQLite's own message may not be text.
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the primary code
            reason = _REASONS.get(code, "it is not a ledger, or it is damaged")
            raise LedgerError(f"Can't use {self.label}: {reason}. {NOTHING_ADDED}") from None


class _Turn:
    """See `pathveil.ledger.store.Transaction`."""

    def __init__(self, connection: sqlite3.Connection, tables: set[str]) -> None:
        self._connection = connection
        self._tables = tables

    def rows(self) -> list[Row]:
        return self._found("ORDER BY number")

    def row(self, number: int) -> Row | None:
        return next(iter(self._found("WHERE number = ?", number)), None)

    def glance(self) -> Glance:
        first = next(iter(self._found("ORDER BY number LIMIT 1")), None)
        last = next(iter(self._found("ORDER BY number DESC LIMIT 1")), None)
        return Glance(first, last, self._totals())

    def append(self, row: Row, totals: str | None) -> None:
        self._connection.execute(_INSERT, row)
        if totals is not None:
            self._connection.execute(_KEEP, [totals])

    def _found(self, which: str, *values: int) -> list[Row]:
        if "pathveil_ledger" not in self._tables:
            return []
        return [Row(*row) for row in self._connection.execute(f"{_ROWS} {which}", values)]

    def _totals(self) -> str | None:
        if "pathveil_totals" not in self._tables:
            return None
        kept = self._connection.execute("SELECT totals FROM pathveil_totals WHERE id = 0")
        (text,) = kept.fetchone() or (None,)
        return text if isinstance(text, str) else None


def _use_rollback_journal(connection: sqlite3.Connection) -> None:
    """Also for a ledger that an earlier version made with a write-ahead log; the file remembers.

    SQLite first brings all of the log into the file, and needs to be alone for that: two runs at
    once may have to wait for each other.
    """
    patience = time.monotonic() + _WAIT_SECONDS
    while True:
        try:
            (mode,) = connection.execute("PRAGMA journal_mode = DELETE").fetchone()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > patience:
                raise
            time.sleep(0.02)
        else:
            if mode != "delete":
                raise sqlite3.OperationalError
            return
