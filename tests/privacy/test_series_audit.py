"""A person who is in every month of a series: all releases together keep what the ledger charged.

The walker of `pathveil audit` goes everywhere, every month. What it adds to the tables of a month,
measured by the real code with noise so small that it is 0, costs Σ added²/(2σ²) with the σ² of the
noise that the month's share buys; over all months that must not be more than the ρ of the series.

And from files: the loss variable of three months, with the noise that is really drawn and the plans
that follow from it, against the (ε, δ) that the ledger charged for all of them.
"""

from fractions import Fraction

import numpy as np
import pytest

import pathveil as pv
from pathveil.audit.noisy_tables import GRID, UNIVERSE, _Attacker, _single
from pathveil.core.budget import Budget
from pathveil.core.parameters import Parameters
from pathveil.core.zcdp import Concentrated
from pathveil.errors import LedgerError
from pathveil.gate import measure as gate
from pathveil.gate.randomness import Randomness
from pathveil.ledger.charges import SeriesAccount
from pathveil.ledger.series import Series
from pathveil.methods.calibrated.synthesis.estimates import choose_candidates
from pathveil.raw.engines.engine import table_counter
from pathveil.statistics.measurement_plan import MeasurementPlan
from pathveil.statistics.moves import MOVES, Moves
from pathveil.statistics.planner import Planner
from pathveil.statistics.statistic import Scope
from pathveil.statistics.validation_queries import drawn_queries

MONTHS, RHO = 12, "1/2"


def shares(folder):
    """What each month may spend, by a real ledger that is charged month by month."""
    ledger = pv.Ledger.open(folder / "ledger.db")
    ledger.init("taps", "100", delta_limit="1e-9")
    ledger.open_series("year", dataset="taps", releases=MONTHS, rho=RHO, delta="1e-9")
    for month in range(MONTHS):
        account = ledger.series("year", f"2026-{month + 1:02}")
        given = account.budget(epsilon=None, rho=None, delta=None)
        budget = Budget.choose(None, rho=given["rho"], delta=given["delta"])
        account.charge(budget, given["delta"], given["rho"])
        yield given["rho"]


def cost(rho):
    """What the walker really costs in a month with this share."""
    parameters = Parameters.choose(
        epsilon=Budget.choose(None, rho=rho, delta="1e-9"), rho=rho, delta="1e-9",
        height=8, universe_size=len(UNIVERSE), method="calibrated", time_grid=GRID,
    )  # fmt: skip
    plan = MeasurementPlan.of(parameters)
    known = _Attacker(plan).known
    tables = [
        (int((known[line.statistic].added ** 2).sum()), line.noise.variance)
        for line in _single(plan)
    ]
    levels = [(1, line.noise.variance) for line in plan.tree]  # one node on each level
    return sum(added / (2 * variance) for added, variance in tables + levels)


def year(folder):
    """What all months together cost; equal shares cost the same."""
    given = list(shares(folder))
    each = {rho: cost(rho) for rho in set(given)}
    return sum(each[rho] for rho in given)


def test_a_year_keeps_the_budget_of_the_series_and_uses_it(tmp_path):
    spent = year(tmp_path)
    assert spent <= Fraction(RHO)
    assert spent >= Fraction(RHO) / 2  # the walker is near the bound of most tables


def test_a_series_that_forgets_to_divide_is_refused_by_the_ledger(tmp_path, monkeypatch):
    monkeypatch.setattr(Series, "next_share", property(lambda series: series.total))
    with pytest.raises(LedgerError, match=r"is spent|left; this run asks for"):
        year(tmp_path)


def test_a_series_that_also_forgets_what_is_spent_is_caught(tmp_path, monkeypatch):
    whole = property(lambda series: series.total)
    monkeypatch.setattr(Series, "next_share", whole)
    monkeypatch.setattr(Series, "left", whole)
    assert year(tmp_path) > Fraction(RHO)


# The loss itself: three months from files, through the gate with real noise and real plans.

QUARTER, SHARED, SMALL = 3, Fraction(2), "1e-5"  # months; ρ of all; the δ at which ε is told
DELTA = Fraction(1, 200)  # at which runs can tell: the ρ that was charged implies an ε here, too
TOWN = pv.Universe([f"s{code:02}" for code in range(12)])
CROWD = [[(3 * unit + step) % 12 for step in range(1 + unit % 4)] for unit in range(150)]
WALKER = [*range(12), 0]


def month_file(folder, month, people):
    rows = [
        f"u{unit},{step},s{(code + month) % 12:02}"
        for unit, visits in enumerate(people)
        for step, code in enumerate(visits)
    ]
    path = folder / f"{month}-{len(people)}.csv"
    path.write_text("\n".join(["unit,step,stop", *rows]) + "\n", encoding="utf-8")
    return pv.read_trajectories(path, TOWN, unit="unit", order="step", location="stop")


def month_files(folder, months):
    """Each month twice: with the walker, who is in every one, and without."""
    return [
        [month_file(folder, month, people) for people in ([*CROWD, WALKER], CROWD)]
        for month in range(months)
    ]


def charged(folder, months):
    """The shares of so many months, by a real ledger; and the ε at δ that its charge implies."""
    ledger = pv.Ledger.open(folder / "quarter.db")
    ledger.init("taps", "100", delta_limit=SMALL)
    ledger.open_series("quarter", dataset="taps", releases=QUARTER, rho=SHARED, delta=SMALL)
    shares = []
    for month in range(months):
        account = ledger.series("quarter", f"2026-{month + 1:02}")
        given = account.budget(epsilon=None, rho=None, delta=None)
        budget = Budget.choose(None, rho=given["rho"], delta=given["delta"])
        account.charge(budget, given["delta"], given["rho"])
        shares.append(given["rho"])
    return shares, Concentrated(SHARED, DELTA).epsilon


