"""OpenDP's sampler as a second opinion on ours: another team, another language, another algorithm.

OpenDP draws its integer Laplace noise by rejection (Canonne, Kamath and Steinke), ours inverts
tables. Two-sample χ² tests: each fails on right samples with probability 10⁻⁶, and must fail on
noise whose scale is 30% off, either way.
"""

from fractions import Fraction

import numpy as np
import opendp.prelude as dp
import pytest
from tests.statistical.chi_square import ERROR, homogeneity

from pathveil.core.noise import Laplace
from pathveil.gate.add_noise import discrete_laplace, passing_empty_nodes, sparse_table
from pathveil.gate.randomness import Randomness

SIZE = 40_000
EPSILON, THETA = Fraction(1, 3), 4
OFF = [Fraction(13, 10), Fraction(10, 13)]
OCCUPIED, COUNT = 4, 5  # every fourth cell of a table has this count


def second_opinion(counts, epsilon):
    """The counts with OpenDP's noise of parameter ε̄."""
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    return np.array(dp.m.make_laplace(*space, scale=float(1 / epsilon))(counts.tolist()))


@pytest.fixture(scope="module")
def theirs():
    """Noise on zeros."""
    return second_opinion(np.zeros(SIZE, dtype=np.int64), EPSILON)


@pytest.fixture(scope="module")
def their_table():
    counts = np.where(np.arange(SIZE) % OCCUPIED == 0, COUNT, 0)
    return second_opinion(counts, EPSILON)


def histogram(values, low, high):
    return np.bincount(np.clip(values, low, high) - low, minlength=high - low + 1)


def noise(values):
    return histogram(values, -25, 25)


def test_the_noise_has_the_law_of_opendps(theirs):
    ours = discrete_laplace(SIZE, EPSILON, Randomness())
    assert homogeneity(noise(ours), noise(theirs)) > ERROR


@pytest.mark.parametrize("off", OFF, ids=str)
def test_noise_thirty_percent_off_is_told_from_opendps(theirs, off):
    wrong = discrete_laplace(SIZE, EPSILON * off, Randomness())
    assert homogeneity(noise(wrong), noise(theirs)) < ERROR


def kept(level):
    """The counts of what reaches θ, and how much does not."""
    return histogram(np.where(level >= THETA, level, THETA - 1), THETA - 1, THETA + 20)


def empties(epsilon):
    """All cells empty: what the statistical process makes of them."""
    nothing = np.empty(0, dtype=np.int64)
    cells, counts = passing_empty_nodes(nothing, SIZE, epsilon, THETA, Randomness())
    level = np.full(SIZE, THETA - 1)
    level[cells] = counts
    return level


def test_kept_empty_nodes_have_the_law_of_opendps_noise_and_a_test(theirs):
    assert homogeneity(kept(empties(EPSILON)), kept(theirs)) > ERROR


@pytest.mark.parametrize("off", OFF, ids=str)
def test_empty_nodes_thirty_percent_off_are_told_from_opendps(theirs, off):
    assert homogeneity(kept(empties(EPSILON * off)), kept(theirs)) < ERROR


def occupied_ones(level):
    """What became of the occupied cells."""
    return kept(level[::OCCUPIED])


def patterns(level):
    """Which of four neighbours passed, one occupied and three empty."""
    passed = (level.reshape(-1, OCCUPIED) >= THETA) @ (1 << np.arange(OCCUPIED))
    return np.bincount(passed, minlength=1 << OCCUPIED)


def our_table(epsilon):
    occupied = np.arange(0, SIZE, OCCUPIED)
    blocks = [(occupied, np.full(len(occupied), COUNT))]
    table = sparse_table(blocks, SIZE, Laplace(epsilon), THETA, Randomness())
    level = np.full(SIZE, THETA - 1)
    level[table.keys] = table.counts
    return level


@pytest.mark.parametrize("statistic", [occupied_ones, patterns])
def test_a_whole_table_has_the_law_of_opendps(their_table, statistic):
    assert homogeneity(statistic(our_table(EPSILON)), statistic(their_table)) > ERROR


@pytest.mark.parametrize("off", OFF, ids=str)
@pytest.mark.parametrize("statistic", [occupied_ones, patterns])
def test_a_table_thirty_percent_off_is_told_from_opendps(their_table, statistic, off):
    assert homogeneity(statistic(our_table(EPSILON * off)), statistic(their_table)) < ERROR
