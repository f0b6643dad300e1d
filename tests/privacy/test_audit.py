"""The audit of the tree: the right code raises no alarm, and every mutant does, by name.

Each test takes a seventh of an audit's false-alarm probability, 10⁻⁶, so the six pairs of one
height and the unit with three trajectories together raise a false alarm with probability 10⁻⁶
at most.
"""

import pytest
from tests.privacy.mutants import MUTANTS
from tests.privacy.pairs import assert_neighbours, named

from pathveil.audit import a_unit_with_three, audit, neighbouring_pairs
from pathveil.audit.attacking import FALSE_ALARM
from pathveil.errors import ParameterError

PAIRS = (
    "bulk",
    "new location",
    "at the threshold",
    "long",
    "short-on-long",
    "empty database",
)
# At h = 1 the other three pairs repeat these: "long" and "short-on-long" move one crowded count
# like "bulk", and "empty database" fills one empty child like "new location".
TIGHT = ("bulk", "new location", "at the threshold")
SHARE = FALSE_ALARM / (len(PAIRS) + 1)


def pair_named(name, height):
    pairs = (*neighbouring_pairs("1", height), a_unit_with_three("1", height))
    return named(pairs, name)


def test_the_six_pairs_are_those_of_the_privacy_page():
    assert tuple(pair.name for pair in neighbouring_pairs()) == PAIRS


@pytest.mark.parametrize("height", [1, 3])
def test_the_two_databases_of_a_pair_differ_in_one_unit(height):
    assert_neighbours((*neighbouring_pairs("1", height), a_unit_with_three("1", height)))


@pytest.mark.parametrize("name", TIGHT)
def test_the_right_code_raises_no_alarm_at_height_1(name):
    report = audit(pairs=[pair_named(name, 1)], runs=16_384, false_alarm=SHARE)
    assert report.alarms == ()
    # The attack is strong: all of ε = 1 is there to be seen, and it sees most of it. (It would
    # see less than 0.6 with a probability below 10⁻⁹.)
    assert 0.6 < report.strongest.lower_bound <= 1


@pytest.mark.parametrize("name", [*sorted(set(PAIRS) - set(TIGHT)), "a unit with three"])
def test_the_right_code_raises_no_alarm_at_height_1_on_the_other_pairs(name):
    assert audit(pairs=[pair_named(name, 1)], runs=4096, false_alarm=SHARE).alarms == ()


@pytest.mark.long
@pytest.mark.parametrize("height", [1, 3])
@pytest.mark.parametrize("name", [*PAIRS, "a unit with three"])
def test_the_right_code_raises_no_alarm_on_any_pair(name, height):
    assert audit(pairs=[pair_named(name, height)], runs=16_384, false_alarm=SHARE).alarms == ()


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_the_audit_catches(mutant, monkeypatch):
    pair = pair_named(mutant.pair, mutant.height)
    broken = mutant.make(monkeypatch)
    for runs in (mutant.runs // 4, mutant.runs):  # most are caught long before the last run
        report = audit(broken, pairs=[pair], runs=runs, false_alarm=SHARE)
        if report.alarms:
            break
    assert report.alarms, f"{mutant.name} was not caught: {report.strongest}"
    assert report.alarms[0].lower_bound > report.claimed_epsilon


@pytest.mark.long
@pytest.mark.parametrize(
    "mutant",
    [m for m in MUTANTS if m.height == 1 and m.runs <= 4096 and "off by one" not in m.name],
    ids=lambda mutant: mutant.name,
)
def test_the_audit_catches_at_height_3(mutant, monkeypatch):
    pair = pair_named(mutant.pair, 3)
    report = audit(mutant.make(monkeypatch), pairs=[pair], runs=8192, false_alarm=SHARE)
    assert report.alarms, f"{mutant.name} was not caught: {report.strongest}"


def test_the_mutants_are_those_of_the_privacy_page():
    assert sorted(mutant.name for mutant in MUTANTS) == sorted(
        (
            "budget not divided by h",
            "universe read off the data",
            "empties never sampled",
            "threshold on the true count",
            "noise reused across levels",
            "height from the data",
            "empties off by one at θ",
            "no noise at one level",
            "exact |D| published",
            "continuous p_θ",
            "scale 10% off",
            "a person with three trajectories counted as one",
        )
    )


def test_a_report_says_what_a_reviewer_files():
    report = audit(runs=64)
    assert report.claimed_epsilon == 1
    assert report.height == 1
    assert report.runs == 64
    assert report.confidence == 1 - 1e-6
    assert report.events > 500
    assert report.alarms == ()
    assert report.strongest.pair in PAIRS


def test_an_audit_needs_something_to_run():
    with pytest.raises(ParameterError, match="64 runs"):
        audit(runs=10)
    with pytest.raises(ParameterError, match="pair"):
        audit(pairs=[])
