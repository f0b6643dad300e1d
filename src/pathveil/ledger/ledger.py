"""The ledger: set up datasets, charge them, and look up what they spent."""

import os
import secrets
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pathveil.core.budget import Budget, parse_delta
from pathveil.errors import LedgerError
from pathveil.ledger.books import Books
from pathveil.ledger.chain import Chain
from pathveil.ledger.charges import Account, UnconfirmedError
from pathveil.ledger.entries import DISJOINT, Defined, Entry, Event, Opened, Required
from pathveil.ledger.locating import check_name, check_period, check_reason, locate
from pathveil.ledger.standing import Standing
from pathveil.ledger.store import NOTHING_ADDED

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

        return self._append(decide, create=True, check_all=True)

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


def _not_kept(what: str) -> LedgerError:
    return LedgerError(
        f"The ledger did not keep {what}: what was written is not what is read back. Do not trust "
        "this disk or database; `pathveil ledger verify` looks closer. Nothing was read or drawn."
    )


def _declared(populations: Iterable[str]) -> tuple[str, ...]:
    names = [populations] if isinstance(populations, str) else populations
    return tuple(dict.fromkeys(check_name("population", name) for name in names))
