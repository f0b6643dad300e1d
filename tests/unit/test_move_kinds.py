"""Kinds of small moves: many noisy counts tell together what none tells alone."""

from fractions import Fraction

import numpy as np
import pytest

import pathveil as pv
from pathveil.core.noise import Laplace
from pathveil.core.parameters import Parameters
from pathveil.gate.measure import measure
from pathveil.gate.randomness import Randomness
from pathveil.methods.calibrated.synthesis.estimates import choose_candidates, estimate
from pathveil.methods.calibrated.synthesis.move_kinds import corrected, kinds, levels
from pathveil.methods.calibrated.synthesis.movement_model import Destinations
from pathveil.methods.calibrated.synthesis.small_moves import SmallMoves, moves_in_all
from pathveil.statistics.constants import MOST_CAP
from pathveil.statistics.denoise import Estimates
from pathveil.statistics.measurement_plan import MeasurementPlan
from pathveil.statistics.moves import MOVES, Moves

SIZE = 40


def generator(seed=1):
    return np.random.default_rng(seed)  # noqa: TID251  (test data, nothing private)


def listed(*moves, size=SIZE):
    keys = np.array(sorted(a * size + b for a, b in moves), dtype=np.int64)
    return Estimates(np.full(len(keys), 100.0), np.ones(len(keys)), keys)


def noisy(true, scale, seed=1):
    noise = Laplace(Fraction(1, scale))
    drawn = np.round(true + generator(seed).laplace(0, scale, len(true))).astype(np.int64)
    return drawn, noise


def test_levels_rise_where_people_go_on_and_are_alike_where_they_go_to_and_fro():
    on = [(code, code + 1) for code in range(SIZE - 1)]
    assert np.all(np.diff(levels(listed(*on), SIZE)) > 0)
    fro = [(there, here) for here, there in on]
    assert np.all(levels(listed(*on, *fro), SIZE) == 0.0)
    assert np.all(levels(listed(), SIZE) == 0.0)


def test_the_kinds_by_hand():
    found = kinds(listed((0, 1), size=3), 3, mapped=False)
    back, way_back, beginning = (kind.reshape(3, 3) for kind in found)
    # 0 is below 1, and 2, which no move tells, is between.
    assert back.tolist() == [[0, 0, 0], [1, 0, 1], [1, 0, 0]]
    assert way_back.tolist() == [[0, 0, 0], [1, 0, 0], [0, 0, 0]]
    assert beginning.tolist() == [[0, 0, 0], [1, 1, 1], [2, 2, 2]]
    assert len(list(kinds(listed(), 3, mapped=True))) == 2


def test_a_kind_that_nobody_makes_is_found_out_below_the_noise():
    """Of moves of 4 with noise of 14 none can be told; of a thousand of them all can."""
    kind = np.arange(2000) % 2
    guess, true = np.full(2000, 4.0), np.where(kind == 0, 8.0, 0.0)
    found = corrected(guess, *noisy(true, 10), kind)
    assert np.abs(found - true).max() < 1.5
    assert found.sum() == pytest.approx(guess.sum())


def test_what_noise_hides_stays_as_it_was():
    kind = np.arange(100) % 2
    guess = np.full(100, 0.5)
    found = corrected(guess, *noisy(np.where(kind == 0, 1.0, 0.0), 1000), kind)
    assert found == pytest.approx(guess, rel=0.05)


@pytest.mark.parametrize("count", [-(10**6), 0, 10**6])
def test_no_counts_make_it_fail(count):
    found = corrected(
        np.array([1.0, 1e-9, 1e6]), np.full(3, count), Laplace(Fraction(1)), np.array([0, 1, 1])
    )
    assert np.all(found > 0)
    assert found.sum() == pytest.approx(1e6 + 1, rel=1e-6)


def measured(people, size, epsilon="4"):
    universe = pv.Universe([f"s{code:02}" for code in range(size)])
    rows = [[f"s{code:02}" for code in row] for row in people]
    database = pv.TrajectoryDatabase.from_sequences(rows, universe)
    given = Parameters.choose(epsilon=epsilon, universe_size=size, method="calibrated")
    seen = measure(database, MeasurementPlan.usual(given), choose_candidates, Randomness())
    return seen, estimate(seen)


def in_order(number, most):
    """Everybody looks at some of the pages in the order of their codes: nobody goes back."""
    draw = generator(3)
    return [
        np.sort(draw.choice(SIZE, int(draw.integers(2, most)), replace=False))
        for _ in range(number)
    ]


def test_nobody_goes_back_where_pages_have_an_order(monkeypatch):
    """Half of all moves lead back by popularity alone."""
    monkeypatch.setattr(Moves, "dense_up_to", 0)
    seen, known = measured(in_order(30_000, 6), SIZE)
    small, n = SmallMoves.of(seen, known, seen.plan), len(seen.candidates)
    assert n == SIZE
    plain, told = (
        Destinations.of(known, seen.plan, None, None, one)._matrix()[:-1, :-1]
        for one in (None, small)
    )
    for moves in (plain, told):  # noise lists some that nobody makes
        moves[np.divmod(known.listed(MOVES).listed_keys, n)] = 0.0
    assert np.tril(told).sum() < 0.4 * np.tril(plain).sum()
    without = small.told(plain.ravel(), listed(), mapped=False)  # no order is known
    assert np.tril(told).sum() < 0.6 * np.tril(without.reshape(n, n)).sum()


def test_what_the_cap_cuts_is_no_background():
    """Of twenty locations eight count: what people do besides is like what is counted of it."""
    seen, known = measured(in_order(20_000, 36), SIZE, epsilon="50")
    model = Destinations.of(known, seen.plan, None, None, None)
    listed_sum = known.listed(MOVES).value.sum()
    in_all = moves_in_all(known, seen.plan)
    assert seen.plan[MOVES].cap < MOST_CAP
    assert listed_sum > 0.9 * in_all
    assert model._matrix()[:-1, :-1].sum() < 1.1 * in_all


def test_who_has_been_somewhere_named_rather_goes_to_another_such_place():
    """A half of all pages is looked at by nobody else, and by people who look at such pages."""
    draw, size = generator(5), 10_000
    common = [draw.choice(20, 4, replace=False) for _ in range(10_000)]
    rare = [20 + draw.choice(size - 20, 4, replace=False) for _ in range(10_000)]
    universe = pv.Universe([f"s{code:05}" for code in range(size)])
    rows = [[f"s{code:05}" for code in row] for row in common + rare]
    database = pv.TrajectoryDatabase.from_sequences(rows, universe)
    given = Parameters.choose(epsilon="1", universe_size=size, method="calibrated")
    seen = measure(database, MeasurementPlan.usual(given), choose_candidates, Randomness())
    known = estimate(seen)
    assert len(seen.candidates) < 200
    both, one, in_all = (moves_in_all(known, seen.plan, ends) for ends in (2, 1, 0))
    assert both > 0.9 * one > 0.4 * in_all
    model = Destinations.of(known, seen.plan, None, None, None)
    assert model.lingering > 0.7
