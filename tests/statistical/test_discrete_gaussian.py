"""Gaussian noise has the law P[X = x] ∝ e^(−x²/(2σ²)), and so have the empty cells that pass.

Every assertion on a right sample fails with probability 10⁻⁶; the randomness is the operating
system's, so each run is a new sample. OpenDP's sampler, of another team, gives a second opinion.
"""

from fractions import Fraction

import numpy as np
import opendp.prelude as dp
import pytest
from tests.statistical.chi_square import ERROR, goodness_of_fit, homogeneity

from pathveil.core.noise import Gaussian
from pathveil.gate.add_noise import drawn, passing_empty_gaussians, sparse_table
from pathveil.gate.randomness import Randomness

VARIANCES = [Fraction(1, 4), Fraction(10, 3), Fraction(5000), Fraction(10**9, 7)]
SIZE = 60_000
OFF = [Fraction(13, 10), Fraction(10, 13)]
NOISE, THETA = Gaussian(Fraction(9)), 5
OCCUPIED, COUNT = 4, 6  # every fourth cell of a table has this count


def edges(sigma):
    """Where to cut the integers into cells: about forty, out to four deviations."""
    return np.unique(np.round(np.linspace(-4, 4, 41) * max(sigma, 1))).astype(np.int64)


def cell_counts(sample, cuts):
    """Cells (−∞, cut], (cut, next cut], …"""
    return np.bincount(np.searchsorted(cuts, sample), minlength=len(cuts) + 1)


def cell_probabilities(cuts, variance):
    """Exact sums where the law is narrow; where it is wide, the integral is the sum."""
    if variance > 10**6:
        below = Gaussian(variance).below(cuts + 0.5)
        return np.diff(below, prepend=0, append=1)
    most = int(12 * float(variance) ** 0.5) + 12
    values = np.arange(-most, most + 1)
    chances = np.exp(-(values**2) / (2 * float(variance)))
    return cell_counts_weighted(values, chances / chances.sum(), cuts)


def cell_counts_weighted(values, chances, cuts):
    return np.bincount(np.searchsorted(cuts, values), chances, minlength=len(cuts) + 1)


@pytest.fixture(scope="module", params=VARIANCES, ids=str)
def sample(request):
    return request.param, drawn(SIZE, Gaussian(request.param), Randomness())


def test_the_noise_has_its_law(sample):
    variance, noise = sample
    cuts = edges(float(variance) ** 0.5)
    expected = cell_probabilities(cuts, variance)
    assert goodness_of_fit(cell_counts(noise, cuts), expected) > ERROR


@pytest.mark.parametrize("off", OFF, ids=str)
def test_a_sigma_thirty_percent_off_is_noticed(sample, off):
    variance, noise = sample
    cuts = edges(float(variance) ** 0.5)
    wrong = cell_probabilities(cuts, variance * off**2)
    assert goodness_of_fit(cell_counts(noise, cuts), wrong) < ERROR


def test_neighbouring_draws_are_independent(sample):
    _, noise = sample
    first, second = noise[0::2], noise[1::2]
    rows = [
        np.bincount(np.sign(second[where]) + 1, minlength=3)
        for where in (first < 0, first == 0, first > 0)
        if np.count_nonzero(where) > 1000
    ]
    assert homogeneity(*rows) > ERROR


def second_opinion(counts, noise):
    """The counts with OpenDP's noise of the same law."""
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T=float)
    return np.array(dp.m.make_gaussian(*space, scale=float(noise.variance) ** 0.5)(counts.tolist()))


def histogram(values, low, high):
    return np.bincount(np.clip(values, low, high) - low, minlength=high - low + 1)


@pytest.fixture(scope="module")
def theirs():
    return second_opinion(np.zeros(SIZE // 2, dtype=np.int64), NOISE)


def test_the_noise_has_the_law_of_opendps(theirs):
    ours = drawn(SIZE // 2, NOISE, Randomness())
    assert homogeneity(histogram(ours, -10, 10), histogram(theirs, -10, 10)) > ERROR
    wrong = drawn(SIZE // 2, Gaussian(NOISE.variance * OFF[0] ** 2), Randomness())
    assert homogeneity(histogram(wrong, -10, 10), histogram(theirs, -10, 10)) < ERROR


def kept(level):
    """The counts of what reaches θ, and how much does not."""
    return histogram(np.where(level >= THETA, level, THETA - 1), THETA - 1, THETA + 8)


def empties(variance):
    """All cells empty: what the statistical process makes of them."""
    nothing = np.empty(0, dtype=np.int64)
    size = SIZE // 2
    cells, counts = passing_empty_gaussians(nothing, size, variance, THETA, Randomness())
    level = np.full(size, THETA - 1)
    level[cells] = counts
    return level


def test_kept_empty_cells_have_the_law_of_opendps_noise_and_a_test(theirs):
    assert homogeneity(kept(empties(NOISE.variance)), kept(theirs)) > ERROR
    assert homogeneity(kept(empties(NOISE.variance * OFF[0] ** 2)), kept(theirs)) < ERROR


def patterns(level):
    """Which of four neighbours passed, one occupied and three empty."""
    passed = (level.reshape(-1, OCCUPIED) >= THETA) @ (1 << np.arange(OCCUPIED))
    return np.bincount(passed, minlength=1 << OCCUPIED)


def test_a_whole_table_has_the_law_of_opendps():
    size = SIZE // 3
    counts = np.where(np.arange(size) % OCCUPIED == 0, COUNT, 0)
    their_table = second_opinion(counts, NOISE)
    occupied = np.arange(0, size, OCCUPIED)
    blocks = [(occupied, np.full(len(occupied), COUNT))]
    table = sparse_table(blocks, size, NOISE, THETA, Randomness())
    level = np.full(size, THETA - 1)
    level[table.keys] = table.counts
    assert homogeneity(patterns(level), patterns(their_table)) > ERROR
    assert homogeneity(kept(level[::OCCUPIED]), kept(their_table[::OCCUPIED])) > ERROR
