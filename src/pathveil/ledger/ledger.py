"""The ledger: set up datasets, charge them, and look up what they spent."""

import os
import secrets
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pathveil.core.about import check_days
from pathveil.core.budget import Budget, parse_delta
from pathveil.errors import LedgerError, ParameterError
from pathveil.ledger.books import Books
from pathveil.ledger.chain import Chain
from pathveil.ledger.charges import Account, SeriesAccount, UnconfirmedError
from pathveil.ledger.entries import (
    DISJOINT,
    Corrected,
    Defined,
    Entry,
    Event,
    Opened,
    Required,
    Withdrawn,
)
from pathveil.ledger.locating import check_name, check_period, check_reason, locate
from pathveil.ledger.series import check_releases, planned
from pathveil.ledger.standing import Standing
from pathveil.ledger.store import NOTHING_ADDED
from pathveil.times.protected_units import Protect, check_protect

if TYPE_CHECKING:
    from pathveil.ledger.store import Store, Transaction

Decide = Callable[[Books, datetime, "Transaction"], Event]
"""What to write, from what is spent, the time, and the turn (to look at single entries)."""


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
        protect: Iterable[str] = (),
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
            protect: whom its releases protect: "person", "person-week", "person-day" or "trip".
                None is named: whom the first one does. Releases for other units are refused.

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
            protect=_units(protect),
        )

        def decide(books: Books, _now: datetime, _turn: "Transaction") -> Event:
            if name in books.datasets:
                raise LedgerError(
                    f"The ledger has a dataset {name!r} already. Change its limit with `pathveil "
                    f"ledger amend {name}`."
                )
            return event

        return self._append(decide, create=True, check_all=True)

    def amend(
        self,
        name: str,
        *,
        limit: "str | int | Budget | None" = None,
        populations: Iterable[str] = (),
        delta_limit: object = None,
        protect: Iterable[str] = (),
        reason: str = "",
    ) -> Entry:
        """Change a dataset's limit, or declare more populations; the change is an entry too.

        Args:
            name: the dataset.
            limit: the new limit; None leaves it. It may be below what is spent already.
            populations: further populations, disjoint from the others and from each other.
            delta_limit: the new limit of δ; None leaves it.
            protect: further units whose ε may be in the same sum, though it is about neither.
            reason: why, in up to 500 characters; kept in the ledger.

        Raises:
            LedgerError: if there is no such dataset, or the ledger can't be written.
        """
        new_limit = None if limit is None else str(Budget.parse(limit))
        new_delta = None if delta_limit is None else str(parse_delta(delta_limit))
        more, units = _declared(populations), _units(protect)
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
                "protect": tuple(dict.fromkeys((*rules.protect, *units))),
            }
            return rules.model_copy(update=changes)

        return self._append(decide, check_all=True)

    def open_series(
        self,
        name: str,
        *,
        dataset: str,
        releases: int,
        epsilon: object = None,
        rho: object = None,
        delta: object = None,
        population: str | None = None,
        reason: str = "",
    ) -> Entry:
        """Open a series of releases under one budget, which is charged to the dataset now.

        Args:
            name: what the series is called; it is printed on the certificates of its releases.
            dataset: who it is about.
            releases: how many there are to be; each takes an equal part.
            epsilon: ε of all of them together; with ``delta`` they share the ρ that keeps (ε, δ),
                and noise grows with the root of their number; without, with their number.
            rho: instead of ε, with ``delta``.
            delta: δ of all of them together.
            population: one declared population of the dataset.
            reason: why, in up to 500 characters; kept in the ledger.

        Raises:
            LedgerError: if there is such a series, the dataset can't afford it, or the ledger can't
                be written; nothing was charged then.
            ParameterError: if a name or the budget can't be used.
        """
        plan = planned(
            name,
            dataset,
            population,
            releases,
            epsilon=epsilon,
            rho=rho,
            delta=delta,
            reason=reason,
        )

        def decide(books: Books, _now: datetime, _turn: "Transaction") -> Event:
            if name in books.series:
                raise LedgerError(
                    f"The ledger has a series {name!r} already. Its budget is fixed; `pathveil "
                    f"ledger series {name} --releases N` changes how many releases share it."
                )
            return plan

        return self._append(decide, check_all=True)

    def change_series(self, name: str, *, releases: int, reason: str = "") -> Entry:
        """Let more or fewer releases share what is left of a series; the change is an entry too.

        Raises:
            LedgerError: if there is no such series, or it has more releases already.
        """
        number, reason = check_releases(releases), check_reason(reason)

        def decide(books: Books, _now: datetime, _turn: "Transaction") -> Event:
            return books.one_series(name).changed(number, reason)

        return self._append(decide, check_all=True)

    def withdraw(self, charge: int, *, reason: str) -> Entry:
        """Record that the release of a charge is not to be used; what it cost stays spent.

        Args:
            charge: the number of the entry that paid for it.
            reason: why, in up to 500 characters; kept in the ledger.

        Raises:
            LedgerError: if the entry is no charge, or its release was withdrawn already.
        """
        event = Withdrawn(charge=_number(charge), reason=_given(reason))

        def decide(books: Books, _now: datetime, _turn: "Transaction") -> Event:
            books.check_withdraws(event)
            return event

        return self._append(decide, check_all=True)

    def correct(self, charge: int, *, by: int, reason: str) -> Entry:
        """Record that a later release takes the place of one; what both cost stays spent.

        Args:
            charge: the number of the entry that paid for the old one.
            by: the number of the entry that paid for the new one.
            reason: why, in up to 500 characters; kept in the ledger.

        Raises:
            LedgerError: if they are not two releases of one dataset, the new one later, and of
                the same period if both are of a series.
        """
        event = Corrected(charge=_number(charge), by=_number(by), reason=_given(reason))

        def decide(books: Books, _now: datetime, _turn: "Transaction") -> Event:
            books.check_corrects(event)
            books.check_same_period(event)
            return event

        return self._append(decide, check_all=True)

    def require(self, *, required: bool = True, reason: str = "") -> Entry:
        """Have `pathveil publish` refuse to run without a dataset to charge; an entry too.

        Args:
            required: False takes it back.
            reason: why, in up to 500 characters; kept in the ledger.

        Raises:
            LedgerError: if there is no ledger, or it can't be written.
        """
        event = Required(required=required, reason=check_reason(reason))
        return self._append(lambda _books, _now, _turn: event, check_all=True)

    def dataset(self, name: str, population: str | None = None) -> "Account":
        """What a run charges: a dataset, or one declared population of it.

        Raises:
            LedgerError: if there is no such dataset or population.
        """
        account = Account(self, name, population)
        account.check()
        return account

    def series(self, name: str, period: str | None, previous: str | None = None) -> SeriesAccount:
        """What a release of a series charges: `pathveil.publish` then takes its share.

        Args:
            name: the series.
            period: when the data is from: 2026-03, say. A period is published once.
            previous: the SHA-256 of the certificate of the release that it starts from.

        Raises:
            LedgerError: if there is no such series.
            ParameterError: if the period is missing, or is none.
        """
        if not isinstance(period, str):
            raise ParameterError(
                "A release of a series says when its data is from: give the period, such as "
                "2026-03."
            )
        check_days(period)
        plan = self.standing().books.one_series(name).plan
        return SeriesAccount(self, plan.dataset, plan.population, name, period, previous)

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

    def _append(self, decide: "Decide", *, create: bool = False, check_all: bool = False) -> Entry:
        """Look, decide and write in one exclusive transaction; then read it back.

        Args:
            decide: what to write, once it is known where the ledger stands.
            create: make the ledger if there is none.
            check_all: check every entry before, which takes as long as the ledger is.
        """
        entry, is_committed = None, False
        try:
            with self._store.exclusive(create=create) as turn:
                standing = (
                    Standing.replayed(turn.rows())
                    if check_all
                    else Standing.of(turn.glance(), turn.rows)
                )
                standing = self._opened(turn, standing, create=create)
                now = standing.now(self._clock().replace(microsecond=0))
                entry = self._write(turn, standing, decide(standing.books, now, turn)).last
            is_committed = True
            is_kept = entry is not None and self._holds(entry)
        except Exception as error:  # whatever fails, memory too: what is charged is told
            if entry is None:
                raise
            raise self._unconfirmed(entry, error, is_committed=is_committed) from None
        if entry is None or not is_kept:
            raise _not_kept("the entry")
        return entry

    def _opened(self, turn: "Transaction", standing: Standing, *, create: bool) -> Standing:
        if standing.last is not None:
            return standing
        if not create:
            raise self._absent()
        return self._write(turn, standing, Opened(identity=secrets.token_hex(32)))

    def _holds(self, entry: Entry) -> bool:
        return self._store.row(entry.number) == entry.row()

    def _unconfirmed(self, entry: Entry, error: Exception, *, is_committed: bool) -> Exception:
        """What to say of a commit, or of the look after it, that failed: what is there now."""
        what = f"The ledger was left in the middle: {type(error).__name__}."
        why = str(error).removesuffix(NOTHING_ADDED) if isinstance(error, LedgerError) else what
        why = why.rstrip()
        try:
            is_there = self._holds(entry) or is_committed
        except Exception:  # noqa: BLE001  (no look can be had)
            is_there = is_committed
            if not is_committed:
                return LedgerError(
                    f"{why} It is not known whether entry {entry.number} was added: see `pathveil "
                    "ledger history` before you try again."
                )
        kept = f"Entry {entry.number} was added all the same."
        return UnconfirmedError(f"{why} {kept}", entry) if is_there else error

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


def _number(charge: object) -> int:
    if isinstance(charge, bool) or not isinstance(charge, int) or charge < 1:
        raise ParameterError("A charge is named by the number of its entry, such as 7.")
    return charge


def _given(reason: object) -> str:
    if not reason:
        raise ParameterError("Say why: the reason is kept in the ledger for ever.")
    return check_reason(reason)


def _not_kept(what: str) -> LedgerError:
    return LedgerError(
        f"The ledger did not keep {what}: what was written is not what is read back. Do not trust "
        "this disk or database; `pathveil ledger verify` looks closer. Nothing was read or drawn."
    )


def _units(protect: Iterable[str]) -> tuple[Protect, ...]:
    names = [protect] if isinstance(protect, str) else protect
    return tuple(dict.fromkeys(check_protect(name) for name in names))


def _declared(populations: Iterable[str]) -> tuple[str, ...]:
    names = [populations] if isinstance(populations, str) else populations
    return tuple(dict.fromkeys(check_name("population", name) for name in names))
