"""Certified arithmetic: the true value is always inside, checked with fractions and with FLINT."""

from fractions import Fraction
from math import floor

import pytest
from flint import arb, ctx, fmpq
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from pathveil.core.intervals import Interval, exp_minus, pass_probability
from pathveil.gate.geometric import BASE, WORD_BITS, noise_geometric, skip_geometric

PRECISION = 4000
exact = settings(deadline=None)
bit_counts = st.sampled_from([8, 64, 160, 512])
exponents = st.fractions(min_value=0, max_value=800, max_denominator=10**12)
level_epsilons = st.fractions(min_value=Fraction(1, 10**12), max_value=100)


def real(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))


def fraction(value: arb) -> Fraction:
    ratio = value.fmpq()
    return Fraction(int(ratio.p), int(ratio.q))


def holds(interval: Interval, truth: arb) -> bool:
    """Whether FLINT's ball, thousands of bits narrow, lies inside the interval."""
    with ctx.workprec(PRECISION):
        least, most = fraction(truth.lower()), fraction(truth.upper())
    unit = 1 << interval.bits
    return interval.low <= least * unit and most * unit <= interval.high


def flint_exp_minus(exponent: Fraction) -> arb:
    with ctx.workprec(PRECISION):
        return (-real(exponent)).exp()


def flint_pass_probability(level_epsilon: Fraction, threshold: int) -> arb:
    with ctx.workprec(PRECISION):
        return (-real(level_epsilon) * threshold).exp() / (1 + (-real(level_epsilon)).exp())


@st.composite
def enclosed(draw, largest=4):
    """A rational number, and an interval of 64 bits around it."""
    value = draw(st.fractions(min_value=0, max_value=largest, max_denominator=10**9))
    below, above = draw(st.integers(0, 1000)), draw(st.integers(0, 1000))
    scaled = value * 2**64
    return value, Interval(max(floor(scaled) - below, 0), -floor(-scaled) + above, 64)


def contains(interval: Interval, value: Fraction) -> bool:
    return interval.low <= value * (1 << interval.bits) <= interval.high


@exact
@given(enclosed(), enclosed())
def test_sums_and_products_hold_the_true_value(a, b):
    assert contains(a[1] + b[1], a[0] + b[0])
    assert contains(a[1] * b[1], a[0] * b[0])


@exact
@given(enclosed(), enclosed())
def test_quotients_hold_the_true_value(a, b):
    assume(b[1].low > 0)
    assert contains(a[1] / b[1], a[0] / b[0])


def test_a_divisor_that_may_be_0_decides_nothing():
    quotient = Interval(3, 3, 64) / Interval(0, 5, 64)
    assert quotient.low == 0
    assert quotient.scaled_floor(32) is None


@exact
@given(enclosed(largest=1))
def test_complements_hold_the_true_value(a):
    assert contains(a[1].complement(), 1 - a[0])


@exact
@given(enclosed(largest=1), st.integers(0, 8))
def test_repeated_squares_hold_the_true_value(a, doublings):
    assert contains(a[1].power_of_two(doublings), a[0] ** (2**doublings))


@exact
@given(enclosed(), st.integers(0, 64))
def test_a_scaled_floor_is_right_or_unknown(a, word_bits):
    assert a[1].scaled_floor(word_bits) in (None, floor(a[0] * 2**word_bits))


def test_an_exact_number_has_an_exact_floor():
    assert Interval.one(64).scaled_floor(32) == 2**32


@exact
@given(exponents, bit_counts)
@example(Fraction(0), 64)
@example(Fraction(1, 2), 64)
@example(Fraction(1), 8)
def test_exp_minus_holds_the_true_value(exponent, bits):
    assert holds(exp_minus(exponent, bits), flint_exp_minus(exponent))


@exact
@given(exponents)
def test_exp_minus_is_narrow(exponent):
    interval = exp_minus(exponent, 512)
    assert interval.high - interval.low < 2**40


@exact
@given(level_epsilons, st.integers(0, 10**6), bit_counts)
def test_pass_probability_holds_the_true_value(level_epsilon, threshold, bits):
    assume(level_epsilon * threshold <= 800)
    truth = flint_pass_probability(level_epsilon, threshold)
    assert holds(pass_probability(level_epsilon, threshold, bits), truth)


@pytest.mark.parametrize("words", [1, 2, 3])
@pytest.mark.parametrize(
    "level_epsilon", [Fraction(1, 10**9), Fraction(1, 1000), Fraction(1, 12), Fraction(1), 100]
)
def test_the_noise_tables_are_those_of_flint(level_epsilon, words):
    level_epsilon = Fraction(level_epsilon)
    check_tables(noise_geometric(level_epsilon), flint_exp_minus(level_epsilon), words)


@pytest.mark.parametrize("words", [1, 2])
@pytest.mark.parametrize(
    ("level_epsilon", "threshold"),
    [(Fraction(1), 0), (Fraction(1), 2), (Fraction(1, 12), 100), (Fraction(1, 12), 1000)],
)
def test_the_skip_tables_are_those_of_flint(level_epsilon, threshold, words):
    with ctx.workprec(PRECISION):
        fails = 1 - flint_pass_probability(level_epsilon, threshold)
    check_tables(skip_geometric(level_epsilon, threshold), fails, words)


def check_tables(geometric, beta: arb, words: int) -> None:
    """Every threshold of every digit: ⌊F(j)·2^(32·words)⌋, with F from FLINT."""
    with ctx.workprec(PRECISION):
        for place, digit in enumerate(geometric._digits):
            gamma = beta ** (BASE**place)
            whole = 1 if digit._is_open else 1 - gamma**digit.size
            values = digit.size if digit._is_open else digit.size - 1
            unit = arb(2) ** (WORD_BITS * words)
            expected = [
                int(((1 - gamma**j) / whole * unit).floor().unique_fmpz())
                for j in range(1, values + 1)
            ]
            assert digit.table(words) == expected
        assert digit._is_open
