"""Visits that no noisy count can name: they are kept, and their zones have the right sums."""

from dataclasses import replace

import numpy as np
import pytest

from pathveil import Parameters, TrajectoryDatabase, Universe, publish
from pathveil.core.paths import Paths
from pathveil.gate.measure import measure
from pathveil.gate.randomness import Randomness
from pathveil.methods.calibrated.synthesis import unnamed as naming
from pathveil.methods.calibrated.synthesis.estimates import estimate
from pathveil.statistics import planner
from pathveil.statistics.constants import WORTH
from pathveil.statistics.measurement_plan import MeasurementPlan
from pathveil.statistics.statistic import Rows, Scope, Visit
from pathveil.statistics.zones import ZONES, blocks, blocks_of, zones_of
from pathveil.universe.taxonomy import Taxonomy

SIDE, PEOPLE = 110, 20_000
generator = np.random.default_rng  # noqa: TID251  (made-up people, and public draws)


@pytest.fixture(scope="module")
def town() -> TrajectoryDatabase:
    """12,100 cells, of which hardly one is visited by more than a handful; most people go west."""
    universe = Universe.read(f"grid:{SIDE}x{SIDE}:45.0,-74.0,46.0,-73.0")
    draw = generator(4)
    lengths = draw.integers(1, 6, PEOPLE)
    row = draw.integers(0, SIDE, lengths.sum())
    column = (SIDE * draw.random(lengths.sum()) ** 3).astype(np.int64)
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
    codes = (row * SIDE + column).astype(np.int32)
    # Somebody must stand out, or nothing is published at all.
    codes[draw.random(len(codes)) < 0.3] = SIDE * SIDE // 2
    return TrajectoryDatabase.from_arrays(offsets, codes, universe)


def visits(paths: Paths) -> np.ndarray:
    """How many go to each location."""
    weights = np.repeat(paths.weights, paths.lengths)
    return np.bincount(paths.codes, weights, SIDE * SIDE)


def test_sizes_and_sums_agree(town):
    """Cells sum to zones, and zones to what there is: without the table most visits are lost."""
    released = visits(publish(town, epsilon="1").paths())
    true = visits(town.paths())
    assert released.sum() == pytest.approx(true.sum(), rel=0.05)
    quarter = np.arange(SIDE * SIDE) % SIDE // (SIDE // 4 + 1)
    held = np.bincount(quarter, true) / true.sum()
    assert np.bincount(quarter, released) / released.sum() == pytest.approx(held, abs=0.05)
    assert held.max() > 2 * held.min()  # it had to be found out


def test_a_taxonomy_does_it_without_a_map(town):
    """Columns of the grid as zones that an agency names, and nothing else to go by."""
    universe = Universe(town.universe.labels)
    column = np.arange(SIDE * SIDE) % SIDE // 10
    taxonomy = Taxonomy.of(universe, [f"column {number}" for number in column])
    nowhere = TrajectoryDatabase.from_arrays(town.offsets, town.codes, universe)
    released, true = (
        np.bincount(column, visits(paths))
        for paths in (publish(nowhere, epsilon="1", taxonomy=taxonomy).paths(), town.paths())
    )
    assert released.sum() == pytest.approx(true.sum(), rel=0.05)
    assert released == pytest.approx(true, rel=0.25, abs=0.02 * true.sum())
    assert visits(publish(nowhere, epsilon="1").paths()).sum() < 0.8 * true.sum()


def test_without_zones_they_are_left_out(town, monkeypatch):
    """What the test above would see if the planner had not asked for the zones."""
    monkeypatch.setattr(planner, "WORTH", {**WORTH, "zones": 0.0})
    assert visits(publish(town, epsilon="1").paths()).sum() < 0.8 * len(town.codes)


def test_blocks_have_about_as_many_locations_each():
    points = generator(1).normal(size=(1000, 3))
    points[::10] = np.nan
    found = blocks(points, 16)
    assert (found[::10] == 16).all()
    sizes = np.bincount(found)[:16]
    assert sizes.sum() == 900
    assert sizes.max() - sizes.min() <= 4
    southern, northern = points[found == 0], points[found == 15]
    assert southern[:, 2].max() < northern[:, 2].min()


