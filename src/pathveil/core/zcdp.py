"""Zero-concentrated differential privacy: budgets in ρ, and what they promise as (ε, δ).

A release is ρ-zCDP if for every order α > 1 the Rényi divergence of order α between what it
publishes of two neighbouring databases is at most ρ·α (Bun and Steinke, 2016). Gaussian noise of
parameter σ² on counts that a unit changes by Δ in L2 has ρ = Δ²/(2σ²). The ρ of measurements add
up, also when each is planned by what the ones before published, as long as the sum is fixed
beforehand; k units together have k²·ρ; and ε-differential privacy is ε²/2-zCDP.

What is promised to people is (ε, δ): every event is at most e^ε times as probable, plus δ. A
release that is ρ-zCDP keeps it if for some order α > 1

    δ ≥ e^((α − 1)(αρ − ε)) · (1 − 1/α)^α / (α − 1)

(Canonne, Kamath and Steinke, 2020, corollary 13; the best that is known to follow from ρ alone).
Any α proves it. Floats guess a good one; that the inequality holds is decided by integers, rounded
against us: with α = p/16 both sides are taken to the 16th power, and what is left is a rational
number, a power of one, and e to a rational power.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import exp, log, log1p

from pathveil.core.intervals import exp_minus
from pathveil.errors import ParameterError

_PARTS = 16  # α is a multiple of 1 over this
_BITS = 2048
_DIGITS = 6  # of the ρ or ε that is looked for
LARGEST_ORDER = 1 << 24


@dataclass(frozen=True, slots=True)
class Concentrated:
    """A budget in ρ, and the δ at which its ε is told.

    Attributes:
        rho: ρ, exact.
        delta: δ, exact.
    """

    rho: Fraction
    delta: Fraction

    @classmethod
    def within(cls, epsilon: Fraction, delta: Fraction) -> "Concentrated":
        """The largest ρ, to six digits, that keeps (ε, δ).

        Raises:
            ParameterError: if there is none to speak of.
        """
        order = _best_order(lambda a: _rho_at(a, float(epsilon), float(delta)))
        guess = Fraction(max(_rho_at(order / _PARTS, float(epsilon), float(delta)), 0.0))
        unit = _unit(guess)
        rho = guess // unit * unit
        while rho > 0 and not _is_kept(rho, epsilon, delta, order):
            rho -= unit
        if rho <= 0:
            raise ParameterError(
                "An epsilon so small can't be kept with noise of this kind: leave delta out."
            )
        return cls(rho, delta)

    @property
    def epsilon(self) -> Fraction:
        """The smallest ε, to six digits, that is kept at δ."""
        rho, delta = float(self.rho), float(self.delta)
        order = _best_order(lambda a: -_epsilon_at(a, rho, delta))
        guess = Fraction(max(_epsilon_at(order / _PARTS, rho, delta), 1e-12))
        unit = _unit(guess)
        epsilon = guess // unit * unit
        while not _is_kept(self.rho, epsilon, self.delta, order):
            epsilon += unit
        return epsilon

    def keeps(self, epsilon: Fraction) -> bool:
        """Whether ρ-zCDP implies (ε, δ): proved for an order that suits."""
        if not 0 < self.delta < 1 or epsilon <= 0 or self.rho <= 0:
            return False
        orders = (
            _best_order(lambda a: _rho_at(a, float(epsilon), float(self.delta))),
            _best_order(lambda a: -_epsilon_at(a, float(self.rho), float(self.delta))),
        )
        return any(_is_kept(self.rho, epsilon, self.delta, order) for order in orders)


def _is_kept(rho: Fraction, epsilon: Fraction, delta: Fraction, order: int) -> bool:
    """The inequality above for α = order/16, in integers: True only if it surely holds."""
    alpha = Fraction(order, _PARTS)
    exponent = _PARTS * (alpha - 1) * (epsilon - alpha * rho)
    if exponent < 0:
        return False
    left = exp_minus(exponent, _BITS).high * _power(order - _PARTS, order) >> _BITS
    # left·16^16/(order − 16)^16 ≤ δ^16, the left side rounded up.
    above: int = (left + 1) * (_PARTS * delta.denominator) ** _PARTS
    allowed: int = (delta.numerator * (order - _PARTS)) ** _PARTS << _BITS
    return above <= allowed


def _power(less: int, order: int) -> int:
    """(less/order)^order, scaled by 2^bits and rounded up."""
    result, base, exponent = 1 << _BITS, -(-(less << _BITS) // order), order
    while exponent:
        if exponent & 1:
            result = -(-result * base >> _BITS)
        base = -(-base * base >> _BITS)
        exponent >>= 1
    return result


def _rho_at(alpha: float, epsilon: float, delta: float) -> float:
    return (epsilon - _extra(alpha, delta)) / alpha


def _epsilon_at(alpha: float, rho: float, delta: float) -> float:
    return alpha * rho + _extra(alpha, delta)


def _extra(alpha: float, delta: float) -> float:
    """What ε is above αρ."""
    return (-log(delta) + alpha * log1p(-1 / alpha) - log(alpha - 1)) / (alpha - 1)


def _best_order(gain: Callable[[float], float]) -> int:
    """16·α for which ``gain`` is largest: it rises and falls once, on a logarithmic scale."""
    low, high = log(1.0 / _PARTS), log(float(LARGEST_ORDER))
    for _ in range(120):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        if gain(1 + exp(left)) < gain(1 + exp(right)):
            low = left
        else:
            high = right
    return max(_PARTS + 1, round(_PARTS * (1 + exp(low))))


def _unit(value: Fraction) -> Fraction:
    """One in the last of six digits."""
    unit = Fraction(1)
    while unit * 10**_DIGITS > max(value, Fraction(1, 10**15)):
        unit /= 10
    while unit * 10**_DIGITS <= value:
        unit *= 10
    return unit
