"""A series of releases under one budget: what it costs, what is left, and what is refused."""

import json
from fractions import Fraction

import pytest
from tests.ledgers import Clock, open_at, run_sql

import pathveil as pv
from pathveil.core.zcdp import Concentrated
from pathveil.errors import LedgerError, ParameterError
from pathveil.ledger.books import Books
from pathveil.ledger.chain import Chain
from pathveil.ledger.export import exported, read_export

DELTA = Fraction(1, 10**9)


@pytest.fixture
def place(tmp_path):
    """A file: the rules are the same over every store, which other tests try."""
    return str(tmp_path / "ledger.db")


@pytest.fixture
def clock():
    return Clock("2026-01-15T12:00:00+00:00")


@pytest.fixture
def ledger(place, clock):
    opened = open_at(place, clock)
    opened.init("taps", "4", per="year", delta_limit="1e-8")
    return opened


def opened(ledger, releases=12, **budget):
    budget = budget or {"epsilon": "2", "delta": "1e-9"}
    ledger.open_series("monthly", dataset="taps", releases=releases, **budget)
    return ledger.books().one_series("monthly")


def take(ledger, period, **asked):
    """Charge the next release as `publish` does."""
    account = ledger.series("monthly", period)
    given = account.budget(**({"epsilon": None, "rho": None, "delta": None} | asked))
    rho, delta = given["rho"], given["delta"] or Fraction(0)
    epsilon = given["epsilon"] if rho is None else Concentrated(rho, delta).epsilon
    return account.charge(pv.Budget.parse(epsilon), delta, rho)


def published(ledger, period):
    charge = take(ledger, period)
    charge.begin()
    charge.published(f"{charge.entry.number:064x}")
    return charge.entry.number


def test_a_series_in_rho_is_turned_into_epsilon_once(ledger):
    """Twelve equal parts of ρ: the dataset pays for their sum, far less than for each by itself."""
    series = opened(ledger)
    rho = Concentrated.within(Fraction(2), DELTA).rho
    assert series.total == rho
    dataset = ledger.books().dataset("taps")
    assert dataset.spent(ledger.now()) == 2
    assert dataset.remaining_delta(ledger.now()) == Fraction("1e-8") - DELTA
    charges = [take(ledger, f"2026-{month:02}") for month in range(1, 13)]
    assert [charge.share.release for charge in charges] == list(range(1, 13))
    assert {charge.rho for charge in charges} == {rho / 12}
    books = ledger.books()
    assert books.dataset("taps").spent(ledger.now()) == 2  # the months cost nothing more
    assert books.dataset("taps").spent_ever() == 2
    assert books.one_series("monthly").left == 0
    # Each by itself promises far more than a twelfth of ε = 2, and their sum in ε is above it.
    assert sum(charge.budget.epsilon for charge in charges) > 2
    with pytest.raises(LedgerError, match="is spent: 12 of 12 releases took"):
        take(ledger, "2027-01")


def test_a_series_in_epsilon_adds_up_linearly(ledger):
    opened(ledger, epsilon="2")
    charges = [take(ledger, f"2026-{month:02}") for month in range(1, 13)]
    assert {charge.budget.epsilon for charge in charges} == {Fraction(1, 6)}
    assert {(charge.rho, charge.delta) for charge in charges} == {(None, 0)}
    with pytest.raises(LedgerError, match="spent"):
        take(ledger, "2027-01")


def test_what_is_left_is_shared_by_the_releases_to_come(ledger):
    series = opened(ledger, releases=4, rho="0.04", delta="1e-9")
    assert series.next_share == Fraction(1, 100)
    take(ledger, "2026-01", rho="0.01")
    take(ledger, "2026-02", rho="0.02")  # the month of the census
    assert ledger.books().one_series("monthly").next_share == Fraction(1, 200)
    with pytest.raises(LedgerError, match=r"has ρ = 1/100 left; this run asks for 1/50"):
        take(ledger, "2026-03", rho="0.02")
    ledger.change_series("monthly", releases=7, reason="two runs failed")
    assert ledger.books().one_series("monthly").next_share == Fraction(1, 500)
    with pytest.raises(LedgerError, match="has 2 releases already"):
        ledger.change_series("monthly", releases=1)


