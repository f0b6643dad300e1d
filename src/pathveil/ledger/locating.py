"""What people say of a ledger: names, periods and reasons in it, and where it is."""

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from pathveil.errors import LedgerError, ParameterError, did_you_mean
from pathveil.ledger.entries import NAME
from pathveil.ledger.periods import PERIODS, Period

if TYPE_CHECKING:
    from pathveil.ledger.store import Store


_LONGEST_REASON = 500


# What people may write into a ledger: names, periods and reasons.


def check_name(what: str, name: object) -> str:
    """A dataset's or a population's name.

    Raises:
        ParameterError: if it is not made of letters, digits, dots, dashes and underscores.
    """
    if not isinstance(name, str) or not re.fullmatch(NAME, name):
        raise ParameterError(
            f"The name of a {what} must be 1 to 64 letters (a-z), digits, dots, dashes or "
            "underscores, and begin with a letter or digit."
        )
    return name


def check_period(period: object) -> Period | None:
    """A calendar period, or None for ever.

    Raises:
        ParameterError: if there is no such period.
    """
    if period is None:
        return None
    if period not in PERIODS:
        raise ParameterError(
            f"The period must be one of {', '.join(PERIODS)}.{did_you_mean(period, PERIODS)}"
        )
    return period  # type: ignore[return-value]  # checked above


def check_reason(reason: object) -> str:
    """A sentence for the ledger.

    Raises:
        ParameterError: if it is too long, or not printable.
    """
    if not isinstance(reason, str) or len(reason) > _LONGEST_REASON or not reason.isprintable():
        raise ParameterError(
            f"A reason is one line of at most {_LONGEST_REASON} printable characters."
        )
    return reason


# Where the ledger is: a file or a PostgreSQL address, given, from the environment, or at home.


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
