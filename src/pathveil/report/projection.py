"""Where the locations of a universe lie on a picture: public coordinates, no background map."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pathveil.model.universe import Universe

WIDTH = 800  # of the picture, in its own units
HEIGHTS = (200, 800)  # its least and largest height
MARGIN = 24  # more than the radius of the largest spot


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Placed:
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


def place(universe: Universe) -> Placed | None:
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
    return Placed(codes, x, y, height)
