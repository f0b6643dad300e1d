"""The chain of entries: every one follows from the one before, or the ledger is not trusted."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from pathveil.errors import LedgerError
from pathveil.ledger.entries import NO_HASH, Entry, Event, Opened, Row, read_row, written_at


@dataclass(frozen=True, slots=True)
class Chain:
    """Entries whose hashes were checked, 0 first.

    Attributes:
        entries: the entries.
        hashes: their hashes, so that nobody computes them twice.
    """

    entries: tuple[Entry, ...]
    hashes: tuple[str, ...]

    @classmethod
    def of(cls, rows: Iterable[Row]) -> "Chain":
        """Check stored rows, in the order of their numbers.

        Raises:
            LedgerError: at the first entry that was changed, removed, inserted or moved.
        """
        entries: list[Entry] = []
        hashes: list[str] = []
        for number, row in enumerate(rows):
            if row.number != number:
                raise LedgerError(
                    f"Entry {number} of the ledger is missing: an entry was removed. Restore the "
                    "ledger from a backup."
                )
            entry = read_row(row)
            _check_follows(entry, entries, hashes)
            entries.append(entry)
            hashes.append(row.hash)
        return cls(tuple(entries), tuple(hashes))

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def head(self) -> str:
        """The hash of the last entry: it speaks for all of them."""
        return self.hashes[-1] if self.hashes else NO_HASH

    def now(self, clock: datetime) -> datetime:
        """The ledger's time: the clock's, but never before the last entry.

        So that a clock that is set back can't reopen a period that is spent.
        """
        return max(clock, self.entries[-1].time) if self.entries else clock

    def following(self, event: Event, clock: datetime) -> Entry:
        """The entry that records this event next."""
        return Entry(
            number=len(self), at=written_at(self.now(clock)), previous=self.head, event=event
        )

    def check_holds(self, known: str) -> int:
        """The number of the entry with a hash that somebody kept elsewhere.

        Raises:
            LedgerError: if there is none: the ledger was cut, rolled back or rewritten.
        """
        if known not in self.hashes:
            raise LedgerError(
                "The ledger does not hold the entry with the hash you kept: entries were removed "
                "at its end, it was rewritten, or it is another ledger."
            )
        return self.hashes.index(known)


def _check_follows(entry: Entry, before: list[Entry], hashes: list[str]) -> None:
    if entry.previous != (hashes[-1] if hashes else NO_HASH):
        raise LedgerError(
            f"Entry {entry.number} of the ledger does not follow from the one before: an entry was "
            "changed, removed or moved. Restore the ledger from a backup."
        )
    if isinstance(entry.event, Opened) == bool(before):
        raise LedgerError("The ledger does not begin, once, with the entry that opened it.")
    if before and entry.at < before[-1].at:
        raise LedgerError(f"Entry {entry.number} of the ledger is older than the one before.")
