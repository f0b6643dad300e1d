"""The map: where locations lie on a picture, released visits on them, public lines underneath."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pathveil.analysis.flows import visits
from pathveil.core.paths import WeightedPaths
from pathveil.pages.listings import Location, isolated, shortened
from pathveil.universe.background import Background
from pathveil.universe.universe import Universe

WIDTH = 800  # of the picture, in its own units
HEIGHTS = (200, 800)  # its least and largest height
MARGIN = 24  # more than the radius of the largest spot
MOST_SPOTS = 20_000
SIZES = 16  # of spots; a spot has the nearest
MOST_NAMED = 14
_SMALLEST, _LARGEST, _ROOMY = 2.0, 14.0, 40.0  # diameters of spots; _ROOMY where few are
_UNVISITED, _VISITED = 0.4, 0.65  # opacities
_LETTERS = 22  # of a name on the map
_LETTER_WIDTH = 0.56  # of the size of letters, about
# Sizes of letters and how many names: on a wide page, and on a phone, which shows less than half.
_WRITTEN = {"wide": (12.0, MOST_NAMED), "narrow": (24.0, 5)}


# Where the locations of a universe lie on a picture: public coordinates.


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Projection:
    """The locations that have coordinates, and how any point is placed.

    Attributes:
        codes: int64, shape (n,); location codes.
        x: float64, shape (n,); from the left edge of the picture.
        y: float64, shape (n,); from its upper edge.
        height: of the picture.
        corner: degrees east and north of what lies at ``origin``.
        origin: a point of the picture.
        scale: units of the picture for a degree to the east, and for one to the north.
    """

    codes: NDArray[np.int64]
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    height: int
    corner: tuple[float, float]
    origin: tuple[float, float]
    scale: tuple[float, float]

    def at(self, east: float, north: float) -> tuple[float, float]:
        """Where a point lies on the picture, or beside it."""
        return (
            self.origin[0] + (east - self.corner[0]) * self.scale[0],
            self.origin[1] - (north - self.corner[1]) * self.scale[1],
        )


def projected(universe: Universe) -> Projection | None:
    """The places of a universe, true to shape in the middle; None if it has no coordinates."""
    if universe.latitude is None or universe.longitude is None:
        return None
    codes = np.flatnonzero(~np.isnan(universe.latitude))
    latitude, longitude = universe.latitude[codes], universe.longitude[codes]
    middle = math.radians(float(latitude.min() + latitude.max()) / 2)
    narrowed = max(math.cos(middle), 0.01)
    across = (longitude - longitude.min()) * narrowed
    up = latitude - latitude.min()
    wide, tall = max(float(across.max()), 1e-9), max(float(up.max()), 1e-9)
    scale = min((WIDTH - 2 * MARGIN) / wide, (HEIGHTS[1] - 2 * MARGIN) / tall)
    height = max(round(tall * scale) + 2 * MARGIN, HEIGHTS[0])
    left, base = (WIDTH - wide * scale) / 2, (height + tall * scale) / 2
    return Projection(
        codes,
        left + across * scale,
        base - up * scale,
        height,
        corner=(float(longitude.min()), float(latitude.min())),
        origin=(left, base),
        scale=(narrowed * scale, scale),
    )


def draw_background(background: Background, projection: Projection) -> str:
    """The lines as SVG path data; those that lie beside the picture are left out."""
    drawn = []
    for line in background.lines:
        points = [tuple(map(round, projection.at(*point))) for point in line]
        if any(0 <= x <= WIDTH and 0 <= y <= projection.height for x, y in points):
            new = [one for one, before in zip(points[1:], points, strict=False) if one != before]
            drawn.append("M" + "L".join(f"{x} {y}" for x, y in (points[0], *new)))
    return "".join(drawn)


# A map of the universe with the released visits, as one SVG picture inside the page.
#
# It is drawn from public coordinates, public lines and released counts alone, needs no network, and
# stays small: locations that fall on one spot of the picture are drawn as one, and all spots of one
# size are a single path, so a universe of ten thousand stops takes about 100 kB.


@dataclass(frozen=True, slots=True)
class Layer:
    """All spots with about the same number of visits.

    Attributes:
        path: SVG path data; each spot is a line of no length, drawn with round ends.
        diameter: of each spot; its area is in proportion to the visits.
        opacity: of each spot.
    """

    path: str
    diameter: float
    opacity: float


@dataclass(frozen=True, slots=True)
class Name:
    """The name of a location on the map.

    Attributes:
        x: where the text begins or ends.
        y: its base line.
        anchor: "start" if it begins there, "end" if it ends there.
        text: what is written.
    """

    x: int
    y: int
    anchor: str
    text: str


@dataclass(frozen=True, slots=True)
class Map:
    """A picture of the universe.

    Attributes:
        width: of the picture.
        height: of the picture.
        layers: from the least visited to the most.
        background: SVG path data of public lines; "" if there are none.
        names: of the most visited locations: by how wide the page is, the size of letters and
            the names.
        legend: diameters, and the visits that they stand for.
        title: what it is, in one line.
        description: what can be seen on it, for those who can't see it.
    """

    width: int
    height: int
    layers: tuple[Layer, ...]
    background: str
    names: dict[str, tuple[float, tuple[Name, ...]]]
    legend: tuple[tuple[float, str], ...]
    title: str
    description: str


def draw_map(release: WeightedPaths, background: Background | None = None) -> Map | None:
    """The map of a release; None if no location has coordinates."""
    projection = projected(release.universe)
    if projection is None:
        return None
    height, visited = projection.height, visits(release).counts[projection.codes]
    x, y, counts = _merge(projection.x, projection.y, visited, height)
    most = int(counts.max(initial=0))
    largest = _largest(len(x), height)
    return Map(
        width=WIDTH,
        height=height,
        layers=tuple(_layers(x, y, counts, most, largest)),
        background=draw_background(background or Background(), projection),
        names={
            page: (written[0], _names(release.universe, projection, visited, largest, written))
            for page, written in _WRITTEN.items()
        },
        legend=_legend(most, largest),
        title="Map of the locations, with released visits",
        description=_description(release.universe, len(projection.codes), counts, most),
    )


def _merge(
    x: NDArray[np.float64], y: NDArray[np.float64], counts: NDArray[np.int64], height: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """One spot for all locations that can't be told apart, with their visits added up."""
    step = 1
    if len(x) > MOST_SPOTS:
        step = math.ceil(math.sqrt(WIDTH * height / MOST_SPOTS))
    column, row = np.rint(x / step).astype(np.int64), np.rint(y / step).astype(np.int64)
    spots, which = np.unique(row * (WIDTH + 1) + column, return_inverse=True)
    total = np.zeros(len(spots), dtype=np.int64)
    np.add.at(total, which, counts)
    return spots % (WIDTH + 1) * step, spots // (WIDTH + 1) * step, total


