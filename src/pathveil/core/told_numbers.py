"""Exact numbers as people read them: ε, δ and ρ are fractions, and most of them short decimals.

On certificates, in JSON and in the ledger they stay what they are. Where somebody reads them,
14043/12500 is 1.12344, and 1/1000000000 is 1e-9 as it was asked for: the same numbers, exactly.
"""

from decimal import Context, Decimal
from fractions import Fraction

DIGITS = 4  # of what is told as "about"
_SHORT_FRACTION, _SHORT_DECIMAL = 5, 9  # characters; digits
_EXACT = Context(prec=60)


def told(value: Fraction) -> str:
    """Exact: a short fraction as it is, a longer one as a decimal, or with one beside it."""
    if len(str(value)) <= _SHORT_FRACTION:
        return str(value)
    return _as_decimal(value) or with_decimal(value)


def with_decimal(value: Fraction) -> str:
    """A fraction, with a decimal beside it."""
    return f"{value} (about {decimal(value)})"


def decimal(value: Fraction) -> str:
    """Four significant digits, rounded exactly: the same text on every machine."""
    if value <= 0:  # it has no first digit
        return str(round(value))
    before_point = len(str(int(value))) if value >= 1 else 0
    digits = max(0, DIGITS - before_point)
    if not before_point:
        while value * 10**digits < 10 ** (DIGITS - 1):
            digits += 1
    text = f"{round(value * 10**digits):0{digits + 1}}"
    if not digits:
        return f"{int(text):,}"
    return f"{text[:-digits]}.{text[-digits:]}".rstrip("0").rstrip(".")


def _as_decimal(value: Fraction) -> str:
    """The decimal that is exactly this number; empty if there is none of few digits."""
    near = _EXACT.divide(Decimal(value.numerator), Decimal(value.denominator)).normalize()
    if Fraction(near) != value or len(near.as_tuple().digits) > _SHORT_DECIMAL:
        return ""
    if near.adjusted() >= -DIGITS:
        return f"{near:f}"
    digits, exponent = f"{near:e}".split("e")
    return f"{digits}e{int(exponent)}"
