"""Odds in exact arithmetic: true as printed, for every ε that anybody uses."""

from decimal import Decimal
from fractions import Fraction

import flint
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathveil.promise.odds import Belief, odds_against_one

HALF = Fraction(1, 2)
fractions = st.fractions(Fraction(1, 100), 20, max_denominator=1000)
beliefs = st.fractions(Fraction(1, 1000), Fraction(999, 1000), max_denominator=1000)


def ball(number):
    return flint.arb(number.numerator) / flint.arb(number.denominator)


def test_the_textbook_numbers():
    """e/(1 + e) = 0.7310585…, and e^ε as odds."""
    belief = Belief.after(HALF, Fraction(1))
    assert (belief.at_least, belief.at_most) == (Decimal("26.894"), Decimal("73.106"))
    assert Belief.after(Fraction(1, 100), Fraction(1)).at_most == Decimal("2.673")
    assert odds_against_one(Fraction(1)) == Decimal("2.719")
    assert odds_against_one(Fraction(1, 100)) == Decimal("1.011")


@given(beliefs, fractions)
def test_a_belief_is_bounded_truly_and_tightly(before, loss):
    flint.ctx.prec = 300
    belief = Belief.after(before, loss)
    p, factor = ball(before), ball(loss).exp()
    most, least = 100 * p * factor / (p * factor + 1 - p), 100 * p / (p + (1 - p) * factor)
    printed_most, printed_least = ball(Fraction(belief.at_most)), ball(Fraction(belief.at_least))
    assert printed_least <= least
    assert most <= printed_most
    assert printed_most - most < 0.001
    assert least - printed_least < 0.001
    assert 0 < belief.at_least < 100 * before < belief.at_most < 100


@given(fractions)
def test_odds_are_rounded_up(loss):
    flint.ctx.prec = 300
    odds, true = ball(Fraction(odds_against_one(loss))), ball(loss).exp()
    assert true <= odds
    assert odds - true < 0.001


def test_a_large_epsilon_is_never_printed_as_certainty_until_it_is_one():
    assert Belief.after(HALF, Fraction(20)).at_most == Decimal("99.9999998")
    assert Belief.after(HALF, Fraction(100)).at_most == 100


def test_the_two_bounds_are_each_others_complement():
    for percent in (1, 10, 50, 90):
        belief = Belief.after(Fraction(percent, 100), Fraction(3, 2))
        other = Belief.after(Fraction(100 - percent, 100), Fraction(3, 2))
        assert belief.at_most == 100 - other.at_least


@pytest.mark.parametrize("loss", [Fraction(1, 10**9), Fraction(1, 3)])
def test_a_small_loss_moves_a_belief_a_little(loss):
    belief = Belief.after(HALF, loss)
    assert belief.at_least < 50 < belief.at_most
