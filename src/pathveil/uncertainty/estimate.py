"""An answer with its interval: a whole number that knows how far it may be off."""

from typing import Self


class Estimate(int):
    """A count, and the interval that holds the true one. Works wherever an int does.

    Attributes:
        low: the least the true count may be; None if the release has no intervals.
        high: the most it may be, if it is not 0; None if the release has no intervals.
        level: how often such intervals hold the truth, in (0, 1); None likewise.
    """

    low: int | None
    high: int | None
    level: float | None

    def __new__(
        cls,
        value: int,
        low: int | None = None,
        high: int | None = None,
        level: float | None = None,
    ) -> Self:
        """A count; the interval is given whole or not at all."""
        self = super().__new__(cls, value)
        self.low, self.high, self.level = low, high, level
        return self

    def __repr__(self) -> str:
        if self.low is None or self.high is None or self.level is None:
            return int.__repr__(self)
        return f"{int(self):,} ({self.low:,} to {self.high:,}, {self.level:.0%})"
