"""A small ledger for the targets to change, with the same bytes every time."""

import json
import sqlite3
import tempfile
from contextlib import closing
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from pathveil.ledger import ledger as ledgers
from pathveil.ledger.chain import Chain
from pathveil.ledger.entries import Charged, Defined, Event, Opened, Published
from pathveil.ledger.export import exported

_AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
_EVENTS: tuple[Event, ...] = (
    Opened(identity="ab" * 32),
    Defined(
        dataset="taps",
        limit="4",
        delta_limit="0",
        period="year",
        populations=("north", "south"),
        declaration=ledgers.DISJOINT,
        reason="board",
    ),
    Charged(dataset="taps", population=None, epsilon="1/3", delta="0"),
    Published(charge=2, certificate_sha256="cd" * 32),
    Charged(dataset="taps", population="north", epsilon="1", delta="0"),
)


@cache
def chain() -> Chain:
    """Five entries."""
    made = Chain.of([])
    for event in _EVENTS:
        made = Chain.of([entry.row() for entry in (*made.entries, made.following(event, _AT))])
    return made


@cache
def export() -> bytes:
    """The entries as `pathveil ledger export` writes them."""
    return json.dumps(exported(chain())).encode()


@cache
def database() -> bytes:
    """The entries as an SQLite file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.db"
        ledgers.Ledger.open(path).restore(chain())
        with closing(sqlite3.connect(path)) as connection:
            # Small pages, so that every byte of the file means something.
            connection.executescript("PRAGMA page_size=512; VACUUM")
        return path.read_bytes()
