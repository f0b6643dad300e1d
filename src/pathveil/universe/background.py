"""What lies under the maps of a release: public lines, such as rails, rivers and borders.

They come from a GeoJSON file or from a GTFS feed (its shapes; if it has none, straight lines from
stop to stop), and are no data about anybody. Maps
are small, so what they can't show is left out: lines are thinned until all of them have no more
than some thousand points. They become a file of the bundle, because its page is drawn from the
bundle alone.
"""

import csv
import io
import json
import os
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any, Final

from pathveil.core.texts import read_json
from pathveil.errors import UniverseError
from pathveil.universe.gtfs import COMPRESSIONS, MOST_BYTES, read_stops
from pathveil.universe.universe_file import open_public

Point = tuple[float, float]
Line = tuple[Point, ...]

MOST_POINTS: Final = 6000
SHAPES_FILE: Final = "shapes.txt"
CALLS_FILE: Final = "stop_times.txt"
_DIGITS: Final = 5  # of a degree: about a metre
_FINEST: Final = 1500  # steps across the picture: finer ones nobody sees
_DEEPEST: Final = 20


@dataclass(frozen=True, slots=True)
class Background:
    """Lines on the Earth.

    Attributes:
        lines: each of at least two points (degrees east, degrees north).
    """

    lines: tuple[Line, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.lines)

    @classmethod
    def of(cls, given: "Background | str | os.PathLike[str] | None") -> "Background":
        """The value of what was given: itself, where it is, or nothing."""
        if given is None:
            return cls()
        return given if isinstance(given, cls) else cls.read(Path(given))  # type: ignore[arg-type]

    @classmethod
    def read(cls, path: str | Path) -> "Background":
        """The lines of a GeoJSON file, or the shapes of a GTFS feed (a zip file).

        Raises:
            UniverseError: if it is neither, or has no lines.
        """
        path = Path(path)
        content = open_public(path, "background")
        if content.startswith(b"PK"):
            found = cls.of_feed(path, content)
        else:
            found = cls(_thinned(_geojson_lines(content, path)))
        if not found:
            raise UniverseError(
                f"The background {path} has no lines: give a GeoJSON file with lines or areas, or "
                "a GTFS feed with a shapes.txt or a stop_times.txt."
            )
        return found

    @classmethod
    def of_feed(cls, path: Path, content: bytes | None = None) -> "Background":
        """The shapes of a GTFS feed; without a shapes.txt, straight lines from stop to stop.

        Raises:
            UniverseError: if the feed is malformed.
        """
        content = open_public(path, "GTFS feed") if content is None else content
        for name, lines in ((SHAPES_FILE, _shapes), (CALLS_FILE, _rides)):
            text = _text_of(content, name, path)
            if text is not None and (found := cls(_thinned(lines(text, path)))):
                return found
        return cls()

    def to_text(self) -> str:
        """As GeoJSON; always the same text for the same lines."""
        lines = {"type": "MultiLineString", "coordinates": self.lines}
        return json.dumps(lines) + "\n"

    @classmethod
    def from_text(cls, text: bytes) -> "Background":
        """The way back.

        Raises:
            ValueError: if it is not what `to_text` writes.
        """
        said = read_json(text)
        if not isinstance(said, dict) or said.get("type") != "MultiLineString":
            raise ValueError("not lines")
        found = cls(tuple(_checked(line) for line in said["coordinates"]))
        if sum(map(len, found.lines)) > MOST_POINTS or found.to_text().encode() != text:
            raise ValueError("not as it is written")
        return found


def _checked(points: Any) -> Line:
    """A line of numbers that can be degrees.

    Raises:
        ValueError: if it is none.
    """
    if not isinstance(points, list | tuple) or len(points) < 2:  # noqa: PLR2004
        raise ValueError("no line")
    return tuple(_point(one) for one in points)


def _point(point: Any) -> Point:
    if not isinstance(point, list | tuple) or len(point) < 2:  # noqa: PLR2004
        raise ValueError("no point")
    east, north = point[:2]
    if {type(east), type(north)} - {int, float}:
        raise ValueError("no number")
    if not (-180 <= east <= 180 and -90 <= north <= 90):  # noqa: PLR2004  (nor is NaN)
        raise ValueError("no degrees")
    return round(float(east), _DIGITS), round(float(north), _DIGITS)


def _geojson_lines(content: bytes, path: Path) -> list[Line]:
    try:
        said = read_json(content.decode("utf-8-sig"))
        return [line for line in _lines_of(said, 0) if len(line) > 1]
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UniverseError(
            f"The background {path} is no GeoJSON in degrees east and north."
        ) from None


