"""An account that a run charges, and the charge that it has to show for itself."""

from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from pathveil.core.budget import Budget, parse_rho
from pathveil.errors import LedgerError, ParameterError
from pathveil.ledger.books import Books
from pathveil.ledger.entries import Begun, Charged, Entry, Event, Planned, Published, Share
from pathveil.promise.certificate import LedgerRecord, SeriesRecord
from pathveil.times.protected_units import PERSON, Protect

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

    def budget(self, **asked: Any) -> dict[str, Any]:
        """The budget that a run has, by the names of `pathveil.publish`: what it asks for."""
        return asked

    def check(self) -> None:
        """Refuse a dataset or population that the ledger does not have; charges nothing."""
        dataset = self.ledger.standing().books.dataset(self.name)
        dataset.check_declared(self.population)

    def check_affords(
        self,
        budget: Budget,
        delta: Fraction = NO_DELTA,
        rho: Fraction | None = None,
        protect: Protect = PERSON,
    ) -> None:
        """Refuse what `charge` would refuse as things stand; charges and holds nothing.

        Raises:
            LedgerError: if it is over the limit, or for another unit than those before it.
        """
        books = self.ledger.standing().books
        event = self._protecting(self.event(books, budget, delta, rho), protect)
        books.check_charge(event, self.ledger.now())

    def charge(
        self,
        budget: Budget,
        delta: Fraction = NO_DELTA,
        rho: Fraction | None = None,
        protect: Protect = PERSON,
    ) -> "Charge":
        """Spend ε and δ now; they stay spent, whatever becomes of the run.

        Args:
            budget: ε.
            delta: δ.
            rho: ρ, if all of it is in ρ; for a series.
            protect: whose ε it is.

        Raises:
            LedgerError: if it is over the limit or for another unit (nothing was charged), or the
                ledger can't be written; the message says if it is charged all the same.
        """

        def decide(books: Books, now: datetime, _turn: "Transaction") -> Event:
            event = self._protecting(self.event(books, budget, delta, rho), protect)
            books.check_charge(event, now)
            return event

        try:
            entry = self.ledger._append(decide)  # noqa: SLF001
            return Charge(self, budget, delta, entry, rho, protect)
        except UnconfirmedError as error:
            stays = Charge(self, budget, delta, error.entry, rho, protect)
            raise LedgerError(f"{error} {stays} Nothing was read or drawn.") from None

    @staticmethod
    def _protecting(event: Charged, protect: Protect) -> Charged:
        return event.model_copy(update={"protect": protect})

    def event(
        self, _books: Books, budget: Budget, delta: Fraction, _rho: Fraction | None
    ) -> Charged:
        """The event that charges this."""
        return Charged(
            dataset=self.name, population=self.population, epsilon=str(budget), delta=str(delta)
        )

    def resume(self, entry: int) -> "Resumption":
        """The same account, for a run on a charge that was made before and never used.

        Args:
            entry: the number of the charge's entry.
        """
        return Resumption(self.ledger, self.name, self.population, entry)


@dataclass(frozen=True, slots=True)
class Resumption(Account):
    """An account that charges nothing anew: its run is on a charge of a run that died.

    Why that costs nothing. A charge is used up by `Charge.begin`, an entry of the ledger that is on
    disk before the first word of noise is drawn. A charge without that entry has paid for nothing:
    nothing that depends on anybody's data left its run. So one release on it is what was charged,
    whatever else its run did before, and whatever else the new one asks for; only dataset,
    population, ε and δ have to be the same. The new run begins on it as any other does, so of two,
    or of one and the first run, if that is not dead after all, one is refused.

    A limit that begins anew with each period is meant for what is published in it: a charge of a
    period that is over can't be resumed. Neither can the share of a series (it is another event).
    """

    number: int = 0

    def check_affords(
        self,
        budget: Budget,
        delta: Fraction = NO_DELTA,
        rho: Fraction | None = None,
        protect: Protect = PERSON,
    ) -> None:
        """Refuse what `charge` would refuse.

        Raises:
            LedgerError: if it can't be resumed.
        """
        self._unused(self._asked(budget, delta, rho, protect))

    def charge(
        self,
        budget: Budget,
        delta: Fraction = NO_DELTA,
        rho: Fraction | None = None,
        protect: Protect = PERSON,
    ) -> "Charge":
        """The charge that was made before; nothing is spent.

        Raises:
            LedgerError: if it can't be resumed, or the ledger was tampered with.
        """
        entry = self._unused(self._asked(budget, delta, rho, protect))
        return Charge(self, budget, delta, entry, rho, protect)

    def _asked(
        self, budget: Budget, delta: Fraction, rho: Fraction | None, protect: Protect
    ) -> Charged:
        return self._protecting(self.event(Books(), budget, delta, rho), protect)

    def _unused(self, asked: Charged) -> Entry:
        """The entry; all of the ledger is checked, as whenever something old decides."""
        chain = self.ledger.chain()
        books, number = Books.of(chain), self.number
        if number not in books.charges:
            raise LedgerError(
                f"Entry {number} of the ledger is no charge: `pathveil ledger history {self.name}` "
                "lists them. Nothing was charged or read."
            )
        books.check_unused(number)
        entry = chain.entries[number]
        if entry.event != asked:
            raise LedgerError(
                f"Entry {number} of the ledger is another charge than that of this run: only the "
                "same dataset, population, unit, ε and δ can be resumed. Nothing was charged or "
                "read."
            )
        span = books.dataset(self.name).span(self.ledger.now())
        if span is not None and entry.time not in span:
            raise LedgerError(
                f"Entry {number} was charged in a period that is over, and what is published now "
                "counts in this one: charge it anew. Nothing was charged or read."
            )
        return entry


