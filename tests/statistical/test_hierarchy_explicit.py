"""A level of two granularities equals noise and a test on each zone and each location in turn.

A level of many nodes, all with the same people below them, is as many independent repetitions.
Every assertion on the right process fails with probability 10⁻⁶.
"""

import numpy as np
import pytest
from tests.hierarchies import TAXONOMY, UNIVERSE
from tests.statistical.chi_square import ERROR, homogeneity

from pathveil.core.parameters import Parameters
from pathveil.gate import grow_hierarchy as gate
from pathveil.gate.add_noise import discrete_laplace
from pathveil.gate.randomness import Randomness
from pathveil.raw.engines.protocol import ExactCounts

NODES = 60_000
# X = {a, c}, Y = {b}, Z = {d, e, f}: a crowd, nobody, and a zone that is large and scattered.
COUNTS = np.array([9, 0, 1, 4, 0, 5])
PARAMETERS = Parameters.choose(
    epsilon="1",
    height=1,
    universe_size=len(UNIVERSE),
    threshold=3,
    taxonomy=TAXONOMY,
    method="full",
)
BOTH, THETA = PARAMETERS.sub_levels, PARAMETERS.threshold
ZONE, ABSENT = TAXONOMY.zone_of, -99


def by_the_gate():
    """Counts of zones, counts of locations and what is expanded; `ABSENT` where it is not kept."""
    visited = np.flatnonzero(COUNTS)
    exact = ExactCounts(
        np.repeat(np.arange(NODES), len(visited)),
        np.tile(visited, NODES).astype(np.int32),
        np.tile(COUNTS[visited], NODES),
    )
    zoning, randomness = gate.Zoning.of(PARAMETERS), Randomness()
    zones = gate.zone_table(exact, NODES * len(TAXONOMY), zoning, randomness)
    locations = gate.location_table(exact, zones, zoning, randomness, 10**9)
    level = gate.HybridLevel.of(zones, locations, np.arange(NODES), zoning)
    zone_counts = np.full((NODES, len(TAXONOMY)), ABSENT)
    zone_counts[level.node, level.zone] = level.zone_count
    counts = np.full((NODES, len(UNIVERSE)), ABSENT)
    counts[level.node[level.inside], level.location] = level.location_count
    expanded = np.zeros((NODES, len(UNIVERSE) + len(TAXONOMY)), dtype=np.bool_)
    grown = level.expanded
    expanded[level.survivors.parent[grown], level.survivors.location[grown]] = True
    return zone_counts, counts, expanded


def one_by_one():
    """The same by noise on every zone, and on every location whose zone was kept."""
    people = np.bincount(ZONE, COUNTS, len(TAXONOMY)).astype(np.int64)
    zones = people + discrete_laplace(
        NODES * len(TAXONOMY), BOTH.zone_epsilon, Randomness()
    ).reshape(NODES, -1)
    zones = np.where(zones >= BOTH.zone_threshold, zones, ABSENT)
    counts = COUNTS + discrete_laplace(
        NODES * len(UNIVERSE), BOTH.location_epsilon, Randomness()
    ).reshape(NODES, -1)
    counts = np.where((counts >= THETA) & (zones[:, ZONE] != ABSENT), counts, ABSENT)
    rest = zones.copy()
    for place, zone in enumerate(ZONE.tolist()):
        rest[:, zone] -= np.where(counts[:, place] != ABSENT, counts[:, place], 0)
    expanded = np.concatenate((counts, rest), axis=1) >= BOTH.zone_threshold
    return zones, counts, expanded


def patterns(zones, counts, expanded):
    """Which zones and locations are kept, and which zones go on."""
    bits = np.concatenate(
        (zones != ABSENT, counts != ABSENT, expanded[:, -len(TAXONOMY) :]), axis=1
    )
    return np.bincount(bits @ (1 << np.arange(bits.shape[1])), minlength=1 << bits.shape[1])


def grown(_zones, _counts, expanded):
    """How often each location and each zone is expanded."""
    return np.append(expanded.sum(axis=0), expanded.size - expanded.sum())


def counts_of(column):
    """The noisy counts of one zone (0 to 2) or location (from 3 on)."""

    def statistic(zones, counts, _expanded):
        table = np.concatenate((zones, counts), axis=1)[:, column]
        return np.bincount(np.clip(table, -1, 40) + 1, minlength=42)

    return statistic


STATISTICS = [patterns, grown, *(counts_of(column) for column in range(9))]


@pytest.fixture(scope="module")
def levels():
    return by_the_gate(), one_by_one()


@pytest.mark.parametrize("statistic", STATISTICS)
def test_a_level_equals_noise_on_each_zone_and_each_location_in_turn(levels, statistic):
    gate_level, explicit = levels
    assert homogeneity(statistic(*gate_level), statistic(*explicit)) > ERROR


def test_every_kind_of_cell_was_seen(levels):
    zones, counts, expanded = levels[0]
    assert np.all((zones != ABSENT).sum(axis=0) > 100)
    # Of b, in a zone that nobody visits, about 40 are expected.
    assert np.all((counts != ABSENT).sum(axis=0) > 5)
    assert np.all(expanded[:, -len(TAXONOMY) :].sum(axis=0) > 50)


def test_locations_with_the_noise_of_zones_thirty_percent_off_are_noticed(levels, monkeypatch):
    right = gate.location_table

    def wrong(exact, zones, zoning, randomness, room):
        off = zoning.sub_levels.location_epsilon * 13 / 10
        both = type(zoning.sub_levels)(
            zoning.sub_levels.zone_share,
            zoning.sub_levels.zone_epsilon,
            off,
            zoning.sub_levels.zone_threshold,
            zoning.sub_levels.zones,
            zoning.sub_levels.largest,
        )
        changed = gate.Zoning(zoning.taxonomy, both, zoning.threshold, zoning.invented)
        return right(exact, zones, changed, randomness, room)

    monkeypatch.setattr(gate, "location_table", wrong)
    level = by_the_gate()
    assert homogeneity(patterns(*level), patterns(*levels[1])) < ERROR
    assert homogeneity(counts_of(3)(*level), counts_of(3)(*levels[1])) < ERROR
