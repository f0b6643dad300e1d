"""The public map as a prior for moves: neighbours, the decay, and what a release gains by it."""

import numpy as np
import pytest
from bench.regime_simulators import World

from pathveil import TrajectoryDatabase, Universe, publish
from pathveil.methods.calibrated.synthesis import gravity
from pathveil.methods.calibrated.synthesis.gravity import Neighbourhood, unmeasured_moves
from pathveil.methods.calibrated.synthesis.movement_model import unlisted_to
from pathveil.statistics.denoise import Estimates
from pathveil.statistics.distances import STEP_ENDS
from pathveil.trials.evaluation.compared import Figures
from pathveil.trials.evaluation.scores import jensen_shannon
from pathveil.universe.coordinates import points_on_earth


def seeded(seed):
    return np.random.default_rng(seed)  # noqa: TID251  (no privacy rests on a test)


def grid(side):
    """Points of a square grid, about 1 km apart."""
    row, column = np.divmod(np.arange(side * side), side)
    return points_on_earth(0.009 * row, 0.009 * column)


def distances(points):
    return np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=-1))


@pytest.mark.parametrize(("count", "most"), [(3, 2), (60, 5), (60, 59), (200, 17)])
def test_neighbours_are_the_nearest_ones(monkeypatch, count, most):
    monkeypatch.setattr(gravity, "LEAST_NEIGHBOURS", most)
    monkeypatch.setattr(gravity, "MOST_NEIGHBOUR_PAIRS", 0)
    draw = seeded(count)
    points = points_on_earth(draw.uniform(-80, 80, count), draw.uniform(-180, 180, count))
    near, far = Neighbourhood.of(points), distances(points)
    np.fill_diagonal(far, np.inf)
    for location in range(count):
        found = near.second[near.first == location]
        assert found.tolist() == sorted(np.argsort(far[location])[:most].tolist())


def test_memory_is_bounded_by_the_number_of_pairs(monkeypatch):
    monkeypatch.setattr(gravity, "MOST_NEIGHBOUR_PAIRS", 5_000)
    near = Neighbourhood.of(grid(20))
    assert len(near.first) == 400 * gravity.LEAST_NEIGHBOURS


def test_locations_at_one_place_are_neighbours():
    points = points_on_earth(np.zeros(4), np.array([0.0, 0.0, 0.0, 1.0]))
    near = Neighbourhood.of(points)
    step = dict(
        zip(zip(near.first.tolist(), near.second.tolist(), strict=True), near.step, strict=True)
    )
    assert step[0, 1] == step[1, 2] == 0
    assert step[0, 3] > 0


def test_a_map_without_places_is_none():
    nowhere = np.full((5, 3), np.nan)
    assert Neighbourhood.of(nowhere) is None
    nowhere[:2] = grid(2)[:2]
    assert Neighbourhood.of(nowhere) is None


def moves_between(points, decay, draw):
    """Moves by popularity and distance: true counts, shape (n, n)."""
    popularity = draw.permutation(1 / np.arange(1, len(points) + 1))
    expected = popularity[:, None] * popularity * decay(distances(points))
    np.fill_diagonal(expected, 0.0)
    return draw.poisson(2e6 * expected / expected.sum())


def shared_out(true, points, threshold=300):
    """What the map makes of the counts above a threshold; the listed ones among it."""
    count = len(true)
    keys = np.flatnonzero(true.ravel() >= threshold)
    listed = true.ravel()[keys].astype(np.float64)
    coming = true.sum(axis=0).astype(np.float64)
    far = np.nan_to_num(distances(points) ** 2, nan=np.inf)
    step = np.searchsorted(STEP_ENDS, far, "right")
    told = np.bincount(step.ravel(), true.ravel(), len(STEP_ENDS) + 1)
    found = unmeasured_moves(
        Neighbourhood.of(points),
        keys,
        listed,
        true.sum(axis=1).astype(float),
        coming,
        Estimates(told, np.full(len(told), 200.0)),
    )
    made = np.zeros((count, count))
    made.ravel()[keys] = listed
    made[found.first, found.second] += found.moves
    return made, found


def divergence(one, other):
    """Jensen-Shannon, in bits."""
    p, q = one.ravel() / one.sum(), other.ravel() / other.sum()
    mixture = (p + q) / 2
    return sum(0.5 * s[s > 0] @ np.log2(s[s > 0] / mixture[s > 0]) for s in (p, q))


def by_popularity(true, threshold=300):
    """The same without a map: what is missing goes to whom many come to."""
    listed = np.where(true >= threshold, true, 0)
    missing = (true - listed).sum(axis=1, keepdims=True)
    return listed + missing * true.sum(axis=0) / true.sum()


