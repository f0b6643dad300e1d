"""The sampler, exhaustively: every word, every table, every set of empty nodes of small sizes.

The real code runs; what it must give is counted with fractions or taken from FLINT. The lemmas are
those of docs/sampler-proof.md.
"""

from fractions import Fraction
from itertools import combinations, combinations_with_replacement, pairwise

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from tests.scripted_words import Script, decided_law, rational

from pathveil.core.intervals import exp_minus
from pathveil.gate import add_noise, geometric
from pathveil.gate.add_noise import discrete_laplace, rank_to_pair
from pathveil.gate.geometric import SATURATED, Digit, Geometric, _add, invert
from pathveil.gate.randomness import Randomness

EPSILONS = [Fraction(1, 12), Fraction(1), Fraction(3)]


@pytest.mark.parametrize("length", range(5))
def test_inverting_counts_the_thresholds_below_and_reports_exactly_the_ties(length):
    """Lemma 3: every table of up to four thresholds and every word, of three bits."""
    words = np.arange(8, dtype=np.uint32)
    for table in combinations_with_replacement(range(8), length):
        digits = np.empty(8, dtype=np.int64)
        ties = invert(np.array(table, dtype=np.uint64), words, digits)
        assert digits.tolist() == [sum(t < word for t in table) for word in range(8)]
        assert ties.tolist() == [word for word in range(8) if word in table]


def flint_distribution(epsilon, digit):
    """F(1), F(2), … of an open digit of ratio e^(−ε̄), from FLINT."""
    return [
        1 - (-arb(fmpq(epsilon.numerator, epsilon.denominator)) * j).exp()
        for j in range(1, digit.size + 1)
    ]


@pytest.mark.parametrize("word_bits", [1, 2, 5, 11, 16])
@pytest.mark.parametrize("epsilon", EPSILONS, ids=str)
def test_every_word_of_a_digit_of_the_real_law(epsilon, word_bits):
    """Lemmas 2 and 3: all words decide as the real numbers that begin with them do."""
    digit = Digit(lambda bits: exp_minus(epsilon, bits), 12, is_open=True, word_bits=word_bits)
    words = np.arange(2**word_bits, dtype=np.uint32)
    digits = np.empty(len(words), dtype=np.int64)
    ties = set(invert(digit._thresholds, words, digits).tolist())
    with ctx.workprec(300):
        values = flint_distribution(epsilon, digit)
        for word, drawn in enumerate(digits.tolist()):
            begin, end = (arb(w) / 2**word_bits for w in (word, word + 1))
            # U is anywhere in [begin, end): a tie is exactly a word that holds some F(j).
            assert (word in ties) == any(bool(begin < f) and bool(f < end) for f in values)
            if word not in ties:
                assert drawn == sum(bool(f < begin) for f in values)
                assert drawn == sum(bool(f < end) for f in values)


@pytest.mark.parametrize("epsilon", EPSILONS, ids=str)
def test_the_words_about_every_threshold_of_32_bits(epsilon):
    """Lemma 3 at the real word size: what is just below, at and just above each threshold."""
    for digit in geometric.noise_geometric(epsilon)._digits:
        table = np.array(digit.table(1), dtype=np.int64)
        words = np.unique(np.clip(np.concatenate((table - 1, table, table + 1)), 0, 2**32 - 1))
        digits = np.empty(len(words), dtype=np.int64)
        ties = invert(digit._thresholds, words.astype(np.uint32), digits)
        assert digits.tolist() == np.searchsorted(table, words).tolist()
        assert words[ties].tolist() == sorted(set(table.tolist()) & set(words.tolist()))


@pytest.mark.parametrize("beta", [Fraction(2, 5), Fraction(2, 3)])
def test_the_noise_is_two_sided_geometric_whatever_the_words(beta, monkeypatch):
    """Lemma 5: all sequences of up to four words of four bits."""
    small = Geometric(rational(beta), word_bits=4)
    monkeypatch.setattr(add_noise, "noise_geometric", lambda _epsilon: small)

    class Noise:
        def draw(self, count, randomness):
            return discrete_laplace(count, Fraction(1), randomness)

    decided, undecided = decided_law(Noise(), 4, most_words=4)
    assert undecided < Fraction(1, 5)
    for value in range(min(decided) - 1, max(decided) + 2):
        probability = (1 - beta) / (1 + beta) * beta ** abs(value)
        assert decided[value] <= probability <= decided[value] + undecided


