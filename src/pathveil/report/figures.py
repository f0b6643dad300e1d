"""Numbers of the explanation: exact fractions as short text, the same on every machine."""

from fractions import Fraction

DIGITS = 4


def percent(share: Fraction) -> str:
    """A share of 1 as per cent."""
    return f"{decimal(100 * share)}%"


def number(value: Fraction) -> str:
    """Exact, with a decimal beside a fraction that has none as short."""
    return str(value) if value.denominator == 1 else f"{value} (about {decimal(value)})"


def decimal(value: Fraction) -> str:
    """Four significant digits, rounded exactly: the same text on every machine."""
    if value <= 0:  # it has no first digit
        return str(round(value))
    whole = len(str(int(value))) if value >= 1 else 0
    digits = max(0, DIGITS - whole)
    if not whole:
        while value * 10**digits < 10 ** (DIGITS - 1):
            digits += 1
    text = f"{round(value * 10**digits):0{digits + 1}}"
    if not digits:
        return f"{int(text):,}"
    return f"{text[:-digits]}.{text[-digits:]}".rstrip("0").rstrip(".")


def count(amount: int, one: str, many: str) -> str:
    """A number with its noun."""
    return f"{amount:,} {one if amount == 1 else many}"
