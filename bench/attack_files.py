"""The files that are attacked: three pairs, each with what a release of it may tell apart.

`UNIT`: the files differ in one unit. Everybody else makes one trip: most to a place of their own,
the others as the unit does. The unit makes four trips, on four days, each through four places: more
trips and more distinct places than are counted of anybody, so a cap that is not kept shows. Its
rows stand first, so whatever is numbered or sniffed from the beginning of a file is up to it.

`TIES`: the same, and everybody is at two places at one moment. The unit comes first and names the
one that is later in the alphabet.

`BEYOND`: the files differ in hundreds of people, but in their second trips only, and one is used.
So nothing at all may be told apart: the loss that is claimed is 0, whatever ε.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

Pair = tuple[str, str]
UNIT: Pair = ("with.csv", "without.csv")
TIES: Pair = ("ties-with.csv", "ties-without.csv")
BEYOND: Pair = ("beyond-one.csv", "beyond-other.csv")

PLACES = ("a", "b", "c", "d")
ELSEWHERE = ("z",)
TRIPS = 4
ALIKE, APART = 300, 700  # so many walk as the unit does, and so many are elsewhere
DAYS = ("2026-03-02", "2026-03-03", "2026-03-04", "2026-03-05")
HOURS = ("08", "11", "14", "17")
HEADER = "unit,trip,at,place\n"


def write_files(folder: Path) -> None:
    """All pairs, and the public files."""
    _write(folder / "universe.csv", "location\n", (f"{p}\n" for p in PLACES + ELSEWHERE))
    zones = (f"{p},{'north' if p in 'ab' else 'south'}\n" for p in PLACES + ELSEWHERE)
    _write(folder / "zones.csv", "location,zone\n", zones)
    _write(folder / "slots.csv", "start\n", (f"{hour}:00\n" for hour in ("00", "10", "13", "16")))
    crowd, tied = list(_crowd()), list(_tied())
    _write(folder / UNIT[0], HEADER, [*_unit(), *crowd])
    _write(folder / UNIT[1], HEADER, crowd)
    _write(folder / TIES[0], HEADER, [*_rows("unit", 0, "yx"), *tied])
    _write(folder / TIES[1], HEADER, tied)
    for name, place in zip(BEYOND, "bc", strict=True):
        again = (row for other in range(ALIKE) for row in _rows(f"other{other}", 1, place))
        _write(folder / name, HEADER, [*crowd, *again])


def _write(path: Path, header: str, lines: Sequence[str] | Iterator[str]) -> None:
    path.write_text(header + "".join(lines))


def _unit() -> Iterator[str]:
    for trip in range(TRIPS):
        yield from _rows("unit", trip, PLACES)


def _crowd() -> Iterator[str]:
    for other in range(ALIKE + APART):
        yield from _rows(f"other{other}", 0, PLACES if other < ALIKE else ELSEWHERE)


def _tied() -> Iterator[str]:
    for other in range(ALIKE):
        yield from _rows(f"other{other}", 0, "xy", ("08", "08"))


def _rows(
    unit: str, trip: int, places: Sequence[str], hours: Sequence[str] = HOURS
) -> Iterator[str]:
    for hour, place in zip(hours, places, strict=False):
        yield f"{unit},{trip},{DAYS[trip]}T{hour}:00:00,{place}\n"
