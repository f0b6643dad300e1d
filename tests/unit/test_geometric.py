"""Geometric numbers, exhaustively at small word sizes, where ties are frequent.

Every sequence of words is tried. What is decided after a few words must be no more than the exact
law gives each value, and what is left undecided must be what is missing.
"""

from fractions import Fraction

import numpy as np
import pytest
from tests.scripted_words import OutOfWordsError, Script, decided_law, rational

from pathveil.gate import geometric as module
from pathveil.gate.geometric import (
    SATURATED,
    Digit,
    Geometric,
    _add,
    noise_geometric,
    skip_geometric,
)
from pathveil.gate.randomness import Randomness

# An even numerator and an odd denominator: then no F(j) is a fraction with a power of two below,
# which an interval around it could never tell from its neighbours. (The real ratios are powers of
# e, so their F(j) are transcendental.)
GAMMAS = [Fraction(2, 5), Fraction(4, 7), Fraction(98, 99)]


def digit_law(gamma, size, *, is_open):
    law = [gamma**d * (1 - gamma) for d in range(size)]
    return [*law, gamma**size] if is_open else [p / sum(law) for p in law]


@pytest.mark.parametrize("word_bits", [4, 5, 6])
@pytest.mark.parametrize("is_open", [True, False])
@pytest.mark.parametrize("size", [1, 2, 5, 11])
@pytest.mark.parametrize("gamma", GAMMAS)
def test_a_digit_has_exactly_its_law(gamma, size, is_open, word_bits):
    digit = Digit(rational(gamma), size, is_open=is_open, word_bits=word_bits)
    decided, undecided = decided_law(digit, word_bits, most_words=4)
    law = digit_law(gamma, size, is_open=is_open)
    # Only the words that begin like a threshold are undecided.
    assert undecided <= Fraction(size, 2 ** (4 * word_bits))
    assert set(decided) <= set(range(len(law)))
    for value, probability in enumerate(law):
        assert decided[value] <= probability <= decided[value] + undecided


@pytest.mark.parametrize("beta", [Fraction(2, 5), Fraction(4, 5), Fraction(10, 11)])
def test_digits_make_a_geometric_number(beta, monkeypatch):
    """In base 4 rather than 1024: one open digit at 2/5 and 4/5, two at 10/11."""
    monkeypatch.setattr(module, "DIGIT_BITS", 2)
    monkeypatch.setattr(module, "BASE", 4)
    geometric = Geometric(rational(beta), word_bits=5)
    assert len(geometric._digits) == (2 if beta == Fraction(10, 11) else 1)
    decided, undecided = decided_law(geometric, 5, most_words=3)
    assert undecided < Fraction(1, 4)
    for value in range(max(decided) + 1):
        probability = (1 - beta) * beta**value
        assert decided[value] <= probability <= decided[value] + undecided


def test_a_power_of_two_ratio_can_tie_for_long_and_is_still_exact():
    """F(1) = 1/2 is 1000…: a word 1000 ties until a later word is not 0."""
    digit = Digit(rational(Fraction(1, 2)), 1, is_open=True, word_bits=4)
    assert digit.draw(1, Randomness(Script([8, 0, 0, 1], 4)))[0] == 1
    assert digit.draw(1, Randomness(Script([7], 4)))[0] == 0
    with pytest.raises(OutOfWordsError):
        digit.draw(1, Randomness(Script([8, 0, 0], 4)))


def test_many_draws_resolve_their_own_ties():
    """More ties in one batch than the first list of ties holds; every U begins with 1/2."""
    digit = Digit(rational(Fraction(1, 2)), 1, is_open=True, word_bits=4)
    drawn = digit.draw(40, Randomness(Script([8] * 40 + [1] * 40, 4)))
    assert drawn.tolist() == [1] * 40


def test_no_table_is_longer_than_the_base():
    for epsilon in (Fraction(1, 10**9), Fraction(1, 12), Fraction(100)):
        assert all(len(d.table(1)) <= module.BASE for d in noise_geometric(epsilon)._digits)


def test_sums_saturate_rather_than_wrap():
    total = np.array([5, 5, 5, SATURATED], dtype=np.int64)
    _add(total, np.array([0, 3, 4, 1023]), 6)
    assert total.tolist() == [5, 5 + 3 * 2**60, SATURATED, SATURATED]
    _add(total, np.array([0, 0, 1, 1]), 7)
    assert total.tolist() == [5, 5 + 3 * 2**60, SATURATED, SATURATED]
    _add(total, np.array([0, 1, 0, 0]), 7)
    assert total.tolist() == [5, SATURATED, SATURATED, SATURATED]


def test_a_walk_that_hardly_ever_succeeds_jumps_far():
    """p_θ = e^(−200)/(1 + e^(−1)): a success before 2⁶² has probability 10⁻⁶⁸."""
    assert skip_geometric(Fraction(1), 200).draw(3, Randomness()).tolist() == [SATURATED] * 3


def test_the_same_words_give_the_same_numbers():
    geometric = noise_geometric(Fraction(1, 1000))
    draws = [
        geometric.draw(1000, Randomness(np.random.default_rng(7)))  # noqa: TID251
        for _ in range(2)
    ]
    assert np.array_equal(*draws)
