"""Who is protected as one: a person, a person's week, a person's day, or a trip.

A smaller unit lets through more of the data for the same noise, and promises less: a person who is
there for a year is then many units. The unit is a public choice, made before a row is read; it
stands on the certificate and in the ledger, which does not add up ε of different units by itself.

Weeks and days are those of the wall clock of a public time zone. Whatever the unit, all rows of it
are there or not there, and `raw.protecting` makes units of rows by their own values alone; so what
is proved for "a unit" everywhere else holds for it as it stands.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, get_args

from pathveil.errors import ParameterError, did_you_mean

Protect = Literal["person", "person-week", "person-day", "trip"]
PROTECTS: Final[tuple[Protect, ...]] = get_args(Protect)
PERSON: Final[Protect] = "person"
TRIP: Final[Protect] = "trip"


@dataclass(frozen=True, slots=True)
class ProtectedUnit:
    """One kind of unit, in words.

    Attributes:
        name: as it is asked for.
        one: such a unit.
        such_as: the same as an example of a unit: who it may be.
        on_certificate: the same, with what it means in the data.
        rule: the beginning of the rule that tells it; empty for a person, as it always was.
        a_year: how many of them a person has who is there for a year, about.
        there: what such a person does.
    """

    name: Protect
    one: str
    such_as: str
    on_certificate: str
    rule: str
    a_year: int
    there: str


UNITS: Final[dict[Protect, ProtectedUnit]] = {
    unit.name: unit
    for unit in (
        ProtectedUnit(
            "person",
            "a person",
            "a person, a card",
            "one unit (a person, a card: one value of the unit column)",
            "",
            1,
            "is in the data for a whole year",
        ),
        ProtectedUnit(
            "person-week",
            "a week of a person",
            "one week of one person",
            "one week of one person (all rows of one value of the unit column in one week)",
            "a unit is one week of a person, Monday to Sunday",
            52,
            "is in the data in 52 weeks of a year",
        ),
        ProtectedUnit(
            "person-day",
            "a day of a person",
            "one day of one person",
            "one day of one person (all rows of one value of the unit column on one day)",
            "a unit is one day of a person",
            365,
            "is in the data on 365 days of a year",
        ),
        ProtectedUnit(
            "trip",
            "a trip",
            "one trip, whoever made it",
            "one trip (one trajectory, whoever made it)",
            "a unit is one trip",
            500,
            "makes 500 trips in a year, two on each working day",
        ),
    )
}


def check_protect(protect: object) -> Protect:
    """A unit's name.

    Raises:
        ParameterError: if there is no such unit.
    """
    for known in PROTECTS:
        if protect == known:
            return known
    raise ParameterError(
        f"Protected is one of {', '.join(PROTECTS)}."
        f"{did_you_mean(protect, PROTECTS) if isinstance(protect, str) else ''}"
    )


def period_of(protect: Protect) -> Literal["week", "day"] | None:
    """The stretch of time that a unit is of; None if it is not of one."""
    if protect == "person-week":
        return "week"
    return "day" if protect == "person-day" else None


def sentence(protect: Protect, time_zone: str) -> str | None:
    """The rule for the certificate; None for a person, as it always was."""
    rule = UNITS[protect].rule
    if period_of(protect) is not None:
        return f"{rule}, in the time zone {time_zone}"
    return rule or None


def protected_by(rules: Iterable[str]) -> Protect:
    """Who is protected, by rules that the certificate tells."""
    said = {rule.partition(", in the time zone ")[0] for rule in rules}
    return next((unit.name for unit in UNITS.values() if unit.rule in said and unit.rule), PERSON)