def test_a_decay_is_found_in_what_was_measured():
    points = grid(16)
    true = moves_between(points, lambda far: np.exp(-far / 1.5), seeded(1))
    made, found = shared_out(true, points)
    assert divergence(true, made) < 0.3 * divergence(true, by_popularity(true))
    assert made.sum() == pytest.approx(true.sum())
    told = found.decay[found.decay != found.decay[0]]  # nobody is nearer than the grid's width
    assert told[0] > 20 * told[-1]


def test_a_map_that_explains_nothing_changes_nothing():
    points = grid(16)
    true = moves_between(points, np.ones_like, seeded(2))
    made, found = shared_out(true, points)
    assert found.decay.max() < 1.15
    assert divergence(true, made) < 1.05 * divergence(true, by_popularity(true))


def test_far_away_is_not_lost_among_few_neighbours(monkeypatch):
    """With fewer neighbours than locations the rest goes elsewhere, as much as does in truth."""
    monkeypatch.setattr(gravity, "MOST_NEIGHBOUR_PAIRS", 0)
    points = grid(16)
    true = moves_between(points, lambda far: np.exp(-far / 1.5), seeded(3))
    made, found = shared_out(true, points)
    assert len(found.first) < 256 * gravity.LEAST_NEIGHBOURS
    assert made.sum() + found.elsewhere.sum() == pytest.approx(true.sum())
    beyond = true[(made == 0) & (true < 300)].sum()
    assert found.elsewhere.sum() == pytest.approx(beyond, rel=0.35)


def test_who_has_no_place_on_the_map_is_left_for_anywhere():
    points = grid(16)
    points[7] = np.nan
    true = moves_between(grid(16), lambda far: np.exp(-far / 1.5), seeded(4))
    made, found = shared_out(true, points)
    assert found.elsewhere[7] > 0
    assert not np.isin(found.first, 7).any()
    assert made.sum() + found.elsewhere.sum() == pytest.approx(true.sum())


@pytest.mark.parametrize("people", [2_000, 30_000])
def test_a_release_with_a_map_knows_the_way_of_walkers_better(people):
    """From trajectories to the release: with coordinates their steps are told far better.

    Of few people not one move stands out of the noise; how far they go does.
    """
    world = World("grid", people, 100, "6.7")
    found = {}
    for with_map in (False, True):
        database = world.database(with_map=with_map)
        released = publish(database, epsilon="1", method="calibrated", generator=seeded(1))
        found[with_map] = jensen_shannon(
            Figures(database).transitions, Figures(released).transitions
        )
    assert found[True] < 0.7 * found[False]


def test_coordinates_without_places_release_the_same():
    """Two locations on a map are no map: the release is bit for bit that without one."""
    rows = World("commuters", 2_000, 20, "6.7").database(with_map=False)
    latitude = np.full(20, np.nan)
    latitude[:2] = 45.0
    placed = Universe(rows.universe.labels, latitude=latitude, longitude=latitude)
    one, other = (
        publish(
            TrajectoryDatabase.from_arrays(rows.offsets, rows.codes, universe),
            epsilon="4", height=6, method="calibrated", generator=seeded(2),
        ).paths()
        for universe in (rows.universe, placed)
    )  # fmt: skip
    assert one.codes.tolist() == other.codes.tolist()
    assert one.weights.tolist() == other.weights.tolist()


@pytest.mark.parametrize("side", [2, 3])
def test_nothing_is_shared_out_if_every_move_is_listed(side):
    points = grid(side)
    true = 1000 * (1 - np.eye(len(points), dtype=np.int64))
    made, found = shared_out(true, points)
    assert np.array_equal(made, true)
    assert not len(found.moves)
    assert not found.elsewhere.any()


def test_who_has_nowhere_left_to_go_goes_nowhere():
    """All moves from one location are listed, and noise says that more leave it: no overflow."""
    points, count = grid(4), 16
    first, second = np.nonzero(~np.eye(count, dtype=bool))
    keys = first * count + second
    leaving = np.full(count, 15.0)
    leaving[3] = 1e9
    with np.errstate(all="raise", under="ignore"):
        found = unmeasured_moves(
            Neighbourhood.of(points),
            keys,
            np.ones(len(keys)),
            leaving,
            leaving,
            Estimates(np.ones(len(STEP_ENDS) + 1), np.ones(len(STEP_ENDS) + 1)),
        )
    assert not found.moves.any()
    assert not found.elsewhere.any()


def test_whom_listed_moves_bring_does_not_come_by_others_too():
    coming = np.array([1000.0, 1000.0, 10.0])
    listed = Estimates(np.array([900.0, 100.0]), np.array([100.0, 300.0]), np.array([1, 3]))
    left = unlisted_to(coming, np.array([0, 0]), listed)
    # All to the first by listed moves: what noise and the least background leave.
    assert left[0] == pytest.approx(0.25 * 20 + 0.02 * 1000)
    assert left[1] == pytest.approx(1020)
    assert left[2] > 0
