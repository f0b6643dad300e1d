"""The audit on neighbours that are files: the right reader raises no alarm, and broken ones do.

Each test takes a sixth of an audit's false-alarm probability, 10⁻⁶.
"""

from collections import Counter
from itertools import pairwise

import pytest
from tests.privacy.pairs import named
from tests.theorem.mutants import MUTANTS

from pathveil.audit import audit, from_rows, raw_pairs
from pathveil.audit.attacking import FALSE_ALARM

NAMES = (
    "ties",
    "one unit in seven spellings",
    "mixed types",
    "mixed types in SQLite",
    "over the cap",
    "discovery",
)
SHARE = FALSE_ALARM / len(NAMES)


def trips(database):
    """The multiset of trajectories, by labels."""
    labels, offsets = database.universe.labels, database.offsets.tolist()
    places = [labels[code % len(labels)] for code in database.codes.tolist()]
    return Counter(tuple(places[a:b]) for a, b in pairwise(offsets))


@pytest.mark.parametrize("height", [1, 3])
def test_the_two_files_of_a_pair_give_databases_that_differ_in_one_unit(height):
    pairs = raw_pairs("1", height)
    assert tuple(pair.name for pair in pairs) == NAMES
    for pair in pairs:
        without, with_unit = trips(pair.without), trips(pair.with_unit)
        assert not without - with_unit, pair.name
        assert (with_unit - without).total() <= pair.parameters.max_trajectories_per_unit
        assert without.total() >= pair.counts[0] > 0


@pytest.mark.parametrize("name", NAMES)
def test_the_right_reader_raises_no_alarm(name):
    pair = named(raw_pairs(), name)
    assert audit(from_rows, pairs=[pair], runs=1024, false_alarm=SHARE).alarms == ()


@pytest.mark.long
@pytest.mark.parametrize("height", [1, 3])
@pytest.mark.parametrize("name", NAMES)
def test_the_right_reader_raises_no_alarm_in_many_runs(name, height):
    pair = named(raw_pairs("1", height), name)
    assert audit(from_rows, pairs=[pair], runs=8192, false_alarm=SHARE).alarms == ()


@pytest.mark.parametrize(
    "mutant", [mutant for mutant in MUTANTS if mutant.pair], ids=lambda mutant: mutant.name
)
def test_the_audit_catches(mutant, monkeypatch):
    mutant.make(monkeypatch)
    pair = named(raw_pairs(), mutant.pair)
    report = audit(from_rows, pairs=[pair], runs=1024, false_alarm=SHARE)
    assert report.alarms, f"{mutant.name} was not caught: {report.strongest}"


def test_every_pair_has_a_mutant_that_it_catches():
    assert {mutant.pair for mutant in MUTANTS if mutant.pair} == set(NAMES)
