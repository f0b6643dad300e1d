"""What the entries of a ledger say together: each dataset's limit, charges and releases.

`Books.of` replays the chain from its first entry and refuses what can't have happened, a charge
over its limit included. A ledger is small (a few entries for each release), so every charge
replays it whole: nothing is cached that could disagree with the chain.
"""

from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction

from pathveil.errors import LedgerError
from pathveil.ledger.chain import Chain
from pathveil.ledger.composition import Tally
from pathveil.ledger.entries import Begun, Charged, Defined, Entry, Published, exact
from pathveil.ledger.periods import Span, span_of
from pathveil.suggestions import did_you_mean


@dataclass(frozen=True, slots=True)
class Payment:
    """One charge of a dataset.

    Attributes:
        entry: the number of its entry.
        hash: the hash of its entry.
        time: when, in UTC.
        population: who was looked at; None is everybody.
        epsilon: how much, exactly.
        delta: δ, exactly; 0 for most releases.
        certificates: the SHA-256 of the certificates that were published for it; empty if the run
            failed, was stopped, or goes on.
    """

    entry: int
    hash: str
    time: datetime
    population: str | None
    epsilon: Fraction
    delta: Fraction
    certificates: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Dataset:
    """A dataset: the rules that hold now, and all its charges.

    Time only goes forward in a ledger, so the sums of the latest period and of all time are enough
    to replay it. A ``moment`` below is never before the last charge.
    """

    rules: Defined
    payments: list[Payment] = field(default_factory=list)
    _ever: Tally = field(default_factory=Tally)
    _latest: Tally = field(default_factory=Tally)
    _latest_delta: Tally = field(default_factory=Tally)

    @property
    def limit(self) -> Fraction:
        """The most that may be spent in a period (without one: ever)."""
        return exact(self.rules.limit)

    def span(self, moment: datetime) -> Span | None:
        """The calendar period around a moment; None if the limit holds for ever."""
        return span_of(moment, self.rules.period) if self.rules.period else None

    def pay(self, payment: Payment) -> None:
        """Enter a charge, which was checked."""
        self._latest, self._latest_delta = self._tallies(payment.time)
        self._latest.add((payment.population, payment.epsilon))
        self._latest_delta.add((payment.population, payment.delta))
        self._ever.add((payment.population, payment.epsilon))
        self.payments.append(payment)

    def spent(self, moment: datetime) -> Fraction:
        """ε of the period's releases together."""
        return self._tallies(moment)[0].composed()

    def spent_ever(self) -> Fraction:
        """ε of all releases together, whatever the period."""
        return self._ever.composed()

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
        is_new = span is not None and self.payments and self.payments[-1].time not in span
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
    """All the datasets of a ledger, by name, in the order in which they were set up.

    Attributes:
        datasets: by name.
        charges: every charge, by the number of its entry.
        begun: the charges for which noise was begun: each pays for that release and no other.
    """

    datasets: dict[str, Dataset] = field(default_factory=dict)
    charges: dict[int, Payment] = field(default_factory=dict)
    begun: set[int] = field(default_factory=set)

    @classmethod
    def of(cls, chain: Chain) -> "Books":
        """Replay a chain.

        Raises:
            LedgerError: at an entry that breaks the rules that held when it was written.
        """
        books = cls()
        for entry, digest in zip(chain.entries, chain.hashes, strict=True):
            try:
                books._enter(entry, digest)
            except LedgerError as error:
                raise LedgerError(
                    f"Entry {entry.number} of the ledger breaks its rules, though its hash fits: "
                    f"the ledger was rewritten. {error}"
                ) from None
        return books

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

    def check_unused(self, charge: int) -> None:
        """Refuse to begin a release on what is no charge, or paid for a release already.

        Raises:
            LedgerError: if so.
        """
        if charge not in self.charges:
            raise LedgerError(f"Entry {charge} is no charge.")
        if charge in self.begun or self.charges[charge].certificates:
            raise LedgerError(
                f"Entry {charge} of the ledger paid for a release already. A charge pays for one, "
                "finished or not: charge again for another."
            )

    def _enter(self, entry: Entry, digest: str) -> None:
        event = entry.event
        if isinstance(event, Defined):
            self._define(event)
        elif isinstance(event, Charged):
            dataset = self.dataset(event.dataset)
            epsilon, delta = exact(event.epsilon), exact(event.delta)
            dataset.check_affords(epsilon, delta, entry.time, event.population)
            payment = Payment(entry.number, digest, entry.time, event.population, epsilon, delta)
            dataset.pay(payment)
            self.charges[entry.number] = payment
        elif isinstance(event, Begun):
            self.check_unused(event.charge)
            self.begun.add(event.charge)
        elif isinstance(event, Published):
            if event.charge not in self.charges:
                raise LedgerError(f"Entry {event.charge} is no charge.")
            self.charges[event.charge].certificates.append(event.certificate_sha256)

    def _define(self, rules: Defined) -> None:
        if len(set(rules.populations)) != len(rules.populations):
            raise LedgerError("A population is declared twice.")
        if rules.dataset not in self.datasets:
            self.datasets[rules.dataset] = Dataset(rules)
            return
        before = self.datasets[rules.dataset].rules
        if rules.period != before.period or set(before.populations) - set(rules.populations):
            raise LedgerError("A period or a declared population can't be taken back.")
        self.datasets[rules.dataset].rules = rules
