"""What the entries of a ledger say together: each dataset's limit, charges and releases.

`Books.of` replays the chain from its first entry and refuses what can't have happened, a charge
over its limit included. That takes as long as the ledger is; a charge must not. So the sums that a
charge is decided by (`Books.text`) are kept beside the entries, and every entry holds their hash:
`Books.read` takes them back, and the replay makes sure that no entry lied about them.
"""

import hashlib
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction

from pathveil.core.zcdp import Concentrated
from pathveil.errors import LedgerError, did_you_mean
from pathveil.ledger.chain import Chain
from pathveil.ledger.entries import (
    Begun,
    Charged,
    Corrected,
    Defined,
    Entry,
    Event,
    Planned,
    Published,
    Required,
    Share,
    Withdrawn,
    exact,
    written_at,
)
from pathveil.ledger.periods import Share as Spent
from pathveil.ledger.periods import Span, Tally, span_of, tally
from pathveil.ledger.series import Series
from pathveil.ledger.totals import DatasetTotals, Sums, Totals
from pathveil.times.protected_units import PERSON, UNITS, Protect

MOST_UNUSED = 256
"""So many charges may wait for their release; one that so many later ones overtook is forfeited."""


@dataclass(slots=True)
class Payment:
    """One charge of a dataset.

    Attributes:
        entry: the number of its entry.
        hash: the hash of its entry.
        time: when, in UTC.
        population: who was looked at; None is everybody.
        epsilon: how much, exactly.
        delta: δ, exactly; 0 for most releases.
        protect: whose ε it is.
        certificates: the SHA-256 of the certificates that were published for it; empty if the run
            failed, was stopped, or goes on.
        share: which release of a series it is for; that was charged when the series was opened.
        withdrawn: why its release is not to be used; None: it may be.
        replaced_by: the entry that paid for the release that takes its place.
    """

    entry: int
    hash: str
    time: datetime
    population: str | None
    epsilon: Fraction
    delta: Fraction
    protect: Protect = PERSON
    certificates: list[str] = field(default_factory=list)
    share: Share | None = None
    withdrawn: str | None = None
    replaced_by: int | None = None

    @property
    def state(self) -> str:
        """What became of it, in a few words."""
        if self.replaced_by is not None:
            return f"replaced by entry {self.replaced_by}"
        if self.withdrawn is not None:
            return "withdrawn"
        return "published" if self.certificates else "no release"


