"""Where entries are kept: one protocol, one file for each kind of store."""

from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from pathveil.ledger.entries import Row

NOTHING_ADDED = "No entry was added."


class Glance(NamedTuple):
    """What a charge looks at, as of one moment: as much in a long ledger as in a short one.

    Attributes:
        first: the first row; None if there is none.
        last: the last row; None if there is none.
        totals: the sums kept beside the rows; None if there are none. Not to be trusted unless
            the last row vouches for them.
    """

    first: Row | None
    last: Row | None
    totals: str | None


class Transaction(Protocol):
    """An exclusive turn at the ledger: nobody else can append meanwhile."""

    def glance(self) -> Glance:
        """Its two ends, and the totals."""

    def rows(self) -> list[Row]:
        """All rows, by number."""

    def row(self, number: int) -> Row | None:
        """One row."""

    def append(self, row: Row, totals: str | None) -> None:
        """Add a row, and keep these totals in place of the others if the store can.

        Both are kept, durably, when the turn ends without an exception.
        """


class Store(Protocol):
    """A place that keeps rows and never changes them.

    Attributes:
        label: how messages call it; holds no credentials.
    """

    label: str

    def read(self) -> list[Row]:
        """All rows, by number, as of one moment; empty if there is no ledger there yet."""

    def glance(self) -> Glance:
        """Its two ends, and the totals, as of one moment."""

    def row(self, number: int) -> Row | None:
        """One row, read anew from where it is kept."""

    def exclusive(self, *, create: bool = False) -> AbstractContextManager[Transaction]:
        """Take a turn.

        Args:
            create: make the store if it is not there.

        Raises:
            LedgerError: if there is no ledger, or it can't be written.
        """
