"""Returns that noise hides: as many per visit as elsewhere."""

from fractions import Fraction

import numpy as np
import pytest

from pathveil.core.noise import Laplace
from pathveil.methods.calibrated.synthesis.returns_per_visit import by_visits
from pathveil.statistics.denoise import Estimates
from pathveil.statistics.noisy_table import NoisyTable
from pathveil.statistics.returns import COMING_BACK, KINDS, OFTEN, STAYING

SIZE = 200
CANDIDATES = np.arange(SIZE)


def generator(seed=1):
    return np.random.default_rng(seed)  # noqa: TID251  (test data, nothing private)


def table(true, scale):
    counts = np.round(true.ravel() + generator().laplace(0, scale, true.size)).astype(np.int64)
    return NoisyTable(np.arange(true.size), counts, true.size, Laplace(Fraction(1, scale)))


def shown(*kinds):
    """Estimates that show only some kinds."""
    value = np.zeros((len(KINDS), SIZE))
    value[list(kinds)] = 1.0
    return Estimates(value.ravel(), np.ones(value.size))


def returns(visits, coming_back, staying):
    true = np.zeros((len(KINDS), SIZE))
    true[COMING_BACK], true[STAYING] = coming_back * visits, staying * visits
    return true


def found(true, scale, visits, alone):
    estimates = by_visits(table(true, scale), alone, visits, CANDIDATES)
    return estimates.value.reshape(len(KINDS), SIZE)


def test_hidden_returns_are_as_many_per_visit_as_elsewhere():
    visits = generator(2).uniform(200, 800, SIZE)
    true = returns(visits, 0.3, 0.1)
    value = found(true, 200, visits, shown(COMING_BACK, STAYING))
    assert value[COMING_BACK] == pytest.approx(true[COMING_BACK], rel=0.35)
    assert value[:OFTEN].sum() == pytest.approx(true.sum(), rel=0.1)


def test_returns_that_noise_does_not_hide_are_what_was_counted():
    visits = generator(2).uniform(2000, 8000, SIZE)
    true = returns(visits, generator(3).uniform(0, 1, SIZE), generator(4).uniform(0, 1, SIZE))
    value = found(true, 10, visits, shown(COMING_BACK, STAYING))
    assert value[:OFTEN] == pytest.approx(true[:OFTEN], abs=150)


@pytest.mark.parametrize("kind", [COMING_BACK, STAYING])
def test_a_kind_that_is_not_shown_stays_away(kind):
    visits = np.full(SIZE, 500.0)
    value = found(returns(visits, 0.2, 0.2), 20, visits, shown(kind))
    other = STAYING if kind == COMING_BACK else COMING_BACK
    assert value[kind].sum() == pytest.approx(0.2 * visits.sum(), rel=0.05)
    assert not value[other].any()
    assert not found(returns(visits, 0.2, 0.2), 20, visits, shown())[:OFTEN].any()


def test_noise_below_nothing_returns_nobody():
    visits = np.full(SIZE, 5.0)
    negative = NoisyTable(
        np.arange(3 * SIZE), np.full(3 * SIZE, -9), 3 * SIZE, Laplace(Fraction(1, 10))
    )
    estimates = by_visits(negative, shown(COMING_BACK, STAYING), visits, CANDIDATES)
    assert not estimates.value[: 2 * SIZE].any()
    assert np.all(np.isfinite(estimates.variance))
