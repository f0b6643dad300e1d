"""Stops and stations from a GTFS feed: the list that every transit agency publishes.

The feed is public, so an error may quote it, with the file and the line.
"""

import csv
import io
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, get_args

from pathveil.errors import ParameterError, UniverseError
from pathveil.universe.universe_file import open_public

Level = Literal["stops", "stations", "merged"]
LEVELS: Final = get_args(Level)

STOPS_FILE = "stops.txt"
MOST_BYTES = 2**28  # a feed of a whole country has a tenth of it
# What every zip program writes; the other methods bring decompressors (and failures) of their own.
COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)

_STOP, _STATION, _ENTRANCE, _NODE, _BOARDING_AREA = "0", "1", "2", "3", "4"
_TYPES = (_STOP, _STATION, _ENTRANCE, _NODE, _BOARDING_AREA)
_DEEPEST = 3  # boarding area, platform, station


@dataclass(frozen=True, slots=True)
class Place:
    """One row of stops.txt.

    Attributes:
        stop_id: its id, as written.
        name: its name, or "".
        latitude: degrees north, NaN if the feed leaves it out.
        longitude: degrees east, likewise.
        kind: its ``location_type``, one of "0" to "4".
        parent: the id of what it belongs to, or "".
        where: the file and the line, for errors.
    """

    stop_id: str
    name: str
    latitude: float
    longitude: float
    kind: str
    parent: str
    where: str


def read_places(path: Path) -> list[Place]:
    """All rows of a feed's stops, checked.

    Args:
        path: a feed (a zip file with a stops.txt in it), or a stops.txt.

    Raises:
        UniverseError: if the feed is malformed; the message names the file and the line.
    """
    places = list(_places(*_stops_text(path)))
    _check_parents(places)
    return places


def places_at(places: list[Place], level: Level) -> tuple[list[Place], dict[str, str]]:
    """The places of a universe, and which id in the data stands for which of them.

    Args:
        places: what `read_places` gives.
        level: "stops" keeps every stop and every station (location types 0 and 1); "stations"
            the stations only (1); "merged" the stations, and the stops that belong to none.
            Entrances, generic nodes and boarding areas (2 to 4) are never kept.

    Returns:
        The places, in the order of the feed; and at the levels "stations" and "merged" the
        station of every id that belongs to one.
    """
    if level not in LEVELS:
        raise ParameterError(f"The level of a GTFS universe is one of {', '.join(LEVELS)}.")
    if level == "stops":
        return [place for place in places if place.kind in (_STOP, _STATION)], {}
    by_id = {place.stop_id: place for place in places}
    station = {
        place.stop_id: root.stop_id
        for place in places
        if (root := _root(place, by_id)) is not place and root.kind == _STATION
    }
    kinds = (_STATION,) if level == "stations" else (_STOP, _STATION)
    kept = [place for place in places if place.kind in kinds and place.stop_id not in station]
    return kept, station


def _root(place: Place, by_id: dict[str, Place]) -> Place:
    for _ in range(_DEEPEST):
        place = by_id.get(place.parent, place)
    return place


def _stops_text(path: Path) -> tuple[str, str]:
    """The text of stops.txt, and what to call it."""
    content, where = open_public(path, "GTFS feed"), str(path)
    if content.startswith(b"PK"):
        content, where = _from_zip(content, path)
    try:
        return content.decode("utf-8-sig"), where
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UniverseError(f"{where}, line {line}: not UTF-8 text, as GTFS must be.") from None


