"""The audit of a level that is noised range by range: ranges of one occupied cell each.

So small, every boundary that a level of millions has is in the few nodes of the pairs: empty
children before, between and after the ranges, and noise that is drawn anew for each.
"""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from tests.privacy.mutants import Mutant
from tests.privacy.pairs import assert_caught, assert_neighbours, named

from pathveil.audit import audit, front_door, neighbouring_pairs
from pathveil.audit.attacking import FALSE_ALARM
from pathveil.gate import add_noise
from pathveil.gate.add_noise import discrete_laplace
from pathveil.raw.database import TrajectoryDatabase


def between_two_crowds(height):
    """The unit is the only one at "b"; crowds are at "a" and "c"."""
    pair = named(neighbouring_pairs("1", height), "new location")
    data = pair.without
    offsets, codes = np.append(data.offsets, data.offsets[-1] + 1), np.append(data.codes, 1)
    with_unit = TrajectoryDatabase.from_arrays(offsets, codes, data.universe)
    return replace(pair, name="between two crowds", with_unit=with_unit, path=(1,))


def pairs(height):
    return (*neighbouring_pairs("1", height), between_two_crowds(height))


NAMES = [pair.name for pair in pairs(1)]
SHARE = FALSE_ALARM / (3 * len(NAMES))


@pytest.fixture(autouse=True)
def one_occupied_cell_a_range(monkeypatch):
    monkeypatch.setattr(add_noise, "MOST_OCCUPIED", 1)


def test_the_two_databases_of_a_pair_differ_in_one_unit():
    assert_neighbours(pairs(1))


@pytest.mark.parametrize("name", ["bulk", "new location", "between two crowds"])
def test_the_right_code_raises_no_alarm(name):
    assert audit(pairs=[named(pairs(1), name)], runs=4096, false_alarm=SHARE).alarms == ()


@pytest.mark.long
@pytest.mark.parametrize("height", [1, 3])
@pytest.mark.parametrize("name", NAMES)
def test_the_right_code_raises_no_alarm_on_any_pair(name, height):
    pair = named(pairs(height), name)
    assert audit(pairs=[pair], runs=4096, false_alarm=SHARE).alarms == ()


def _ranges_through(change, patch):
    """Every range but as ``change(range, is_last)`` makes it."""
    right = add_noise.ranges

    def changed(blocks, cells):
        for part in right(blocks, cells):
            yield change(part, part.end == cells)

    patch.setattr(add_noise, "ranges", changed)
    return front_door


def _forget_the_end(part, is_last):
    return replace(part, end=part.begin + len(part.occupied)) if is_last else part


def _forget_the_gaps(part, _is_last):
    if not len(part.occupied):
        return part
    skipped = int(part.occupied[0])
    return replace(part, begin=part.begin + skipped, occupied=part.occupied - skipped)


def noise_drawn_once(patch):
    """The noise of a level's first range serves all its ranges."""
    drawn = []

    def reuse(size, level_epsilon, randomness):
        if not drawn:
            drawn.append(discrete_laplace(1000, level_epsilon, randomness))
        return drawn[0][:size]

    def mechanism(database, parameters, randomness):
        drawn.clear()
        return front_door(database, parameters, randomness)

    patch.setattr(add_noise, "discrete_laplace", reuse)
    return mechanism


MUTANTS = (
    Mutant(
        "no empty child after the last range",
        partial(_ranges_through, _forget_the_end),
        "new location",
        1,
        4096,
    ),
    Mutant(
        "no empty child between two ranges",
        partial(_ranges_through, _forget_the_gaps),
        "between two crowds",
        1,
        4096,
    ),
    Mutant("one noise for all ranges", noise_drawn_once, "bulk", 1, 512),
)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_the_audit_catches(mutant, monkeypatch):
    assert_caught(mutant, pairs(mutant.height), SHARE, monkeypatch)
