"""Where the ledger is: a file or a PostgreSQL address, given, from the environment, or at home."""

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from pathveil.errors import LedgerError

if TYPE_CHECKING:
    from pathveil.ledger.store import Store

VARIABLE = "PATHVEIL_LEDGER"
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_POSTGRESQL = re.compile(r"postgres(ql)?(\+psycopg)?://")


def default_file() -> Path:
    """``$XDG_DATA_HOME/pathveil/ledger.db``, by default ``~/.local/share/pathveil/ledger.db``."""
    home = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(home) / "pathveil" / "ledger.db"


def locate(where: str | os.PathLike[str] | None) -> "Store":
    """The store at a path or address; None: what PATHVEIL_LEDGER says, or the file at home.

    Raises:
        LedgerError: if it is an address of something else than PostgreSQL.
    """
    place = os.fspath(where) if where else os.environ.get(VARIABLE) or os.fspath(default_file())
    if not _ADDRESS.match(place):
        from pathveil.ledger.sqlite_store import SqliteStore

        return SqliteStore(Path(place))
    if not _POSTGRESQL.match(place):
        raise LedgerError(
            "A ledger is a file or a PostgreSQL database: give a path, or an address such as "
            "postgresql://user@host/database."
        )
    from pathveil.ledger.postgresql_store import PostgresqlStore

    return PostgresqlStore(place)
