"""Where a ledger stands: its last entry, and the sums that this entry vouches for.

A charge needs no more than that, however long the ledger is: the first and the last entry are what
was written, the totals are those whose hash the last entry holds, and the new entry follows from
it. `Chain` and `Books.of` check all the rest, in `pathveil ledger verify`.

What does a charge not see, then? That an entry between the first and the last was changed or
removed. It frees no budget: the sums are in the last entry. To free some, the last entry itself
must be replaced, and who can do that could always replace the whole ledger: only a hash that is
kept elsewhere finds it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from pathveil.errors import LedgerError
from pathveil.ledger.books import Books, totals_hash
from pathveil.ledger.chain import Chain
from pathveil.ledger.entries import (
    NO_HASH,
    Entry,
    Event,
    Opened,
    Row,
    check_clock,
    read_row,
    written_at,
)
from pathveil.ledger.store import Glance


@dataclass(frozen=True, slots=True)
class Standing:
    """The last entry (None: the ledger is empty) and what is spent after it."""

    last: Entry | None
    books: Books

    @classmethod
    def of(cls, glance: Glance, rows: Callable[[], list[Row]]) -> "Standing":
        """Trust the totals if the last entry vouches for them, or else replay all entries.

        Args:
            glance: the two ends of the ledger, and its totals.
            rows: reads all entries: of an earlier version's ledger, or if the totals are missing
                or are not those that the last entry says.

        Raises:
            LedgerError: if what it looked at was tampered with.
        """
        if glance.first is None or glance.last is None:
            return cls(None, Books())
        first, last = read_row(glance.first), read_row(glance.last)
        if first.number != 0 or not isinstance(first.event, Opened):
            raise LedgerError("Entry 0 of the ledger is missing: an entry was removed.")
        if glance.totals is not None and totals_hash(glance.totals) == last.totals:
            return cls(last, Books.read(glance.totals))
        return cls.replayed(rows())

    @classmethod
    def replayed(cls, rows: list[Row]) -> "Standing":
        """Check every entry.

        Raises:
            LedgerError: if one was tampered with.
        """
        chain = Chain.of(rows)
        return cls(chain.entries[-1] if chain.entries else None, Books.of(chain))

    def now(self, clock: datetime) -> datetime:
        """The ledger's time: the clock's, but never before the last entry.

        So that a clock that is set back can't reopen a period that is spent.

        Raises:
            LedgerError: if the clock can't be right.
        """
        check_clock(clock)
        return clock if self.last is None else max(clock, self.last.time)

    def followed_by(self, event: Event, clock: datetime) -> tuple["Standing", str]:
        """Where it stands after this event, and the totals to keep. Uses up these books.

        Raises:
            LedgerError: if the event breaks the rules.
        """
        last, books = self.last, self.books
        entry = Entry(
            number=0 if last is None else last.number + 1,
            at=written_at(self.now(clock)),
            previous=NO_HASH if last is None else last.hash,
            event=event,
        )
        books.enter(entry)
        text = books.text()
        entry = entry.model_copy(update={"totals": totals_hash(text)})
        return Standing(entry, books), text
