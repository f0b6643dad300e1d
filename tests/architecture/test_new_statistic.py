"""A new statistic, the one of docs/architecture.md, is put into its place: everything picks it up.

Files touched: its own, the constants (a share of ε), the docs (a row).
"""

import re
import sys
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest
from tests.property import test_sensitivity as sensitivity
from tests.unit import test_statistics as unit_tests

import pathveil as pv
from pathveil import statistics
from pathveil.audit import noisy_tables as audit
from pathveil.core.parameters import Parameters
from pathveil.promise.explanation import explain
from pathveil.statistics import all_statistics, measurement_plan
from pathveil.statistics.constants import SHARES
from pathveil.statistics.measurement_plan import MeasurementPlan
from pathveil.statistics.shapes import LENGTHS
from pathveil.statistics.statistic import Statistic

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
SHARE = Fraction(2, 100)
# A line of the constants; the visits give of their share.
WITH_ITS_SHARE = {
    "first locations": SHARE,
    **SHARES,
    "visits": SHARES["visits"] - SHARE,
}


@pytest.fixture
def first_locations(monkeypatch, tmp_path):
    """The statistic of the page: a file among the others, and a share."""
    code = re.search(r"```python\n(import numpy.*?)```", PAGE, re.DOTALL).group(1)
    (tmp_path / "first_locations.py").write_text(code, encoding="utf-8")
    monkeypatch.setattr(statistics, "__path__", [*statistics.__path__, str(tmp_path)])
    monkeypatch.delitem(sys.modules, "pathveil.statistics.first_locations", raising=False)
    old = all_statistics.STATISTICS
    found = (*all_statistics.named(WITH_ITS_SHARE), *measurement_plan.LEVELS)
    assert found[1:] == old
    for name, module in list(sys.modules.items()):
        if name.startswith("pathveil.") and getattr(module, "STATISTICS", None) is old:
            monkeypatch.setattr(module, "STATISTICS", found)
    shares = {statistic: WITH_ITS_SHARE.get(statistic.name) for statistic in found}
    given = {statistic: share for statistic, share in shares.items() if share is not None}
    monkeypatch.setattr(measurement_plan, "SHARES", given)
    yield found[0]
    del sys.modules["pathveil.statistics.first_locations"]


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
    compare = unit_tests.test_the_cells_are_those_of_the_oracle_and_within_the_bound
    rows = [[], [(2, 0), (1, 3)], [(unit_tests.SIZE, 1), (0, 1)], [(0, 0)]]
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
    monkeypatch.setattr(unit_tests, "MEASURED", (first_locations, *unit_tests.MEASURED))
    monkeypatch.setattr(unit_tests, "SHARES", measurement_plan.SHARES)
    with pytest.raises(AssertionError, match="first locations: where trajectories begin"):
        unit_tests.test_the_tables_of_the_docs_are_those_that_are_measured()


def naming(statistic, folder, kinds):
    """The files below a folder that name a statistic: its value, its class, its name, its file."""
    name, file = statistic.name, statistic.name.replace(" ", "_")
    ways = (file.upper(), type(statistic).__name__, f'"{name}"', f"statistics.{file}", f"| {name}:")
    named = re.compile("|".join(rf"(?<!\w){re.escape(way)}(?!\w)" for way in ways))
    return {
        path.relative_to(ROOT).as_posix()
        for kind in kinds
        for path in (ROOT / folder).rglob(kind)
        if named.search(path.read_text(encoding="utf-8"))
    }


def test_three_files_name_a_statistic():
    """Its own, its share, its row; and what the synthesis does with this one in particular."""
    reach = next(one for one in all_statistics.STATISTICS if one.name == "reach")
    assert naming(reach, "src/pathveil", ["*.py"]) | naming(reach, "docs", ["*.md", "*.py"]) == {
        "src/pathveil/statistics/reach.py",
        "src/pathveil/statistics/constants.py",
        "docs/method.md",
        "src/pathveil/methods/calibrated/synthesis/target_cells.py",
    }


def test_every_statistic_of_the_package_is_measured():
    """A file whose statistic has no share is noticed."""
    found = set()
    for module in iter_modules(statistics.__path__):
        values = vars(import_module(f"pathveil.statistics.{module.name}")).values()
        found |= {value for value in values if isinstance(value, Statistic)}
    assert found - {LENGTHS} == {*unit_tests.MEASURED} - {*measurement_plan.LEVELS}
