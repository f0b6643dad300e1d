"""A person who is in every month of a series: all releases together keep what the ledger charged.

The attacker of `pathveil audit` looks at the noisy tables of every month, each measured with the
share that the ledger gave, and adds its evidence up: no attack on the tables is stronger. Whoever
says "with" or "without" after every year is right with probability at most 1/2 + √(ρ/8), ρ being
that of the whole series (Pinsker's inequality); a lower bound on the former bounds ρ from below.
False alarms: 10⁻⁶.
"""

from fractions import Fraction

import numpy as np
import pytest

import pathveil as pv
from pathveil.audit.attacking import FALSE_ALARM, GUESSES, bounds_of
from pathveil.audit.noisy_tables import (
    CROWD,
    GRID,
    UNIVERSE,
    WALKER,
    _Attacker,
    _database,
    _everywhere,
    _of_rho,
)
from pathveil.core.budget import Budget
from pathveil.core.parameters import Parameters
from pathveil.gate import measure as gate
from pathveil.gate.randomness import Randomness
from pathveil.ledger.series import Series
from pathveil.statistics.measurement_plan import MeasurementPlan

MONTHS, RHO, YEARS = 12, "1/2", 96


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


def bound(folder):
    """A lower bound on the ρ of all months together, from what a person there in all of them adds.

    The first guess: with if the evidence of the year is for it.
    """
    plans = [
        MeasurementPlan.of(
            Parameters.choose(
                epsilon=Budget.choose(None, rho=rho, delta="1e-9"), rho=rho, delta="1e-9",
                height=8, universe_size=len(UNIVERSE), method="calibrated", time_grid=GRID,
            )
        )
        for rho in shares(folder)
    ]  # fmt: skip
    randomness = Randomness()
    databases = _database(CROWD), _database([*CROWD, WALKER])
    coins = randomness.words(YEARS) % 2 == 1
    attackers = [_Attacker(plan) for plan in plans]
    evidence = np.zeros(YEARS)
    for year in range(YEARS):
        for plan, attacker in zip(plans, attackers, strict=True):
            seen = gate.measure(databases[int(coins[year])], plan, _everywhere, randomness)
            evidence[year] += attacker.evidence(seen)[-1]
    found = bounds_of((evidence >= 0)[None, :], coins, FALSE_ALARM / len(GUESSES))
    return float(_of_rho(found).max())


@pytest.mark.long
def test_a_year_keeps_the_budget_of_the_series(tmp_path):
    assert bound(tmp_path) <= float(Fraction(RHO))


@pytest.mark.long
def test_a_series_that_gives_each_month_the_whole_is_caught(tmp_path, monkeypatch):
    """The mutant forgets to divide, and to take off what is spent: the year has twelve times ρ."""
    whole = property(lambda series: series.total)
    monkeypatch.setattr(Series, "next_share", whole)
    monkeypatch.setattr(Series, "left", whole)
    assert bound(tmp_path) > float(Fraction(RHO))


def test_the_shares_of_a_ledger_sum_to_the_series(tmp_path):
    assert sum(shares(tmp_path)) == Fraction(RHO)