def _layers(
    x: NDArray[np.int64],
    y: NDArray[np.int64],
    counts: NDArray[np.int64],
    most: int,
    largest: float,
) -> list[Layer]:
    """The spots by size: diameters in even steps, so areas follow the visits."""
    size = np.maximum(np.rint(SIZES * np.sqrt(counts / max(most, 1))), counts > 0)
    layers = []
    for number in range(SIZES + 1):
        here = size == number
        if here.any():
            diameter = max(largest * number / SIZES, _SMALLEST)
            opacity = _VISITED if number else _UNVISITED
            layers.append(Layer(_path(x[here], y[here]), round(diameter, 1), opacity))
    return layers


def _largest(spots: int, height: int) -> float:
    """The diameter of the most visited spots: as large as the room between spots allows."""
    return min(max(0.8 * math.sqrt(WIDTH * height / spots), _LARGEST), _ROOMY)


def _legend(most: int, largest: float) -> tuple[tuple[float, str], ...]:
    """Three round numbers of visits, each with the size of its spot."""
    if most < 1:
        return ((_SMALLEST, "no released visits"),)
    wanted = {_round(most), max(_round(most / 4), 1), max(_round(most / 25), 1)}
    return tuple(
        (round(max(largest * math.sqrt(number / most), _SMALLEST), 1), f"{number:,}")
        for number in sorted(wanted)
    )


def _round(number: float) -> int:
    """Down to one digit and zeros."""
    size = 10 ** max(math.floor(math.log10(max(number, 1))), 0)
    return int(number // size * size)


def _names(
    universe: Universe,
    projection: Projection,
    visited: NDArray[np.int64],
    largest: float,
    written: tuple[float, int],
) -> tuple[Name, ...]:
    """Names of the most visited locations, right or left of them, where no other name is."""
    letters, most = written
    found: list[Name] = []
    taken: list[tuple[float, float, float, float]] = []
    for place in np.argsort(-visited, kind="stable")[: 3 * most].tolist():
        if len(found) == most or visited[place] == 0:
            break
        one = Location.of(universe, int(projection.codes[place]))
        text = shortened(one.name or one.label, _LETTERS)
        wide = _LETTER_WIDTH * letters * len(text)
        x, y = float(projection.x[place]), float(projection.y[place])
        beside = largest * math.sqrt(visited[place] / visited.max()) / 2 + letters / 4
        for anchor, left in (("start", x + beside), ("end", x - beside - wide)):
            box = (left, y - letters / 2, left + wide, y + letters / 2)
            inside = box[0] >= 0 and box[2] <= WIDTH and box[1] >= 0
            if inside and not any(_overlap(box, other) for other in taken):
                taken.append(box)
                at = round(left if anchor == "start" else left + wide)
                found.append(Name(at, round(y + letters / 3), anchor, isolated(text)))
                break
    return tuple(found)


def _overlap(
    one: tuple[float, float, float, float], other: tuple[float, float, float, float]
) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _path(x: NDArray[np.int64], y: NDArray[np.int64]) -> str:
    return "".join(f"M{a} {b}h0" for a, b in zip(x.tolist(), y.tolist(), strict=True))


def _description(universe: Universe, drawn: int, counts: NDArray[np.int64], most: int) -> str:
    missing = len(universe) - drawn
    left_out = f" {missing:,} locations have no coordinates and are not shown." if missing else ""
    return (
        f"{drawn:,} locations of the public universe, drawn as {len(counts):,} spots; "
        f"{int(np.count_nonzero(counts)):,} of them have released trajectories, at most {most:,}. "
        f"The area of a spot is in proportion to them.{left_out} North is up."
    )
