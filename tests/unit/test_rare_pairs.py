"""Pairs below the threshold: the months before tell them as far as they are right."""

from dataclasses import replace

import numpy as np
import pytest

import pathveil as pv
from pathveil.core.parameters import Parameters
from pathveil.gate import measure as gate
from pathveil.gate.randomness import Randomness
from pathveil.methods.calibrated.synthesis.earlier import Earlier
from pathveil.methods.calibrated.synthesis.estimates import choose_candidates
from pathveil.methods.calibrated.synthesis.rare_pairs import pairs_over_time
from pathveil.statistics.measurement_plan import MeasurementPlan
from pathveil.statistics.pairs import PAIRS, Pairs
from pathveil.statistics.planner import Planner
from pathveil.statistics.statistic import FIRST_LOOK, VISITED

STOPS, RIDERS = 80, 8_000
UNIVERSE = pv.Universe([f"s{code:02}" for code in range(STOPS)])


def city(seed, shift=0):
    """Who lives at a stop goes to one of four others, and to no other."""
    draw = np.random.default_rng(seed)  # noqa: TID251
    start = draw.integers(0, STOPS, RIDERS)
    end = (start + shift + draw.integers(1, 5, RIDERS)) % STOPS
    codes = np.stack([start, end], axis=1).ravel().astype(np.int32)
    offsets = 2 * np.arange(RIDERS + 1, dtype=np.int64)
    return pv.TrajectoryDatabase.from_arrays(offsets, codes, UNIVERSE)


def true_pairs(database, table):
    low, high = np.sort(database.codes.reshape(-1, 2), axis=1).T.astype(np.int64)
    return np.bincount(low * STOPS + high, minlength=STOPS**2)[table.keys]


def measured(database, *, follows):
    given = Parameters.choose(epsilon="2", universe_size=STOPS, method="calibrated")
    plan = MeasurementPlan.usual(given)
    return gate.measure(database, plan, choose_candidates, Randomness(), follows=follows)


@pytest.mark.parametrize(("shift", "at_most"), [(0, 0.5), (20, 1.02)])
def test_an_earlier_release_is_followed_as_far_as_it_is_right(shift, at_most):
    """With it small pairs are nearer; one of another city does no harm."""
    now = city(1)
    seen = measured(now, follows=True)
    assert seen.scope.named == STOPS
    whole = seen.whole[PAIRS]
    visits = np.full(STOPS, 2.0 * RIDERS / STOPS)
    learnt = pairs_over_time(Earlier(city(2, shift).paths()), seen, visits, RIDERS)
    truth = true_pairs(now, learnt)
    noisy = np.maximum(whole.counts[learnt.keys], 0)
    assert np.mean((learnt.value - truth) ** 2) <= at_most * np.mean((noisy - truth) ** 2)
    assert np.all(learnt.value >= 0)


def test_without_an_earlier_release_or_all_counts_nothing_is_learnt(monkeypatch):
    seen = measured(city(1), follows=True)
    visits = np.ones(STOPS)
    assert pairs_over_time(None, seen, visits, RIDERS) is None
    monkeypatch.setattr(Pairs, "learnt_up_to", 4)
    few = measured(city(1), follows=True)
    assert pairs_over_time(Earlier(city(2).paths()), few, visits, RIDERS) is None


def test_pairs_are_worth_more_only_where_they_are_learnt():
    given = Parameters.choose(epsilon="2", universe_size=STOPS, method="calibrated")
    over = (FIRST_LOOK, VISITED)
    worth = {named: Planner(given, follows=True)._purpose(over, named) for named in (300, 400)}
    assert worth[300].get("pairs", 1.0) > worth[400].get("pairs", 1.0)
    assert Planner(given)._purpose(over, 300).get("pairs", 1.0) == worth[400].get("pairs", 1.0)


def test_a_release_that_follows_another_keeps_all_noisy_counts_of_pairs():
    """The list is a part of the same noisy table: nothing is drawn, or paid for, twice."""
    seen = measured(city(1), follows=True)
    whole, listed = seen.whole[PAIRS], seen[PAIRS]
    assert np.array_equal(whole.keys, np.arange(seen.scope.named**2))  # empty cells, too
    assert listed.threshold == listed.noise.threshold(whole.cells, PAIRS.invented(seen.scope))
    assert np.array_equal(listed.keys, np.flatnonzero(whole.counts >= listed.threshold))
    assert np.array_equal(listed.counts, whole.counts[listed.keys])


def test_a_table_of_occupied_pairs_alone_would_be_seen(monkeypatch):
    """A mutant: only cells that somebody is in get their noise."""
    right = gate._noisy

    def occupied_only(line, exact, scope, randomness):
        blocks = list(exact)
        table = right(line, iter(blocks), scope, randomness)
        if line.statistic is not PAIRS:
            return table
        kept = np.concatenate([cells for cells, _ in blocks])
        return replace(table, keys=kept, counts=table.counts[kept])

    monkeypatch.setattr(gate, "_noisy", occupied_only)
    with pytest.raises(AssertionError):
        test_a_release_that_follows_another_keeps_all_noisy_counts_of_pairs()
