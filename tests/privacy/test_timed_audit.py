"""The audit with times: the right code raises no alarm, and mistakes about times do.

The tests of one height share an audit's false-alarm probability, 10⁻⁶.
"""

import pytest
from tests.privacy.mutants import Mutant, budget_not_divided_by_h, empties_never_sampled
from tests.privacy.pairs import assert_caught, assert_neighbours, named
from tests.privacy.timed_mutants import TIMED_MUTANTS

from pathveil.audit import audit, timed_pairs
from pathveil.audit.attacking import FALSE_ALARM

PAIRS = tuple(pair.name for pair in timed_pairs())
SHARE = FALSE_ALARM / len(PAIRS)
# Mistakes that have nothing to do with times must show with times, too.
OTHERS = (
    Mutant("empties never sampled", empties_never_sampled, "new time", 1, 4096),
    Mutant("budget not divided by h", budget_not_divided_by_h, "bulk", 3, 2048),
)


def pair_named(name, height):
    return named(timed_pairs("1", height), name)


@pytest.mark.parametrize("height", [1, 3])
def test_the_two_databases_of_a_pair_differ_in_one_unit(height):
    assert_neighbours(timed_pairs("1", height))


@pytest.mark.parametrize("name", PAIRS)
def test_the_right_code_raises_no_alarm_at_height_1(name):
    assert audit(pairs=[pair_named(name, 1)], runs=4096, false_alarm=SHARE).alarms == ()


@pytest.mark.parametrize("name", PAIRS)
def test_the_right_code_raises_no_alarm_at_height_3(name):
    assert audit(pairs=[pair_named(name, 3)], runs=1024, false_alarm=SHARE).alarms == ()


@pytest.mark.long
@pytest.mark.parametrize("height", [1, 3])
@pytest.mark.parametrize("name", PAIRS)
def test_the_right_code_raises_no_alarm_in_many_runs(name, height):
    assert audit(pairs=[pair_named(name, height)], runs=16_384, false_alarm=SHARE).alarms == ()


@pytest.mark.parametrize("mutant", [*TIMED_MUTANTS, *OTHERS], ids=lambda mutant: mutant.name)
def test_the_audit_catches(mutant, monkeypatch):
    assert_caught(mutant, timed_pairs("1", mutant.height), SHARE, monkeypatch)
