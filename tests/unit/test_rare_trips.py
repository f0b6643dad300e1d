"""Trips below the threshold: the months before tell them as far as they are right."""

import numpy as np
import pytest

import pathveil as pv
from pathveil.core.parameters import Parameters
from pathveil.gate import measure as gate
from pathveil.gate.randomness import Randomness
from pathveil.methods.calibrated.synthesis.canonical import SmallPaths
from pathveil.methods.calibrated.synthesis.earlier import Earlier
from pathveil.methods.calibrated.synthesis.estimates import Estimated, choose_candidates
from pathveil.methods.calibrated.synthesis.missing_trips import with_missing_trips
from pathveil.methods.calibrated.synthesis.rare_trips import trips_over_time
from pathveil.statistics.denoise import Estimates
from pathveil.statistics.measurement_plan import MeasurementPlan
from pathveil.statistics.statistic import Scope
from pathveil.statistics.trips import TRIPS, Trips

STOPS, RIDERS = 80, 8_000
UNIVERSE = pv.Universe([f"s{code:02}" for code in range(STOPS)])


def city(seed, shift=0):
    """Who sets out at a stop ends at one of four others, with a stop anywhere between."""
    draw = np.random.default_rng(seed)  # noqa: TID251
    start, between = draw.integers(0, STOPS, (2, RIDERS))
    end = (start + shift + draw.integers(1, 5, RIDERS)) % STOPS
    codes = np.stack([start, between, end], axis=1).ravel().astype(np.int32)
    offsets = 3 * np.arange(RIDERS + 1, dtype=np.int64)
    return pv.TrajectoryDatabase.from_arrays(offsets, codes, UNIVERSE)


def true_trips(database):
    first, _, last = database.codes.reshape(-1, 3).T.astype(np.int64)
    return np.bincount(first * STOPS + last, minlength=STOPS**2)


def measured(database, *, follows):
    given = Parameters.choose(epsilon="2", universe_size=STOPS, method="calibrated")
    plan = MeasurementPlan.usual(given)
    return gate.measure(database, plan, choose_candidates, Randomness(), follows=follows)


@pytest.fixture(autouse=True)
def _large_table(monkeypatch):
    """So large that it is published above a threshold."""
    monkeypatch.setattr(Trips, "dense_up_to", 1 << 12)


@pytest.mark.parametrize(("shift", "at_most"), [(0, 0.5), (20, 1.02)])
def test_an_earlier_release_is_followed_as_far_as_it_is_right(shift, at_most):
    """With it small trips are nearer; one of another city does no harm."""
    now = city(1)
    seen = measured(now, follows=True)
    last = np.full(STOPS, RIDERS / STOPS)
    learnt = trips_over_time(Earlier(city(2, shift).paths()), seen, last, RIDERS)
    truth, table = true_trips(now), seen.whole[TRIPS]
    noisy = np.maximum(table.counts, 0)
    assert np.mean((learnt.value - truth) ** 2) <= at_most * np.mean((noisy - truth) ** 2)
    assert np.all(learnt.value >= 0)


def test_without_an_earlier_release_or_more_than_a_list_nothing_is_learnt(monkeypatch):
    seen, last = measured(city(1), follows=True), np.ones(STOPS)
    assert trips_over_time(None, seen, last, RIDERS) is None
    monkeypatch.setattr(Trips, "learnt_up_to", 4)
    few = measured(city(1), follows=True)
    assert trips_over_time(Earlier(city(2).paths()), few, last, RIDERS) is None
    monkeypatch.setattr(Trips, "dense_up_to", 1 << 16)
    small = measured(city(1), follows=True)
    assert trips_over_time(Earlier(city(2).paths()), small, last, RIDERS) is None


def test_of_trips_that_hardly_anybody_makes_some_are_made():
    """Not one of each: a thousand with a hundredth of a person each are ten people."""
    offsets = 2 * np.arange(5_001, dtype=np.int64)
    codes = np.tile(np.array([0, 1], dtype=np.int32), 5_000)
    paths = SmallPaths.joined(
        (pv.TrajectoryDatabase.from_arrays(offsets, codes, UNIVERSE).paths(),), STOPS + 1
    )
    value = np.zeros(STOPS**2)
    value[:STOPS] = 0.5  # from the first stop to each
    trips = Estimates(value, np.ones(STOPS**2), np.arange(STOPS**2))
    scope = Scope(STOPS, candidates=np.arange(STOPS))
    known = Estimated(scope, 5_000.0, 0.0, {TRIPS: trips})
    more = with_missing_trips(paths, known, np.random.default_rng(1))  # noqa: TID251
    assert 5 <= len(more) - len(paths) <= 40  # a quarter of 79; all of them without


def test_a_release_that_follows_another_keeps_all_noisy_counts_of_trips():
    """The list is a part of the same noisy table: nothing is drawn, or paid for, twice."""
    seen = measured(city(1), follows=True)
    whole, listed = seen.whole[TRIPS], seen[TRIPS]
    assert np.array_equal(whole.keys, np.arange(seen.scope.named**2))  # empty cells, too
    assert listed.threshold == listed.noise.threshold(whole.cells, TRIPS.invented(seen.scope))
    assert np.array_equal(listed.keys, np.flatnonzero(whole.counts >= listed.threshold))
    assert np.array_equal(listed.counts, whole.counts[listed.keys])
