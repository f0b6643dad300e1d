"""Theorem 4: the statistical process over empty children equals explicit tests over each of them.

A level of many nodes, all with the same occupied locations, is as many independent repetitions.
Every assertion on the right process fails with probability 10⁻⁶.
"""

from fractions import Fraction
from functools import lru_cache

import numpy as np
import pytest
from scipy import stats
from tests.statistical.chi_square import ERROR, goodness_of_fit, homogeneity

from pathveil.core.intervals import Interval, exp_minus, pass_probability
from pathveil.core.noise import Laplace
from pathveil.gate import add_noise
from pathveil.gate.add_noise import discrete_laplace, passing_empty_nodes, sparse_table
from pathveil.gate.geometric import Geometric
from pathveil.gate.randomness import Randomness

EPSILON, THETA = Fraction(1, 2), 2
LOCATIONS, OCCUPIED = 8, np.array([1, 2, 6])
EMPTY = np.setdiff1d(np.arange(LOCATIONS), OCCUPIED)
NODES = 200_000
ALPHA = np.exp(-0.5)
P_THETA = ALPHA**2 / (1 + ALPHA)
DID_NOT_PASS = -1
IN_A_RANGE = 7  # so ranges begin and end anywhere in a node


def statistical_process(nodes=NODES):
    """Counts of the empty children that passed; int64, shape (nodes, empty locations)."""
    occupied = (np.arange(nodes)[:, None] * LOCATIONS + OCCUPIED).ravel()
    pairs, counts = passing_empty_nodes(occupied, nodes * LOCATIONS, EPSILON, THETA, Randomness())
    level = np.full(nodes * LOCATIONS, DID_NOT_PASS)
    level[pairs] = counts
    assert np.all(level[occupied] == DID_NOT_PASS)
    return level.reshape(nodes, LOCATIONS)[:, EMPTY]


def explicit_tests(nodes=NODES):
    """The same by Procedure 1, lines 12 and 13: noise on every empty child, then θ."""
    noise = discrete_laplace(nodes * len(EMPTY), EPSILON, Randomness()).reshape(nodes, -1)
    return np.where(noise >= THETA, noise, DID_NOT_PASS)


def in_ranges(nodes=20_000):
    """Empty and occupied children, all of them noised range by range, as a level is."""
    occupied = (np.arange(nodes)[:, None] * LOCATIONS + OCCUPIED).ravel()
    counts = np.tile([1, 2, 3], nodes)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(add_noise, "MOST_OCCUPIED", IN_A_RANGE)
        cells = nodes * LOCATIONS
        table = sparse_table([(occupied, counts)], cells, Laplace(EPSILON), THETA, Randomness())
    level = np.full(cells, DID_NOT_PASS)
    level[table.keys] = table.counts
    return level.reshape(nodes, LOCATIONS)


def passes(level):
    """k: how many children of each node passed; counts over 0, 1, …, m."""
    return np.bincount(np.sum(level >= THETA, axis=1), minlength=len(EMPTY) + 1)


def positions(level):
    """How often each child passed."""
    return np.sum(level >= THETA, axis=0)


def counts(level):
    """The noisy counts of what passed: θ, θ + 1, …, and θ + 20 or more."""
    return np.bincount(np.minimum(level[level >= THETA] - THETA, 20), minlength=21)


def patterns(level):
    """Which set of a node's children passed: one of 2^m."""
    return np.bincount((level >= THETA) @ (1 << np.arange(len(EMPTY))), minlength=2 ** len(EMPTY))


def joint(level):
    """Which children passed and, of the first and the last one, by how much (0, 1, 2 or more)."""
    passed = level >= THETA
    nodes = np.arange(len(level))
    first = level[nodes, passed.argmax(axis=1)]
    last = level[nodes, passed.shape[1] - 1 - passed[:, ::-1].argmax(axis=1)]
    cells = passed @ (1 << np.arange(len(EMPTY)))
    for count in (first, last):
        cells = cells * 3 + np.clip(count - THETA, 0, 2)
    return np.bincount(cells, minlength=9 * 2 ** len(EMPTY))


@pytest.fixture(scope="module")
def levels():
    return statistical_process(), explicit_tests()


@pytest.mark.parametrize("statistic", [passes, positions, counts, patterns, joint])
def test_theorem_4_statistical_process_equals_explicit_tests(levels, statistic):
    process, explicit = levels
    assert homogeneity(statistic(process), statistic(explicit)) > ERROR


@pytest.fixture(scope="module")
def ranged():
    return in_ranges()


@pytest.mark.parametrize("statistic", [passes, positions, counts, patterns, joint])
def test_ranges_do_not_show_among_empty_children(levels, ranged, statistic):
    assert homogeneity(statistic(ranged[:, EMPTY]), statistic(levels[1])) > ERROR


