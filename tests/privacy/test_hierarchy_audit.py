"""The audit with zones: the right code raises no alarm, and mistakes about zones do.

The tests of one height share an audit's false-alarm probability, 10⁻⁶.
"""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from tests.privacy.mutants import Mutant, budget_not_divided_by_h
from tests.privacy.pairs import assert_caught, assert_neighbours, named

from pathveil.audit import Mechanism, audit, front_door, zoned_pairs
from pathveil.audit.attacking import FALSE_ALARM
from pathveil.core import parameters as public
from pathveil.core import thresholds
from pathveil.core.thresholds import SubLevels
from pathveil.gate import add_noise
from pathveil.gate import grow_hierarchy as gate
from pathveil.gate.add_noise import passing_empty_nodes
from pathveil.raw.engines.protocol import ExactCounts
from pathveil.statistics.noisy_table import NoisyTable

PAIRS = tuple(pair.name for pair in zoned_pairs())
SHARE = FALSE_ALARM / len(PAIRS)


def each_step_spends_the_whole_level(patch: pytest.MonkeyPatch) -> Mechanism:
    """Zones and locations both get the noise of a level that is measured once."""
    right = SubLevels.of

    def of(taxonomy, level_epsilon):
        both = right(taxonomy, level_epsilon)
        return SubLevels(
            both.zone_share,
            level_epsilon,
            level_epsilon,
            both.zone_threshold,
            both.zones,
            both.largest,
        )

    patch.setattr(public.SubLevels, "of", of)
    return front_door


def _never_in_a_table_of(patch: pytest.MonkeyPatch, which: str) -> Mechanism:
    """No empty cell passes in one of the two tables of a level."""
    right, none, inside = getattr(gate, which), np.empty(0, dtype=np.int64), []

    def table(*arguments):
        inside.append(True)
        try:
            return right(*arguments)
        finally:
            inside.pop()

    def passing(*arguments):
        return (none, none) if inside else passing_empty_nodes(*arguments)

    patch.setattr(gate, which, table)
    patch.setattr(add_noise, "passing_empty_nodes", passing)
    return front_door


def zones_that_nobody_visits_are_never_kept(patch: pytest.MonkeyPatch) -> Mechanism:
    """Only zones with a true count can pass."""
    return _never_in_a_table_of(patch, "zone_table")


def locations_that_nobody_visits_are_never_kept(patch: pytest.MonkeyPatch) -> Mechanism:
    """Below a zone only locations with a true count can pass."""
    return _never_in_a_table_of(patch, "location_table")


def zones_are_refined_by_their_true_count(patch: pytest.MonkeyPatch) -> Mechanism:
    """A zone is kept by its noisy count, but refined only if its exact one reaches θ."""
    right = gate.location_table

    def location_table(exact: ExactCounts, zones: NoisyTable, zoning, randomness, room):
        taxonomy, both = zoning.taxonomy, zoning.sub_levels
        cell = exact.node * len(taxonomy) + taxonomy.zone_of[exact.location]
        true = np.array([exact.count[cell == key].sum() for key in zones.keys], dtype=np.int64)
        found = right(exact, zones, zoning, randomness, room)
        sizes = taxonomy.sizes[zones.keys % len(taxonomy)]
        refined = np.repeat(true >= both.zone_threshold, sizes)[found.keys]
        return NoisyTable(
            found.keys[refined],
            found.counts[refined],
            found.cells,
            found.noise,
            found.threshold,
        )

    patch.setattr(gate, "location_table", location_table)
    return front_door


def rests_go_on_by_their_true_count(patch: pytest.MonkeyPatch) -> Mechanism:
    """A zone is kept by its noisy count; who is left in it goes on only if they really are many."""
    zone_table, right, counted = gate.zone_table, gate.HybridLevel.of, []

    def remembering(exact, pairs, zoning, randomness):
        counted.append(exact)
        return zone_table(exact, pairs, zoning, randomness)

    def of(zones, locations, above, zoning):
        exact, level = counted[-1], right(zones, locations, above, zoning)
        cell = exact.node * len(zoning.taxonomy) + zoning.taxonomy.zone_of[exact.location]
        true = np.array([exact.count[cell == key].sum() for key in zones.keys], dtype=np.int64)
        is_many = np.concatenate(
            (true >= zoning.sub_levels.zone_threshold, np.ones(len(locations.keys), dtype=np.bool_))
        )
        many = is_many[level.position[level.expanded]]
        return replace(level, expanded=level.expanded[many])

    patch.setattr(gate, "zone_table", remembering)
    patch.setattr(gate.HybridLevel, "of", of)
    return front_door


MUTANTS = (
    Mutant("each step spends all", each_step_spends_the_whole_level, "bulk", 1, 2048),
    Mutant("empty zones", zones_that_nobody_visits_are_never_kept, "new zone", 1, 4096),
    Mutant("empty locations", locations_that_nobody_visits_are_never_kept, "new location", 1, 4096),
    Mutant(
        "refined by the true count",
        zones_are_refined_by_their_true_count,
        "zone at the threshold",
        1,
        512,
    ),
    Mutant(
        "rest by the true count", rests_go_on_by_their_true_count, "rest at the threshold", 3, 512
    ),
    # A mistake that has nothing to do with zones must show with zones, too.
    Mutant("budget not divided by h", budget_not_divided_by_h, "bulk", 3, 4096),
)


def pair_named(name, height):
    return named(zoned_pairs("1", height), name)


@pytest.mark.parametrize("height", [1, 3])
def test_the_two_databases_of_a_pair_differ_in_one_unit(height):
    assert_neighbours(zoned_pairs("1", height))


@pytest.mark.parametrize("name", PAIRS)
def test_the_right_code_raises_no_alarm_at_height_1(name):
    assert audit(pairs=[pair_named(name, 1)], runs=2048, false_alarm=SHARE).alarms == ()


@pytest.mark.long
@pytest.mark.parametrize("name", PAIRS)
def test_the_right_code_raises_no_alarm_at_height_3(name):
    assert audit(pairs=[pair_named(name, 3)], runs=512, false_alarm=SHARE).alarms == ()


@pytest.mark.long
@pytest.mark.parametrize("height", [1, 3])
@pytest.mark.parametrize("name", PAIRS)
def test_the_right_code_raises_no_alarm_in_many_runs(name, height):
    assert audit(pairs=[pair_named(name, height)], runs=16_384, false_alarm=SHARE).alarms == ()


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_the_audit_catches(mutant, monkeypatch):
    # A lower threshold of the zones: empty ones pass more often, and fewer runs show them.
    monkeypatch.setattr(thresholds, "INVENTED_ZONES", Fraction(1))
    assert_caught(mutant, zoned_pairs("1", mutant.height), SHARE, monkeypatch)
