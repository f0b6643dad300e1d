"""Moves below the threshold: their noisy counts tell them as far as they can."""

from fractions import Fraction

import numpy as np
import pytest

import pathveil as pv
from pathveil.core.noise import Gaussian, Laplace
from pathveil.core.parameters import Parameters
from pathveil.gate.measure import measure
from pathveil.gate.randomness import Randomness
from pathveil.methods.calibrated.synthesis.estimates import choose_candidates, estimate
from pathveil.methods.calibrated.synthesis.movement_model import Destinations
from pathveil.methods.calibrated.synthesis.small_moves import SmallMoves, factors
from pathveil.statistics.measurement_plan import MeasurementPlan
from pathveil.statistics.moves import MOVES, Moves

CELLS, SCALE = 40_000, 10
LAWS = (Laplace(Fraction(1, SCALE)), Gaussian(Fraction(2 * SCALE**2)))


def noisy(true, noise, seed=1):
    draw = np.random.default_rng(seed)  # noqa: TID251
    drawn = (
        draw.laplace(0, noise.scale, len(true))
        if isinstance(noise, Laplace)
        else draw.normal(0, noise.deviation, len(true))
    )
    return np.round(true + drawn).astype(np.int64)


def risk(values, true):
    return float(((values - true) ** 2).mean())


@pytest.mark.parametrize("noise", LAWS)
@pytest.mark.parametrize("guess", [0.05, 1.0, 20.0])
def test_a_model_that_is_right_is_kept(noise, guess):
    """To learn from chance would add to its error, which is 0: far less than it, or the noise."""
    true = np.full(CELLS, guess)
    found = guess * factors(true, noisy(true, noise), noise)
    assert risk(found, true) <= (0.5 * min(noise.deviation, guess)) ** 2


@pytest.mark.parametrize("noise", LAWS)
def test_it_is_nearer_than_noise_and_model(noise):
    """A fifth of the moves is made by five times as many as the model says, the others by none."""
    guess = np.full(CELLS, 12.0)
    true = np.where(np.arange(CELLS) % 5 == 0, 60.0, 0.0)
    counts = noisy(true, noise)
    found = guess * factors(guess, counts, noise)
    assert risk(found, true) <= 0.6 * min(risk(np.maximum(counts, 0), true), risk(guess, true))


def test_moves_of_each_size_are_told_apart():
    """The model is right about large moves, and knows nothing of the small ones."""
    noise = LAWS[0]
    large = np.arange(CELLS) % 2 == 0
    guess = np.where(large, 100.0, 4.0)
    true = np.where(large, 100.0, np.where(np.arange(CELLS) % 16 == 1, 32.0, 0.0))
    found = guess * factors(guess, noisy(true, noise), noise)
    assert risk(found[large], true[large]) <= 0.5 * noise.deviation**2
    assert risk(found[~large], true[~large]) <= 0.8 * risk(guess[~large], true[~large])


@pytest.mark.parametrize("scale", ["1/100", "1", "10", "1000"])
def test_the_sum_is_kept_whatever_the_counts(scale):
    draw = np.random.default_rng(2)  # noqa: TID251
    guess = np.exp(draw.normal(0, 4, 500))
    counts = draw.integers(-(10**5), 10**5, 500)
    found = factors(guess, counts, Laplace(1 / Fraction(scale)))
    assert np.all(found >= 0)
    assert np.all(np.isfinite(found))
    assert found @ guess == pytest.approx(guess.sum())


STOPS = 30
UNIVERSE = pv.Universe([f"s{code:02}" for code in range(STOPS)])


@pytest.fixture
def town(monkeypatch):
    """From each stop many go to the next one, and some to the third but to no other."""
    monkeypatch.setattr(Moves, "dense_up_to", 0)
    ways = [(code, (code + step) % STOPS) for code in range(STOPS) for step in (1,) * 20 + (3,)]
    people = [[f"s{code:02}" for code in way] for way in ways for _ in range(10)]
    database = pv.TrajectoryDatabase.from_sequences(people, UNIVERSE)
    given = Parameters.choose(epsilon="4", universe_size=STOPS, method="calibrated")
    seen = measure(database, MeasurementPlan.usual(given), choose_candidates, Randomness())
    return seen, estimate(seen)


def test_listed_moves_are_what_they_were_and_others_follow_their_counts(town):
    seen, known = town
    small = SmallMoves.of(seen, known, seen.plan)
    plain, told = (Destinations.of(known, seen.plan, None, None, one) for one in (None, small))
    named, listed = len(seen.candidates), known.listed(MOVES)
    before, after = (one._matrix()[:-1, :-1].ravel() for one in (plain, told))
    assert after[listed.listed_keys] == pytest.approx(before[listed.listed_keys], rel=0.01)
    assert after.sum() == pytest.approx(before.sum(), rel=0.01)
    third = np.arange(named) * named + (np.arange(named) + 3) % named
    assert after[third].sum() > 1.2 * before[third].sum()


def test_a_fitted_move_keeps_its_background(town):
    seen, known = town
    told = Destinations.of(known, seen.plan, None, None, SmallMoves.of(seen, known, seen.plan))
    none = told.reweighed(np.zeros(len(told.measured)))
    assert none.weight[none.measured] == pytest.approx(told.beside)


def test_without_the_noisy_counts_nothing_is_told(town):
    seen, known = town
    assert SmallMoves.of(seen, known, seen.plan) is not None
    seen.whole.clear()
    assert SmallMoves.of(seen, known, seen.plan) is None
