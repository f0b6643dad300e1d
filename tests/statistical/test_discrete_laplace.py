"""The noise has the law P[X = x] = (1 − α)/(1 + α)·α^|x|, α = e^(−ε̄).

Every assertion on a right sample fails with probability 10⁻⁶; the randomness is the operating
system's, so each run is a new sample.
"""

from fractions import Fraction

import numpy as np
import opendp.prelude as dp
import pytest
from tests.statistical.chi_square import ERROR, goodness_of_fit, homogeneity

from pathveil.gate.add_noise import discrete_laplace
from pathveil.gate.randomness import Randomness

EPSILONS = [Fraction(1, 1000), Fraction(1, 12), Fraction(1), Fraction(3)]
SIZE = 200_000


def edges(scale):
    """Where to cut the integers into cells: about forty, out to seven scales."""
    return np.unique(np.round(np.linspace(-7, 7, 41) * scale)).astype(np.int64)


def distribution(x, epsilon):
    """P[X ≤ x]."""
    alpha = np.exp(-epsilon)
    below = np.exp(-epsilon * np.maximum(-x, 0)) / (1 + alpha)
    above = 1 - np.exp(-epsilon * (np.maximum(x, 0) + 1)) / (1 + alpha)
    return np.where(x < 0, below, above)


def cell_probabilities(cuts, epsilon):
    return np.diff(distribution(cuts, epsilon), prepend=0, append=1)


def cell_counts(sample, cuts):
    """Cells (−∞, cut], (cut, next cut], …"""
    return np.bincount(np.searchsorted(cuts, sample), minlength=len(cuts) + 1)


@pytest.fixture(scope="module", params=EPSILONS, ids=str)
def sample(request):
    return request.param, discrete_laplace(SIZE, request.param, Randomness())


def test_the_noise_has_its_law(sample):
    epsilon, noise = sample
    cuts = edges(1 / float(epsilon))
    p_value = goodness_of_fit(cell_counts(noise, cuts), cell_probabilities(cuts, float(epsilon)))
    assert p_value > ERROR


@pytest.mark.parametrize("off", [1.3, 1 / 1.3])
def test_a_scale_thirty_percent_off_is_noticed(sample, off):
    epsilon, noise = sample
    cuts = edges(1 / float(epsilon))
    wrong = cell_probabilities(cuts, float(epsilon) / off)
    assert goodness_of_fit(cell_counts(noise, cuts), wrong) < ERROR


def test_neighbouring_draws_are_independent(sample):
    _, noise = sample
    first, second = noise[0::2], noise[1::2]
    quarters = np.quantile(noise, [0.25, 0.5, 0.75])
    rows = [
        np.bincount(np.searchsorted(quarters, second[where]), minlength=4)
        for where in (first < 0, first == 0, first > 0)
        if np.count_nonzero(where) > 1000
    ]
    assert homogeneity(*rows) > ERROR


@pytest.mark.parametrize("epsilon", EPSILONS[:3], ids=str)
def test_opendp_draws_from_the_same_law(epsilon):
    """An independent implementation: OpenDP's integer Laplace of scale 1/ε̄."""
    size = 40_000
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    theirs = np.array(dp.m.make_laplace(*space, scale=float(1 / epsilon))([0] * size))
    cuts = edges(1 / float(epsilon))
    ours = discrete_laplace(size, epsilon, Randomness())
    assert homogeneity(cell_counts(ours, cuts), cell_counts(theirs, cuts)) > ERROR
    wider = discrete_laplace(size, epsilon / Fraction(13, 10), Randomness())
    assert homogeneity(cell_counts(wider, cuts), cell_counts(theirs, cuts)) < ERROR
