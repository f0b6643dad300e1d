"""Where entries are kept: one protocol, one file for each kind of store."""

from contextlib import AbstractContextManager
from typing import Protocol

from pathveil.ledger.entries import Row


class Transaction(Protocol):
    """An exclusive turn at the ledger: nobody else can append meanwhile."""

    def rows(self) -> list[Row]:
        """All rows, by number."""

    def append(self, row: Row) -> None:
        """Add a row; it is kept, durably, when the turn ends without an exception."""


class Store(Protocol):
    """A place that keeps rows and never changes them.

    Attributes:
        label: how messages call it; holds no credentials.
    """

    label: str

    def read(self) -> list[Row]:
        """All rows, by number, as of one moment; empty if there is no ledger there yet."""

    def exclusive(self, *, create: bool = False) -> AbstractContextManager[Transaction]:
        """Take a turn.

        Args:
            create: make the store if it is not there.

        Raises:
            LedgerError: if there is no ledger, or it can't be written.
        """
