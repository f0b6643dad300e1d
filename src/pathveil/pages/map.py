"""The map: where locations lie on a picture, and released visits on them; no background map."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pathveil.analysis.flows import visits
from pathveil.core.paths import WeightedPaths
from pathveil.universe.universe import Universe

WIDTH = 800  # of the picture, in its own units
HEIGHTS = (200, 800)  # its least and largest height
MARGIN = 24  # more than the radius of the largest spot
MOST_SPOTS = 20_000
SHADES = 6
_SMALLEST, _LARGEST, _ROOMY = 2.0, 14.0, 40.0  # diameters of spots; _ROOMY where few are
_FAINTEST = 0.4


# Where the locations of a universe lie on a picture: public coordinates, no background map.


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Projection:
    """The locations that have coordinates.

    Attributes:
        codes: int64, shape (n,); location codes.
        x: float64, shape (n,); from the left edge of the picture.
        y: float64, shape (n,); from its upper edge.
        height: of the picture.
    """

    codes: NDArray[np.int64]
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    height: int


def projected(universe: Universe) -> Projection | None:
    """The places of a universe, true to shape in the middle; None if it has no coordinates."""
    if universe.latitude is None or universe.longitude is None:
        return None
    codes = np.flatnonzero(~np.isnan(universe.latitude))
    latitude, longitude = universe.latitude[codes], universe.longitude[codes]
    middle = math.radians(float(latitude.min() + latitude.max()) / 2)
    across = (longitude - longitude.min()) * max(math.cos(middle), 0.01)
    up = latitude - latitude.min()
    wide, tall = max(float(across.max()), 1e-9), max(float(up.max()), 1e-9)
    scale = min((WIDTH - 2 * MARGIN) / wide, (HEIGHTS[1] - 2 * MARGIN) / tall)
    height = max(round(tall * scale) + 2 * MARGIN, HEIGHTS[0])
    x = (WIDTH - wide * scale) / 2 + across * scale
    y = (height + tall * scale) / 2 - up * scale
    return Projection(codes, x, y, height)


# A map of the universe with the released visits, as one SVG picture inside the page.
#
# It is drawn from public coordinates and released counts alone, needs no network and no background
# map, and stays small: locations that fall on one spot of the picture are drawn as one, and all
# spots of one shade are a single path, so a universe of ten thousand stops takes about 100 kB.


@dataclass(frozen=True, slots=True)
class Layer:
    """All spots with about the same number of visits.

    Attributes:
        path: SVG path data; each spot is a line of no length, drawn with round ends.
        diameter: of each spot.
        opacity: of each spot.
        says: what the shade means, for the legend.
    """

    path: str
    diameter: float
    opacity: float
    says: str


@dataclass(frozen=True, slots=True)
class Map:
    """A picture of the universe.

    Attributes:
        width: of the picture.
        height: of the picture.
        layers: from the least visited to the most.
        title: what it is, in one line.
        description: what can be seen on it, for those who can't see it.
    """

    width: int
    height: int
    layers: tuple[Layer, ...]
    title: str
    description: str


def draw_map(release: WeightedPaths) -> Map | None:
    """The map of a release; None if no location has coordinates."""
    projection = projected(release.universe)
    if projection is None:
        return None
    height = projection.height
    x, y, counts = _merge(
        projection.x, projection.y, visits(release).counts[projection.codes], height
    )
    most = int(counts.max(initial=0))
    return Map(
        width=WIDTH,
        height=height,
        layers=tuple(_layers(x, y, counts, most, _largest(len(x), height))),
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
    """The spots by shade; each shade begins at twice to many times the count of the one before."""
    bounds = [0, *_bounds(most)]
    shade = np.searchsorted(np.array(bounds[1:], dtype=np.int64), counts, side="right")
    layers = []
    for number in range(len(bounds)):
        here = shade == number
        if not here.any():
            continue
        grown = (number / SHADES) * (largest - _SMALLEST)
        layers.append(
            Layer(
                path=_path(x[here], y[here]),
                diameter=round(_SMALLEST + grown, 1),
                opacity=round(_FAINTEST + number * 0.1, 2),
                says=_says(bounds, number, most),
            )
        )
    return layers


def _largest(spots: int, height: int) -> float:
    """The diameter of the most visited spots: as large as the room between spots allows."""
    return min(max(0.8 * math.sqrt(WIDTH * height / spots), _LARGEST), _ROOMY)


def _bounds(most: int) -> list[int]:
    """Where the shades from 1 on begin: evenly on a logarithmic scale, from 1 to the most."""
    if most < 1:
        return []
    steps = [math.ceil(most ** (step / SHADES)) for step in range(SHADES)]
    return sorted(set(steps))


def _says(bounds: list[int], number: int, most: int) -> str:
    if number == 0:
        return "no released visits"
    low = bounds[number]
    high = bounds[number + 1] - 1 if number + 1 < len(bounds) else most
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _path(x: NDArray[np.int64], y: NDArray[np.int64]) -> str:
    return "".join(f"M{a} {b}h0" for a, b in zip(x.tolist(), y.tolist(), strict=True))


def _description(universe: Universe, drawn: int, counts: NDArray[np.int64], most: int) -> str:
    missing = len(universe) - drawn
    left_out = f" {missing:,} locations have no coordinates and are not shown." if missing else ""
    return (
        f"{drawn:,} locations of the public universe, drawn as {len(counts):,} spots; "
        f"{int(np.count_nonzero(counts)):,} of them have released trajectories, at most {most:,}. "
        f"Larger and stronger spots have more.{left_out} North is up."
    )
