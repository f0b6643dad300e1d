"""Exact Gaussian noise over the whole numbers: P[X = x] ∝ e^(−x²/(2σ²)), with no float anywhere.

Drawn by rejection, as Canonne, Kamath and Steinke do, but from proposals that are so close to the
law that hardly any is rejected, so that whole arrays are drawn at once.

**Proposal.** The size of the noise is cut into blocks of m = 2^k numbers, so many that a block is
narrow beside σ. Block q is proposed with a chance in proportion to e^(−(mq)²/(2σ²)), the weight of
its first number, by inverting a certified table (`geometric.Inversion`); a number r in it and a
sign are bits of a word. The table ends at a block K. What lies beyond is proposed as block K + i
with i geometric, of ratio e^(−m²(2K + 1)/(2σ²)): from one block to the next the weights fall by
no less than that, so the proposal is never too rare.

**Acceptance.** (q, r) is accepted with chance e^(−((mq + r)² − (mq)²)/(2σ²)), and a block beyond K
first with e^(−m²(i² − i)/(2σ²)), which is its weight beside its proposal. −0 is rejected: 0 has
one sign. What is rejected is drawn anew, all of it. So x is accepted in proportion to its weight,
and what is accepted has exactly the law.

**A chance** e^(−γ) is taken by comparing a uniform V with ψ = 1 − e^(−γ): accepted if V ≥ ψ. One
word of V and γ − γ²/2 ≤ ψ ≤ γ, in 64-bit integers, decide nearly always. What they leave open is
decided by more words of V and a certified ψ; it ends, because ever fewer V are near ψ.

**The empty cells** that pass θ (Theorem 4, for this noise). From θ on the weights fall by no
less than ratio = e^(−(2θ + 1)/(2σ²)), so a cell passes with a chance of at most
p̂ = e^(−θ²/(2σ²))/((1 − ratio)·Z), Z being the sum of all weights. The cells are walked over with
jumps of chance e^(−s) ≥ p̂, s a fraction near −ln p̂; where it lands the cell is kept with chance
p̂·e^s; then J is drawn geometric with that ratio, and kept with chance e^(−(J² − J)/(2σ²)). A cell
is kept with the count θ + j with chance p̂·(1 − ratio)·ratio^j·e^(−(j² − j)/(2σ²)) =
e^(−(θ + j)²/(2σ²))/Z: that of the noise itself, independent of all others.
"""

from fractions import Fraction
from functools import lru_cache
from math import log

import numpy as np
from numpy.typing import NDArray

from pathveil.core.intervals import Interval, Real, exp_minus, gaussian_mass
from pathveil.gate.geometric import WORD_BITS, Geometric, Inversion, noise_geometric
from pathveil.gate.randomness import Randomness

NARROW = 128
"""A block is so narrow that σ is at most so many blocks."""
LARGEST_VARIANCE = 10**18
_KEPT_BITS = 30
_STEPS = 64  # s is a multiple of 1 over this


class Blocks(Inversion):
    """Which block is proposed: P[q] ∝ e^(−b·q²) for q < size; ``size`` means "or beyond".

    Args:
        fall: b = m²/(2σ²).
        size: K.
        word_bits: as of `Inversion`.

    Every F(j) is a rational function of e^(−1/d), d the denominator of b, and not a constant one
    (it is 1 at 0, and less than 1 between 0 and 1); so it is transcendental.
    """

    def __init__(self, fall: Fraction, size: int, word_bits: int = WORD_BITS) -> None:
        self.fall = fall
        self.size = size
        super().__init__(word_bits)

    def _distribution(self, bits: int) -> list[Interval]:
        weights = [exp_minus(self.fall * q * q, bits) for q in range(self.size + 1)]
        beyond = weights[-1] / exp_minus(self.beyond, bits).complement()
        below = [weights[0]]
        for weight in weights[1:-1]:
            below.append(below[-1] + weight)
        whole = below[-1] + beyond
        return [part / whole for part in below]

    @property
    def beyond(self) -> Fraction:
        """The weights beyond fall by at least e^(−this) from one block to the next."""
        return self.fall * (2 * self.size + 1)


