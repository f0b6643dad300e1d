"""The privacy budget ε as an exact fraction.

A float can't say one tenth, so sums of floats drift away from the promise on the certificate.
Budgets are parsed from text, add up exactly, and are never compared as floats.
"""

import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from pathveil.core.zcdp import Concentrated
from pathveil.errors import ParameterError

# Bounded lengths: 1e400000000 is a number too, and one that takes a day to write out.
_NUMBER = re.compile(
    r"\+?(\d{1,40}(\.\d{0,40})?|\.\d{1,40})([eE][+-]?\d{1,2})?|\+?\d{1,40}/\d{1,40}"
)

# Beyond these the guarantee means nothing (e^100 : 1) or no count could survive the noise.
LARGEST = Fraction(100)
SMALLEST = Fraction(1, 10**9)
LARGEST_RHO = Fraction(50)
# A δ near 1 over the number of people lets the mechanism publish somebody outright.
LARGEST_DELTA, SMALLEST_DELTA = Fraction(1, 10**5), Fraction(1, 10**30)
_DELTA = re.compile(r"\d{0,30}(\.\d{0,40})?([eE]-?\d{1,2})?|\d{1,30}/\d{1,40}")

NO_DELTA = 'A budget in rho needs a delta, such as "1e-9".'


@dataclass(frozen=True, slots=True, order=True)
class Budget:
    """An exact amount of ε.

    Attributes:
        epsilon: the amount, a positive fraction between 10⁻⁹ and 100.
    """

    epsilon: Fraction

    @classmethod
    def parse(cls, value: "str | int | Fraction | Decimal | Budget") -> "Budget":
        """Read a budget from text (``"1"``, ``"0.5"``, ``"1/3"``) or an exact number.

        Raises:
            ParameterError: if it is a float (write it as text), not a number, or out of range.
        """
        if isinstance(value, Budget):
            return value
        if isinstance(value, float):
            raise ParameterError(
                "Epsilon must be exact, and a float is not: write it as text, "
                f'for example epsilon="{value}".'
            )
        if isinstance(value, bool) or not isinstance(value, str | int | Fraction | Decimal):
            raise ParameterError("Epsilon must be text such as '1' or '0.5', or an exact number.")
        epsilon = Fraction(value) if isinstance(value, int | Fraction) else _read(str(value))
        if not SMALLEST <= epsilon <= LARGEST:
            raise ParameterError(
                f"Epsilon is out of range: it must lie between 1e-9 and {LARGEST}. "
                "Common choices are 0.1 to 4."
            )
        return cls(epsilon)

    @classmethod
    def choose(
        cls,
        epsilon: object,
        epsilon_per_trip: object = None,
        trajectories: int | str = 1,
        *,
        rho: object = None,
        delta: object = None,
    ) -> "Budget":
        """The unit's budget, given as such or for each of its trajectories.

        Group privacy: c trajectories that have ε' each are together protected with c·ε', and all
        that is used of a unit are at most c trajectories.

        Args:
            epsilon: ε for the unit; or None.
            epsilon_per_trip: ε' for each trajectory that is used; or None.
            trajectories: c; or "auto".
            rho: instead of both: ρ for the unit, of which ε follows at δ (`core.zcdp`).
            delta: δ; needed with ρ.

        Raises:
            ParameterError: if not exactly one of them is given, or it can't be used.
        """
        if sum(given is not None for given in (epsilon, epsilon_per_trip, rho)) != 1:
            raise ParameterError(
                "Give either epsilon (for all that a unit did), epsilon per trip (for each "
                "trajectory that is used) or rho (with delta), exactly one of them."
            )
        if rho is not None and delta is None:
            raise ParameterError(NO_DELTA)
        if rho is not None:
            return cls.parse(Concentrated(parse_rho(rho), parse_delta(delta)).epsilon)
        if epsilon_per_trip is None:
            return cls.parse(epsilon)  # type: ignore[arg-type]  # it checks
        if isinstance(trajectories, str):
            raise ParameterError(
                "An epsilon per trip needs a number of trips per unit: 'auto' is not known before "
                "it is chosen. Give epsilon for the unit."
            )
        trip = cls.parse(epsilon_per_trip).epsilon  # type: ignore[arg-type]  # it checks
        total = trip * max(1, trajectories)
        if total > LARGEST:
            raise ParameterError(
                f"{trajectories:,} trajectories of {trip} each are an epsilon of {total} for a "
                f"unit, more than {LARGEST}. Use fewer trajectories or a smaller epsilon per trip."
            )
        return cls(total)

    def split(self, parts: int) -> Fraction:
        """One of ``parts`` equal shares (the paper's ε̄ = ε/h), exactly."""
        return self.epsilon / parts

    def __str__(self) -> str:
        return str(self.epsilon)


def parse_rho(value: object) -> Fraction:
    """An exact ρ from text (``"0.015"``) or an exact number.

    Raises:
        ParameterError: if it is a float, not a number, or out of range.
    """
    if isinstance(value, bool) or not isinstance(value, str | int | Fraction):
        raise ParameterError('Rho must be text such as "0.015": a float is not exact.')
    rho = Fraction(value) if isinstance(value, int | Fraction) else _read(value, "Rho")
    if not SMALLEST <= rho <= LARGEST_RHO:
        raise ParameterError(f"Rho is out of range: it must lie between 1e-9 and {LARGEST_RHO}.")
    return rho


def parse_delta(value: object) -> Fraction:
    """An exact δ from text (``"1e-9"``) or a fraction.

    Raises:
        ParameterError: if it is a float, not a number, or too large to mean anything.
    """
    if isinstance(value, Fraction):
        delta = value
    elif isinstance(value, str) and re.search(r"\d", value) and _DELTA.fullmatch(value.strip()):
        try:
            delta = Fraction(value.strip())
        except (ValueError, ZeroDivisionError):
            delta = Fraction(0)
    else:
        raise ParameterError('Delta must be text such as "1e-9": a float is not exact.')
    if not SMALLEST_DELTA <= delta <= LARGEST_DELTA:
        raise ParameterError(
            "Delta is the probability that the promise fails for somebody: it must lie between "
            "1e-30 and 1e-5, and far below 1 over the number of people. Use 1e-9."
        )
    return delta


def _read(text: str, what: str = "Epsilon") -> Fraction:
    text = text.strip()
    if not _NUMBER.fullmatch(text):
        raise ParameterError(
            f"{what} {text[:40]!r} is not a positive number such as 1, 0.5 or 1/3."
        )
    try:
        return Fraction(text)
    except ZeroDivisionError:
        raise ParameterError(f"{what} has a denominator of 0.") from None
