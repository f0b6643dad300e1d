"""A person who is in every month of a series: all releases together keep what the ledger charged.

The walker of `pathveil audit` goes everywhere, every month. What it adds to the tables of a month,
measured by the real code with noise so small that it is 0, costs Σ added²/(2σ²) with the σ² of the
noise that the month's share buys; over all months that must not be more than the ρ of the series.
"""

from fractions import Fraction

import pytest

import pathveil as pv
from pathveil.audit.noisy_tables import GRID, UNIVERSE, _Attacker, _single
from pathveil.core.budget import Budget
from pathveil.core.parameters import Parameters
from pathveil.errors import LedgerError
from pathveil.ledger.series import Series
from pathveil.statistics.measurement_plan import MeasurementPlan

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