@dataclass(slots=True)
class Dataset:
    """A dataset: the rules that hold now, what is spent, and (after a replay) all its charges.

    Time only goes forward in a ledger, so the sums of the latest period are enough to decide. A
    ``moment`` below is never before the last charge.

    Attributes:
        rules: the limit, the period and the populations.
        payments: all charges; empty if it was taken back from kept totals.
        series: what each series cost when it was opened; empty likewise.
    """

    rules: Defined
    payments: list[Payment] = field(default_factory=list)
    series: list[Spent] = field(default_factory=list)
    _charged: datetime | None = None
    _latest: Tally = field(default_factory=Tally)
    _latest_delta: Tally = field(default_factory=Tally)
    _protected: tuple[Protect, ...] = ()

    @classmethod
    def read(cls, kept: DatasetTotals) -> "Dataset":
        """A dataset as its totals say."""
        charged = None if kept.charged is None else datetime.fromisoformat(kept.charged)
        sums = (kept.epsilon.tally(), kept.delta.tally())
        return cls(kept.rules, [], [], charged, *sums, kept.protected)

    def totals(self) -> DatasetTotals:
        """What must be known of it to decide about its next charge."""
        return DatasetTotals(
            rules=self.rules,
            charged=None if self._charged is None else written_at(self._charged),
            epsilon=Sums.of(self._latest),
            delta=Sums.of(self._latest_delta),
            protect=None if self._is_as_before else self._protected,
        )

    @property
    def _is_as_before(self) -> bool:
        """Whether nothing but persons was protected: totals do not say it, as they never did."""
        return self._charged is None or self._protected == (PERSON,)

    @property
    def protects(self) -> tuple[Protect, ...]:
        """Whom its releases may protect; empty as long as that is open."""
        return tuple(dict.fromkeys((*self.rules.protect, *self._protected)))

    @property
    def limit(self) -> Fraction:
        """The most that may be spent in a period (without one: ever)."""
        return exact(self.rules.limit)

    def span(self, moment: datetime) -> Span | None:
        """The calendar period around a moment; None if the limit holds for ever."""
        return span_of(moment, self.rules.period) if self.rules.period else None

    def spend(self, charge: Charged | Planned, moment: datetime) -> None:
        """Enter a charge, of a release or of a whole series, which was checked."""
        self._latest, self._latest_delta = self._tallies(moment)
        self._latest.add((charge.population, exact(charge.epsilon)))
        self._latest_delta.add((charge.population, exact(charge.delta)))
        self._charged = moment

    def note(self, protect: Protect) -> None:
        """Keep whom a charge protects, which was checked."""
        self._protected = tuple(sorted({*self._protected, protect}))

    def spent(self, moment: datetime) -> Fraction:
        """ε of the period's releases together."""
        return self._tallies(moment)[0].composed()

    def spent_ever(self) -> Fraction:
        """ε of all releases together, whatever the period."""
        single = [(one.population, one.epsilon) for one in self.payments if one.share is None]
        return tally(single + self.series).composed()

    def remaining(self, moment: datetime, population: str | None = None) -> Fraction:
        """What a release of this population may still spend in the period; never below 0."""
        return max(self.limit - self._tallies(moment)[0].spent_on(population), Fraction(0))

    def remaining_delta(self, moment: datetime, population: str | None = None) -> Fraction:
        """The δ that a release of this population may still spend in the period."""
        spent = self._tallies(moment)[1].spent_on(population)
        return max(exact(self.rules.delta_limit) - spent, Fraction(0))

    def _tallies(self, moment: datetime) -> tuple[Tally, Tally]:
        """The sums of ε and δ in the period around a moment: the last charge's, or a new one."""
        span = self.span(moment)
        is_new = span is not None and self._charged is not None and self._charged not in span
        return (Tally(), Tally()) if is_new else (self._latest, self._latest_delta)

    def check_declared(self, population: str | None) -> None:
        """Refuse a population that nobody declared: a typing error must not find fresh budget.

        Raises:
            LedgerError: if there is no such population.
        """
        if population is not None and population not in self.rules.populations:
            name, known = self.rules.dataset, ", ".join(map(repr, self.rules.populations)) or "none"
            raise LedgerError(
                f"Dataset {name!r} has no population {population!r}; declared: {known}. If no unit "
                f"is in two of them, declare it with `pathveil ledger amend {name} --population "
                "…`. Nothing was charged."
            )

    def check_protects(self, protect: Protect) -> None:
        """Refuse a release for another unit than those before it: their sum would be about neither.

        Raises:
            LedgerError: if so, and nobody allowed it.
        """
        known = self.protects
        if known and protect not in known:
            name, before = self.rules.dataset, " or ".join(UNITS[one].one for one in known)
            raise LedgerError(
                f"Dataset {name!r} keeps the ε of {before}, and this run is to protect "
                f"{UNITS[protect].one} (--protect {protect}): ε of different units do not add up. "
                f"Charge another dataset; or, if both are to be in one sum all the same, say so "
                f"with `pathveil ledger amend {name} --protect {protect} --reason …`, which is "
                "recorded. Nothing was charged or read."
            )

    def check_affords(
        self, epsilon: Fraction, delta: Fraction, moment: datetime, population: str | None
    ) -> None:
        """Refuse a charge that is over the limit, or of a population nobody declared.

        Raises:
            LedgerError: with what was spent, the limit, what was asked and what is left.
        """
        self.check_declared(population)
        remaining = self.remaining(moment, population)
        if epsilon > remaining:
            span = self.span(moment)
            until = f" until {span.end:%Y-%m-%d} (UTC)" if span else ""
            who = f", population {population!r}," if population else ""
            spent = self._tallies(moment)[0].spent_on(population)
            raise LedgerError(
                f"Dataset {self.rules.dataset!r}{who} has spent ε = {spent} of its limit "
                f"{self.limit}; this run asks for {epsilon}, and {remaining} remains{until}. "
                "Nothing was charged or read."
            )
        if delta > self.remaining_delta(moment, population):
            raise LedgerError(
                f"Dataset {self.rules.dataset!r} allows δ = {self.rules.delta_limit} in all, of "
                f"which {self.remaining_delta(moment, population)} remains; this run asks for "
                f"{delta}. Allow more with `pathveil ledger amend {self.rules.dataset} "
                "--delta-limit …`. Nothing was charged or read."
            )


