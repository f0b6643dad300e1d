"""Gaussian noise, exhaustively at small word sizes, where hardly anything is decided at once.

Every sequence of words is tried. What is decided after a few words must be no more than the exact
law gives each value, and what is left undecided must be what is missing.
"""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st
from tests.scripted_words import OutOfWordsError, Script

from pathveil.core.intervals import MOST_ADDED_UP, gaussian_mass
from pathveil.core.noise import Gaussian as Law
from pathveil.core.noise import tail_bound
from pathveil.gate import gaussian as module
from pathveil.gate.gaussian import Blocks, Chance, Gaussian, Passing, gaussian_noise, reaches
from pathveil.gate.randomness import Randomness


@pytest.fixture(autouse=True, scope="module")
def precise():
    """FLINT's precision is one for the whole process, and other tests set it, too."""
    ctx.prec = 400


def true_mass(variance):
    """Σ e^(−x²/(2v)) by FLINT's balls, term by term."""
    total, x = arb(1), 1
    while True:
        term = (-arb(x * x * variance.denominator) / (2 * variance.numerator)).exp()
        if term < arb(2) ** -350:
            return total
        total, x = total + 2 * term, x + 1


def law(variance, x):
    return float((-arb(x * x * variance.denominator) / (2 * variance.numerator)).exp()) / float(
        true_mass(variance)
    )


@pytest.mark.parametrize(
    "variance",
    [Fraction(1, 900), Fraction(2, 7), Fraction(5), Fraction(MOST_ADDED_UP), Fraction(3333, 2)],
    ids=str,
)
@pytest.mark.parametrize("bits", [64, 300])
def test_the_sum_of_all_weights_is_enclosed(variance, bits):
    """Added up below `MOST_ADDED_UP`, and by Poisson's formula above."""
    found, true = gaussian_mass(variance, bits), true_mass(variance)
    assert arb(found.low) <= true * arb(2) ** bits <= arb(found.high)
    assert found.high - found.low < 1 << 24


def masses(draw, word_bits, most_words):
    """The mass that up to ``most_words`` words decide for each value, and the undecided mass."""
    found, undecided, sequences = Counter(), 0.0, [()]
    while sequences:
        words = sequences.pop()
        mass = 2.0 ** (-word_bits * len(words))
        try:
            value = draw(Randomness(Script(words, word_bits)))
        except OutOfWordsError:
            if len(words) < most_words:
                sequences += [(*words, word) for word in range(2**word_bits)]
            else:
                undecided += mass
        else:
            found[value] += mass
    assert sum(found.values()) + undecided == pytest.approx(1)
    return found, undecided


# Blocks of one number, and of two and four, of which many are rejected; with K so small that the
# part beyond the table is drawn often.
MORE = pytest.param(1, marks=pytest.mark.long, id="one word more")


@pytest.mark.parametrize("more", [pytest.param(0, id="few words"), MORE])
@pytest.mark.parametrize(
    ("variance", "narrow", "size", "width", "words"),
    [
        (Fraction(2, 3), 128, None, 1, 3),
        (Fraction(3), 128, 1, 1, 3),
        (Fraction(11, 2), 2, None, 2, 3),
        (Fraction(9), 1, 2, 4, 3),
    ],
)
def test_the_noise_has_exactly_its_law(variance, narrow, size, width, words, more):
    sampler = Gaussian(variance, narrow=narrow, size=size, word_bits=4)
    assert sampler._width == width
    found, undecided = masses(lambda words: int(sampler.draw(1, words)[0]), 4, words + more)
    assert undecided < 0.85
    for value in range(min(found), max(found) + 1):
        chance = law(variance, value)
        assert found[value] <= chance + 1e-12 <= found[value] + undecided + 2e-12


@pytest.mark.parametrize("more", [pytest.param(0, id="few words"), MORE])
@pytest.mark.parametrize(("variance", "threshold"), [(Fraction(2), 2), (Fraction(1, 2), 1)])
def test_an_empty_cell_passes_with_the_chance_of_its_noise(variance, threshold, more):
    """A walk over one cell: it is jumped over, dropped on landing, or kept with a count."""
    passing = Passing(variance, threshold, word_bits=4)

    def draw(words):
        if passing.skips.draw(1, words)[0] > 0:
            return None
        (is_kept,), (count,) = passing.counts(1, words)
        return int(count) if is_kept else None

    found, undecided = masses(draw, 4, 3 + 2 * more)
    assert undecided < 0.4
    for count in range(threshold, threshold + 4):
        chance = law(variance, count)
        assert found[count] <= chance + 1e-12 <= found[count] + undecided + 2e-12
    passes = sum(mass for count, mass in found.items() if count is not None)
    assert passes <= float(tail_bound(variance, threshold))


def test_a_threshold_below_sigma_is_refused():
    with pytest.raises(ValueError, match="at least its σ"):
        Passing(Fraction(5), 2)


@given(st.integers(0, 10**6), st.integers(1, 10**6), st.integers(0, 2**32 - 1))
def test_one_word_decides_only_what_all_words_would(number, doubled, word):
    """At the real word size the quick bounds never decide against the certified ones."""
    variance = Fraction(doubled, 2) + number * 2  # so that no γ is above 1/4
    chance = Chance(variance, 10**6)
    script = Script([word], 32)
    try:
        is_taken = chance.take_all(np.array([number]), np.zeros(1, bool), Randomness(script))[0]
    except OutOfWordsError:
        return  # one word does not decide
    doubt = 1 - (-arb(number * variance.denominator) / (2 * variance.numerator)).exp()
    if is_taken:
        assert arb(word) >= doubt * 2**32
    else:
        assert arb(word + 1) <= doubt * 2**32


def test_a_tie_takes_more_words():
    half = lambda bits: module.Interval(1 << (bits - 1), 1 << (bits - 1), bits)
    assert reaches(half, 0, 0, Randomness(Script([8], 4)), 4)
    assert not reaches(half, 0, 0, Randomness(Script([7], 4)), 4)
    near = lambda bits: module.Interval((1 << (bits - 1)) + 1, (1 << (bits - 1)) + 1, bits)
    assert reaches(near, 0, 0, Randomness(Script([8, 1], 4)), 4)


def test_the_largest_noise_does_not_overflow():
    variance = Fraction(module.LARGEST_VARIANCE)
    drawn = gaussian_noise(variance).draw(2000, Randomness())
    assert 0.8 < np.abs(drawn.astype(float)).mean() / (0.7979 * 1e9) < 1.2
    with pytest.raises(ValueError, match="too large"):
        Gaussian(variance + 1)


def test_blocks_end_where_hardly_anything_is_left():
    for variance in (Fraction(1, 100), Fraction(50), Fraction(10**9)):
        blocks = gaussian_noise(variance)._blocks
        assert isinstance(blocks, Blocks)
        assert blocks.fall * blocks.size**2 > 22  # e^(−22) is below 2^(−31)
        assert len(blocks.table(1)) == blocks.size <= 1024


@pytest.mark.parametrize("cells", [5, 4096, 10**9])
def test_a_threshold_invents_what_it_may_and_no_less_would_do(cells):
    noise = Law(Fraction(700, 3))
    theta = noise.threshold(cells, Fraction(1, 10))
    assert cells * tail_bound(noise.variance, theta) <= Fraction(1, 10)
    assert cells * tail_bound(noise.variance, theta - 1) > Fraction(1, 10)
    tail = 1 - noise.below(np.array(theta - 0.5))
    if cells < 10**6:
        assert float(tail_bound(noise.variance, theta)) == pytest.approx(float(tail), rel=0.3)
