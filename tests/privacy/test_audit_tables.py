"""The audit of the calibrated method's tables, as `pathveil audit` runs it.

Each audit takes a false-alarm probability of 10⁻⁶.
"""

from dataclasses import replace
from fractions import Fraction

import pytest

from pathveil.audit.tables import TOGETHER, TREE, _Attacker, audit_tables, table_claims
from pathveil.errors import ParameterError
from pathveil.mechanism import measure as gate
from pathveil.mechanism import noisy_table
from pathveil.model.measurement_plan import MeasurementPlan
from pathveil.model.parameters import Parameters

PARAMETERS = Parameters.choose(epsilon="8", height=8, universe_size=8, method="calibrated")
PLAN = MeasurementPlan.of(PARAMETERS)
TABLES = [line.name for line in PLAN.lines() if line not in PLAN.tree]


def test_the_right_code_raises_no_alarm():
    report = audit_tables(runs=1024)
    assert report.alarms == ()
    assert [line.name for line in report.lines] == [*TABLES, TREE, TOGETHER]
    # The attack is not blind: over 16 audits it saw 1.28 on average, deviation 0.19, so this
    # fails about once in 10⁵ times.
    assert report.strongest.lower_bound > 0.4


def test_every_measurement_of_the_plan_is_audited_and_the_claims_sum_to_epsilon():
    claims = table_claims(PLAN)
    assert set(claims) == {*TABLES, TREE}
    assert sum(claims.values()) == PARAMETERS.budget.epsilon == Fraction(8)


def test_the_walker_adds_as_much_to_every_table_as_a_trajectory_can():
    known = _Attacker(PLAN)._known
    for line in PLAN.lines():
        if line not in PLAN.tree:
            attribute = line.name.replace(" ", "_")
            assert known[attribute].added.sum() == line.sensitivity, line.name


def forget_sensitivity(plan, attribute):
    return replace(plan, **{attribute: replace(getattr(plan, attribute), sensitivity=1)})


@pytest.mark.parametrize(
    "name", [line.name for line in PLAN.lines() if line.sensitivity > 1 and line not in PLAN.tree]
)
def test_a_table_whose_sensitivity_is_forgotten_is_caught(monkeypatch, name):
    right = MeasurementPlan.of
    mutant = lambda parameters: forget_sensitivity(right(parameters), name.replace(" ", "_"))
    monkeypatch.setattr(MeasurementPlan, "of", mutant)
    report = audit_tables(runs=2048)
    assert name in {alarm.pair for alarm in report.alarms}


def test_tables_without_noise_are_caught(monkeypatch):
    exact = lambda counts, epsilon, _randomness: noisy_table.NoisyTable(
        gate.np.arange(len(counts)), counts, len(counts), epsilon
    )
    monkeypatch.setattr(gate, "dense_table", exact)
    report = audit_tables(runs=256)
    assert {"total", "shapes", "actions"} <= {alarm.pair for alarm in report.alarms}
    assert report.runs < 256  # it stops when it has found something


def test_an_audit_needs_some_runs():
    with pytest.raises(ParameterError, match="64 runs"):
        audit_tables(runs=63)
