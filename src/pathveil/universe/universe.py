"""The universe of locations: a public, ordered list of labels (the paper's 𝓛).

It is an input, like ε: a stop list, a grid, a code list. It is never read off the trajectories,
because which locations occur is itself a fact about people.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final
from unicodedata import category, normalize

import numpy as np
from numpy.typing import NDArray

from pathveil.core.html_card import html_card
from pathveil.errors import UniverseError, did_you_mean
from pathveil.universe.coordinates import (
    Cells,
    Degrees,
    check_coordinates,
    check_length,
    points_on_earth,
)

if TYPE_CHECKING:
    from pathveil.universe.gtfs import Level, Stop
    from pathveil.universe.lines import Lines

MAX_LABEL_LENGTH = 500
MAX_SIZE = 2**31 - 1
LISTED: Final = "a list of labels"


class Universe:
    """An ordered list of distinct location labels, with optional names and coordinates.

    The order is part of the universe: the code of a location is its position. Labels are kept
    exactly as given. A label that a spreadsheet would take for a formula, or a browser for
    markup, is a legitimate label (stop codes begin with ``-``); it is escaped wherever it is
    written as CSV or HTML. Control characters are refused.

    Args:
        labels: the location labels, in order.
        names: a display name per label, or "" for a location without one.
        latitude: degrees north per label, together with ``longitude``; NaN for a location that
            can't be placed on a map.
        longitude: degrees east per label, likewise.
        origin: how the universe was made, in one line; public, printed on the certificate.
        cells: if the locations are cells: which cell each point on Earth lies in.
        aliases: further labels that data may use, and the location that each stands for (a
            platform and its station).

    Attributes:
        lines: which locations one line of a GTFS feed serves; None without a timetable.

    Raises:
        UniverseError: if the list is empty, a label is empty or repeated, or a label or a name
            is too long or holds a control character.
    """

    __slots__ = ("__dict__", "labels", "latitude", "longitude", "names")

    origin: str = LISTED
    cells: Cells | None = None
    aliases: Mapping[str, str] = MappingProxyType({})
    lines: "Lines | None" = None

    def __init__(
        self,
        labels: Iterable[str],
        *,
        names: Sequence[str] | None = None,
        latitude: Degrees | None = None,
        longitude: Degrees | None = None,
        origin: str = LISTED,
        cells: Cells | None = None,
        aliases: Mapping[str, str] | None = None,
    ) -> None:
        self.labels: tuple[str, ...] = tuple(labels)
        _check_labels(self.labels)
        self.names = None if names is None else tuple(names)
        if self.names is not None:
            check_length("names", len(self.names), len(self.labels))
            _check_texts("name", self.names)
        self.latitude, self.longitude = check_coordinates(latitude, longitude, len(self.labels))
        problem = text_problem(origin)
        if problem:
            raise UniverseError(f"The origin of a universe {problem}.")
        self.origin = origin
        self.cells = cells
        self.aliases = dict(aliases or {})
        if not all(label in self for label in self.aliases.values()):
            raise UniverseError("An alias stands for a label that the universe does not have.")

    @classmethod
    def read(cls, where: str | Path) -> "Universe":
        """Read a universe from a file, or make the one that a text describes.

        Descriptions are ``gtfs:FEED``, ``gtfs-stations:FEED``, ``gtfs-merged:FEED``,
        ``grid:ROWSxCOLS:SOUTH,WEST,NORTH,EAST``, ``h3:RESOLUTION:BOX`` (or a GeoJSON file),
        ``codes:1..500`` and ``codes:FILE``: see the ``from_`` methods. Anything else, and every
        `Path`, is the path of a CSV or Parquet file: the label is the column ``location`` (or
        ``stop_id``, ``location_id``, ``label``), else the first column. Names are taken from
        ``name`` or ``stop_name``, and coordinates from ``latitude``/``longitude``, ``lat``/``lon``
        or ``stop_lat``/``stop_lon``, where present; a location may leave both empty. Of cells with
        ``lat_min``, ``lat_max``, ``lon_min`` and ``lon_max`` it is the middle.
        """
        from pathveil.universe.specification import file_origin, from_spec
        from pathveil.universe.universe_file import read_location_file

        described = from_spec(where) if isinstance(where, str) else None
        if described is not None:
            return described
        found = read_location_file(Path(where))
        return cls(
            found.labels,
            names=found.names,
            latitude=found.latitude,
            longitude=found.longitude,
            origin=file_origin("file", Path(where)),
        )

    @classmethod
    def from_gtfs(cls, feed: str | Path, *, level: "Level" = "stops") -> "Universe":
        """The stops or stations of a GTFS feed, with their names and coordinates.

        Args:
            feed: the feed (a zip file), or its stops.txt.
            level: "stops" (every stop and every station), "stations" (stations only) or
                "merged" (stations, and stops that belong to none). Below the level of a station
                nothing is told apart: data with the ids of its platforms, entrances or boarding
                areas is read as visits to the station. So is data with the name of a stop, if no
                other has that name.

        Raises:
            UniverseError: if the feed is malformed; the message says on which line.
        """
        from pathveil.universe.gtfs import read_stops, stops_at
        from pathveil.universe.lines import read_lines
        from pathveil.universe.specification import file_origin

        stops, stations = stops_at(read_stops(Path(feed)), level)
        if not stops:
            raise UniverseError(f"The feed {feed} has no {level}.")
        kept = {stop.stop_id: code for code, stop in enumerate(stops)}
        universe = cls(
            [stop.stop_id for stop in stops],
            names=[stop.name for stop in stops],
            latitude=[stop.latitude for stop in stops],
            longitude=[stop.longitude for stop in stops],
            origin=file_origin("gtfs" if level == "stops" else f"gtfs-{level}", Path(feed)),
            aliases={
                **_unique_names(stops),
                **{below: station for below, station in stations.items() if station in kept},
            },
        )
        below = {one: kept[station] for one, station in stations.items() if station in kept}
        universe.lines = read_lines(Path(feed), {**kept, **below})
        return universe

    @classmethod
    def from_grid(cls, rows: int, columns: int, box: str) -> "Universe":
        """A plain grid of rows and columns; labels are ``r01c05``, row 1 in the south.

        Args:
            rows: how many rows.
            columns: how many columns.
            box: ``"south,west,north,east"`` in degrees.
        """
        from pathveil.universe.coordinates import Box
        from pathveil.universe.lat_lon_grid import LatLonGrid

        grid = LatLonGrid(rows, columns, Box.parse(box))
        latitude, longitude = grid.centres()
        return cls(
            grid.labels(),
            latitude=latitude,
            longitude=longitude,
            origin=f"grid:{rows}x{columns}:{grid.box}",
            cells=grid,
        )

    @classmethod
    def from_h3(cls, resolution: int, area: str | Path) -> "Universe":
        """The H3 cells that overlap a public area; labels are H3's own.

        Args:
            resolution: 0 to 15; the cells of 8 are about 0.7 km², those of 9 about 0.1 km².
            area: ``"south,west,north,east"`` in degrees, or the path of a GeoJSON file with
                polygons.
        """
        from pathveil.universe.coordinates import Box
        from pathveil.universe.h3_cells import cover_box, cover_file
        from pathveil.universe.specification import file_origin

        if isinstance(area, str) and area.count(",") == 3 and not Path(area).exists():  # noqa: PLR2004
            box = Box.parse(area)
            cells, origin = cover_box(resolution, box), f"h3:{resolution}:{box}"
        else:
            cells = cover_file(resolution, Path(area))
            origin = file_origin(f"h3:{resolution}", Path(area))
        latitude, longitude = cells.centres()
        return cls(
            cells.labels(), latitude=latitude, longitude=longitude, origin=origin, cells=cells
        )

    @classmethod
    def from_codes(cls, codes: str | Path) -> "Universe":
        """A list of codes.

        Args:
            codes: a range such as ``"1..500"`` (both ends included; ``"001..500"`` keeps its
                zeros), or the path of a text file with one code on each line.
        """
        from pathveil.universe.specification import code_list, file_origin, is_code_range

        is_range = is_code_range(str(codes))
        origin = f"codes:{codes}" if is_range else file_origin("codes", Path(codes))
        return cls(code_list(str(codes)), origin=origin)

    def __len__(self) -> int:
        return len(self.labels)

    def __contains__(self, label: object) -> bool:
        return label in self._codes

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Universe) and self.labels == other.labels

    def __hash__(self) -> int:
        return hash(self.labels)

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self.labels[:3])) + (", …" if len(self) > 3 else "")  # noqa: PLR2004
        return f"Universe({len(self)} locations: {shown})"

    def _repr_html_(self) -> str:
        return _card(self)

    @property
    def summary(self) -> str:
        """What may be said about it in one phrase."""
        return f"universe of {len(self)} locations"

    @property
    def has_coordinates(self) -> bool:
        """Whether any location can be placed on a map."""
        return self.latitude is not None

    @property
    def points(self) -> NDArray[np.float64] | None:
        """Where each location lies (`points_on_earth`); None if none has coordinates."""
        if self.latitude is None or self.longitude is None:
            return None
        return points_on_earth(self.latitude, self.longitude)

    @cached_property
    def _codes(self) -> dict[str, int]:
        return {label: code for code, label in enumerate(self.labels)}

    def same_in_unicode(self) -> tuple[int, int] | None:
        """The first two positions, from 1, whose labels are two spellings of one text, or None.

        Unicode writes é as one character (NFC) or as two (NFD); people see no difference.
        """
        first: dict[str, int] = {}
        for position, label in enumerate(self.labels, start=1):
            if not label.isascii():
                before = first.setdefault(normalize("NFC", label), position)
                if before != position:
                    return before, position
        return None

    def code(self, label: str) -> int:
        """The code (position) of a label.

        Raises:
            UniverseError: if the universe has no such label.
        """
        if not isinstance(label, str):
            raise UniverseError(f"A location label is text, not {type(label).__name__}.")
        try:
            return self._codes[label]
        except KeyError:
            raise UniverseError(_unknown(label, self.labels)) from None

    @cached_property
    def _named(self) -> dict[str, str | None]:
        """The label of each name; None if several locations have it."""
        found: dict[str, str | None] = {}
        for name, label in zip(self.names or (), self.labels, strict=False):
            found[name] = None if name in found else label
        return found

    def label_of(self, text: str) -> str:
        """The label that a text means: itself, or that of the one location of this name.

        Raises:
            UniverseError: if it is neither, or the name of several.
        """
        if not isinstance(text, str) or text in self:
            return text
        if text not in self._named:
            raise UniverseError(_unknown(text, (*self.labels, *self._named)))
        label = self._named[text]
        if label is None:
            pairs = zip(self.labels, self.names or (), strict=False)
            twins = [one for one, name in pairs if name == text]
            raise UniverseError(
                f"{len(twins)} locations are named {text[:80]!r}; give one of their labels: "
                f"{', '.join(repr(one[:40]) for one in twins[:8])}."
            )
        return label

    def codes(self, labels: Iterable[str]) -> list[int]:
        """The codes of several labels, in their order."""
        return [self.code(label) for label in labels]


def _unique_names(stops: "Sequence[Stop]") -> dict[str, str]:
    """The names that one stop only has, and no id is, and whose they are."""
    ids, found = {stop.stop_id for stop in stops}, dict[str, list[str]]()
    for stop in stops:
        found.setdefault(stop.name, []).append(stop.stop_id)
    return {n: i[0] for n, i in found.items() if n.strip() and len(i) == 1 and n not in ids}


def _unknown(label: str, labels: Sequence[str]) -> str:
    """Name a label of the asker's own that the universe lacks, with its nearest neighbour."""
    if not label.isascii() and any(
        normalize("NFC", one) == normalize("NFC", label) for one in labels
    ):
        return (
            f"The universe has {label[:80]!r} in another spelling of Unicode (NFC or NFD); type it "
            "as the list of locations has it."
        )
    return f"The universe has no location {label[:80]!r}.{did_you_mean(label, labels)}"


