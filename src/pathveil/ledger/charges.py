"""An account that a run charges, and the charge that it has to show for itself."""

from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import TYPE_CHECKING

from pathveil.core.budget import Budget
from pathveil.errors import LedgerError
from pathveil.ledger.books import Books
from pathveil.ledger.entries import Begun, Charged, Entry, Event, Published
from pathveil.promise.certificate import LedgerRecord

if TYPE_CHECKING:
    from pathveil.ledger.ledger import Ledger
    from pathveil.ledger.store import Transaction

NO_DELTA = Fraction(0)


class UnconfirmedError(LedgerError):
    """An entry stands in the ledger, but the disk or the server did not say that it will last.

    Attributes:
        entry: the entry.
    """

    def __init__(self, message: str, entry: Entry) -> None:
        super().__init__(message)
        self.entry = entry


@dataclass(frozen=True, slots=True)
class Account:
    """A dataset of a ledger, or one population of it, ready to be charged."""

    ledger: "Ledger"
    name: str
    population: str | None = None

    def check(self) -> None:
        """Refuse a dataset or population that the ledger does not have; charges nothing."""
        dataset = self.ledger.standing().books.dataset(self.name)
        dataset.check_declared(self.population)

    def check_affords(self, budget: Budget, delta: Fraction = NO_DELTA) -> None:
        """Refuse what `charge` would refuse as things stand; charges and holds nothing.

        Raises:
            LedgerError: if it is over the limit.
        """
        dataset = self.ledger.standing().books.dataset(self.name)
        dataset.check_affords(budget.epsilon, delta, self.ledger.now(), self.population)

    def charge(self, budget: Budget, delta: Fraction = NO_DELTA) -> "Charge":
        """Spend ε and δ now; they stay spent, whatever becomes of the run.

        Raises:
            LedgerError: if it is over the limit (nothing was charged), or the ledger can't be
                written; the message says if it is charged all the same.
        """

        def decide(books: Books, now: datetime, _turn: "Transaction") -> Event:
            books.dataset(self.name).check_affords(budget.epsilon, delta, now, self.population)
            return self.charged(budget, delta)

        try:
            return Charge(self, budget, delta, self.ledger._append(decide))  # noqa: SLF001
        except UnconfirmedError as error:
            stays = Charge(self, budget, delta, error.entry)
            raise LedgerError(f"{error} {stays} Nothing was read or drawn.") from None

    def charged(self, budget: Budget, delta: Fraction) -> Charged:
        """The event that charges this."""
        return Charged(
            dataset=self.name, population=self.population, epsilon=str(budget), delta=str(delta)
        )


@dataclass(frozen=True, slots=True)
class Charge:
    """A charge that was made: what a run has to show for itself, and may use once.

    That it was used stands in the ledger, not in this object: a copy of it, in another thread or
    process, pays for nothing more.

    Attributes:
        account: what was charged.
        budget: how much ε.
        delta: how much δ.
        entry: the entry that records it.
    """

    account: Account
    budget: Budget
    delta: Fraction
    entry: Entry

    @property
    def record(self) -> LedgerRecord:
        """What the certificate says about it: no path, no address."""
        return LedgerRecord(
            dataset=self.account.name,
            population=self.account.population,
            entry=self.entry.number,
            entry_sha256=self.entry.hash,
        )

    def __str__(self) -> str:
        who = f", population {self.account.population!r}" if self.account.population else ""
        delta = f" (δ = {self.delta})" if self.delta else ""
        number = self.entry.number
        return (
            f"ε = {self.budget}{delta} stays charged to {self.account.name!r}{who}, entry {number}."
        )

    def begin(self) -> Entry:
        """Use the charge up, before the first noise is drawn: a second time is refused.

        One exclusive transaction looks and writes, so of two that begin at once one is refused.

        Raises:
            LedgerError: if a release was begun on it already, or the ledger does not hold this
                very charge. Nothing may be drawn then.
        """
        number = self.entry.number

        def decide(books: Books, _now: datetime, turn: "Transaction") -> Event:
            self._check_held(turn)
            books.check_unused(number)
            return Begun(charge=number)

        return self.account.ledger._append(decide)  # noqa: SLF001

    def _check_held(self, turn: "Transaction") -> None:
        """Refuse what only looks like a charge: made by hand, or of another ledger."""
        said = self.account.charged(self.budget, self.delta)
        if turn.row(self.entry.number) != self.entry.row() or self.entry.event != said:
            raise LedgerError(
                f"The ledger's entry {self.entry.number} is not this charge: it is another ledger, "
                "or the charge was made by hand. Nothing was drawn."
            )

    def published(self, certificate_sha256: str) -> Entry:
        """Record that a bundle with this certificate was written for the charge.

        Raises:
            LedgerError: if the ledger can't be written; the release is paid for all the same.
        """
        number = self.entry.number

        def decide(_books: Books, _now: datetime, turn: "Transaction") -> Event:
            if turn.row(number) != self.entry.row():
                raise LedgerError(f"The ledger's entry {number} is not this charge any more.")
            return Published(charge=number, certificate_sha256=certificate_sha256)

        try:
            return self.account.ledger._append(decide)  # noqa: SLF001
        except LedgerError as error:
            raise LedgerError(
                "The release is written, whole and paid for, but the ledger could not record that "
                f"it was published. {error}"
            ) from None
