"""The ledger: set up datasets, charge them, and look up what they spent."""

import os
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from typing import TYPE_CHECKING

from pathveil.errors import LedgerError
from pathveil.ledger.books import Books
from pathveil.ledger.chain import Chain
from pathveil.ledger.entries import (
    DISJOINT,
    Begun,
    Charged,
    Defined,
    Entry,
    Event,
    Opened,
    Published,
)
from pathveil.ledger.locating import locate
from pathveil.ledger.naming import check_name, check_period, check_reason
from pathveil.ledger.standing import Standing
from pathveil.model.budget import Budget
from pathveil.model.certificate import LedgerRecord
from pathveil.model.label_discovery import parse_delta

if TYPE_CHECKING:
    from pathveil.ledger.store import Store, Transaction

Decide = Callable[[Books, datetime, "Transaction"], Event]
"""What to write, from what is spent, the time, and the turn (to look at single entries)."""

NO_DELTA = Fraction(0)


def _utc_now() -> datetime:
    return datetime.now(UTC)


class Ledger:
    """A record of every ε that was spent: append-only, chained by hash, shared by processes.

    Args:
        store: where the entries are kept; see `open`.
        clock: tells the time; tests replace it.
    """

    def __init__(self, store: "Store", clock: Callable[[], datetime] = _utc_now) -> None:
        self._store = store
        self._clock = clock

    def __repr__(self) -> str:
        return "Ledger()"  # its address may hold a password

    @classmethod
    def open(cls, where: str | os.PathLike[str] | None = None) -> "Ledger":
        """The ledger in a file, or at a ``postgresql://`` address.

        Args:
            where: None takes what the variable PATHVEIL_LEDGER says, or else the file
                ``~/.local/share/pathveil/ledger.db``. It need not exist: `init` makes it.

        Raises:
            LedgerError: if it can't be the place of a ledger.
        """
        return cls(locate(where))

    def init(
        self,
        name: str,
        limit: "str | int | Budget",
        *,
        per: str | None = None,
        populations: Iterable[str] = (),
        delta_limit: object = None,
    ) -> Entry:
        """Set up a dataset (and the ledger itself, if it is not there yet).

        Args:
            name: what the dataset is called; it is printed on the certificates of its releases.
            limit: the most ε that may be spent on it, exact.
            per: "year", "quarter", "month", "week" or "day": the limit begins anew with each such
                calendar period (UTC). None: the limit holds for ever.
            populations: names of populations such that **no unit is in two of them**. Releases
                of different populations do not add up.
            delta_limit: the most δ that may be spent beside it, as text; None: none, so that
                only releases under pure differential privacy are accepted.

        Raises:
            LedgerError: if the ledger has such a dataset already, or can't be written.
            ParameterError: if a name, the limit or the period can't be used.
        """
        declared = _declared(populations)
        event = Defined(
            dataset=check_name("dataset", name),
            limit=str(Budget.parse(limit)),
            delta_limit="0" if delta_limit is None else str(parse_delta(delta_limit)),
            period=check_period(per),
            populations=declared,
            declaration=DISJOINT if declared else None,
            reason="",
        )

        def decide(books: Books, _now: datetime, _turn: "Transaction") -> Event:
            if name in books.datasets:
                raise LedgerError(
                    f"The ledger has a dataset {name!r} already. Change its limit with `pathveil "
                    f"ledger amend {name}`."
                )
            return event

        return self._append(decide, create=True, whole=True)

    def amend(
        self,
        name: str,
        *,
        limit: "str | int | Budget | None" = None,
        populations: Iterable[str] = (),
        delta_limit: object = None,
        reason: str = "",
    ) -> Entry:
        """Change a dataset's limit, or declare more populations; the change is an entry too.

        Args:
            name: the dataset.
            limit: the new limit; None leaves it. It may be below what is spent already.
            populations: further populations, disjoint from the others and from each other.
            delta_limit: the new limit of δ; None leaves it.
            reason: why, in up to 500 characters; kept in the ledger.

        Raises:
            LedgerError: if there is no such dataset, or the ledger can't be written.
        """
        new_limit = None if limit is None else str(Budget.parse(limit))
        new_delta = None if delta_limit is None else str(parse_delta(delta_limit))
        more = _declared(populations)
        reason = check_reason(reason)

        def decide(books: Books, _now: datetime, _turn: "Transaction") -> Event:
            rules = books.dataset(name).rules
            declared = (*rules.populations, *(p for p in more if p not in rules.populations))
            changes = {
                "limit": new_limit or rules.limit,
                "delta_limit": new_delta or rules.delta_limit,
                "populations": declared,
                "declaration": DISJOINT if declared else None,
                "reason": reason,
            }
            return rules.model_copy(update=changes)

        return self._append(decide, whole=True)

    def dataset(self, name: str, population: str | None = None) -> "Account":
        """What a run charges: a dataset, or one declared population of it.

        Raises:
            LedgerError: if there is no such dataset or population.
        """
        account = Account(self, name, population)
        account.check()
        return account

    def chain(self) -> Chain:
        """All entries, checked.

        Raises:
            LedgerError: if there is no ledger, or it was tampered with.
        """
        chain = Chain.of(self._store.read())
        if not chain.entries:
            raise self._absent()
        return chain

    def books(self) -> Books:
        """What the entries say together, checked and replayed."""
        return Books.of(self.chain())

    def standing(self) -> Standing:
        """What is spent now, without the history: as quick in a long ledger as in a short one.

        Raises:
            LedgerError: if there is no ledger, or its ends or totals were tampered with.
        """
        standing = Standing.of(self._store.glance(), self._store.read)
        if standing.last is None:
            raise self._absent()
        return standing

    def now(self) -> datetime:
        """The ledger's time: the clock's, but never before its last entry."""
        return self.standing().now(self._clock())

    def restore(self, entries: Chain) -> None:
        """Fill an empty ledger with the entries of another: to move it, or after a loss.

        Raises:
            LedgerError: if this ledger holds entries already.
        """
        totals = Books.of(entries).text()
        with self._store.exclusive(create=True) as turn:
            if turn.rows():
                raise LedgerError("Entries are imported into an empty ledger only; this one isn't.")
            for entry in entries.entries:
                turn.append(entry.row(), None if entry.totals is None else totals)
        if Chain.of(self._store.read()) != entries:
            raise _not_kept("what was imported")

    def _append(self, decide: "Decide", *, create: bool = False, whole: bool = False) -> Entry:
        """Look, decide and write in one exclusive transaction; then read it back.

        Args:
            decide: what to write, once it is known where the ledger stands.
            create: make the ledger if there is none.
            whole: check every entry before, which takes as long as the ledger is.
        """
        with self._store.exclusive(create=create) as turn:
            standing = (
                Standing.replayed(turn.rows()) if whole else Standing.of(turn.glance(), turn.rows)
            )
            if standing.last is None:
                if not create:
                    raise self._absent()
                opened = Opened(identity=secrets.token_hex(32))
                standing = self._write(turn, standing, opened)
            now = standing.now(self._clock().replace(microsecond=0))
            entry = self._write(turn, standing, decide(standing.books, now, turn)).last
        if entry is None or self._store.row(entry.number) != entry.row():
            raise _not_kept("the entry")
        return entry

    def _write(self, turn: "Transaction", standing: Standing, event: Event) -> Standing:
        after, totals = standing.followed_by(event, self._clock().replace(microsecond=0))
        if after.last is not None:
            row = after.last.row()
            turn.append(row, totals)
            if turn.row(row.number) != row:
                raise _not_kept("the entry")
        return after

    def _absent(self) -> LedgerError:
        return LedgerError(
            f"There is no ledger in {self._store.label.removeprefix('the ledger ')}. Make one with "
            "`pathveil ledger init NAME --limit EPSILON`, or say where it is with --ledger or "
            "PATHVEIL_LEDGER."
        )