@dataclass(frozen=True, slots=True)
class SeriesAccount(Account):
    """The next release of a series, ready to be charged: `Ledger.series` makes one.

    Attributes:
        series: the series' name.
        period: when the data is from.
        previous: the SHA-256 of the certificate of the release that it starts from.
    """

    series: str = ""
    period: str = ""
    previous: str | None = None

    def budget(self, **asked: Any) -> dict[str, Any]:
        """The share of the release: an equal part of what is left, unless it asks for another.

        Args:
            **asked: what the run says of its own: in ρ or in ε, as the series is.

        Raises:
            ParameterError: if that is not how the series counts.
            LedgerError: if the series is spent.
        """
        series = self.ledger.standing().books.one_series(self.series)
        given = {name: value for name, value in asked.items() if value is not None}
        kind = "epsilon" if series.plan.rho is None else "rho"
        if set(given) - {kind}:
            raise ParameterError(
                f"Series {self.series!r} gives each release its budget, in {kind}: leave epsilon, "
                f"rho and delta out, or give another {kind} for this release alone."
            )
        parse = parse_rho if kind == "rho" else (lambda text: Budget.parse(text).epsilon)
        amount = parse(given[kind]) if given else None
        return {**dict.fromkeys(asked), **series.choices(amount)}

    def event(self, books: Books, budget: Budget, delta: Fraction, rho: Fraction | None) -> Charged:
        """The event that takes the share."""
        return books.one_series(self.series).event(
            budget, delta, rho, period=self.period, previous=self.previous
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
        rho: how much ρ, if it was charged to a series in ρ.
        protect: whose ε it is.
    """

    account: Account
    budget: Budget
    delta: Fraction
    entry: Entry
    rho: Fraction | None = None
    protect: Protect = PERSON

    @property
    def share(self) -> Share | None:
        """Which release of a series it pays for."""
        event = self.entry.event
        return event.share if isinstance(event, Charged) else None

    @property
    def record(self) -> LedgerRecord:
        """What the certificate says about it: no path, no address."""
        return LedgerRecord(
            dataset=self.account.name,
            population=self.account.population,
            entry=self.entry.number,
            entry_sha256=self.entry.hash,
            series=None if self.share is None else self._series_record(self.share),
        )

    def _series_record(self, share: Share) -> SeriesRecord:
        plan = self.account.ledger.standing().books.one_series(share.series).plan
        return series_record(share, plan)

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
        if turn.row(self.entry.number) != self.entry.row() or not self._is_said():
            raise LedgerError(
                f"The ledger's entry {self.entry.number} is not this charge: it is another ledger, "
                "or the charge was made by hand. Nothing was drawn."
            )

    def _is_said(self) -> bool:
        """Whether the entry charges what this says."""
        event, account = self.entry.event, self.account
        if not isinstance(event, Charged) or event.protect != self.protect:
            return False
        share, of = event.share, getattr(account, "series", None)
        series, rho = (None, None) if share is None else (share.series, share.rho)
        said = (account.name, account.population, str(self.budget), str(self.delta), of)
        is_same = said == (event.dataset, event.population, event.epsilon, event.delta, series)
        return is_same and (share is None or rho == (None if self.rho is None else str(self.rho)))

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


def series_record(share: Share, plan: Planned) -> SeriesRecord:
    """What a certificate says of the series that its release belongs to."""
    return SeriesRecord(
        series=share.series,
        release=share.release,
        period=share.period,
        epsilon=plan.epsilon,
        delta=plan.delta,
        rho=plan.rho,
        previous=share.previous,
    )
