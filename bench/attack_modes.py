"""Every mode of publishing the files that are attacked (`attack_files`)."""

from dataclasses import dataclass
from fractions import Fraction

from bench.attack_files import BEYOND, TIES, UNIT, Pair

METHODS = ("basic", "full", "calibrated")
TOTAL_MEASUREMENT = "noisy counts: total"
LARGEST_EPSILON = 100  # that the command takes


@dataclass(frozen=True, slots=True)
class Mode:
    """One way to publish.

    Attributes:
        name: in words.
        options: of `pathveil publish`, after the file; the paths are relative to the folder.
        only: the one number of the release that the attacker looks at; all of them if None.
        measurement: the line of the certificate that says what this number costs; None for all.
        files: the pair of files.
        claim: what may be lost between these files, if that is less than the certificate's ε.
    """

    name: str
    options: tuple[str, ...]
    only: str | None = None
    measurement: str | None = None
    files: Pair = UNIT
    claim: Fraction | None = None


def modes(method: str, epsilon: str) -> list[Mode]:
    """Every mode of a method, at this ε of a unit; some are refused by the command."""
    common = ("--method", method, "--unit-column", "unit", "--location-column", "place")
    given, low = ("--universe", "universe.csv"), ("--height", "1")
    by_trip, order = ("--trajectory-column", "trip"), ("--order-column", "at")
    usual, budget = (*common, *by_trip, *order), ("--epsilon", epsilon)
    plain = (*usual, *given, *low)
    half = str(Fraction(epsilon) / 2)
    times = ("--time-column", "at", "--time-grid", "slots.csv")
    discover = ("--universe", "discover", "--delta", "1e-5")
    found = [
        Mode("plain", (*plain, *budget)),
        Mode("times", (*common, *by_trip, *given, *low, *budget, *times)),
        Mode("height auto", (*usual, *given, *budget, "--height", "auto")),
        Mode("discovered universe", (*usual, *low, *budget, *discover)),
        Mode("discovered, ties", (*usual, *low, *budget, *discover), files=TIES),
        Mode("taxonomy", (*plain, *budget, "--taxonomy", "zones.csv")),
        Mode("split, first 2", (*common, *order, *given, *low, *budget, "--split", "day", "-c2")),
        Mode("sample of 2", (*plain, *budget, "--keep", "sample", "-c2")),
        Mode("ε per trip, first 2", (*plain, "--epsilon-per-trip", half, "-c2")),
        Mode("engine duckdb", (*plain, *budget, "--engine", "duckdb")),
        Mode("beyond c", (*plain, *budget), files=BEYOND, claim=Fraction(0)),
    ]
    if method == "calibrated":
        found.append(_number(plain, epsilon))
    return found


def _number(plain: tuple[str, ...], epsilon: str) -> Mode:
    """The calibrated method's first table, against the share of ε that its certificate gives it.

    The method divides ε over a dozen tables, plans most of them by what the first ones say, and
    publishes what it makes of all of them: an attack on all of a release proves little. But the
    certificate tells how many trajectories the plan took there to be. That is the noisy total (if
    the shapes say that there are any, which they do of a thousand), one table with a fixed share of
    one in a hundred. ε is made as large as the command allows.
    """
    large = str(min(Fraction(epsilon) * 50, LARGEST_EPSILON))
    only = "planned for: trajectories"
    return Mode("number of trajectories", (*plain, "--epsilon", large), only, TOTAL_MEASUREMENT)
