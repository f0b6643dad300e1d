"""How likely noisy answers are: what is compiled, and what integrates it in ten lines."""

from fractions import Fraction

import numpy as np
import pytest

from pathveil.core.noise import Gaussian, Laplace
from pathveil.methods.calibrated.uncertainty.likelihood import likely_between, log_likelihoods

NOISES = [Laplace(Fraction(1, 50)), Gaussian(Fraction(2500))]
FACTORS = np.array([[0.5, 0.9, 1.0, 1.3], [0.98, 0.99, 1.01, 1.02], [0.0, 0.01, 4.0, 9.0]])
MASSES = np.array([0.25, 0.5, 0.25])
LEFT = np.array([[3.0, 7.0], [400.0, 401.0], [20_000.0, 20_500.0]])
NOISY = np.array([40.0, 520.0, 20_100.0])


def integrated(left, noisy, factors, noise):
    """By so many points that they lie closer than noise reaches."""
    whole = 0.0
    for low, high, mass in zip(factors[:-1], factors[1:], MASSES, strict=True):
        true = left * (low + (high - low) * (np.arange(100_000) + 0.5) / 100_000)
        whole += mass * noise.weight(noisy - true).mean()
    return whole


@pytest.mark.parametrize("noise", NOISES, ids=["laplace", "gaussian"])
def test_the_likelihood_is_the_integral(noise):
    found = np.exp(log_likelihoods(LEFT, NOISY, FACTORS, MASSES, noise))
    for answer, i, law in np.ndindex(found.shape):
        expected = integrated(LEFT[answer, i], NOISY[answer], FACTORS[law], noise)
        assert found[answer, i, law] == pytest.approx(expected, rel=2e-3, abs=1e-7)


@pytest.mark.parametrize("noise", NOISES, ids=["laplace", "gaussian"])
def test_both_ways_to_compute_it_agree(noise):
    compiled = np.exp(log_likelihoods(LEFT, NOISY, FACTORS, MASSES, noise))
    edges = LEFT[..., np.newaxis, np.newaxis] * FACTORS
    by_part = likely_between(edges, NOISY[:, np.newaxis, np.newaxis, np.newaxis], noise)
    np.testing.assert_allclose(compiled, by_part @ MASSES, rtol=1e-3, atol=1e-7)


def test_a_large_answer_is_likely_wherever_it_lies():
    """Between two edges that are further apart than noise reaches, as well as at them."""
    noise = Laplace(Fraction(1, 5))
    noisy = np.linspace(9_000.0, 11_000.0, 50)
    left = np.full((50, 1), 10_000.0)
    found = log_likelihoods(left, noisy, np.array([[0.5, 0.8, 1.2, 1.5]]), MASSES, noise)
    assert np.ptp(found) < 1e-6
