"""What ε means for one person, as odds: how far can a release move an attacker's belief?

An attacker who knows everything about everybody else holds a belief p that a statement about one
person is true. If every outcome is at most e^loss times as probable when the statement is true as
when it is false, and the other way round, then by Bayes' rule the belief after seeing the release
lies between

    p/(p + (1 − p)·e^loss)    and    p/(p + (1 − p)·e^(−loss))

The digits are certified: computed from the exact fraction ε with integer intervals, and rounded
away from the person's favour, so "at most 73.106%" is true as printed.
"""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from pathveil.core.intervals import Interval, exp_minus

# A belief that needs more decimals than this is printed as 0% or 100%: nothing is protected then.
MOST_DIGITS = 12
_FIRST_BITS = 96


@dataclass(frozen=True, slots=True)
class Belief:
    """An attacker's belief about one statement, before and after.

    Attributes:
        before: the belief before the release, between 0 and 1, exact.
        loss: the log of the largest ratio of probabilities: ε, or a multiple of it.
        at_least: per cent; after the release it is no lower than this, rounded down.
        at_most: per cent; after the release it is no higher than this, rounded up.
    """

    before: Fraction
    loss: Fraction
    at_least: Decimal
    at_most: Decimal

    @classmethod
    def after(cls, before: Fraction, loss: Fraction, digits: int = 3) -> "Belief":
        """Bound a belief.

        Args:
            before: strictly between 0 and 1.
            loss: positive.
            digits: decimals of a per cent; more are printed where 0% or 100% would be untrue.
        """
        doubt = _rounded_down(1 - before, loss, digits)
        return cls(before, loss, _rounded_down(before, loss, digits), 100 - doubt)


def odds_against_one(loss: Fraction, digits: int = 3) -> Decimal:
    """e^loss, rounded up: no outcome becomes more than this many times as probable."""
    bits = _FIRST_BITS
    while True:
        small = exp_minus(loss, bits)
        if small.low:
            scaled = 10**digits << bits
            low, high = -(-scaled // small.high), -(-scaled // small.low)
            if low == high:
                return Decimal(high).scaleb(-digits)
        bits *= 2


def _rounded_down(before: Fraction, loss: Fraction, digits: int) -> Decimal:
    """100·p/(p + (1 − p)·e^loss) to ``digits`` decimals, or to as many as it takes not to be 0.

    The upper bound on a belief is 1 minus the lower bound on its opposite.
    """
    while True:
        scaled = _scaled_floor(before, loss, 100 * 10**digits)
        if scaled:
            return Decimal(scaled).scaleb(-digits)
        if digits >= MOST_DIGITS:
            return Decimal(0)
        digits += 1


def _scaled_floor(before: Fraction, loss: Fraction, scale: int) -> int:
    """⌊scale·p·α/(p·α + 1 − p)⌋ with α = e^(−loss), with as many bits as it takes."""
    numerator, rest = before.numerator, before.denominator - before.numerator
    bits = _FIRST_BITS
    while True:
        alpha = exp_minus(loss, bits)
        low, high = (_share(alpha, end, numerator, rest, scale) for end in (0, 1))
        if low == high:
            return low
        bits *= 2


def _share(alpha: Interval, end: int, numerator: int, rest: int, scale: int) -> int:
    # p·α/(p·α + 1 − p) grows with α, so its bounds are taken at the bounds of α.
    value = (alpha.low, alpha.high)[end] * numerator
    return scale * value // (value + (rest << alpha.bits))