def loss_of_a_month(pair, rho, patch, *, follows):
    """The logarithm of how much likelier what the gate published is with the walker than without.

    A month that follows another keeps the noisy counts of all moves, however many there are.

    Given what was published before it, a table is the exact one plus noise of a known law; the
    exact ones of both files are counted for the very plan and scope that the run came to.
    """
    given = Parameters.choose(
        epsilon=Budget.choose(None, rho=rho, delta=SMALL), rho=rho, delta=SMALL,
        height=12, universe_size=len(TOWN), method="calibrated",
    )  # fmt: skip
    right, losses = gate._noisy, []

    def watched(line, exact, scope, randomness):
        table = right(line, exact, scope, randomness)
        counters = [table_counter(each).among(scope.candidates) for each in pair]
        stage, size = gate.Stage((line,), scope), line.statistic.size(scope)
        there, without = (
            gate.gathered(next(iter(one.count_tables(stage))), size).astype(float)
            for one in counters
        )
        far = (table.counts - without[table.keys]) ** 2 - (table.counts - there[table.keys]) ** 2
        losses.append(far.sum() / (2 * float(line.noise.variance)))
        if table.threshold is not None:  # the others are known to be below it
            hidden = np.setdiff1d(np.arange(size), table.keys)
            chances = [line.noise.below(table.threshold - one[hidden]) for one in (there, without)]
            losses.append(np.log(chances[0] / chances[1]).sum())
        return table

    patch.setattr(gate, "_noisy", watched)
    patch.setattr(Moves, "dense_up_to", 0)
    seen = gate.measure(
        pair[0],
        MeasurementPlan.usual(given),
        choose_candidates,
        Randomness(),
        adapt=Planner(given, follows=follows),
        choose_queries=drawn_queries,
    )
    patch.setattr(gate, "_noisy", right)
    assert (MOVES in seen.whole) == (MOVES in seen)
    return sum(losses)


def excess(loss, epsilon):
    """The δ at ε that such losses leave, and four standard errors of it."""
    over = np.maximum(-np.expm1(float(epsilon) - np.asarray(loss)), 0.0)
    return over.mean(), 4 * over.std() / np.sqrt(len(over))


@pytest.mark.long
def test_the_loss_through_the_gate_keeps_what_the_ledger_charged(tmp_path, monkeypatch):
    shares, epsilon = charged(tmp_path, QUARTER)
    months = list(zip(month_files(tmp_path, QUARTER), shares, strict=True))
    loss = [
        sum(
            loss_of_a_month(pair, rho, monkeypatch, follows=month > 0)
            for month, (pair, rho) in enumerate(months)
        )
        for _ in range(30)
    ]
    delta, error = excess(loss, epsilon)
    assert delta <= float(DELTA) + error
    assert np.mean(loss) > float(SHARED) / 4  # the attack is not blind


def losses_of_tables(pair, rho, runs):
    """The loss of a month's tables that do not follow from others, many times at once."""
    given = Parameters.choose(
        epsilon=Budget.choose(None, rho=rho, delta=SMALL), rho=rho, delta=SMALL,
        height=12, universe_size=len(TOWN), method="calibrated",
    )  # fmt: skip
    scope = Scope(len(TOWN), candidates=np.arange(len(TOWN)), popular=np.arange(len(TOWN)))
    loss = np.zeros(runs)
    for line in _single(MeasurementPlan.usual(given)):
        if not line.statistic.is_open(scope):
            continue
        stage, size = gate.Stage((line,), scope), line.statistic.size(scope)
        there, without = (
            gate.gathered(next(iter(table_counter(one).count_tables(stage))), size) for one in pair
        )
        changed = np.flatnonzero(there != without)  # noise on the others says nothing
        exact = np.tile(there[changed], runs)
        noisy = gate.dense_table(exact, line.noise, Randomness()).counts.reshape(runs, -1)
        far = (noisy - without[changed]) ** 2 - (noisy - there[changed]) ** 2
        loss += far.sum(axis=1) / (2 * float(line.noise.variance))
    return loss


def lost(folder, months, runs=2000):
    """The δ of so many months together, at the ε that follows from what was charged."""
    shares, epsilon = charged(folder, months)
    pairs = month_files(folder, months)
    loss = sum(losses_of_tables(pair, rho, runs) for pair, rho in zip(pairs, shares, strict=True))
    return excess(loss, epsilon)


def test_the_loss_over_a_series_keeps_what_the_ledger_charged(tmp_path):
    delta, error = lost(tmp_path, QUARTER)
    assert delta <= float(DELTA) + error


def test_months_whose_noise_is_that_of_a_single_release_are_caught(tmp_path, monkeypatch):
    whole = property(lambda series: series.total)
    monkeypatch.setattr(Series, "next_share", whole)
    monkeypatch.setattr(Series, "left", whole)
    delta, error = lost(tmp_path, QUARTER)
    assert delta - error > float(DELTA)


def test_months_that_charge_nothing_are_caught(tmp_path, monkeypatch):
    """The ledger forgets every month, so that there is always room for another."""
    monkeypatch.setattr(SeriesAccount, "charge", lambda *_: None)
    delta, error = lost(tmp_path, 3 * QUARTER)
    assert delta - error > float(DELTA)
