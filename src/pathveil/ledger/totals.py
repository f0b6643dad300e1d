"""The sums that a charge is decided by, as they are kept beside the entries.

They are worth nothing by themselves: whoever reads them compares their hash with the one that the
last entry says, and replays the entries if it is another. So editing them frees no budget, and
editing an old entry does not either: the last entry still speaks for the sums as they were.
"""

import json
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    model_serializer,
)

from pathveil.errors import LedgerError
from pathveil.ledger.entries import Defined, Name, PeriodText, Planned, Time, exact
from pathveil.ledger.periods import Tally
from pathveil.times.protected_units import PERSON, Protect

_DIGITS = 1000
# A sum of many fractions has more digits than any of them.
Sum = Annotated[
    str, Field(pattern=rf"^(0|[1-9][0-9]{{0,{_DIGITS - 1}}}(/[1-9][0-9]{{0,{_DIGITS - 1}}})?)$")
]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Sums(_Part):
    """A `Tally` as text."""

    everybody: Sum
    populations: dict[Name, Sum]

    @classmethod
    def of(cls, sums: Tally) -> "Sums":
        """The text of these sums.

        Raises:
            LedgerError: if they have too many digits to be kept.
        """
        populations = {name: short(value) for name, value in sums.populations.items()}
        return cls(everybody=short(sums.everybody), populations=populations)

    def tally(self) -> Tally:
        """The sums, exactly."""
        sums = Tally(exact(self.everybody))
        for name, value in self.populations.items():
            sums.populations[name] = exact(value)
        return sums


class DatasetTotals(_Part):
    """What must be known of a dataset to decide about its next charge."""

    rules: Defined
    charged: Time | None = Field(description="When it was charged last: which period is summed.")
    epsilon: Sums
    delta: Sums
    protect: tuple[Protect, ...] | None = Field(
        default=None, description="Whom its charges protected; absent: persons, if it has any."
    )

    @model_serializer(mode="wrap")
    def _without_persons(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        values: dict[str, Any] = handler(self)
        if self.protect is None:
            values.pop("protect")
        return values

    @property
    def protected(self) -> tuple[Protect, ...]:
        """Whom its charges protected."""
        if self.protect is not None:
            return self.protect
        return () if self.charged is None else (PERSON,)


class SeriesTotals(_Part):
    """What must be known of a series to decide about its next release."""

    plan: Planned
    opened: Time
    taken: int = Field(ge=0, description="How many releases were charged.")
    spent: Sum = Field(description="Of its ρ, or of its ε.")
    periods: dict[PeriodText, int] = Field(description="By which entry each period is taken.")


class Totals(_Part):
    """What must be known of a ledger to decide about its next charge."""

    version: Literal[1] = 1
    datasets: dict[Name, DatasetTotals]
    unused: tuple[int, ...] = Field(description="Charges for which no noise was begun.")
    required: bool = Field(default=False, description="Whether a release must be charged.")
    series: dict[Name, SeriesTotals] = {}

    def text(self) -> str:
        """The canonical JSON; without what earlier versions did not know, where it says nothing."""
        values = self.model_dump(mode="json")
        for name in ("required", "series"):
            if not values[name]:
                del values[name]
        return json.dumps(values, sort_keys=True, separators=(",", ":"))

    @classmethod
    def read(cls, text: str) -> "Totals":
        """What such a text says.

        Raises:
            LedgerError: if it is none.
        """
        try:
            return cls.model_validate_json(text)
        except ValidationError:
            raise LedgerError(
                "The ledger's totals can't be read, though its last entry vouches for them: it was "
                "rewritten. Restore it from a backup."
            ) from None


def short(value: Fraction) -> str:
    """The text of a sum.

    Raises:
        LedgerError: if it has too many digits to be kept.
    """
    if max(value.numerator, value.denominator) >= 10**_DIGITS:
        raise LedgerError(
            "What was spent has become a fraction too long to write down. Charge fractions that "
            "add up, such as tenths. No entry was added."
        )
    return str(value)