@dataclass(frozen=True, slots=True)
class Account:
    """A dataset of a ledger, or one population of it, ready to be charged."""

    ledger: Ledger
    name: str
    population: str | None = None

    def check(self) -> None:
        """Refuse a dataset or population that the ledger does not have; charges nothing."""
        dataset = self.ledger.standing().books.dataset(self.name)
        dataset.check_declared(self.population)

    def charge(self, budget: Budget, delta: Fraction = NO_DELTA) -> "Charge":
        """Spend ε and δ now; they stay spent, whatever becomes of the run.

        Raises:
            LedgerError: if it is over the limit (nothing was charged), or the ledger can't be
                written.
        """

        def decide(books: Books, now: datetime, _turn: "Transaction") -> Event:
            books.dataset(self.name).check_affords(budget.epsilon, delta, now, self.population)
            return self.charged(budget, delta)

        return Charge(self, budget, delta, self.ledger._append(decide))  # noqa: SLF001

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


def _not_kept(what: str) -> LedgerError:
    return LedgerError(
        f"The ledger did not keep {what}: what was written is not what is read back. Do not trust "
        "this disk or database; `pathveil ledger verify` looks closer. Nothing was read or drawn."
    )


def _declared(populations: Iterable[str]) -> tuple[str, ...]:
    names = [populations] if isinstance(populations, str) else populations
    return tuple(dict.fromkeys(check_name("population", name) for name in names))