@pytest.mark.parametrize(("place", "count"), [(0, 1), (1, 2), (2, 3)])
def test_ranges_do_not_show_among_occupied_children(ranged, place, count):
    noisy = count + discrete_laplace(len(ranged), EPSILON, Randomness())
    explicit = np.where(noisy >= THETA, noisy, DID_NOT_PASS)
    found = ranged[:, OCCUPIED[place]]
    assert (
        homogeneity(*(np.bincount(np.clip(x, 1, 21), minlength=22)[1:] for x in (found, explicit)))
        > ERROR
    )


def a_range_apart(level):
    """A test of independence for occupied children that have the same place in two ranges."""
    noisy = np.clip(level[:, OCCUPIED].ravel(), 1, 5) - 1
    # Every third: their true counts are the same, so only shared noise could tie the two.
    before, after = noisy[:-IN_A_RANGE:3], noisy[IN_A_RANGE::3]
    rows = [np.bincount(after[before == value], minlength=5) for value in range(5)]
    return homogeneity(*(row for row in rows if row.any()))


def test_ranges_are_independent(ranged):
    assert a_range_apart(ranged) > ERROR


def test_noise_that_is_used_for_two_ranges_is_noticed(monkeypatch):
    drawn = []

    def reuse(size, epsilon, randomness):
        if not drawn:
            drawn.append(discrete_laplace(size, epsilon, randomness))
        return drawn[0][:size]

    monkeypatch.setattr(add_noise, "discrete_laplace", reuse)
    assert a_range_apart(in_ranges()) < ERROR


def test_k_is_binomial(levels):
    law = stats.binom.pmf(np.arange(len(EMPTY) + 1), len(EMPTY), P_THETA)
    assert goodness_of_fit(passes(levels[0]), law) > ERROR


def test_positions_are_uniform(levels):
    assert goodness_of_fit(positions(levels[0]), np.full(len(EMPTY), 1 / len(EMPTY))) > ERROR


def test_counts_exceed_the_threshold_geometrically(levels):
    law = (1 - ALPHA) * ALPHA ** np.arange(21)
    law[20] = ALPHA**20
    assert goodness_of_fit(counts(levels[0]), law) > ERROR


def test_neighbouring_nodes_are_independent(levels):
    k = np.minimum(np.sum(levels[0] >= THETA, axis=1), 3)
    rows = [np.bincount(k[1::2][k[0::2] == value], minlength=4) for value in range(4)]
    assert homogeneity(*rows) > ERROR


def test_the_first_node_of_a_level_is_like_any_other():
    """Many levels of one node: where a walk begins and ends must not show."""
    law = stats.binom.pmf(np.arange(len(EMPTY) + 1), len(EMPTY), P_THETA)
    ways = stats.binom.pmf(np.arange(len(EMPTY) + 1), len(EMPTY), 0.5) * 2 ** len(EMPTY)
    bits = np.arange(2 ** len(EMPTY))[:, None] >> np.arange(len(EMPTY)) & 1
    size = bits.sum(axis=1)
    observed = sum(patterns(statistical_process(nodes=1)) for _ in range(4000))
    assert goodness_of_fit(observed, (law / ways)[size]) > ERROR


def test_a_p_theta_ten_percent_off_is_noticed(monkeypatch):
    @lru_cache
    def wrong_skips(epsilon, threshold):
        def fails(bits):
            p = pass_probability(epsilon, threshold, bits)
            return Interval(p.low * 11 // 10, p.high * 11 // 10 + 1, bits).complement()

        return Geometric(fails)

    monkeypatch.setattr(add_noise, "skip_geometric", wrong_skips)
    process, explicit = statistical_process(), explicit_tests()
    for statistic in (passes, patterns, joint):
        assert homogeneity(statistic(process), statistic(explicit)) < ERROR


def test_counts_ten_percent_off_are_noticed(monkeypatch):
    explicit = explicit_tests()  # first: both draw from the law that is spoiled below
    wrong = Geometric(lambda bits: exp_minus(EPSILON * Fraction(11, 10), bits))
    monkeypatch.setattr(add_noise, "noise_geometric", lambda _epsilon: wrong)
    process = statistical_process()
    for statistic in (counts, joint):
        assert homogeneity(statistic(process), statistic(explicit)) < ERROR


def test_positions_off_by_one_are_noticed(monkeypatch):
    """What should land on the first empty child of a node lands on the second."""
    right = add_noise.rank_to_pair
    monkeypatch.setattr(
        add_noise,
        "rank_to_pair",
        lambda ranks, occupied: right(np.maximum(ranks, ranks // 5 * 5 + 1), occupied),
    )
    assert homogeneity(positions(statistical_process()), positions(explicit_tests())) < ERROR
