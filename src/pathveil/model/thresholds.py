"""Thresholds: public integers that decide which noisy counts are kept."""

from fractions import Fraction
from functools import lru_cache
from math import isqrt

from pathveil.model.intervals import pass_probability

# Above 200 noise scales nothing is gained: an empty cell passes with probability e^(−200).
MOST_SCALES = 200
_BITS = 1024


def paper_threshold(epsilon: Fraction) -> int:
    """2√2/ε̄, two standard deviations of the noise, rounded up to an integer (section IV-A)."""
    numerator, denominator = epsilon.numerator, epsilon.denominator
    # The smallest t with (t·n)² ≥ 8·d², in integers.
    root = isqrt(8 * denominator * denominator)
    root += root * root < 8 * denominator * denominator
    return -(-root // numerator)


@lru_cache(maxsize=256)
def smallest_threshold(epsilon: Fraction, cells: int, invented: Fraction, least: int = 1) -> int:
    """The smallest θ ≥ ``least`` at which at most ``invented`` of ``cells`` empty cells pass."""

    def invents_little(threshold: int) -> bool:
        return cells * pass_fraction(epsilon, threshold) <= invented

    low = high = least
    if invents_little(low):
        return low
    while not invents_little(high):
        low, high = high, 2 * high
    while high - low > 1:  # low invents too many, high does not
        middle = (low + high) // 2
        if invents_little(middle):
            high = middle
        else:
            low = middle
    return high


@lru_cache(maxsize=256)
def pass_fraction(epsilon: Fraction, threshold: int) -> Fraction:
    """p_θ, rounded up in the 1024th binary place: the same number on every machine."""
    if epsilon * threshold > 4 * MOST_SCALES:
        return Fraction(0)
    return Fraction(pass_probability(epsilon, threshold, _BITS).high, 1 << _BITS)
