"""The privacy budget ε as an exact fraction.

A float can't say one tenth, so sums of floats drift away from the promise on the certificate.
Budgets are parsed from text, add up exactly, and are never compared as floats.
"""

import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from pathveil.errors import ParameterError

# Bounded lengths: 1e400000000 is a number too, and one that takes a day to write out.
_NUMBER = re.compile(
    r"\+?(\d{1,40}(\.\d{0,40})?|\.\d{1,40})([eE][+-]?\d{1,2})?|\+?\d{1,40}/\d{1,40}"
)

# Beyond these the guarantee means nothing (e^100 : 1) or no count could survive the noise.
LARGEST = Fraction(100)
SMALLEST = Fraction(1, 10**9)


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
        cls, epsilon: object, epsilon_per_trip: object = None, trajectories: int = 1
    ) -> "Budget":
        """The unit's budget, given as such or for each of its trajectories.

        Group privacy: c trajectories that have ε' each are together protected with c·ε', and all
        that is used of a unit are at most c trajectories.

        Args:
            epsilon: ε for the unit; or None.
            epsilon_per_trip: ε' for each trajectory that is used; or None.
            trajectories: c.

        Raises:
            ParameterError: if not exactly one of them is given, or it can't be used.
        """
        if (epsilon is None) == (epsilon_per_trip is None):
            raise ParameterError(
                "Give either epsilon (for all that a unit did) or epsilon per trip (for each "
                "trajectory that is used), exactly one of them."
            )
        if epsilon_per_trip is None:
            return cls.parse(epsilon)  # type: ignore[arg-type]  # it checks
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


def _read(text: str) -> Fraction:
    text = text.strip()
    if not _NUMBER.fullmatch(text):
        raise ParameterError(
            f"Epsilon {text[:40]!r} is not a positive number such as 1, 0.5 or 1/3."
        )
    try:
        return Fraction(text)
    except ZeroDivisionError:
        raise ParameterError("Epsilon has a denominator of 0.") from None