class Gaussian:
    """Draws Gaussian noise.

    Args:
        variance: σ².
        narrow: σ is at most so many blocks; the fewer, the more is rejected.
        size: K; None: so many that "beyond" is rarer than 2^(−32).
        word_bits: how many bits of a word are used, in tests.
    """

    def __init__(
        self,
        variance: Fraction,
        *,
        narrow: int = NARROW,
        size: int | None = None,
        word_bits: int = WORD_BITS,
    ) -> None:
        if not 0 < variance <= LARGEST_VARIANCE:
            raise ValueError("The noise is too large.")
        self._variance, self._word_bits = variance, word_bits
        self._place_bits = 0
        while variance > narrow**2 << (2 * self._place_bits):
            self._place_bits += 1
        self._width = 1 << self._place_bits
        fall = Fraction(self._width**2) / (2 * variance)
        self._blocks = Blocks(fall, size or _enough(fall), word_bits)
        beyond = self._blocks.beyond
        self._beyond = Geometric(lambda bits: exp_minus(beyond, bits), word_bits=word_bits)
        self._chance = Chance(variance, self._width**2 * (2 * self._blocks.size + 1), word_bits)

    def draw(self, count: int, randomness: Randomness) -> NDArray[np.int64]:
        """``count`` independent numbers, int64."""
        drawn = np.empty(count, dtype=np.int64)
        waiting = np.arange(count)
        while len(waiting):
            proposed, is_accepted = self._propose(len(waiting), randomness)
            drawn[waiting[is_accepted]] = proposed[is_accepted]
            waiting = waiting[~is_accepted]
        return drawn

    def _propose(
        self, count: int, randomness: Randomness
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        block = self._blocks.draw(count, randomness)
        is_accepted = np.ones(count, dtype=np.bool_)
        is_beyond = block == self._blocks.size
        for at in np.flatnonzero(is_beyond).tolist():
            further = int(self._beyond.draw(1, randomness)[0])
            block[at] += further
            is_accepted[at] = self._chance.take(self._width**2 * (further**2 - further), randomness)
        words = randomness.words(count)
        is_negative = words >> np.uint32(31) == 1
        place = (words >> np.uint32(31 - self._place_bits)).astype(np.int64) & (self._width - 1)
        start = block * self._width
        if self._width > 1:
            more = place * (2 * start + place)
            is_accepted &= self._chance.take_all(more, is_beyond, randomness)
        size = start + place
        is_accepted &= (size > 0) | ~is_negative
        return np.where(is_negative, -size, size), is_accepted


def _enough(fall: Fraction) -> int:
    """The first block whose weight is below 2^(−32)."""
    size = 1
    while fall * size * size < Fraction(WORD_BITS * 7, 10):  # ln 2 < 7/10
        size += 1
    return size


class Chance:
    """Takes chances e^(−n/(2σ²)) for whole n.

    Args:
        variance: σ².
        most: no n of `take_all` is larger, but where it is told.
        word_bits: how many bits of a word are used.

    In `take_all` n and 1/(2σ²) are cut to about 30 and 32 bits, n' and R with
    n'·2^cut ≤ n < (n' + 1)·2^cut and R ≤ 2^(w + cut + t)/(2σ²) < R + 1; so γ·2^w lies between
    n'·R/2^t and (n' + 1)·(R + 1)/2^t, products below 2⁶³.
    """

    def __init__(self, variance: Fraction, most: int, word_bits: int = WORD_BITS) -> None:
        self._variance, self._word_bits = variance, word_bits
        self._cut = max(0, most.bit_length() - _KEPT_BITS)
        self._shift = 0
        unit = Fraction(1 << (word_bits + self._cut)) / (2 * variance)
        while unit * (2 << self._shift) < 1 << WORD_BITS:
            self._shift += 1
        self._unit = int(unit * (1 << self._shift))

    def take_all(
        self, numbers: NDArray[np.int64], is_open: NDArray[np.bool_], randomness: Randomness
    ) -> NDArray[np.bool_]:
        """Whether each chance is taken, with one word for nearly each; ``is_open``: n is larger."""
        words = randomness.words(len(numbers)) >> np.uint32(WORD_BITS - self._word_bits)
        word = words.astype(np.int64)
        kept = np.where(is_open, 0, numbers) >> self._cut
        low = (kept * self._unit) >> self._shift
        high = (((kept + (self._cut > 0)) * (self._unit + 1)) >> self._shift) + 1
        # No γ is above 1/2 if blocks are narrow, so the square of high fits 64 bits.
        least = low - ((high * high) >> (self._word_bits + 1)) - 1
        is_taken = word >= high
        is_undecided = (word >= least) & ~is_taken | is_open
        for at in np.flatnonzero(is_undecided).tolist():
            chance = Fraction(int(numbers[at])) / (2 * self._variance)
            prefix = int(word[at]), self._word_bits
            is_taken[at] = reaches(_doubt(chance), *prefix, randomness, self._word_bits)
        return is_taken

    def take(self, number: int, randomness: Randomness) -> bool:
        """Whether one chance is taken, for any n."""
        chance = Fraction(number) / (2 * self._variance)
        return reaches(_doubt(chance), 0, 0, randomness, self._word_bits)


def _doubt(gamma: Fraction) -> Real:
    """ψ = 1 − e^(−γ)."""
    return lambda bits: exp_minus(gamma, bits).complement() if gamma else Interval(0, 0, bits)


def reaches(
    real: Real, prefix: int, known: int, randomness: Randomness, word_bits: int = WORD_BITS
) -> bool:
    """Whether a uniform V, of which ``known`` bits are drawn already, is at least a real number.

    V lies between prefix and prefix + 1, over 2^known. As long as the real number may lie in there
    too, one more word of V is drawn.
    """
    while True:
        if known:
            enclosed = real(known + 64)
            if prefix << 64 >= enclosed.high:
                return True
            if (prefix + 1) << 64 <= enclosed.low:
                return False
        word = int(randomness.words(1)[0]) >> (WORD_BITS - word_bits)
        prefix, known = prefix << word_bits | word, known + word_bits


@lru_cache(maxsize=64)
def gaussian_noise(variance: Fraction) -> Gaussian:
    """The sampler of a variance."""
    return Gaussian(variance)


# The empty cells that pass a threshold; the argument is above.


class Passing:
    """Which empty cells pass, and with which counts.

    Args:
        variance: σ².
        threshold: θ ≥ 1, and not below σ: then p̂ is below 1/3.
        word_bits: how many bits of a word are used, in tests.
    """

    def __init__(self, variance: Fraction, threshold: int, word_bits: int = WORD_BITS) -> None:
        if threshold < 1 or threshold**2 < variance:
            raise ValueError("The threshold of Gaussian noise is at least its σ.")
        self._variance, self._threshold, self._word_bits = variance, threshold, word_bits
        self._ratio = Fraction(2 * threshold + 1) / (2 * variance)
        self._first = Fraction(threshold**2) / (2 * variance)
        self._known: dict[int, Interval] = {}
        self._least = least = self._jumped()
        self.skips = Geometric(
            lambda bits: exp_minus(least, bits).complement(), word_bits=word_bits
        )
        self._chance = Chance(variance, 1, word_bits)

    def _jumped(self) -> Fraction:
        """S with e^(−s) ≥ p̂: guessed with floats, and certified."""
        bits = 256
        rest = self._rest(bits)
        guess = float(self._first) - log(rest.high) + bits * log(2)
        least = Fraction(int(guess * _STEPS), _STEPS)
        while self._kept(least, bits).high > 1 << bits:
            least -= Fraction(1, _STEPS)
        return least

    def _rest(self, bits: int) -> Interval:
        """p̂·e^(θ²/(2σ²)) = 1/((1 − ratio)·Z)."""
        falls = exp_minus(self._ratio, bits).complement()
        return Interval.one(bits) / (falls * gaussian_mass(self._variance, bits))

    def _kept(self, least: Fraction, bits: int) -> Interval:
        """p̂·e^s."""
        rest = self._rest(bits)
        if least >= self._first:
            return rest / exp_minus(least - self._first, bits)
        return rest * exp_minus(self._first - least, bits)

    def _dropped(self, bits: int) -> Interval:
        """1 − p̂·e^s; with more bits than are asked for, because the sum of weights is large."""
        if bits not in self._known:
            exact = self._kept(self._least, bits + 96).complement()
            self._known[bits] = Interval(exact.low >> 96, (exact.high >> 96) + 1, bits)
        return self._known[bits]

    def counts(
        self, landings: int, randomness: Randomness
    ) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """Which landings of the walk are kept, and the counts of all (of use: those kept)."""
        ratio = self._ratio
        beyond = _tail(ratio, self._word_bits).draw(landings, randomness)
        is_kept = np.ones(landings, dtype=np.bool_)
        for at, further in enumerate(beyond.tolist()):
            is_kept[at] = reaches(self._dropped, 0, 0, randomness, self._word_bits) and (
                self._chance.take(further**2 - further, randomness)
            )
        return is_kept, self._threshold + beyond


def _tail(ratio: Fraction, word_bits: int) -> Geometric:
    if word_bits == WORD_BITS:
        return noise_geometric(ratio)
    return Geometric(lambda bits: exp_minus(ratio, bits), word_bits=word_bits)


@lru_cache(maxsize=64)
def gaussian_passing(variance: Fraction, threshold: int) -> Passing:
    """The empty cells of a variance and a threshold."""
    return Passing(variance, threshold)
