"""Of what the counts are, and what a person who is there for a whole year has in total.

The promise is to one unit. If a unit is less than a person, a person is many: n of them together
lose n·ε in one release (group privacy), and n²·ρ of what is told in ρ; if each is in a release of
its own, n·ε and n·ρ.
"""

from dataclasses import dataclass
from fractions import Fraction

from pathveil.promise.stability import Promise, in_terms_of
from pathveil.times.protected_units import PERSON, TRIP, UNITS, Protect


@dataclass(frozen=True, slots=True)
class Year:
    """A person's total, for a promise to one unit.

    Attributes:
        protect: who is protected as one.
        units: how many of them the person is.
        together: the ε of all of them in this one release.
        apart: the ε if each is in a release of its own, like this one; told at the same δ.
        rho: the ρ of all of them in one release; 0 if all is told in ε.
    """

    protect: Protect
    units: int
    together: Fraction
    apart: Fraction
    rho: Fraction

    @classmethod
    def of(cls, promise: Promise, protect: Protect) -> "Year":
        """By the promise to a unit."""
        units = UNITS[protect].a_year
        return cls(protect, units, promise.map(units), promise.repeated(units), promise.rho(units))

    def sentence(self, promise: Promise) -> str:
        """The same in plain words."""
        there = UNITS[self.protect].there
        if self.protect == PERSON:
            return (
                f"A person who {there} has {in_terms_of(promise, self.together)} in total from "
                "this release, however often."
            )
        begin = f"A person who {there} is {self.units} units"
        if not self.rho:
            return f"{begin}, and has up to {in_terms_of(promise, self.together)} in total."
        return (
            f"{begin}. If all of them are in this release, the person has up to {self.units}² "
            f"times ρ, which is {float(self.rho):.4g}: {in_terms_of(promise, self.together)}. If "
            f"each is in a release of its own like this one, {self.units} times ρ: "
            f"{in_terms_of(promise, self.apart)}."
        )


def counted_words(
    most: int, protect: Protect, expansion: Fraction | None, *, one_each: bool
) -> str:
    """Of which trips the counts of a release are, and how they are read as counts of all trips.

    Args:
        most: c.
        protect: who is protected as one.
        expansion: how many trips there are for each that is used, by noisy counts; None: not known.
        one_each: whether all visits of a unit are one trajectory.
    """
    if one_each:
        return "Counts are of units: all visits of a unit are one trajectory."
    if protect == TRIP:
        return "Counts are of all trips."
    of = f"Counts are of at most {most} trip{'' if most == 1 else 's'} of each unit"
    if expansion is None:
        return f"{of}, not of all trips; how many more there are was not measured."
    return (
        f"{of}. By noisy counts there are {float(expansion):.3g} trips for each that is used: "
        "times that, a count is one of all trips, estimated."
    )