def _check_labels(labels: tuple[str, ...]) -> None:
    if not labels:
        raise UniverseError("The universe has no locations; give at least one label.")
    if len(labels) > MAX_SIZE:
        raise UniverseError(f"The universe has more than {MAX_SIZE} locations.")
    _check_texts("label", labels)
    for position, label in enumerate(labels, start=1):
        if not label.strip():
            raise UniverseError(f"The label of location {position} is empty.")
    if len(set(labels)) != len(labels):
        first: dict[str, int] = {}
        for position, label in enumerate(labels, start=1):
            if label in first:
                raise UniverseError(
                    f"Location {position} has the same label as location {first[label]}; "
                    "every label must be listed once."
                )
            first[label] = position


def _check_texts(what: str, texts: tuple[object, ...]) -> None:
    # Positions only: if somebody passes raw data as the universe, nothing of it is echoed.
    for position, text in enumerate(texts, start=1):
        problem = text_problem(text)
        if problem:
            raise UniverseError(f"The {what} of location {position} {problem}.")


def text_problem(text: object) -> str | None:
    """What is wrong with a label or a name, or None. Never quotes it."""
    if not isinstance(text, str):
        return f"is a {type(text).__name__}, not text; convert it to str"
    if len(text) > MAX_LABEL_LENGTH:
        return f"is longer than {MAX_LABEL_LENGTH} characters"
    if not text.isprintable() and any(_is_control(character) for character in text):
        return "holds a control character"
    return None


def _is_control(character: str) -> bool:
    return category(character) in {"Cc", "Cs", "Zl", "Zp"}


_SHOWN = 5  # locations of a card


def _card(universe: Universe) -> str:
    """A universe: how many locations, and the first few."""
    shown = [
        f"{label} ({name})" if name else label
        for label, name in zip(
            universe.labels[:_SHOWN], (universe.names or [""] * _SHOWN)[:_SHOWN], strict=False
        )
    ]
    return html_card(
        f"Universe of {len(universe):,} locations",
        {
            "first": ", ".join(shown) + (", …" if len(universe) > _SHOWN else ""),
            "coordinates": "yes" if universe.has_coordinates else "no",
            "made from": universe.origin,
        },
    )
