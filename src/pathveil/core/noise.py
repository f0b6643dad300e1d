"""The noise on one count, as a value: how large it is, how likely, and which threshold it asks for.

Two laws, both over the whole numbers. *Laplace*, P[X = x] ∝ e^(−ε̄·|x|), for promises in ε;
*Gaussian*, P[X = x] ∝ e^(−x²/(2σ²)), for promises in ρ. Whoever adds noise, plans it, chooses a
threshold by it or estimates a count behind it is given one of them, and knows no formula of its
own. The parameter is an exact fraction, and what decides about privacy follows from it in
integers; the functions of floats are for estimates, which see noisy counts only.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import ceil, exp, expm1, isqrt, log, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from pathveil.core.intervals import exp_minus, gaussian_mass
from pathveil.core.thresholds import first_from, smallest_threshold

Floats = NDArray[np.float64]
SURVIVES = 0.95
_BITS = 256


class Noise(ABC):
    """The law of the noise on one count.

    Attributes:
        scale: the b of Laplace noise, e^(−|x|/b), that is as large: whatever the law, the variance
            is 2·scale², but for the rounding to whole numbers.
    """

    scale: float

    @property
    @abstractmethod
    def deviation(self) -> float:
        """The standard deviation, of the noise as it is: over whole numbers."""

    @abstractmethod
    def survivor(self, threshold: int) -> int:
        """The smallest true count that passes the threshold with probability 95%."""

    @abstractmethod
    def weight(self, gap: Floats) -> Floats:
        """The density of the noise, but for a constant factor: 1 at 0."""

    @property
    @abstractmethod
    def mass(self) -> float:
        """What `weight` integrates to."""

    @abstractmethod
    def below(self, gap: Floats) -> Floats:
        """P[noise < gap]."""

    @abstractmethod
    def at_least(self, scale: float) -> "Noise":
        """This law, or one of its kind with that scale if it is smaller."""

    @abstractmethod
    def threshold(self, cells: int, invented: Fraction) -> int:
        """The smallest θ at which at most ``invented`` of ``cells`` empty cells pass, on average.

        From public numbers, and the same on every machine.
        """


@dataclass(frozen=True)
class Laplace(Noise):
    """Two-sided geometric noise.

    Attributes:
        epsilon: ε̄: the chance falls by e^(−ε̄) with each step from 0.
    """

    epsilon: Fraction

    @cached_property
    def scale(self) -> float:  # type: ignore[override]
        """1/ε̄."""
        return float(1 / self.epsilon)

    @property
    def deviation(self) -> float:
        """√(2α)/(1 − α), α = e^(−ε̄)."""
        return sqrt(2 * exp(-float(self.epsilon))) / -expm1(-float(self.epsilon))

    def survivor(self, threshold: int) -> int:
        """A count n is lost if the noise is below θ − n: probability α^(n − θ + 1)/(1 + α)."""
        alpha = exp(-float(self.epsilon))
        margin = log((1 - SURVIVES) * (1 + alpha)) / -float(self.epsilon) - 1
        return threshold + max(0, ceil(margin))

    def weight(self, gap: Floats) -> Floats:
        """e^(−|x|/b)."""
        result: Floats = np.exp(-np.abs(gap) / self.scale)
        return result

    @property
    def mass(self) -> float:
        """2b."""
        return 2 * self.scale

    def below(self, gap: Floats) -> Floats:
        """That of continuous noise."""
        tail = 0.5 * np.exp(-np.abs(gap) / self.scale)
        result: Floats = np.where(gap > 0, 1.0 - tail, tail)
        return result

    def at_least(self, scale: float) -> "Laplace":
        """A larger b is a smaller ε̄."""
        return self if self.scale >= scale else Laplace(1 / Fraction(scale))

    def threshold(self, cells: int, invented: Fraction) -> int:
        """By p_θ = α^θ/(1 + α)."""
        return smallest_threshold(self.epsilon, cells, invented)


@dataclass(frozen=True)
class Gaussian(Noise):
    """Discrete Gaussian noise (Canonne, Kamath and Steinke).

    Attributes:
        variance: σ² of the formula; the noise has this variance but for less than a millionth,
            from σ = 1 on.
    """

    variance: Fraction

    @cached_property
    def scale(self) -> float:  # type: ignore[override]
        """σ/√2."""
        return sqrt(self.variance / 2)

    @cached_property
    def deviation(self) -> float:
        """σ."""
        return sqrt(self.variance)

    def survivor(self, threshold: int) -> int:
        """1.645·σ above θ: that of continuous noise."""
        return threshold + ceil(NormalDist().inv_cdf(SURVIVES) * self.deviation)

    def weight(self, gap: Floats) -> Floats:
        """e^(−x²/(2σ²))."""
        result: Floats = np.exp(-((gap / self.deviation) ** 2) / 2)
        return result

    @property
    def mass(self) -> float:
        """σ·√(2π)."""
        return float(self.deviation * np.sqrt(2 * np.pi))

    def below(self, gap: Floats) -> Floats:
        """That of continuous noise, to 7 digits."""
        return _normal_below(np.asarray(gap / self.deviation))

    def at_least(self, scale: float) -> "Gaussian":
        """The same for σ²."""
        return self if self.scale >= scale else Gaussian(2 * Fraction(scale) ** 2)

    def threshold(self, cells: int, invented: Fraction) -> int:
        """By a bound on the tail that the walk over empty cells uses; never below σ."""
        return _gaussian_threshold(self.variance, cells, invented)


@lru_cache(maxsize=256)
def _gaussian_threshold(variance: Fraction, cells: int, invented: Fraction) -> int:
    least = isqrt(ceil(variance) - 1) + 1  # the root, rounded up
    return first_from(least, lambda theta: cells * tail_bound(variance, theta) <= invented)


def tail_bound(variance: Fraction, threshold: int) -> Fraction:
    """A little more than P[X ≥ θ] of Gaussian noise: its tail falls at least as at θ.

    From x to x + 1 the chance falls by e^(−(2x + 1)/(2σ²)), so from θ on by no less than that
    at θ: the tail is at most a geometric series. Rounded up in the 256th binary place.
    """
    first = exp_minus(Fraction(threshold**2) / (2 * variance), _BITS)
    ratio = exp_minus(Fraction(2 * threshold + 1) / (2 * variance), _BITS)
    rest, mass = ratio.complement(), gaussian_mass(variance, _BITS)
    return Fraction(first.high << _BITS, rest.low * mass.low)


# Φ by the rational approximation 26.2.17 of Abramowitz and Stegun, off by less than 7.5·10⁻⁸: the
# package has no other use for a library of special functions.
_SLOPE = 0.2316419
_TERMS = (1.330274429, -1.821255978, 1.781477937, -0.356563782, 0.319381530)


def _normal_below(standard: Floats) -> Floats:
    size = np.abs(standard)
    step = 1.0 / (1.0 + _SLOPE * size)
    polynomial = np.zeros_like(step)
    for term in _TERMS:
        polynomial = (polynomial + term) * step
    tail = np.exp(-(size**2) / 2) / np.sqrt(2 * np.pi) * polynomial
    result: Floats = np.where(standard > 0, 1.0 - tail, tail)
    return result
