"""Every kind of universe, and what its places are called."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.theorem.columns import COORDINATES, EDGE, NAMED, NUMBERED, PLACES

from pathveil.core.preparations import DISCOVER
from pathveil.universe.universe import Universe

UNIVERSES = ("given", "gtfs", "grid", "h3", "codes", "discovered")
_BOX = "40,-80,50,-70"


@dataclass(frozen=True)
class Territory:
    """A universe, and how rows say where they were.

    Attributes:
        universe: the universe, or "discover".
        labels: what the places are called; None for what the column's kind calls them.
        points: the coordinates of the places, if rows give coordinates.
    """

    universe: Universe | str
    labels: tuple[str, ...] | None = None
    points: tuple[tuple[float, float], ...] | None = None


def territory(kind: str, *, is_list: bool) -> Territory:
    """A universe of a kind; lists name their places, also those of a grid."""
    if kind == "discovered":
        return Territory(DISCOVER)
    universe = _universe(kind)
    if kind == "codes":
        return Territory(universe, labels=("9", "10", "7", "8", "11"))
    if kind in ("given", "gtfs"):
        return Territory(universe)
    if is_list:
        return Territory(universe, labels=tuple(universe.labels[:PLACES]))
    return Territory(universe, points=COORDINATES)


@cache
def _universe(kind: str) -> Universe:
    if kind == "given":
        return Universe([*_labels(), "never visited"])
    if kind == "gtfs":
        with TemporaryDirectory() as folder:
            return Universe.read(f"gtfs-merged:{_feed(Path(folder))}")
    spec = {"grid": f"grid:9x9:{EDGE},-80,50,-70", "h3": f"h3:3:{_BOX}", "codes": "codes:1..50"}[
        kind
    ]
    return Universe.read(spec)


def _labels() -> list[str]:
    extra = ("A b",)  # as a CSV file without quotes has it
    return [*NAMED, *extra, *(str(number) for number in NUMBERED if str(number) not in NAMED)]


def _feed(folder: Path) -> Path:
    """Two of the stops are platforms of one station."""
    lines = [
        "stop_id,stop_name,stop_lat,stop_lon,location_type,parent_station",
        "S,Station,45,-75,1,",
    ]
    for number, label in enumerate(_labels()):
        parent = "S" if label in ("b", "é") else ""
        lines.append(f'"{label}",Stop {number},45.{number},-75,0,{parent}')
    path = folder / "stops.txt"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
