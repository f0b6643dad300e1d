"""The property test can fail: every breach that was found is caught by it, by name."""

import pytest
from tests.theorem import people
from tests.theorem.mutants import MUTANTS
from tests.theorem.product import BreachError, Case, Setting, check, expect_refusal
from tests.theorem.sources import SOURCES, Place


def case_of(mutant):
    source = next(source for source in SOURCES if source.name == mutant.source)
    return Case(source, mutant.universe, mutant.split, "first", "memory", mutant.timed, 1)


def attempt(case, place):
    """Every neighbour that the property test tries on this combination, at every place."""
    setting = Setting.of(case, place)
    if case.refusal is not None:
        expect_refusal(setting)
        return
    before = setting.trajectories(setting.rows)
    columns, land = case.source.columns, setting.land
    check(setting, before, people.flood(columns, land.labels, points=land.points), "everywhere")
    for hostile in people.one_by_one(columns, land.labels, points=land.points):
        check(setting, before, hostile, "beginning")


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_the_property_test_catches(mutant, monkeypatch, tmp_path):
    mutant.make(monkeypatch)
    case = case_of(mutant)
    # A refusal that is expected and does not come is a failure of pytest's own.
    caught = BreachError if case.refusal is None else pytest.fail.Exception
    with pytest.raises(caught, match=mutant.shows):
        attempt(case, Place(tmp_path))


@pytest.mark.long
@pytest.mark.parametrize("case", {str(c): c for c in map(case_of, MUTANTS)}.values(), ids=str)
def test_the_real_code_passes_where_the_mutants_are_caught(case, tmp_path):
    attempt(case, Place(tmp_path))
