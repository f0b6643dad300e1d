"""The audit of the planner: decisions at their edges; planners that cheat are caught.

Each audit takes a false-alarm probability of 10⁻⁶.
"""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from pathveil import Parameters, TrajectoryDatabase, publish
from pathveil.audit import planner_attack as planning
from pathveil.audit.noisy_tables import without_noise
from pathveil.audit.planner_attack import (
    EDGES,
    PLANNED_AGAIN,
    PLANNED_FIRST,
    UNIVERSE,
    audit_plan,
    exact_caps,
)
from pathveil.errors import ParameterError
from pathveil.gate import measure as gate
from pathveil.gate.randomness import Randomness
from pathveil.statistics.measurement_plan import Line, MeasurementPlan
from pathveil.statistics.planner import Planner
from pathveil.statistics.visits import VISITS

PARAMETERS = Parameters.choose(epsilon="1", universe_size=len(UNIVERSE))
USUAL = MeasurementPlan.usual(PARAMETERS)
FEW = (EDGES[0], EDGES[-1])  # one of each time of planning


def everywhere(_seen):
    return np.arange(len(UNIVERSE))


def turns(edge, people):
    """Whether the decision goes one way with so many people, and the other way with one more."""
    caps = [
        exact_caps(PARAMETERS, edge.kind, number, edge.when).get(edge.table, 0)
        for number in (people, people + 1)
    ]
    return (caps[0] >= edge.cap) != (caps[1] >= edge.cap)


def nearest(edge):
    """Where it turns now, by halving between a third and three times as many people."""
    few, many = edge.people // 3, 3 * edge.people
    as_few = exact_caps(PARAMETERS, edge.kind, few, edge.when).get(edge.table, 0) >= edge.cap
    while many - few > 1:
        middle = (few + many) // 2
        here = exact_caps(PARAMETERS, edge.kind, middle, edge.when).get(edge.table, 0)
        few, many = (middle, many) if (here >= edge.cap) == as_few else (few, middle)
    return few


@pytest.mark.parametrize("edge", EDGES, ids=lambda edge: f"{edge.when}, {edge.table}")
def test_one_person_turns_the_decision_on_exact_counts(edge):
    assert turns(edge, edge.people), f"it turns at {nearest(edge)}: write that into EDGES"


def test_both_times_of_planning_are_attacked_in_caps_and_in_what_is_measured():
    for when in (PLANNED_FIRST, PLANNED_AGAIN):
        edges = [edge for edge in EDGES if edge.when == when]
        assert any(edge.cap > 1 for edge in edges)
        assert any(edge.cap == 1 for edge in edges)


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(planning, "EDGES", FEW[:1])


@pytest.mark.usefixtures("quick")
def test_the_right_planner_raises_no_alarm():
    report = audit_plan(runs=64)
    assert report.alarms == ()
    assert [line.claim for line in report.lines] == [Fraction(9, 100)]


@pytest.mark.long
def test_the_right_planner_raises_no_alarm_at_any_edge():
    report = audit_plan(runs=2048)
    assert report.alarms == ()
    assert {line.claim for line in report.lines} == {Fraction(9, 100), Fraction(1)}


def peeking(parameters, database):
    """Plans from exact counts, as if they were the noisy ones."""
    right = Planner(parameters)

    def adapt(plan, seen):
        exact = gate.measure(database, without_noise(plan), everywhere, Randomness())
        tables = {
            statistic: replace(exact[statistic], noise=table.noise)
            for statistic, table in seen.tables.items()
        }
        return right(plan, replace(seen, tables=tables))

    return adapt


@pytest.mark.usefixtures("quick")
def test_a_planner_that_peeks_at_exact_counts_is_caught():
    assert audit_plan(runs=64, planner=peeking).alarms


@pytest.mark.long
def test_a_planner_that_peeks_is_caught_whenever_it_plans(monkeypatch):
    monkeypatch.setattr(planning, "EDGES", FEW)
    report = audit_plan(runs=16 * 128, planner=peeking)
    assert [line.is_alarm for line in report.lines] == [True, True]


def test_an_audit_needs_some_runs():
    with pytest.raises(ParameterError, match="64 runs"):
        audit_plan(runs=63)


# Planners that would spend more: the gate refuses their plans before anything more is measured.


def people(number=400):
    rows = [["a", "b", "a"], ["b", "c"], ["a", "b", "c", "d", "e"]] * number
    return TrajectoryDatabase.from_sequences(rows, UNIVERSE)


def measured_by(adapt):
    return gate.measure(people(), USUAL, everywhere, Randomness(), adapt=adapt)


def overspending(plan, seen):
    """Gives every table that is to come twice its budget."""
    right = Planner(PARAMETERS)(plan, seen)
    return replace(
        right,
        measurements=tuple(
            line
            if line.statistic in seen
            else Line.of(line.statistic, line.cap, 2 * line.budget, line.contribution)
            for line in right.lines()
        ),
    )


def saving(plan, _seen):
    """Leaves the last table out: the total would depend on what was seen."""
    return replace(plan, measurements=plan.measurements[:-1])


def looking_again(plan, seen):
    """Replans the visits after they were measured, for the budget of all that is left."""
    if VISITS not in seen:
        return plan
    spent = [line for line in plan.lines() if line.statistic in seen]
    left = plan.budget - sum(line.budget for line in spent)
    again = Line.of(VISITS, 1, left, plan.contribution)
    return replace(plan, measurements=(*spent, again))


def rewriting(plan, _seen):
    """Says that what was measured had cost less, and spends the difference."""
    first, *others, last = plan.lines()
    cheaper = replace(first, budget=first.budget / 2)
    richer = Line.of(last.statistic, last.cap, last.budget + first.budget / 2, last.contribution)
    return replace(plan, measurements=(cheaper, *others, richer))


def insensitive(plan, _seen):
    """Scales the noise of a table to less than its cap lets through."""
    line = plan[VISITS]
    return plan.with_line(replace(line, sensitivity=1))


def uncapped(plan, _seen):
    """Raises a cap, and leaves the noise as it was."""
    line = plan[VISITS]
    return plan.with_line(replace(line, cap=10 * line.cap))


@pytest.mark.parametrize(
    "planner", [overspending, saving, looking_again, rewriting, insensitive, uncapped]
)
def test_a_plan_that_would_not_keep_the_promise_is_refused(planner):
    with pytest.raises(ValueError, match=r"plan|line"):
        measured_by(planner)


@pytest.mark.parametrize("planner", [overspending, saving])
def test_without_the_refusal_the_certificate_would_tell(planner, monkeypatch):
    """It is written from the lines that were measured, not from what was asked for."""
    monkeypatch.setattr(MeasurementPlan, "adapted", lambda _self, other, _spent: other)
    monkeypatch.setattr("pathveil.publishing.Planner", lambda *_, **__: planner)
    told = publish(people(), epsilon="1").certificate.privacy_loss.privacy_parameters.epsilon
    assert (Fraction(told) > 1) == (planner is overspending)
    assert Fraction(told) != 1


def test_the_right_planner_is_never_refused():
    for number in (1, 10, 100, 1000):
        seen = gate.measure(
            people(number), USUAL, everywhere, Randomness(), adapt=Planner(PARAMETERS)
        )
        assert seen.plan.budget == 1
        assert set(seen.tables) <= {line.statistic for line in seen.plan.lines()}