def _from_zip(content: bytes, path: Path) -> tuple[bytes, str]:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as feed:
            named = [info for info in feed.infolist() if _is_stops(info.filename)]
            if len(named) != 1:
                raise UniverseError(f"The feed {path} has {len(named)} files stops.txt, not one.")
            if named[0].file_size > MOST_BYTES:
                raise UniverseError(f"The stops.txt of {path} is larger than {MOST_BYTES:,} bytes.")
            if named[0].compress_type not in COMPRESSIONS:
                raise UniverseError(f"The stops.txt of {path} is compressed in an unusual way.")
            with feed.open(named[0]) as file:
                return file.read(MOST_BYTES), f"{path}, {named[0].filename}"
    except (
        zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, OSError,
    ):  # fmt: skip
        raise UniverseError(f"{path} is not a readable zip file.") from None
    except ValueError as error:
        if isinstance(error, UniverseError):
            raise
        raise UniverseError(f"{path} is not a readable zip file.") from None


def _is_stops(name: str) -> bool:
    # Some publishers zip the folder instead of the files.
    return name.rsplit("/", 1)[-1] == STOPS_FILE and not name.startswith("__MACOSX")


def _places(text: str, where: str) -> Iterator[Place]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    header: list[str] | None = None
    line = 1
    try:
        for row in reader:
            at, line = f"{where}, line {line}", reader.line_num + 1
            if not any(cell.strip() for cell in row):
                continue
            if header is None:
                header = _checked_header([cell.strip() for cell in row], at)
            elif len(row) != len(header):
                raise UniverseError(f"{at}: {len(row)} cells, but the header has {len(header)}.")
            else:
                yield _place(dict(zip(header, row, strict=True)), at)
    except csv.Error as error:
        raise UniverseError(f"{where}, line {line}: not well-formed CSV ({error}).") from None
    if header is None:
        raise UniverseError(f"{where} is empty; it needs a header and stops.")


def _checked_header(header: list[str], at: str) -> list[str]:
    if "stop_id" not in header:
        raise UniverseError(f"{at}: no column 'stop_id'; is this the stops.txt of a GTFS feed?")
    if len(set(header)) < len(header):
        raise UniverseError(f"{at}: two columns have the same name.")
    return header


def _place(cells: dict[str, str], at: str) -> Place:
    stop_id = cells["stop_id"]
    if not stop_id.strip():
        raise UniverseError(f"{at}: the stop_id is empty.")
    kind = cells.get("location_type", "").strip() or _STOP
    if kind not in _TYPES:
        raise UniverseError(f"{at}: the location_type {kind[:20]!r} is not one of 0 to 4.")
    latitude = _degrees(cells, "stop_lat", 90.0, at)
    longitude = _degrees(cells, "stop_lon", 180.0, at)
    if (latitude != latitude) != (longitude != longitude):  # noqa: PLR0124  (NaN is not itself)
        raise UniverseError(f"{at}: a latitude or a longitude is there without the other.")
    parent = cells.get("parent_station", "").strip()
    return Place(stop_id, cells.get("stop_name", "").strip(), latitude, longitude, kind, parent, at)


def _degrees(cells: dict[str, str], column: str, limit: float, at: str) -> float:
    text = cells.get(column, "").strip()
    if not text:
        return float("nan")
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not abs(value) <= limit:
        raise UniverseError(
            f"{at}: the {column} {text[:20]!r} is not a number between -{limit:g} and {limit:g}."
        )
    return value


def _check_parents(places: list[Place]) -> None:
    """Ids are unique, and parents are what GTFS says they must be."""
    by_id: dict[str, Place] = {}
    for place in places:
        if place.stop_id in by_id:
            raise UniverseError(
                f"{place.where}: the stop_id {place.stop_id[:80]!r} is already used "
                f"({by_id[place.stop_id].where})."
            )
        by_id[place.stop_id] = place
    for place in places:
        if not place.parent:
            continue
        parent = by_id.get(place.parent)
        wanted = _STOP if place.kind == _BOARDING_AREA else _STATION
        if place.kind == _STATION:
            raise UniverseError(f"{place.where}: a station can't have a parent_station.")
        if parent is None or parent.kind != wanted:
            what = "platform" if wanted == _STOP else "station"
            raise UniverseError(
                f"{place.where}: the parent_station {place.parent[:80]!r} is not a {what} of this "
                "feed."
            )