@pytest.mark.parametrize("by", ["a map", "a taxonomy"])
def test_the_cells_are_the_oracle_s_and_never_more_than_the_cap(by):
    draw = generator(2)
    size = 1000
    assert zones_of(size) > 1
    scope = Scope(size, points=draw.normal(size=(size, 3)))
    if by == "a taxonomy":
        named = [f"z{number}" for number in draw.integers(0, 30, size)]
        universe = Universe([f"s{code}" for code in range(size)])
        scope = replace(scope, taxonomy=Taxonomy.of(universe, named))
    lengths = draw.integers(0, 40, 200)
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
    codes = draw.integers(0, size, offsets[-1]).astype(np.int32)
    for cap in (1, 3, 12):
        row, cell = ZONES.row_cells(Rows(offsets, codes, size), scope, cap)
        for i in range(len(lengths)):
            own = [Visit(int(code)) for code in codes[offsets[i] : offsets[i + 1]]]
            expected = sorted(ZONES.oracle(own, scope, cap))
            assert sorted(cell[row == i].tolist()) == expected
            assert len(expected) <= ZONES.bound(cap).l1
            assert (np.bincount(expected, minlength=1) ** 2).sum() <= ZONES.bound(cap).squared_l2


def test_all_visits_may_lie_in_one_block():
    """So the bound in L2 is not that of the visits."""
    scope = Scope(1000, points=generator(2).normal(size=(1000, 3)))
    block = blocks_of(scope)
    alike = np.flatnonzero(block == 0)[:5].astype(np.int32)
    _, cell = ZONES.row_cells(Rows(np.array([0, 5]), alike, 1000), scope, 5)
    assert (np.bincount(cell) ** 2).sum() == ZONES.bound(5).squared_l2


def test_a_visit_is_placed_near_the_one_before_and_blocks_keep_their_sums():
    count, each = 4, 10
    block = np.repeat(np.arange(count), each)
    odds = np.ones(count * each)
    odds[::each] = 0.0  # the candidates: one in each block
    kernel = np.full((count, count), 0.01) + np.eye(count)
    places = naming.Unnamed(odds, block, kernel, has_zones=True)
    candidates = np.arange(count) * each
    rows = np.repeat(np.arange(count), 50)
    codes = np.column_stack((rows, np.full(len(rows), count))).ravel().astype(np.int32)
    paths = Paths(np.arange(len(rows) + 1) * 2, codes, np.full(len(rows), 3))
    named = naming.name_all(paths, candidates, places, generator(5))
    assert named.weights.sum() == 3 * len(rows)
    assert (named.lengths == 2).all()
    before, there = named.codes[::2], named.codes[1::2]
    assert not np.isin(there, candidates).any()
    at_home = np.repeat(block[before] == block[there], named.weights).mean()
    assert at_home > 0.9
    sums = np.bincount(block[there], named.weights, count)
    assert sums == pytest.approx(np.full(count, 150), abs=30)


def test_without_zones_who_would_be_empty_keeps_one_location():
    places = naming.Unnamed(np.array([0.0, 1.0, 1.0]), np.zeros(3, int), np.ones((1, 1)), False)
    paths = Paths(np.array([0, 2, 5]), np.array([1, 1, 0, 1, 0], np.int32), np.array([4, 2]))
    named = naming.name_all(paths, np.array([0]), places, generator(5))
    assert named.weights.sum() == 6
    assert named.weights[named.lengths == 1].sum() == 4
    assert named.codes[named.offsets[:-1][named.lengths == 2][0] :][:2].tolist() == [0, 0]


def test_copies_are_bounded(monkeypatch):
    monkeypatch.setattr(naming, "MOST_COPIES", 10)
    paths = Paths(np.array([0, 1, 2]), np.array([0, 1], np.int32), np.array([95, 3]))
    copied = naming._copies(paths, np.array([0, 1]))
    assert len(copied) <= 12
    assert np.bincount(copied.codes, copied.weights).tolist() == [95, 3]


def test_visits_are_left_out_if_every_location_is_named():
    """Sums may say that visits are missing where each location stands out of the noise."""
    draw, size = generator(6), 200
    rows = draw.integers(0, size, (40_000, 4))
    offsets = np.arange(len(rows) + 1) * 4
    universe = Universe([str(code) for code in range(size)])
    people = TrajectoryDatabase.from_arrays(offsets, rows.ravel().astype(np.int32), universe)
    seen = measure(
        people,
        MeasurementPlan.usual(Parameters.choose(epsilon="1", height=8, universe_size=size)),
        lambda _seen: np.arange(size),
        Randomness(generator(7)),
    )
    known = replace(estimate(seen), unnamed_visits=5000.0)
    places = naming.Unnamed.of(seen, known)
    paths = Paths(np.array([0, 2, 3]), np.array([3, size, size], np.int32), np.array([2, 1]))
    named = naming.name_all(paths, np.arange(size), places, generator(1))
    assert named.weights.sum() == 3
    assert (named.lengths == 1).all()
