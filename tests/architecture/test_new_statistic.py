"""A new statistic, the one of docs/architecture.md, is registered: everything picks it up.

Files touched: its own, the registry (a name), the constants (a share of ε), the docs (a row).
"""

import re
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from tests.property import test_sensitivity as sensitivity
from tests.unit import test_statistics as statistics

import pathveil as pv
from pathveil.audit import noisy_tables as audit
from pathveil.core.parameters import Parameters
from pathveil.promise.explanation import explain
from pathveil.statistics import measurement_plan, registry
from pathveil.statistics.measurement_plan import MeasurementPlan
from pathveil.statistics.registry import VISITS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
SHARE = Fraction(2, 100)


@pytest.fixture
def first_locations(monkeypatch):
    """The statistic of the page, registered after the total; the visits give of their share."""
    code = re.search(r"```python\n(import numpy.*?STATISTIC = .*?)```", PAGE, re.DOTALL).group(1)
    made = {}
    exec(compile(code, "first_locations.py", "exec"), made)
    new, old = made["STATISTIC"], registry.STATISTICS
    for name, module in list(sys.modules.items()):
        if name.startswith("pathveil.") and getattr(module, "STATISTICS", None) is old:
            monkeypatch.setattr(module, "STATISTICS", (old[0], new, *old[1:]))
    given = measurement_plan.SHARES[VISITS] - SHARE
    shares = measurement_plan.SHARES | {VISITS: given, new: SHARE}
    monkeypatch.setattr(measurement_plan, "SHARES", shares)
    return new


def test_the_plan_and_the_gate_measure_it_within_its_bound(first_locations, monkeypatch):
    plan = sensitivity.plan_of(10, 3)
    assert first_locations.name in [line.name for line in plan.lines()]
    assert sum(line.budget for line in plan.lines()) == 1
    found = sensitivity.changes(*sensitivity.neighbours(sensitivity.WALKER, 3), plan)
    assert sensitivity.too_large(found, plan) == set()
    assert abs(found[first_locations.name]).sum() == plan[first_locations].sensitivity == 3
    twice = lambda right, *seen: right(first_locations, *seen).repeat(2)
    sensitivity.broken(monkeypatch, first_locations, twice)
    assert sensitivity.caught(sensitivity.plan_of(10)) == {first_locations.name}


def test_its_cells_are_compared_with_its_oracle(first_locations):
    compare = statistics.test_the_cells_are_those_of_the_oracle_and_within_the_bound
    rows = [[], [(2, 0), (1, 3)], [(statistics.SIZE, 1), (0, 1)], [(0, 0)]]
    compare.hypothesis.inner_test(first_locations, rows, [0, 2], 3, 1)
    first_locations.__class__.oracle = lambda *_: iter([0])
    with pytest.raises(AssertionError):
        compare.hypothesis.inner_test(first_locations, rows, [0, 2], 3, 1)


@pytest.mark.usefixtures("first_locations")
def test_the_certificate_and_explain_tell_of_it():
    universe = pv.Universe("abc")
    people = [["a", "b"], ["c", "a"], ["b"]] * 200
    database = pv.TrajectoryDatabase.from_sequences(people, universe)
    certificate = pv.publish(database, epsilon="2", height=3).certificate
    lines = {line.measurement: line for line in certificate.accounting.budget}
    assert lines["noisy counts: first locations"].epsilon == str(2 * SHARE)
    assert certificate.adds_up()
    assert "first locations: where trajectories begin" in str(explain(certificate))


def test_the_audit_attacks_it(first_locations):
    parameters = Parameters.choose(
        epsilon="8",
        height=8,
        universe_size=len(audit.UNIVERSE),
        method="calibrated",
        time_grid=audit.GRID,
    )
    plan = MeasurementPlan.of(parameters)
    assert audit.table_claims(plan)[first_locations.name] == plan[first_locations].budget
    assert audit._Attacker(plan).known[first_locations].added.sum() == 1


def test_the_docs_are_told_that_they_lack_it(first_locations, monkeypatch):
    monkeypatch.setattr(statistics, "MEASURED", (*statistics.MEASURED, first_locations))
    monkeypatch.setattr(statistics, "SHARES", measurement_plan.SHARES)
    with pytest.raises(AssertionError, match="first locations: where trajectories begin"):
        statistics.test_the_tables_of_the_docs_are_those_of_the_registry()


def test_few_files_name_a_statistic():
    """Its own, the registry, its share; and what the synthesis does with this one in particular."""
    source = ROOT / "src" / "pathveil"
    named = re.compile(r'\bREACH\b|\bReach\b|"reach"|statistics\.reach\b')
    found = {
        path.relative_to(source).as_posix()
        for path in source.rglob("*.py")
        if named.search(path.read_text(encoding="utf-8"))
    }
    assert found == {
        "statistics/reach.py",
        "statistics/registry.py",
        "statistics/constants.py",
        "methods/calibrated/synthesis/target_cells.py",
    }
