"""The bytes of a ledger's SQLite file: the input is a patch of it."""

from datetime import UTC, datetime
from pathlib import Path

from fuzz.ledgers import database
from fuzz.patching import change, patched

from pathveil.core.budget import Budget
from pathveil.ledger.ledger import Ledger
from pathveil.ledger.sqlite_store import SqliteStore


def read(data: bytes, folder: Path) -> None:
    """Read all of it, charge it and set up another dataset."""
    path = folder / "ledger.db"
    path.write_bytes(patched(database(), data))
    ledger = Ledger(SqliteStore(path), lambda: datetime(2026, 3, 2, tzinfo=UTC))
    ledger.books()
    ledger.dataset("taps", "south").charge(Budget.parse("1/7"))
    ledger.init("other", "1")


def seeds() -> dict[str, bytes]:
    """The file as it is; changes to its header, its schema, its pages and an entry."""
    whole = database()
    return {
        "unchanged": b"",
        "magic": change(0, 1, b"s"),
        "page-size": change(16, 2, b"\x10\x00"),
        "log": change(18, 2, b"\x02\x02"),
        "encoding": change(59, 1, b"\x02"),
        "schema": change(whole.index(b"CREATE TABLE"), 12, b"CREATE VIEW "),
        "page": change(512, 1, b"\x05"),
        "not-utf-8": change(whole.index(b"board"), 1, b"\xff"),
        "cut": change(1024, 255, b""),
    }