@dataclass(slots=True)
class Books:
    """All the datasets of a ledger, by name.

    Attributes:
        datasets: by name.
        unused: the charges for which no noise was begun yet, oldest first, `MOST_UNUSED` at most:
            each may pay for one release.
        required: whether `pathveil publish` needs a dataset to charge.
        series: by name.
        charges: every charge, by the number of its entry; empty if it was taken back from totals.
    """

    datasets: dict[str, Dataset] = field(default_factory=dict)
    unused: dict[int, None] = field(default_factory=dict)
    required: bool = False
    series: dict[str, Series] = field(default_factory=dict)
    charges: dict[int, Payment] = field(default_factory=dict)

    @classmethod
    def of(cls, chain: Chain) -> "Books":
        """Replay a chain.

        Raises:
            LedgerError: at an entry that breaks the rules that held when it was written, or that
                says other totals than the entries before it.
        """
        books, has_totals = cls(), False
        for entry, digest in zip(chain.entries, chain.hashes, strict=True):
            try:
                books.enter(entry)
                books._record(entry, digest)
                has_totals = books._check_totals(entry, expected=has_totals)
            except LedgerError as error:
                raise LedgerError(
                    f"Entry {entry.number} of the ledger breaks its rules, though its hash fits: "
                    f"the ledger was rewritten. {error}"
                ) from None
        return books

    @classmethod
    def read(cls, text: str) -> "Books":
        """The books as kept totals say them: without the history.

        Raises:
            LedgerError: if the text is not what `text` writes.
        """
        kept = Totals.read(text)
        datasets = {name: Dataset.read(totals) for name, totals in kept.datasets.items()}
        series = {name: Series.read(totals) for name, totals in kept.series.items()}
        return cls(datasets, dict.fromkeys(kept.unused), kept.required, series)

    def text(self) -> str:
        """All that decides about the next charge, in one spelling; its hash goes into the entry."""
        datasets = {name: dataset.totals() for name, dataset in self.datasets.items()}
        series = {name: one.totals() for name, one in self.series.items()}
        unused = tuple(self.unused)
        return Totals(
            datasets=datasets, unused=unused, required=self.required, series=series
        ).text()

    def dataset(self, name: str) -> Dataset:
        """A dataset by name.

        Raises:
            LedgerError: if the ledger has none of that name.
        """
        if name not in self.datasets:
            known = ", ".join(map(repr, self.datasets)) or "none"
            raise LedgerError(
                f"The ledger has no dataset {name!r}; it has: {known}."
                f"{did_you_mean(name, self.datasets)} Set one up with `pathveil ledger init NAME "
                "--limit EPSILON`."
            )
        return self.datasets[name]

    def one_series(self, name: str) -> Series:
        """A series by name.

        Raises:
            LedgerError: if the ledger has none of that name.
        """
        if name not in self.series:
            known = ", ".join(map(repr, self.series)) or "none"
            raise LedgerError(
                f"The ledger has no series {name!r}; it has: {known}."
                f"{did_you_mean(name, self.series)} Open one with `pathveil ledger series NAME "
                "--dataset NAME --releases 12 --epsilon EPSILON --delta DELTA`."
            )
        return self.series[name]

    def charge(self, number: int) -> Payment:
        """A charge by the number of its entry; after a replay.

        Raises:
            LedgerError: if the entry is no charge.
        """
        if number not in self.charges:
            raise LedgerError(
                f"Entry {number} of the ledger is no charge; `pathveil ledger history` lists them."
            )
        return self.charges[number]

    def check_unused(self, charge: int) -> None:
        """Refuse to begin a release on a charge that paid for one already.

        Raises:
            LedgerError: if so.
        """
        if charge not in self.unused:
            overtaken = f", or {MOST_UNUSED} later charges overtook it"
            also = overtaken if len(self.unused) >= MOST_UNUSED else ""
            known = self.charges.get(charge)
            if known is not None and not known.certificates:
                also += " (its run began to draw noise, and recorded none)"
            raise LedgerError(
                f"Entry {charge} of the ledger paid for a release already{also}. A charge pays for "
                "one, finished or not: charge again for another."
            )

    def enter(self, entry: Entry) -> None:
        """Take an entry in.

        Raises:
            LedgerError: if it breaks the rules.
        """
        event: Event = entry.event
        if isinstance(event, Defined):
            self._define(event)
        elif isinstance(event, Planned):
            self._plan(event, entry.time)
        elif isinstance(event, Charged):
            self._spend(event, entry)
        elif isinstance(event, Begun):
            self.check_unused(event.charge)
            del self.unused[event.charge]
        elif isinstance(event, Published):
            self.unused.pop(event.charge, None)
        elif isinstance(event, Withdrawn):
            self.unused.pop(event.charge, None)
            for series in self.series.values():
                series.free(event.charge)
        elif isinstance(event, Required):
            self.required = event.required

    def _spend(self, charge: Charged, entry: Entry) -> None:
        self.check_charge(charge, entry.time)
        self.datasets[charge.dataset].note(charge.protect)
        if charge.share is None:
            self.datasets[charge.dataset].spend(charge, entry.time)
        else:
            self.series[charge.share.series].take(entry.number, charge)
        self.unused[entry.number] = None
        if len(self.unused) > MOST_UNUSED:
            del self.unused[next(iter(self.unused))]

    def check_charge(self, charge: Charged, moment: datetime) -> None:
        """Refuse a charge that its dataset or its series can't afford, or for another unit.

        Raises:
            LedgerError: if so.
        """
        dataset, share = self.dataset(charge.dataset), charge.share
        dataset.check_protects(charge.protect)
        if share is None:
            epsilon, delta = exact(charge.epsilon), exact(charge.delta)
            dataset.check_affords(epsilon, delta, moment, charge.population)
        else:
            self.one_series(share.series).check(charge, moment, dataset.rules.period)

    def _record(self, entry: Entry, digest: str) -> None:
        """Keep the history, which only a replay knows."""
        event = entry.event
        if isinstance(event, Charged):
            epsilon, delta = exact(event.epsilon), exact(event.delta)
            who, unit = event.population, event.protect
            payment = Payment(entry.number, digest, entry.time, who, epsilon, delta, unit)
            payment.share = event.share
            self.charges[entry.number] = payment
            self.datasets[event.dataset].payments.append(payment)
        elif isinstance(event, Published):
            self.charge(event.charge).certificates.append(event.certificate_sha256)
        elif isinstance(event, Withdrawn):
            self.check_withdraws(event)
            self.charges[event.charge].withdrawn = event.reason
        elif isinstance(event, Corrected):
            self.check_corrects(event)
            self.charges[event.charge].replaced_by = event.by

    def check_withdraws(self, event: Withdrawn) -> None:
        """Refuse to withdraw what is no release, or twice.

        Raises:
            LedgerError: if so.
        """
        if self.charge(event.charge).withdrawn is not None:
            raise LedgerError(f"The release of entry {event.charge} is withdrawn already.")

    def check_corrects(self, event: Corrected) -> None:
        """Refuse a replacement that is no later release of the same people, or a second one.

        Raises:
            LedgerError: if so.
        """
        old, new = self.charge(event.charge), self.charge(event.by)
        if not (old.certificates and new.certificates):
            raise LedgerError("Only a release that was published can be replaced, and by another.")
        if new.entry <= old.entry or not any(
            old in one.payments and new in one.payments for one in self.datasets.values()
        ):
            raise LedgerError("A release is replaced by a later one of the same dataset.")
        if old.replaced_by is not None:
            raise LedgerError(f"Entry {old.entry} is replaced by entry {old.replaced_by} already.")

    def check_same_period(self, event: Corrected) -> None:
        """Refuse a replacement that says when its data is from, and says another time.

        Only of a new entry: earlier versions accepted such a one, and a ledger that has it must
        stay readable. A release outside of a series says no period, and may replace any.

        Raises:
            LedgerError: if so.
        """
        old, new = self.charge(event.charge), self.charge(event.by)
        if old.share and new.share and old.share.period != new.share.period:
            again = f"ledger withdraw {old.entry}"
            raise LedgerError(
                f"Entry {old.entry} is of {old.share.period} and entry {new.entry} of "
                f"{new.share.period}: a release is replaced by one of the same period. To publish "
                f"{old.share.period} again, withdraw it first: 'pathveil {again} --reason …'."
            )

    def _check_totals(self, entry: Entry, *, expected: bool) -> bool:
        """Whether the entry says totals; those that it says must be true."""
        if entry.totals is None:
            if expected:
                raise LedgerError("It says no totals, though one before it does.")
            return False
        if entry.totals != totals_hash(self.text()):
            raise LedgerError("The totals that it says are not those of the entries before it.")
        return True

    def _plan(self, plan: Planned, moment: datetime) -> None:
        if plan.series in self.series:
            self.series[plan.series].check_change(plan)
            self.series[plan.series].plan = plan
            return
        dataset = self.dataset(plan.dataset)
        epsilon, delta = exact(plan.epsilon), exact(plan.delta)
        if plan.rho is not None and not Concentrated(exact(plan.rho), delta).keeps(epsilon):
            raise LedgerError("That ε does not follow from ρ at this δ.")
        if plan.rho is None and delta:
            raise LedgerError("A series in ε has no δ.")
        dataset.check_affords(epsilon, delta, moment, plan.population)
        dataset.spend(plan, moment)
        dataset.series.append((plan.population, epsilon))
        self.series[plan.series] = Series(plan, moment)

    def _define(self, rules: Defined) -> None:
        if len(set(rules.populations)) != len(rules.populations):
            raise LedgerError("A population is declared twice.")
        if rules.dataset not in self.datasets:
            self.datasets[rules.dataset] = Dataset(rules)
            return
        before = self.datasets[rules.dataset].rules
        is_less = set(before.populations) - set(rules.populations)
        if rules.period != before.period or is_less or set(before.protect) - set(rules.protect):
            raise LedgerError("A period, a declared population or a unit can't be taken back.")
        self.datasets[rules.dataset].rules = rules


def totals_hash(text: str) -> str:
    """What an entry says of the totals after it."""
    return hashlib.sha256(text.encode()).hexdigest()
