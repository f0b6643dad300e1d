"""H3 cells that cover a public box or polygon.

H3 is Uber's hexagonal grid of the Earth; its library is an optional dependency (the extra
``grid``). A cover holds every cell that overlaps the area, so that each point of the area lies
in a cell of the universe.
"""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, repeat
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pathveil.errors import UniverseError
from pathveil.universe.coordinates import MOST_CELLS, Box, check_number_of_cells
from pathveil.universe.h3_raster import UNSURE, H3Raster, positions_in
from pathveil.universe.universe_file import open_public

FINEST = 15
_MANY_POINTS = 20_000  # for fewer a raster does not pay
_EARTH_RADIUS = 6371.007180918475  # km, of the sphere that H3 uses
_LEAST_POINTS = 4  # a closed ring: three corners, and the first one again

Ring = list[tuple[float, float]]  # (latitude, longitude), in degrees
Polygon = list[Ring]  # the outline, then holes


@dataclass(frozen=True, eq=False)
class H3Cells:
    """Cells of one resolution, in the order of their numbers.

    Attributes:
        resolution: 0 (continents) to 15 (a square metre).
        numbers: uint64, shape (n,), rising; H3's own indexes.
    """

    resolution: int
    numbers: NDArray[np.uint64]

    def labels(self) -> list[str]:
        """H3's own names, such as ``882baa4eddfffff``."""
        return [f"{number:x}" for number in self.numbers.tolist()]

    def centres(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The latitudes and longitudes of the middles of all cells, in the order of codes."""
        points = np.array(list(map(_h3().cell_to_latlng, self.numbers.tolist())), dtype=np.float64)
        return points[:, 0].copy(), points[:, 1].copy()

    def codes(
        self, latitude: NDArray[np.float64], longitude: NDArray[np.float64]
    ) -> NDArray[np.int32]:
        """The code of each point's cell; see `pathveil.universe.coordinates.Cells`."""
        raster = self._raster if len(latitude) >= _MANY_POINTS else None
        if raster is None:
            return positions_in(self.numbers, self._look_up(latitude, longitude))
        codes = raster.codes(latitude, longitude)
        open_points = np.flatnonzero(codes == UNSURE)
        found = self._look_up(latitude[open_points], longitude[open_points])
        codes[open_points] = positions_in(self.numbers, found)
        return codes

    @cached_property
    def _raster(self) -> H3Raster | None:
        return H3Raster.of(_h3(), self.numbers, self._look_up)

    def _look_up(
        self, latitude: NDArray[np.float64], longitude: NDArray[np.float64]
    ) -> NDArray[np.uint64]:
        """H3's own answer, point by point."""
        look_up, resolution = _h3().latlng_to_cell, repeat(self.resolution)
        return np.fromiter(
            map(look_up, latitude.tolist(), longitude.tolist(), resolution),
            dtype=np.uint64,
            count=len(latitude),
        )


def parents(cells: H3Cells, steps: int) -> list[str]:
    """The name of the cell that each cell belongs to, some resolutions coarser.

    Raises:
        UniverseError: if there is nothing that coarse.
    """
    resolution = cells.resolution - steps
    if resolution < 0:
        raise UniverseError(
            f"H3 cells of resolution {cells.resolution} have no parents {steps} steps up."
        )
    parent = _h3().cell_to_parent
    return [f"{parent(number, resolution):x}" for number in cells.numbers.tolist()]


def cover_box(resolution: int, box: Box) -> H3Cells:
    """The cells that overlap a box."""
    south, west, north, east = box.south, box.west, box.north, box.east
    corners = [(south, west), (south, east), (north, east), (north, west), (south, west)]
    return cover([[corners]], resolution)


def cover_file(resolution: int, path: Path) -> H3Cells:
    """The cells that overlap the polygons of a GeoJSON file."""
    content = open_public(path, "GeoJSON file")
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        raise UniverseError(f"{path} is not a JSON file.") from None
    polygons = list(_polygons(document, path))
    if not polygons:
        raise UniverseError(f"{path} has no polygon; draw one and save it as GeoJSON.")
    return cover(polygons, resolution)


def cover(polygons: Sequence[Polygon], resolution: int) -> H3Cells:
    """The cells of a resolution that overlap any of some polygons.

    Raises:
        UniverseError: if the resolution is not one, or the cover is too large.
    """
    h3 = _h3()
    if not 0 <= resolution <= FINEST:
        raise UniverseError(f"An H3 resolution is a whole number from 0 to {FINEST}.")
    _check_size(h3, polygons, resolution)
    found: set[int] = set()
    try:
        for outline, *holes in polygons:
            shape = h3.LatLngPoly(outline[:-1], *(hole[:-1] for hole in holes))
            cells = h3.h3shape_to_cells_experimental(shape, resolution, contain="overlap")
            found.update(int(cell) for cell in cells)
    except (ValueError, MemoryError, RuntimeError, h3.H3BaseException):
        raise UniverseError("H3 can't cover this area; check the polygon's corners.") from None
    if not found:
        raise UniverseError("No H3 cell overlaps this area; check the polygon's corners.")
    check_number_of_cells("This cover", len(found), "use a coarser resolution")
    return H3Cells(resolution, np.array(sorted(found), dtype=np.uint64))


def _check_size(h3: Any, polygons: Sequence[Polygon], resolution: int) -> None:
    """Refuse a cover that is too large, from areas and the lengths of outlines alone."""
    area = sum(_square_kilometres(polygon[0]) for polygon in polygons)
    around = sum(_kilometres(ring) for polygon in polygons for ring in polygon)
    cells = [
        area / h3.average_hexagon_area(step, unit="km^2")
        + around / h3.average_hexagon_edge_length(step, unit="km")
        for step in range(FINEST + 1)
    ]
    fits = [step for step in range(FINEST + 1) if cells[step] <= MOST_CELLS]
    advice = f"use resolution {fits[-1]} or less" if fits else "use a smaller area"
    check_number_of_cells(
        f"A cover of this area at resolution {resolution}", cells[resolution], advice
    )


def _kilometres(ring: Ring) -> float:
    """The length of a ring, to within the bending of a degree."""
    steps = (
        math.hypot(b[0] - a[0], (b[1] - a[1]) * math.cos(math.radians(a[0])))
        for a, b in pairwise(ring)
    )
    return math.radians(sum(steps)) * _EARTH_RADIUS


def _square_kilometres(ring: Ring) -> float:
    """The area inside a ring, on the cylinder that keeps areas."""
    height = [math.sin(math.radians(latitude)) for latitude, _ in ring]
    along = [math.radians(longitude) for _, longitude in ring]
    corners = zip(along, height, strict=True)
    twice = sum(x0 * y1 - x1 * y0 for (x0, y0), (x1, y1) in pairwise(corners))
    return abs(twice) / 2 * _EARTH_RADIUS**2


def _polygons(document: object, path: Path) -> Iterator[Polygon]:
    """The polygons of a geometry, a feature or a collection of these."""
    if not isinstance(document, dict):
        raise UniverseError(f"{path} is not GeoJSON.")
    kind = document.get("type")
    if kind == "Polygon":
        yield _polygon(document.get("coordinates"), path)
    elif kind == "MultiPolygon":
        for rings in _list(document.get("coordinates"), path):
            yield _polygon(rings, path)
    elif kind == "Feature":
        yield from _polygons(document.get("geometry"), path)
    elif kind == "FeatureCollection":
        for feature in _list(document.get("features"), path):
            yield from _polygons(feature, path)
    else:
        raise UniverseError(f"{path} holds a {str(kind)[:40]!r}; it must hold polygons only.")


def _polygon(rings: object, path: Path) -> Polygon:
    polygon = [[_point(point, path) for point in _list(ring, path)] for ring in _list(rings, path)]
    if not polygon or any(len(r) < _LEAST_POINTS or r[0] != r[-1] for r in polygon):
        raise UniverseError(f"{path} has a polygon whose ring is not closed or has no area.")
    longitudes = [longitude for _, longitude in polygon[0]]
    if max(longitudes) - min(longitudes) >= 180:  # noqa: PLR2004  (half the Earth)
        raise UniverseError(
            f"{path} has a polygon as wide as half the Earth; one that crosses the antimeridian "
            "must be cut in two there."
        )
    return polygon


def _point(point: object, path: Path) -> tuple[float, float]:
    match point:
        case [int() | float() as longitude, int() | float() as latitude, *_] if (
            abs(longitude) <= 180 and abs(latitude) <= 90  # noqa: PLR2004
        ):
            return float(latitude), float(longitude)
    raise UniverseError(f"{path} has a corner that is not [longitude, latitude] in degrees.")


def _list(value: object, path: Path) -> list[Any]:
    if not isinstance(value, list):
        raise UniverseError(f"{path} is not well-formed GeoJSON.")
    return value


def _h3() -> Any:
    try:
        import h3.api.basic_int as h3
    except ImportError:
        raise UniverseError(
            "H3 cells need the h3 package: install pathveil with the extra 'grid'."
        ) from None
    return h3
