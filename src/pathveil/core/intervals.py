"""Certified real arithmetic with integers: the numbers that privacy decisions rest on.

A probability such as e^(−1/12) has no exact float, and a float that is a little off is a leak
that nobody can see. Here a real number is held between two integers, scaled by 2^bits, and every
operation rounds outward, so the true value is always inside. Asking for one more digit is asking
again with more bits.

Written by hand rather than taken from FLINT (whose `arb` the tests compare it with) so that the
gate rests on a page of Python integers that a reviewer can read, with no compiled dependency.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import isqrt


@dataclass(frozen=True, slots=True)
class Interval:
    """A real number known to lie in ``[low, high] / 2**bits``; both bounds are ≥ 0."""

    low: int
    high: int
    bits: int

    @classmethod
    def one(cls, bits: int) -> "Interval":
        """Exactly 1."""
        return cls(1 << bits, 1 << bits, bits)

    def __mul__(self, other: "Interval") -> "Interval":
        low = (self.low * other.low) >> self.bits
        high = -((-self.high * other.high) >> self.bits)
        return Interval(low, high, self.bits)

    def __truediv__(self, other: "Interval") -> "Interval":
        if other.low == 0:
            # The divisor is not yet told from 0: an interval too wide to decide anything, so
            # the caller adds bits. (Only distribution functions, at most 1, are divided here.)
            return Interval(0, (self.high + 1) << (2 * self.bits), self.bits)
        low = (self.low << self.bits) // other.high
        high = -((-self.high << self.bits) // other.low)
        return Interval(low, high, self.bits)

    def __add__(self, other: "Interval") -> "Interval":
        return Interval(self.low + other.low, self.high + other.high, self.bits)

    def complement(self) -> "Interval":
        """1 − x, for a probability x."""
        one = 1 << self.bits
        return Interval(max(one - self.high, 0), max(one - self.low, 0), self.bits)

    def power_of_two(self, doublings: int) -> "Interval":
        """x^(2^doublings), by squaring."""
        result = self
        for _ in range(doublings):
            result = result * result
        return result

    def scaled_floor(self, word_bits: int) -> int | None:
        """⌊x · 2^word_bits⌋, or None if the interval is too wide to tell."""
        shift = self.bits - word_bits
        low, high = self.low >> shift, self.high >> shift
        return low if low == high else None


Real = Callable[[int], Interval]
"""A real number: a function that gives an interval around it for any number of bits."""


def exp_minus(exponent: Fraction, bits: int) -> Interval:
    """e^(−exponent) for exponent ≥ 0, by the alternating series after halving the argument.

    For y in [0, 1/2] the terms y^k/k! fall, so stopping leaves less than the next term.
    """
    halvings = max(0, exponent.numerator.bit_length() - exponent.denominator.bit_length() + 2)
    numerator, denominator = exponent.numerator, exponent.denominator << halvings
    low = high = term_low = term_high = 1 << bits
    step = 0
    while term_high > 1:
        step += 1
        term_low = term_low * numerator // (denominator * step)
        term_high = -(-term_high * numerator // (denominator * step))
        if step % 2:
            low, high = low - term_high, high - term_low
        else:
            low, high = low + term_low, high + term_high
    return Interval(max(low - 1, 0), high + 1, bits).power_of_two(halvings)


def pass_probability(level_epsilon: Fraction, threshold: int, bits: int) -> Interval:
    """p_θ = α^θ/(1 + α), α = e^(−ε̄): an empty child's chance to pass an integer threshold θ ≥ 0.

    The paper's e^(−ε̄θ)/2 (Theorem 4) is the tail of continuous noise; on integers the tail of
    (1 − α)/(1 + α)·α^|x| from θ upwards is this.
    """
    alpha = exp_minus(level_epsilon, bits)
    return exp_minus(level_epsilon * threshold, bits) / (Interval.one(bits) + alpha)


# The sum of e^(−x²/(2v)) over all whole numbers x, by which the chances of Gaussian noise are
# divided.
#
# Up to v = 1024 it is added up. Beyond that the terms are too many, and Poisson's formula has
# nearly none: the sum is √(2πv)·(1 + 2·Σ e^(−2π²·v·k²)), k = 1, 2 …, and from v = 1024 on all but
# the 1 is below 2^(−29,000). So it is √(2πv), and a unit more in the last place.

MOST_ADDED_UP = 1024
_ENOUGH_BITS = 28_000


@lru_cache(maxsize=64)
def gaussian_mass(variance: Fraction, bits: int) -> Interval:
    """Σ e^(−x²/(2v)) over all whole numbers x; it is at least 1."""
    if variance > MOST_ADDED_UP:
        return _by_poisson(variance, bits)
    one = Interval.one(bits)
    step = exp_minus(1 / (2 * variance), bits)  # the terms fall by step, step³, step⁵ …
    fall, squared, term, total = step, step * step, one, Interval(0, 0, bits)
    while True:
        term, fall = term * fall, fall * squared
        total = total + term
        # All terms after this one are together at most term·fall/(1 − fall).
        if term.high <= 1 and 2 * fall.high <= 1 << bits:
            break
    rest = Interval(0, 2 * term.high, bits)
    return one + total + total + rest


def _by_poisson(variance: Fraction, bits: int) -> Interval:
    if bits > _ENOUGH_BITS:
        raise ValueError("So many bits are never needed.")
    pi = _pi(2 * bits + 64)
    low = 2 * pi.low * variance.numerator // variance.denominator
    high = -(-2 * pi.high * variance.numerator // variance.denominator)
    # Both are scaled by 2^(2·bits + 64); their roots by 2^(bits + 32).
    return Interval(isqrt(low) >> 32, (isqrt(high) >> 32) + 3, bits)


@lru_cache(maxsize=16)
def _pi(bits: int) -> Interval:
    """π = 16·arctan(1/5) − 4·arctan(1/239) (Machin)."""
    fifth, small = _arctan_of_one_over(5, bits), _arctan_of_one_over(239, bits)
    return Interval(16 * fifth.low - 4 * small.high, 16 * fifth.high - 4 * small.low, bits)


def _arctan_of_one_over(number: int, bits: int) -> Interval:
    """Σ (−1)^k/((2k + 1)·n^(2k + 1)): terms that fall to 0, each rounded by less than two units."""
    power, total, step = (1 << bits) // number, 0, 0
    while power:
        term = power // (2 * step + 1)
        total += -term if step % 2 else term
        power //= number * number
        step += 1
    return Interval(total - 2 * step - 2, total + 2 * step + 2, bits)
