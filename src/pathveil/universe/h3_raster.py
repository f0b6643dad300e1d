"""Many points to H3 cells at once, with the same answers as H3's own call for one point.

H3 has no call for many points. So the cover is rasterised once: each pixel remembers the cell of
its middle, a guess for all points in it. Whether a guess is right is then decided, in compiled
code, by the edges of the cell, which are great circles: a point on the inner side of all six, and
not too near to one, lies in the cell. Only the others, under a tenth, are asked of H3 one by one.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import njit
from pathveil.universe.coordinates import OUTSIDE

LookUp = Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.uint64]]

UNSURE = -2
_SIDES = 6
_PIXELS_PER_CELL, _MOST_PIXELS, _LEAST_PER_CELL = 40, 400_000, 4
_NEAREST_POLE, _WIDEST = 80.0, 90.0  # degrees: beyond, a raster of degrees is no good
_MARGIN = 1e-3  # of the length of a side: nearer than this to an edge, H3 decides


@dataclass(frozen=True, slots=True, eq=False)
class H3Raster:
    """A raster of guesses over a cover, and the edges that check them.

    Attributes:
        south: the raster's southern edge, degrees.
        west: its western edge.
        step_north: the height of a pixel, degrees.
        step_east: its width.
        guesses: int32, shape (rows, columns); the cell of each pixel's middle, by its position in
            what follows: the m cells that any pixel's middle lies in, those of the cover or not.
        code: int32, shape (m,); the code of each of these cells, `OUTSIDE` for others.
        inward: float64, shape (m, 6, 3); of each cell's sides the unit vector that points inside.
        margin: float64, shape (m,); how far inside a point must be, as a sine. Infinite for cells
            that do not have six sides.
    """

    south: float
    west: float
    step_north: float
    step_east: float
    guesses: NDArray[np.int32]
    code: NDArray[np.int32]
    inward: NDArray[np.float64]
    margin: NDArray[np.float64]

    @classmethod
    def of(cls, h3: Any, numbers: NDArray[np.uint64], look_up: LookUp) -> "H3Raster | None":
        """The raster of a cover; None where it would be of no use.

        Args:
            h3: the library, with integer cells.
            numbers: uint64, the cells of the cover, rising.
            look_up: H3's own answer for some points.
        """
        corners = [corner for cell in numbers.tolist() for corner in h3.cell_to_boundary(cell)]
        south, west = map(min, zip(*corners, strict=True))
        north, east = map(max, zip(*corners, strict=True))
        if max(abs(south), abs(north)) > _NEAREST_POLE or east - west > _WIDEST:
            return None
        # An edge bulges beyond its corners by far less than a cell's own size.
        rim = max(corner[0] for corner in corners[:_SIDES]) - min(c[0] for c in corners[:_SIDES])
        south, west, north, east = south - rim, west - 2 * rim, north + rim, east + 2 * rim
        shape = _shape(north - south, east - west, len(numbers))
        if shape is None:
            return None
        steps = (north - south) / shape[0], (east - west) / shape[1]
        row, column = np.divmod(np.arange(shape[0] * shape[1]), shape[1])
        middles = look_up(south + (row + 0.5) * steps[0], west + (column + 0.5) * steps[1])
        cells, which = np.unique(middles, return_inverse=True)
        inward, margin = _edges([h3.cell_to_boundary(cell) for cell in cells.tolist()])
        guesses = which.astype(np.int32).reshape(shape)
        return cls(south, west, *steps, guesses, positions_in(numbers, cells), inward, margin)

    def codes(
        self, latitude: NDArray[np.float64], longitude: NDArray[np.float64]
    ) -> NDArray[np.int32]:
        """The code of each point's cell, `OUTSIDE` where it has none, `UNSURE` if H3 must say."""
        codes: NDArray[np.int32] = _sure_codes(
            latitude, longitude, self.south, self.west, self.step_north, self.step_east,
            self.guesses, self.code, self.inward, self.margin,
        )  # fmt: skip
        return codes


def positions_in(numbers: NDArray[np.uint64], cells: NDArray[np.uint64]) -> NDArray[np.int32]:
    """The position of each cell among rising numbers, `OUTSIDE` if it is not one of them."""
    position = np.minimum(np.searchsorted(numbers, cells), len(numbers) - 1)
    return np.where(numbers[position] == cells, position, OUTSIDE).astype(np.int32)


@njit(cache=True, nogil=True)
def _sure_codes(
    latitude: NDArray[np.float64],
    longitude: NDArray[np.float64],
    south: float,
    west: float,
    step_north: float,
    step_east: float,
    guesses: NDArray[np.int32],
    code: NDArray[np.int32],
    inward: NDArray[np.float64],
    margin: NDArray[np.float64],
) -> NDArray[np.int32]:
    """The codes that are sure, `UNSURE` for the other points."""
    codes = np.empty(len(latitude), dtype=np.int32)
    for i in range(len(codes)):
        row = math.floor((latitude[i] - south) / step_north)
        column = math.floor((longitude[i] - west) / step_east)
        if not (0 <= row < guesses.shape[0] and 0 <= column < guesses.shape[1]):
            codes[i] = OUTSIDE  # no cell reaches beyond the raster
            continue
        guess = guesses[row, column]
        codes[i] = code[guess]
        north, east = math.radians(latitude[i]), math.radians(longitude[i])
        level = math.cos(north)
        x, y, z = level * math.cos(east), level * math.sin(east), math.sin(north)
        for side in range(_SIDES):
            normal = inward[guess, side]
            if not x * normal[0] + y * normal[1] + z * normal[2] > margin[guess]:
                codes[i] = UNSURE
                break
    return codes


def _shape(tall: float, wide: float, cells: int) -> tuple[int, int] | None:
    """Rows and columns of pixels; None if there would be too few of them for the cells."""
    pixels = min(_PIXELS_PER_CELL * cells, _MOST_PIXELS)
    if pixels < _LEAST_PER_CELL * cells:
        return None
    side = math.sqrt(tall * wide / pixels)
    return max(round(tall / side), 1), max(round(wide / side), 1)


def _edges(outlines: list[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The inward normals of each cell's sides, and how far inside is surely inside."""
    inward = np.zeros((len(outlines), _SIDES, 3))
    margin = np.full(len(outlines), np.inf)
    plain = np.array([len(outline) == _SIDES for outline in outlines])
    if not plain.any():
        return inward, margin
    corners = np.array([outline for outline in outlines if len(outline) == _SIDES])
    vectors = _unit_vectors(corners[:, :, 0], corners[:, :, 1])
    following = np.roll(vectors, -1, axis=1)
    normals = np.cross(vectors, following)
    sides = np.linalg.norm(normals, axis=2)
    normals /= sides[:, :, np.newaxis]
    middle = vectors.mean(axis=1)
    side_of_middle = np.sign(np.einsum("ijk,ik->ij", normals, middle))
    inward[plain] = normals * side_of_middle[:, :, np.newaxis]
    margin[plain] = _MARGIN * sides.min(axis=1)
    return inward, margin


def _unit_vectors(
    latitude: NDArray[np.float64], longitude: NDArray[np.float64]
) -> NDArray[np.float64]:
    north, east = np.radians(latitude), np.radians(longitude)
    level = np.cos(north)
    return np.stack((level * np.cos(east), level * np.sin(east), np.sin(north)), axis=-1)