def test_ties_take_their_own_words_in_their_own_order():
    """Lemma 4: two numbers that tie at once are resolved one after the other, with fresh words."""
    digit = Digit(rational(Fraction(1, 2)), 1, is_open=True, word_bits=4)
    for first in range(16):
        for second in range(1, 16):
            script = [8, 8] + ([first] if first else [0, 5]) + [second]
            assert digit.draw(2, Randomness(Script(script, 4))).tolist() == [1, 1]


class Skips:
    """Stands in for the geometric law of the skips."""

    def __init__(self, skips):
        self._skips = list(skips)

    def draw(self, count, _randomness):
        given_now, self._skips = self._skips[:count], self._skips[count:]
        return np.array(given_now + [SATURATED] * (count - len(given_now)), dtype=np.int64)


@pytest.mark.parametrize("length", [0, 1, 2, 7])
def test_every_set_of_empty_nodes_has_the_probability_of_its_tests(length):
    """Lemma 6: the walk gives each subset with p^k·(1 − p)^(m − k), by adding up its skips."""
    p = Fraction(1, 3)
    mass = Fraction(0)
    for size in range(length + 1):
        for passing in combinations(range(length), size):
            edges = (-1, *passing)
            skips = [b - a - 1 for a, b in pairwise(edges)]
            beyond = length - edges[-1] - 1  # any skip of this or more leaves the level
            for last in (beyond, beyond + 1, SATURATED):
                ranks = add_noise._walk(length, Skips([*skips, last]), Randomness())
                assert ranks.tolist() == list(passing)
            probability = (1 - p) ** beyond
            for skip in skips:
                probability *= (1 - p) ** skip * p
            assert probability == p**size * (1 - p) ** (length - size)
            mass += probability
    assert mass == 1


def test_ranks_and_empty_pairs_are_one_to_one():
    """Lemma 7: every set of occupied pairs among ten."""
    for bits in range(2**10):
        occupied = [pair for pair in range(10) if bits >> pair & 1]
        empty = [pair for pair in range(10) if not bits >> pair & 1]
        found = rank_to_pair(np.arange(len(empty)), np.array(occupied, dtype=np.int64))
        assert found.tolist() == empty


@pytest.mark.parametrize("level", range(9))
def test_no_sum_of_digits_overflows(level):
    """Lemma 8: at every corner the sum is the true one, or 2⁶² if that is smaller."""
    weight = 1024**level
    largest = max((SATURATED - 1) // weight, 0)
    totals = [0, 1, weight, SATURATED - weight, SATURATED - 1, SATURATED]
    digits = [0, 1, 2, 1022, 1023, largest - 1, largest, largest + 1, 2**40, 2**62]
    for total in (t for t in totals if 0 <= t <= SATURATED):
        for digit in (d for d in digits if 0 <= d <= 2**62):
            found = np.array([total], dtype=np.int64)
            _add(found, np.array([digit], dtype=np.int64), level)
            assert int(found[0]) == min(total + digit * weight, SATURATED)


def test_small_numbers_saturate_exactly(monkeypatch):
    """Lemma 8, exhaustively: base 4, saturating at 2⁶."""
    monkeypatch.setattr(geometric, "BASE", 4)
    monkeypatch.setattr(geometric, "SATURATED", 64)
    totals, digits = (values.ravel() for values in np.mgrid[0:65, 0:70])
    for level in range(6):
        found = totals.copy()
        _add(found, digits, level)
        assert np.array_equal(found, np.minimum(totals + digits * 4**level, 64))


def test_a_walk_to_the_end_of_the_largest_level_does_not_wrap():
    """Lemma 8: the last position before the end and the longest skip."""
    from pathveil.gate.grow_tree import LARGEST_LEVEL

    skips = np.array([SATURATED], dtype=np.int64)
    ranks, position = add_noise._advance(skips, LARGEST_LEVEL - 1, LARGEST_LEVEL)
    assert len(ranks) == 0
    assert position == LARGEST_LEVEL + SATURATED
