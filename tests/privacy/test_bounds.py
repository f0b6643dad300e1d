"""The bound on ε that an alarm rests on, checked by exact summation."""

import math

import numpy as np
import pytest
from scipy import stats

from pathveil.audit.attacking import epsilon_lower_bound, looks


@pytest.mark.parametrize("guesses", [1, 10, 100, 5000])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("error", [0.05, 1e-6])
def test_the_bound_exceeds_epsilon_with_at_most_its_error(guesses, epsilon, error):
    right = np.arange(guesses + 1)
    alarm = epsilon_lower_bound(right, np.full_like(right, guesses), error) > epsilon
    best_guesser = math.exp(epsilon) / (1 + math.exp(epsilon))
    assert stats.binom.pmf(right, guesses, best_guesser)[alarm].sum() <= error * (1 + 1e-9)


def test_the_bound_is_not_needlessly_low():
    """One right guess more than it takes would be an alarm with more than the error."""
    right = np.arange(1001)
    bounds = epsilon_lower_bound(right, np.full_like(right, 1000), 0.01)
    first = int(np.argmax(bounds > 1))
    assert stats.binom.sf(first - 2, 1000, math.e / (1 + math.e)) > 0.01


def test_nothing_is_learnt_from_no_guess():
    assert epsilon_lower_bound(np.array([0]), np.array([0]), 0.01).tolist() == [0]


@pytest.mark.parametrize("runs", [64, 100, 1000, 16_384])
def test_the_looks_share_the_error(runs):
    times = list(looks(runs))
    assert times[-1] == (runs, 0.5)
    assert sum(share for _, share in times) <= 1
    assert [look for look, _ in times] == sorted({look for look, _ in times})