def test_the_series_itself_must_fit_into_the_limit(ledger):
    with pytest.raises(LedgerError, match=r"this run asks for 5, and 4 remains"):
        opened(ledger, epsilon="5")
    ledger.dataset("taps").charge(pv.Budget.parse("3"))
    with pytest.raises(LedgerError, match="1 remains"):
        opened(ledger, epsilon="2", delta="1e-9")
    assert not ledger.books().series
    opened(ledger, epsilon="1", delta="1e-9")
    with pytest.raises(LedgerError, match="0 remains"):  # the months' budget is no one else's
        ledger.dataset("taps").charge(pv.Budget.parse("1/100"))


@pytest.mark.parametrize(
    "budget",
    [
        {},
        {"epsilon": "1", "rho": "0.1", "delta": "1e-9"},
        {"rho": "0.1"},
        {"epsilon": 0.5},
        {"rho": "49", "delta": "1e-9"},
    ],
)
def test_a_budget_that_can_not_be_used_is_refused(ledger, budget):
    with pytest.raises(ParameterError):
        ledger.open_series("monthly", dataset="taps", releases=12, **budget)
    assert not ledger.books().series


def test_a_period_is_published_once_unless_it_is_withdrawn(ledger):
    opened(ledger)
    first = take(ledger, "2026-01")
    with pytest.raises(LedgerError, match=f"already, by entry {first.entry.number}"):
        take(ledger, "2026-01")
    ledger.withdraw(first.entry.number, reason="the disk was full")
    again = take(ledger, "2026-01")
    assert again.share.release == 2
    assert ledger.books().one_series("monthly").taken == 2  # what failed stays spent
    assert ledger.books().charge(first.entry.number).state == "withdrawn"
    with pytest.raises(LedgerError, match="withdrawn already"):
        ledger.withdraw(first.entry.number, reason="again")
    with pytest.raises(LedgerError, match="paid for a release already"):
        first.begin()  # nothing is drawn on a charge that was withdrawn


def test_a_series_ends_with_the_period_that_paid_for_it(ledger, clock):
    """Or a new year would have its own limit and last year's series besides."""
    opened(ledger)
    take(ledger, "2026-01")
    clock.set("2027-01-02T00:00:00")
    with pytest.raises(LedgerError, match="was charged to a year of its dataset that is over"):
        take(ledger, "2027-01")
    assert ledger.books().dataset("taps").remaining(ledger.now()) == 4


def test_another_kind_of_budget_is_refused(ledger):
    opened(ledger)
    account = ledger.series("monthly", "2026-01")
    for asked in ({"epsilon": "1"}, {"delta": "1e-9"}, {"epsilon_per_trip": "1"}):
        with pytest.raises(ParameterError, match="gives each release its budget, in rho"):
            account.budget(**asked)
    with pytest.raises(LedgerError, match="is in ρ"):  # whatever the caller says
        account.charge(pv.Budget.parse("1/100"))
    with pytest.raises(LedgerError, match="does not follow from ρ"):
        account.charge(pv.Budget.parse("1/100"), DELTA, ledger.books().one_series("monthly").left)


def test_a_plan_is_not_opened_twice_and_its_budget_is_fixed(ledger):
    opened(ledger)
    with pytest.raises(LedgerError, match="has a series 'monthly' already"):
        opened(ledger)
    with pytest.raises(LedgerError, match="no series 'montly'"):
        ledger.series("montly", "2026-01")
    for period in (None, "March", "2026-13"):
        with pytest.raises(ParameterError, match="period"):
            ledger.series("monthly", period)


def test_releases_of_a_population_are_a_series_of_its_own(ledger):
    ledger.amend("taps", populations=["north", "south"])
    for name in ("north", "south"):
        ledger.open_series(
            name, dataset="taps", population=name, releases=2, epsilon="4", delta="1e-9"
        )
    assert ledger.books().dataset("taps").spent(ledger.now()) == 4
    with pytest.raises(LedgerError, match="no population 'east'"):
        ledger.open_series("east", dataset="taps", population="east", releases=2, epsilon="1")


