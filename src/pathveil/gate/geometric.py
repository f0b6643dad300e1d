"""Exact geometric numbers: P[J = j] = (1 − β)·β^j, j ≥ 0, with no float anywhere.

Everything the gate draws is made of these: noise is the difference of two, the counts of kept
empty nodes are one, the walk over empty nodes takes steps of one (Theorem 4).

**Digits.** Written in base m, the digits of a geometric number are independent, because
β^(a + m·b) is a product. Digit k has P[d] ∝ γ^d on 0 … m − 1, with γ = β^(m^k). The last digit is
open-ended: it is drawn on 0 … K − 1 or "K or more"; if more, memorylessness says to add K and
draw it again. So no table is longer than m, however close β is to 1, and none reaches into tails
that are too thin to matter.

**A digit** is found by inverting its distribution function F: the number of j with F(j) ≤ U for a
uniform real U. A word u gives the first 32 bits of U and T_j = ⌊F(j)·2³²⌋ the first 32 bits of
F(j), certified by interval arithmetic. u > T_j proves F(j) ≤ U, u < T_j proves U < F(j); only
u = T_j is undecided, and then both get 32 more bits until they differ. The digit therefore has
exactly its law: the word size changes how often more bits are needed, never the answer. (It ends:
F(j) is transcendental, so no number of bits writes it out, and certifying its bits ends too.)
"""

from abc import ABC, abstractmethod
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import njit
from pathveil.core.intervals import (
    Interval,
    Real,
    exp_minus,
    pass_probability,
)
from pathveil.gate.randomness import Randomness

WORD_BITS = 32
DIGIT_BITS = 10
BASE = 1 << DIGIT_BITS
SATURATED = 1 << 62


class Inversion(ABC):
    """A whole number 0, 1 … found by inverting its distribution function, exactly.

    Args:
        word_bits: how many bits of U one word supplies (tests use few, so that ties abound).
    """

    def __init__(self, word_bits: int = WORD_BITS) -> None:
        self._word_bits = word_bits
        self._tables: dict[int, list[int]] = {}
        self._thresholds: NDArray[np.uint64] = np.array(self.table(1), dtype=np.uint64)

    @abstractmethod
    def _distribution(self, bits: int) -> list[Interval]:
        """F(1), F(2) …: of none it may be that some number of bits writes it out."""

    def table(self, words: int) -> list[int]:
        """The first ``words`` words of F(j) = P[d < j], for j = 1, 2, …: certified."""
        if words not in self._tables:
            self._tables[words] = self._certified_table(words * self._word_bits)
        return self._tables[words]

    def _certified_table(self, word_bits: int) -> list[int]:
        bits = word_bits + 128
        while True:
            floors = [f.scaled_floor(word_bits) for f in self._distribution(bits)]
            certain = [floor for floor in floors if floor is not None]
            if len(certain) == len(floors):
                return certain
            bits *= 2

    def draw(self, count: int, randomness: Randomness) -> NDArray[np.int64]:
        """``count`` independent numbers."""
        words = randomness.words(count) >> np.uint32(WORD_BITS - self._word_bits)
        digits = np.empty(count, dtype=np.int64)
        for i in invert(self._thresholds, words, digits):
            digits[i] = self._resolve(int(words[i]), randomness)
        return digits

    def _resolve(self, prefix: int, randomness: Randomness) -> int:
        """The number of a U that starts with the word ``prefix``, which one word can't decide."""
        words = 1
        while prefix in (table := self.table(words)):
            word = int(randomness.words(1)[0]) >> (WORD_BITS - self._word_bits)
            prefix, words = prefix << self._word_bits | word, words + 1
        return sum(threshold < prefix for threshold in table)


class Digit(Inversion):
    """One digit of a geometric number: the law P[d] ∝ γ^d on 0 … size − 1.

    Args:
        gamma: γ, the ratio of consecutive probabilities.
        size: the number of values; for an open-ended digit, the value that means "or more".
        is_open: whether the digit goes on beyond ``size``.
        word_bits: as of `Inversion`.
    """

    def __init__(
        self, gamma: Real, size: int, *, is_open: bool, word_bits: int = WORD_BITS
    ) -> None:
        self._gamma = gamma
        self.size = size
        self._is_open = is_open
        super().__init__(word_bits)

    def _distribution(self, bits: int) -> list[Interval]:
        gamma = self._gamma(bits)
        powers = [gamma]
        for _ in range(self.size - 1):
            powers.append(powers[-1] * gamma)
        below = [power.complement() for power in powers]
        return below if self._is_open else [f / below[-1] for f in below[:-1]]