def _lines_of(said: Any, depth: int) -> Iterator[Line]:
    """The lines, and the borders of areas, of any GeoJSON object; points are left out."""
    if said is None:  # a feature without a place
        return
    if depth > _DEEPEST:
        raise ValueError("too deep")
    kind = said["type"]
    inner = {"FeatureCollection": "features", "GeometryCollection": "geometries"}.get(kind)
    if inner is not None:
        for one in said[inner]:
            yield from _lines_of(one, depth + 1)
    elif kind == "Feature":
        yield from _lines_of(said["geometry"], depth + 1)
    elif kind == "LineString":
        yield _checked(said["coordinates"])
    elif kind in ("MultiLineString", "Polygon"):
        yield from map(_checked, said["coordinates"])
    elif kind == "MultiPolygon":
        yield from (_checked(ring) for polygon in said["coordinates"] for ring in polygon)
    elif kind not in ("Point", "MultiPoint"):
        raise ValueError("unknown kind")


def _text_of(content: bytes, name: str, path: Path) -> str | None:
    """The text of one file of a feed; None if it has no such file.

    Raises:
        UniverseError: if it can't be read.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as feed:
            named = [one for one in feed.infolist() if one.filename.split("/")[-1] == name]
            if not named:
                return None
            if named[0].file_size > MOST_BYTES or named[0].compress_type not in COMPRESSIONS:
                raise UniverseError(f"The {name} of {path} is too large or packed oddly.")
            return feed.read(named[0]).decode("utf-8-sig")
    except (
        zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, OSError,
    ):  # fmt: skip
        raise UniverseError(f"The {name} of {path} can't be read.") from None
    except ValueError as error:  # of UTF-8, and of zipfile itself where a header lies
        if isinstance(error, UniverseError):
            raise
        raise UniverseError(f"The {name} of {path} can't be read.") from None


def _shapes(text: str, path: Path) -> list[Line]:
    shapes: dict[str, list[tuple[int, Point]]] = {}
    try:
        for row in csv.DictReader(io.StringIO(text, newline=""), strict=True):
            point = _point((float(row["shape_pt_lon"]), float(row["shape_pt_lat"])))
            number = int(row["shape_pt_sequence"])
            shapes.setdefault(row["shape_id"], []).append((number, point))
    except (KeyError, ValueError, TypeError, csv.Error):
        raise UniverseError(f"The {SHAPES_FILE} of {path} is not as GTFS has it.") from None
    return [tuple(point for _, point in sorted(shape)) for shape in shapes.values()]


def _rides(text: str, path: Path) -> list[Line]:
    """From stop to stop as vehicles call at them, each way between two stops once."""
    at = {stop.stop_id: stop for stop in read_stops(path)}
    calls: dict[str, list[tuple[int, Point]]] = {}
    try:
        rows = csv.reader(io.StringIO(text, newline=""), strict=True)
        header = [name.strip() for name in next(rows)]
        trip, stop, sequence = map(header.index, ("trip_id", "stop_id", "stop_sequence"))
        for row in rows:
            called = at.get(row[stop]) if row else None
            if called is not None and called.latitude == called.latitude:
                point = _point((called.longitude, called.latitude))
                calls.setdefault(row[trip], []).append((int(row[sequence]), point))
    except (IndexError, StopIteration, ValueError, csv.Error):
        raise UniverseError(f"The {CALLS_FILE} of {path} is not as GTFS has it.") from None
    distinct = {
        tuple(point for point, _ in groupby(point for _, point in sorted(ride)))
        for ride in calls.values()
    }
    drawn: set[tuple[Point, Point]] = set()
    # The longest first: lines that share a way are then cut where they leave it.
    return [
        line
        for ride in sorted(distinct, key=lambda ride: (-len(ride), ride))
        for line in _not_drawn_yet(ride, drawn)
    ]


def _not_drawn_yet(ride: Line, drawn: set[tuple[Point, Point]]) -> Iterator[Line]:
    """The pieces of a line that none before it has, in either direction."""
    piece: list[Point] = []
    for one, other in pairwise(ride):
        way = min(one, other), max(one, other)
        if way in drawn:
            if piece:
                yield tuple(piece)
            piece = []
            continue
        drawn.add(way)
        piece = piece or [one]
        piece.append(other)
    if piece:
        yield tuple(piece)


def _thinned(lines: Sequence[Line]) -> tuple[Line, ...]:
    """Each line once, and only points that lie apart: the fewer, the more there are in all."""
    if not lines:
        return ()
    every = [point for line in lines for point in line]
    extent = max(
        max(point[axis] for point in every) - min(point[axis] for point in every) for axis in (0, 1)
    )
    apart = extent / _FINEST
    while True:
        kept = tuple(dict.fromkeys(line for line in (_apart(line, apart) for line in lines)))
        kept = tuple(line for line in kept if len(set(line)) > 1)
        if sum(map(len, kept)) <= MOST_POINTS:
            return kept
        if apart > extent:  # nothing but ends is left
            return kept[: MOST_POINTS // 2]
        apart *= 1.5


def _apart(line: Line, least: float) -> Line:
    """The first and the last point, and those that lie so far from the one before."""
    kept = [line[0]]
    for east, north in line[1:-1]:
        if max(abs(east - kept[-1][0]), abs(north - kept[-1][1])) > least:
            kept.append((east, north))
    return (*kept, line[-1])