def test_a_later_release_replaces_one(ledger):
    opened(ledger)
    first = published(ledger, "2026-01")
    ledger.withdraw(first, reason="wrong stops")
    second = take(ledger, "2026-01")
    numbers = first, second.entry.number
    with pytest.raises(LedgerError, match="was published"):
        ledger.correct(numbers[0], by=numbers[1], reason="wrong stops")
    second.begin()
    second.published("b" * 64)
    with pytest.raises(LedgerError, match="later one"):
        ledger.correct(numbers[1], by=numbers[0], reason="wrong stops")
    ledger.correct(numbers[0], by=numbers[1], reason="wrong stops")
    assert ledger.books().charge(numbers[0]).state == f"replaced by entry {numbers[1]}"
    with pytest.raises(LedgerError, match="already"):
        ledger.correct(numbers[0], by=numbers[1], reason="wrong stops")
    with pytest.raises(LedgerError, match="no charge"):
        ledger.withdraw(1, reason="x")
    with pytest.raises(ParameterError, match="Say why"):
        ledger.withdraw(numbers[0], reason="")


def test_the_totals_know_the_series_and_an_export_keeps_it(ledger):
    opened(ledger)
    take(ledger, "2026-01")
    kept = ledger.standing().books
    assert kept.text() == ledger.books().text()
    chain = read_export(json.dumps(exported(ledger.chain())).encode())
    assert Books.of(chain).one_series("monthly").taken == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"release":2', '"release":3'),
        ('"period":"2026-02"', '"period":"2026-01"'),
        ('"series":"monthly"', '"series":"yearly"'),
    ],
)
def test_a_rewritten_share_is_found(place, ledger, old, new):
    """Hashes made to fit by whoever owns the disk: the replay finds that it can't have happened."""
    opened(ledger)
    take(ledger, "2026-01")
    take(ledger, "2026-02")
    chain = ledger.chain()
    last = chain.entries[-1]
    text = last.text().replace(old, new)
    assert text != last.text()
    forged = type(last).model_validate_json(text)
    run_sql(
        place,
        f"DELETE FROM pathveil_ledger WHERE number = {last.number}",
        f"INSERT INTO pathveil_ledger VALUES ({last.number}, '{text}', '{forged.hash}')",
    )
    with pytest.raises(LedgerError, match="breaks its rules"):
        ledger.books()


def test_a_forged_budget_is_found(ledger):
    """A plan whose ρ is more than its ε pays for can't be entered at all."""
    opened(ledger)
    entries = list(ledger.chain().entries)
    plan = entries[-1].event.model_copy(update={"rho": "1"})
    forged = entries[-1].model_copy(update={"event": plan})
    rows = [entry.row() for entry in (*entries[:-1], forged)]
    with pytest.raises(LedgerError, match="does not follow from ρ"):
        Books.of(Chain.of(rows))


def test_a_release_is_replaced_by_one_of_its_own_period(ledger):
    opened(ledger)
    february, march = published(ledger, "2026-02"), published(ledger, "2026-03")
    before = len(ledger.chain())
    with pytest.raises(LedgerError, match=r"2026-02 .* of 2026-03: .* the same period"):
        ledger.correct(february, by=march, reason="wrong stops")
    assert len(ledger.chain()) == before
    assert ledger.books().charge(february).state == "published"


def test_a_release_outside_of_the_series_may_replace_one(ledger):
    opened(ledger)
    february = published(ledger, "2026-02")
    charge = ledger.dataset("taps").charge(pv.Budget.parse("1"))
    charge.begin()
    charge.published("c" * 64)
    ledger.correct(february, by=charge.entry.number, reason="wrong stops")


def test_a_ledger_of_before_with_another_period_is_still_read(ledger, monkeypatch):
    opened(ledger)
    february, march = published(ledger, "2026-02"), published(ledger, "2026-03")
    monkeypatch.setattr("pathveil.ledger.books.Books.check_same_period", lambda *_: None)
    ledger.correct(february, by=march, reason="accepted by 0.1.0")
    monkeypatch.undo()
    assert ledger.books().charge(february).state == f"replaced by entry {march}"
