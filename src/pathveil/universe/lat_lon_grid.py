"""A plain grid of rows and columns between two parallels and two meridians."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pathveil.errors import UniverseError
from pathveil.universe.coordinates import OUTSIDE, Box, check_number_of_cells


@dataclass(frozen=True, slots=True)
class LatLonGrid:
    """Rows of equal height and columns of equal width, in degrees.

    Row 1 is the southernmost and column 1 the westernmost; codes go along the rows. A point on
    the line between two cells belongs to the northern or eastern one, and a point on the outer
    edge to the box.

    Attributes:
        rows: how many rows, at least 1.
        columns: how many columns, at least 1.
        box: what the grid covers.
    """

    rows: int
    columns: int
    box: Box

    def __post_init__(self) -> None:
        if min(self.rows, self.columns) < 1:
            raise UniverseError("A grid has at least one row and one column, such as 36x28.")
        check_number_of_cells(
            f"A grid of {self.rows}x{self.columns}",
            self.rows * self.columns,
            "use fewer rows or columns",
        )

    def labels(self) -> list[str]:
        """``r01c05`` and so on, with as many digits as the largest number needs."""
        tall, wide = len(str(self.rows)), len(str(self.columns))
        return [
            f"r{row:0{tall}}c{column:0{wide}}"
            for row in range(1, self.rows + 1)
            for column in range(1, self.columns + 1)
        ]

    def centres(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The latitudes and longitudes of the middles of all cells, in the order of codes."""
        box = self.box
        latitude = box.south + (np.arange(self.rows) + 0.5) * ((box.north - box.south) / self.rows)
        longitude = box.west + (np.arange(self.columns) + 0.5) * (
            (box.east - box.west) / self.columns
        )
        return np.repeat(latitude, self.columns), np.tile(longitude, self.rows)

    def codes(
        self, latitude: NDArray[np.float64], longitude: NDArray[np.float64]
    ) -> NDArray[np.int32]:
        """The code of each point's cell; see `pathveil.universe.coordinates.Cells`."""
        box = self.box
        inside = (latitude >= box.south) & (latitude <= box.north)
        inside &= (longitude >= box.west) & (longitude <= box.east)
        row = _step(latitude, box.south, box.north, self.rows)
        column = _step(longitude, box.west, box.east, self.columns)
        return np.where(inside, row * self.columns + column, OUTSIDE).astype(np.int32)


def _step(degrees: NDArray[np.float64], low: float, high: float, steps: int) -> NDArray[np.int64]:
    """In which of so many equal steps each value lies; values outside go to the nearest one."""
    scaled = (degrees - low) * (steps / (high - low))
    return np.clip(np.floor(np.nan_to_num(scaled)), 0, steps - 1).astype(np.int64)
