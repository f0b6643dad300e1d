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
class Stop:
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


def read_stops(path: Path) -> list[Stop]:
    """All rows of a feed's stops, checked.

    Args:
        path: a feed (a zip file with a stops.txt in it), or a stops.txt.

    Raises:
        UniverseError: if the feed is malformed; the message names the file and the line.
    """
    stops = list(_stops(*_stops_text(path)))
    _check_parents(stops)
    return stops


def stops_at(stops: list[Stop], level: Level) -> tuple[list[Stop], dict[str, str]]:
    """The stops of a universe, and which id in the data stands for which of them.

    Args:
        stops: what `read_stops` gives.
        level: "stops" keeps every stop and every station (location types 0 and 1); "stations"
            the stations only (1); "merged" the stations, and the stops that belong to none.
            Entrances, generic nodes and boarding areas (2 to 4) are never kept.

    Returns:
        The stops, in the order of the feed; and at the levels "stations" and "merged" the
        station of every id that belongs to one.
    """
    if level not in LEVELS:
        raise ParameterError(f"The level of a GTFS universe is one of {', '.join(LEVELS)}.")
    if level == "stops":
        return [stop for stop in stops if stop.kind in (_STOP, _STATION)], {}
    by_id = {stop.stop_id: stop for stop in stops}
    station = {
        stop.stop_id: root.stop_id
        for stop in stops
        if (root := _root(stop, by_id)) is not stop and root.kind == _STATION
    }
    kinds = (_STATION,) if level == "stations" else (_STOP, _STATION)
    kept = [stop for stop in stops if stop.kind in kinds and stop.stop_id not in station]
    return kept, station


def _root(stop: Stop, by_id: dict[str, Stop]) -> Stop:
    for _ in range(_DEEPEST):
        stop = by_id.get(stop.parent, stop)
    return stop


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


def feed_file(path: Path, name: str) -> bytes | None:
    """One more file of a feed; None if it has none, or is not a zip file.

    Raises:
        UniverseError: if it can't be read.
    """
    content = open_public(path, "GTFS feed")
    if not content.startswith(b"PK"):
        return None
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as feed:
            named = [one for one in feed.infolist() if one.filename.rsplit("/", 1)[-1] == name]
            if not named or named[0].file_size > MOST_BYTES:
                return None
            if named[0].compress_type not in COMPRESSIONS:
                raise UniverseError(f"The {name} of {path} is compressed in an unusual way.")
            return feed.read(named[0])
    except (
        zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, OSError,
    ):  # fmt: skip
        raise UniverseError(f"The {name} of {path} can't be read.") from None
    except ValueError as error:
        if isinstance(error, UniverseError):
            raise
        raise UniverseError(f"The {name} of {path} can't be read.") from None


def _is_stops(name: str) -> bool:
    # Some publishers zip the folder instead of the files.
    return name.rsplit("/", 1)[-1] == STOPS_FILE and not name.startswith("__MACOSX")


def _stops(text: str, where: str) -> Iterator[Stop]:
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
                yield _stop(dict(zip(header, row, strict=True)), at)
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


def _stop(cells: dict[str, str], at: str) -> Stop:
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
    return Stop(stop_id, cells.get("stop_name", "").strip(), latitude, longitude, kind, parent, at)


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


def _check_parents(stops: list[Stop]) -> None:
    """Ids are unique, and parents are what GTFS says they must be."""
    by_id: dict[str, Stop] = {}
    for stop in stops:
        if stop.stop_id in by_id:
            raise UniverseError(
                f"{stop.where}: the stop_id {stop.stop_id[:80]!r} is already used "
                f"({by_id[stop.stop_id].where})."
            )
        by_id[stop.stop_id] = stop
    for stop in stops:
        if not stop.parent:
            continue
        parent = by_id.get(stop.parent)
        wanted = _STOP if stop.kind == _BOARDING_AREA else _STATION
        if stop.kind == _STATION:
            raise UniverseError(f"{stop.where}: a station can't have a parent_station.")
        if parent is None or parent.kind != wanted:
            what = "platform" if wanted == _STOP else "station"
            raise UniverseError(
                f"{stop.where}: the parent_station {stop.parent[:80]!r} is not a {what} of this "
                "feed."
            )
