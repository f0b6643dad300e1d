"""The files that are attacked, and every mode of publishing them.

Two CSV files differ in one unit. Everybody else makes one trip: most to a place of their own, the
others as the unit does. The unit makes four trips, on four days, each through four places: more
trips and more distinct places than are counted of anybody, so a cap that is not kept shows. Its
rows stand first, so whatever is numbered or sniffed from the beginning of a file is up to it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

METHODS = ("basic", "full", "calibrated")
PLACES = ("a", "b", "c", "d")
ELSEWHERE = ("z",)
TRIPS = 4
ALIKE, APART = 300, 700  # so many walk as the unit does, and so many are elsewhere
TREE_MEASUREMENT = "noisy counts: prefix tree, level 1"
DAYS = ("2026-03-02", "2026-03-03", "2026-03-04", "2026-03-05")
HOURS = ("08", "11", "14", "17")


@dataclass(frozen=True, slots=True)
class Mode:
    """One way to publish.

    Attributes:
        name: in words.
        options: of `pathveil publish`, after the file; the paths are relative to the folder.
        only: the one number of the release that the attacker looks at; all of them if None.
        measurement: the line of the certificate that says what this number costs; None for all.
    """

    name: str
    options: tuple[str, ...]
    only: str | None = None
    measurement: str | None = None


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
        Mode("taxonomy", (*plain, *budget, "--taxonomy", "zones.csv")),
        Mode("split, first 2", (*common, *order, *given, *low, *budget, "--split", "day", "-c2")),
        Mode("sample of 2", (*plain, *budget, "--keep", "sample", "-c2")),
        Mode("ε per trip, first 2", (*plain, "--epsilon-per-trip", half, "-c2")),
        Mode("engine duckdb", (*plain, *budget, "--engine", "duckdb")),
    ]
    if method == "calibrated":
        found.append(_first_node(plain, epsilon))
    return found


def _first_node(plain: tuple[str, ...], epsilon: str) -> Mode:
    """The calibrated method's tree, against the share of ε that its certificate gives it.

    The method divides ε over ten tables and publishes what it makes of them, so an attack on all of
    a release proves little. But the counts of its tree are published as they were measured, and at
    height 1 the tree is one table. The attacker looks at the count of one node. That it is there at
    all is certain: hundreds begin at this place, so it is a candidate whatever the noise of the
    other tables; its count is therefore a function of the tree's table alone, and keeps the tree's
    budget. ε is made so large that this is about the ε of the other lines.
    """
    large = str(Fraction(epsilon) * 25 / 4)
    return Mode(
        "first node of its tree", (*plain, "--epsilon", large), "noisy count a", TREE_MEASUREMENT
    )


def write_files(folder: Path) -> None:
    """`with.csv` and `without.csv`, which are neighbours, and the public files."""
    (folder / "universe.csv").write_text("\n".join(("location", *PLACES, *ELSEWHERE, "")))
    zones = [f"{place},{'north' if place in 'ab' else 'south'}" for place in PLACES + ELSEWHERE]
    (folder / "zones.csv").write_text("\n".join(("location,zone", *zones, "")))
    (folder / "slots.csv").write_text("start\n00:00\n10:00\n13:00\n16:00\n")
    header = "unit,trip,at,place\n"
    crowd = list(_crowd())
    (folder / "without.csv").write_text(header + "".join(crowd))
    (folder / "with.csv").write_text(header + "".join([*_unit(), *crowd]))


def _unit() -> Iterator[str]:
    for trip in range(TRIPS):
        yield from _rows("unit", trip, PLACES)


def _crowd() -> Iterator[str]:
    for other in range(ALIKE + APART):
        yield from _rows(f"other{other}", 0, PLACES if other < ALIKE else ELSEWHERE)


def _rows(unit: str, trip: int, places: tuple[str, ...]) -> Iterator[str]:
    for hour, place in zip(HOURS, places, strict=False):
        yield f"{unit},{trip},{DAYS[trip]}T{hour}:00:00,{place}\n"
