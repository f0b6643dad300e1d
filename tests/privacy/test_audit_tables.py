"""The audit of the calibrated method's tables, as `pathveil audit` runs it: each keeps its share of
ε, and a mutant of each is caught by name.

Each audit takes a false-alarm probability of 10⁻⁶.
"""

from dataclasses import replace
from fractions import Fraction

import pytest

from pathveil.audit.noisy_tables import (
    GRID,
    TOGETHER,
    TREE,
    UNIVERSE,
    _Attacker,
    audit_tables,
    table_claims,
)
from pathveil.core.parameters import Parameters
from pathveil.errors import ParameterError
from pathveil.gate import add_noise
from pathveil.gate import measure as gate
from pathveil.statistics.measurement_plan import MeasurementPlan
from pathveil.statistics.pairs import PAIRS

PARAMETERS = Parameters.choose(
    epsilon="8", height=8, universe_size=len(UNIVERSE), method="calibrated", time_grid=GRID
)
RIGHT = MeasurementPlan.of
PLAN = RIGHT(PARAMETERS)
SINGLE = [line for line in PLAN.lines() if line not in PLAN.tree]
TABLES = [line.name for line in SINGLE]


def test_the_right_code_raises_no_alarm():
    report = audit_tables(runs=1024)
    assert report.alarms == ()
    assert [line.name for line in report.lines] == [*TABLES, TREE, TOGETHER]
    assert report.strongest.lower_bound > 0.4  # the attack is not blind


def test_every_measurement_of_the_plan_is_audited_and_the_claims_sum_to_epsilon():
    claims = table_claims(PLAN)
    assert set(claims) == {*TABLES, TREE}
    assert sum(claims.values()) == PARAMETERS.budget.epsilon == Fraction(8)


def test_the_walker_adds_as_much_to_every_table_as_a_trajectory_can():
    known = _Attacker(PLAN).known
    for line in SINGLE:
        assert known[line.statistic].added.sum() == line.sensitivity, line.name


def measured_with_all(names):
    """Tables measured with all of ε, each as if it were the only one and a unit added 1 to it."""

    def of(parameters):
        plan = RIGHT(parameters)
        for line in plan.lines():
            if line.name in names:
                whole = line.budget / parameters.budget.epsilon
                plan = plan.with_line(replace(line, sensitivity=whole))
        return plan

    return of


@pytest.mark.parametrize("name", [*TABLES, TREE])
def test_a_table_that_spends_too_much_is_caught(monkeypatch, name):
    names = [line.name for line in PLAN.tree] if name == TREE else [name]
    monkeypatch.setattr(MeasurementPlan, "of", measured_with_all(names))
    alarms = {alarm.pair for alarm in audit_tables(runs=512).alarms}
    assert alarms - {TOGETHER} == {name}


def test_a_sensitivity_that_is_forgotten_is_caught(monkeypatch):
    forgetful = PLAN.with_line(replace(PLAN[PAIRS], sensitivity=1))
    monkeypatch.setattr(MeasurementPlan, "of", lambda _parameters: forgetful)
    assert PAIRS.name in {alarm.pair for alarm in audit_tables(runs=1024).alarms}


def test_tables_without_noise_are_caught(monkeypatch):
    exact = lambda counts, epsilon, _randomness: add_noise.NoisyTable(
        gate.np.arange(len(counts)), counts, len(counts), epsilon
    )
    monkeypatch.setattr(gate, "dense_table", exact)
    report = audit_tables(runs=256)
    assert {"total", "shapes", "actions"} <= {alarm.pair for alarm in report.alarms}
    assert report.runs < 256  # it stops when it has found something


def test_an_audit_needs_some_runs():
    with pytest.raises(ParameterError, match="64 runs"):
        audit_tables(runs=63)
