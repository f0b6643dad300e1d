"""A journal that a killed run left beside a ledger: whether it may still undo what it holds.

SQLite keeps the pages that a transaction will change in a journal beside the file, and whoever
opens the file next puts them back if the transaction did not end. Beside the file means: by the
same path. Somebody who reaches the file by another mount or link does not see the journal, and
goes on to charge; when the first path is used again, its journal would undo those charges, and
nothing in the ledger could tell.

So the file's header names the path that writes (SQLite's application id) before it does, and the
latest transaction (its user version); a journal holds the header as it was. If the file now names
another path and another transaction than the journal does, others have written since.
"""

import hashlib
import secrets
import sqlite3
import struct
from contextlib import closing
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from pathveil.errors import LedgerError

_MAGIC = bytes.fromhex("d9d505f920a163d7")
_HEADER = struct.Struct(">8s5I")  # magic, records, a nonce, pages of the file, sector and page size
_LARGEST_PAGE = 65536
_TRANSACTION, _PATH = slice(60, 64), slice(68, 72)  # in the file's first page


class _Written(NamedTuple):
    """By whom and when a file was written, and its pages; the first two if it is known."""

    path: int | None
    transaction: int | None
    pages: int


def begin_by_path(connection: sqlite3.Connection, path: Path) -> None:
    """Begin a transaction in a file that names this path as the one that writes.

    A path that was not the last to write is written down in a transaction of its own: only then
    will the journal of the next one hold it.
    """
    here = _number_of(path)
    while True:
        connection.execute("BEGIN IMMEDIATE")
        named = connection.execute("PRAGMA application_id").fetchone()[0] & 0xFFFFFFFF
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA application_id = {_signed(here)}")
        if named == here or pages == 0:
            connection.execute(f"PRAGMA user_version = {_signed(secrets.randbits(32))}")
            return
        connection.execute("COMMIT")


def check_left_journal(path: Path, label: str) -> None:
    """Refuse a ledger whose journal would undo what others wrote; before SQLite opens it.

    Raises:
        LedgerError: if it would, or SQLite would wait for a pipe of the journal's name.
    """
    journal = path.with_name(f"{path.name}-journal")
    if journal.exists() and not journal.is_file():
        raise LedgerError(f"Can't use {label}: {journal.name} beside it is not a plain file.")
    left = _beginning(journal)
    before = _before(left)
    if before is None:
        return
    try:
        now = _now(path)
    except sqlite3.Error:  # it can't be read, or is none; SQLite will say so
        return
    is_undoing = (
        before.pages != now.pages
        if before.path is None
        else before.path != now.path and before.transaction != now.transaction
    )
    # If another one is there by now, it was that of a run that is under way.
    if is_undoing and _beginning(journal) == left:
        raise LedgerError(
            f"Can't use {label}: a run that was killed left {journal.name} beside it, and the "
            "ledger was written since by another path to the file (a mount or a link). The journal "
            "would undo that. Check the ledger by the other path with `ledger verify`, then remove "
            "the journal. No entry was added."
        )


def _number_of(path: Path) -> int:
    """Of a path: other mounts and links of the file lie in another folder, or have another name."""
    folder = path.parent.stat()
    named = f"{folder.st_dev}/{folder.st_ino}/{path.name}"
    return int.from_bytes(
        hashlib.sha256(named.encode(errors="surrogateescape")).digest()[:4], "big"
    )


def _beginning(journal: Path) -> bytes:
    """Its header and the first page in it, which is the file's first; empty if there is none."""
    try:
        with journal.open("rb") as file:
            return file.read(2 * _LARGEST_PAGE + 8)
    except OSError:
        return b""


def _before(journal: bytes) -> _Written | None:
    """What the file was when the journal was begun; None if SQLite would not look at it."""
    if len(journal) < _HEADER.size:
        return None
    magic, _, _, pages, sector, size = _HEADER.unpack_from(journal)
    if magic != _MAGIC:
        return None
    record = journal[sector : sector + 4 + size]
    if len(record) < 4 + 100 or int.from_bytes(record[:4], "big") != 1:
        return _Written(None, None, pages)
    by, latest = (int.from_bytes(record[4:][part], "big") for part in (_PATH, _TRANSACTION))
    return _Written(by, latest, pages)


def _now(path: Path) -> _Written:
    """What the file is, without a look at the journal, and without a lock.

    By SQLite: to close a file that was opened in another way would end all locks of this process.
    """
    address = f"file:{quote(str(path))}?immutable=1&mode=ro"
    with closing(sqlite3.connect(address, uri=True)) as connection:
        by, latest, pages = (
            connection.execute(f"PRAGMA {name}").fetchone()[0] & 0xFFFFFFFF
            for name in ("application_id", "user_version", "page_count")
        )
    return _Written(by, latest, pages)


def _signed(number: int) -> int:
    return number - (1 << 32) if number >> 31 else number