@njit(cache=True)
def invert(
    thresholds: NDArray[np.uint64], words: NDArray[np.uint32], digits: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Set each digit to the number of thresholds below its word; return the undecided positions."""
    ties = np.empty(16, dtype=np.int64)
    tied = 0
    for i in range(len(words)):
        word = np.uint64(words[i])
        low, high = 0, len(thresholds)
        while low < high:
            middle = (low + high) >> 1
            if thresholds[middle] < word:
                low = middle + 1
            else:
                high = middle
        digits[i] = low
        if low < len(thresholds) and thresholds[low] == word:
            if tied == len(ties):
                ties = np.concatenate((ties, np.empty(tied, dtype=np.int64)))
            ties[tied] = i
            tied += 1
    return ties[:tied]


class Geometric:
    """Draws geometric numbers with ratio β, given as a certified real.

    Numbers of 2⁶² or more are returned as 2⁶²: no walk and no count is that long.
    """

    def __init__(self, beta: Real, *, word_bits: int = WORD_BITS) -> None:
        self._digits: list[Digit] = []
        while True:
            doublings = len(self._digits) * DIGIT_BITS
            gamma = _power(beta, doublings)
            size = _open_size(gamma, 4 * WORD_BITS + doublings)
            is_open = size is not None
            self._digits.append(Digit(gamma, size or BASE, is_open=is_open, word_bits=word_bits))
            if is_open:
                return

    def draw(self, count: int, randomness: Randomness) -> NDArray[np.int64]:
        """``count`` independent geometric numbers, int64."""
        total = np.zeros(count, dtype=np.int64)
        for level, digit in enumerate(self._digits[:-1]):
            _add(total, digit.draw(count, randomness), level)
        _add(total, self._draw_open(count, randomness), len(self._digits) - 1)
        return total

    def _draw_open(self, count: int, randomness: Randomness) -> NDArray[np.int64]:
        digit = self._digits[-1]
        drawn = digit.draw(count, randomness)
        more = np.flatnonzero(drawn == digit.size)
        while len(more):
            again = digit.draw(len(more), randomness)
            drawn[more] += again
            more = more[again == digit.size]
        return drawn


def _power(beta: Real, doublings: int) -> Real:
    return lambda bits: beta(bits).power_of_two(doublings)


def _open_size(gamma: Real, bits: int) -> int | None:
    """Where to cut the open-ended last digit, or None if γ is so near 1 that one more is needed.

    Any cut is exact; this one makes "or more" rarer than 2⁻³², or at least rarer than 1/2.
    γ = β^(2^doublings) needs that many bits more: with fewer, a β that is nearer to 1 than they
    tell would look like 1 for ever, and no digit would be the last.
    """
    ratio = power = gamma(bits)
    if 2 * ratio.power_of_two(DIGIT_BITS).high >= 1 << bits:
        return None
    for size in range(1, BASE):
        if power.high >> (bits - WORD_BITS) == 0:
            return size
        power = power * ratio
    return BASE


def _add(total: NDArray[np.int64], digits: NDArray[np.int64], level: int) -> None:
    """Add digits · BASE^level to the total, saturating."""
    weight = BASE**level
    if weight < SATURATED:
        largest = (SATURATED - 1) // weight
        np.add(total, np.minimum(digits, largest) * weight, out=total)
        np.putmask(total, (digits > largest) | (total > SATURATED), SATURATED)
    else:
        np.putmask(total, digits > 0, SATURATED)


@lru_cache(maxsize=64)
def noise_geometric(level_epsilon: Fraction) -> Geometric:
    """The geometric law with ratio α = e^(−ε̄): two-sided noise, and how far empties exceed θ."""
    return Geometric(lambda bits: exp_minus(level_epsilon, bits))


@lru_cache(maxsize=64)
def skip_geometric(level_epsilon: Fraction, threshold: int) -> Geometric:
    """How many empty children fail before the next one passes θ: ratio 1 − p_θ."""
    return Geometric(lambda bits: pass_probability(level_epsilon, threshold, bits).complement())
