"""The map, in degrees: a public box, coordinates of locations, and cells that hold points."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from pathveil.errors import UniverseError

_LATITUDE, _LONGITUDE = 90.0, 180.0
OUTSIDE: Final = -1
MOST_CELLS: Final = 1_000_000


# A public box on the map: south, west, north, east, in degrees.


@dataclass(frozen=True, slots=True)
class Box:
    """A box between two parallels and two meridians; it does not cross the antimeridian.

    Attributes:
        south: degrees north, -90 to 90.
        west: degrees east, -180 to 180.
        north: degrees north, more than ``south``.
        east: degrees east, more than ``west``.
    """

    south: float
    west: float
    north: float
    east: float

    def __post_init__(self) -> None:
        if not (-90 <= self.south < self.north <= 90):  # noqa: PLR2004  (the poles)
            raise UniverseError(
                "A box is south,west,north,east in degrees: its south must be less than its north, "
                "both between -90 and 90."
            )
        if not (-180 <= self.west < self.east <= 180):  # noqa: PLR2004  (the antimeridian)
            raise UniverseError(
                "A box is south,west,north,east in degrees: its west must be less than its east, "
                "both between -180 and 180. A box can't cross the antimeridian."
            )

    @classmethod
    def parse(cls, text: str) -> "Box":
        """Read ``south,west,north,east``."""
        parts = text.split(",")
        try:
            numbers = [float(part) for part in parts]
        except ValueError:
            numbers = []
        if len(numbers) != 4 or not all(map(math.isfinite, numbers)):  # noqa: PLR2004
            raise UniverseError(
                "A box is four numbers, south,west,north,east in degrees, such as "
                "45.40,-73.98,45.70,-73.47."
            )
        return cls(*numbers)

    def __str__(self) -> str:
        return f"{self.south!r},{self.west!r},{self.north!r},{self.east!r}"


# What columns of degrees are called: ours, scikit-mobility, TIDES, GTFS; and elsewhere, in small
# letters, because spreadsheets write `Breite` and databases `BREITE`.

LATITUDE_NAMES: Final = ("latitude", "lat", "stop_lat")
LONGITUDE_NAMES: Final = ("longitude", "lon", "lng", "stop_lon")
LATITUDE_ELSEWHERE: Final = (
    "breite", "breitengrad", "geo_breite", "latitud", "latitudine", "breedtegraad", "szerokość",
)  # fmt: skip
LONGITUDE_ELSEWHERE: Final = (
    "länge", "laenge", "längengrad", "laengengrad", "geo_länge", "longitud", "longitudine",
    "lengtegraad", "długość",
)  # fmt: skip


def named_like(
    available: Sequence[str], usual: Sequence[str], elsewhere: Sequence[str]
) -> list[str]:
    """The columns with one of the usual names; if there is none, with one of the others."""
    found = [name for name in available if name in usual]
    small = {*usual, *elsewhere}
    return found or [name for name in available if name.strip().casefold() in small]


# Coordinates of locations: degrees in pairs, NaN where a location has none.


Degrees = Sequence[float] | NDArray[np.float64]
Coordinate = NDArray[np.float64] | None


def check_coordinates(
    latitude: Degrees | None, longitude: Degrees | None, size: int
) -> tuple[Coordinate, Coordinate]:
    """Check the coordinates of a universe.

    Args:
        latitude: degrees north for each location, NaN where it has none; or None.
        longitude: degrees east, likewise.
        size: how many locations there are.

    Returns:
        Both as float64, shape (size,); or None and None without a single location that has them.

    Raises:
        UniverseError: if there is not one number for each, one is out of range, or a location has
            one of the two only.
    """
    if latitude is None and longitude is None:
        return None, None
    if latitude is None or longitude is None:
        raise UniverseError("Coordinates need both latitude and longitude; give both or none.")
    north = _checked("latitude", latitude, size, _LATITUDE)
    east = _checked("longitude", longitude, size, _LONGITUDE)
    alone = np.flatnonzero(np.isnan(north) != np.isnan(east))
    if len(alone):
        raise UniverseError(
            f"Location {alone[0] + 1} has a latitude or a longitude without the other."
        )
    return (None, None) if np.isnan(north).all() else (north, east)


def _checked(what: str, values: Degrees, size: int, limit: float) -> NDArray[np.float64]:
    try:
        array = np.asarray(values, dtype=np.float64).reshape(-1)
    except (TypeError, ValueError):
        raise UniverseError(f"The {what} must be one number per label.") from None
    check_length(f"values of {what}", len(array), size)
    bad = np.flatnonzero(np.abs(array) > limit)  # NaN, for a missing one, is not more
    if len(bad):
        raise UniverseError(
            f"The {what} of location {bad[0] + 1} is not a number between -{limit:g} and {limit:g}."
        )
    return array


def check_length(what: str, length: int, expected: int) -> None:
    """Refuse a column that does not have one value for each label."""
    if length != expected:
        raise UniverseError(f"There are {length} {what} for {expected} labels; give one each.")


EARTH_RADIUS: Final = 6371.0  # km


def points_on_earth(
    latitude: NDArray[np.float64], longitude: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Points in space, in km from the middle of the Earth, float64, shape (n, 3); NaN stays NaN.

    The third coordinate ascends with the latitude. The straight distance of two points orders pairs
    as the way over the surface does, at the poles and at the antimeridian too.
    """
    north, east = np.radians(latitude), np.radians(longitude)
    parts = (np.cos(north) * np.cos(east), np.cos(north) * np.sin(east), np.sin(north))
    return EARTH_RADIUS * np.column_stack(parts)


# What a universe of cells can do that a list of stops can't: say in which cell a point lies.


class Cells(Protocol):
    """A public rule that gives each point on Earth one cell of the universe, or none."""

    def codes(
        self, latitude: NDArray[np.float64], longitude: NDArray[np.float64]
    ) -> NDArray[np.int32]:
        """The code of each point's cell, `OUTSIDE` where it has none.

        Args:
            latitude: degrees north, shape (n,), each in [-90, 90].
            longitude: degrees east, shape (n,), each in [-180, 180].

        Returns:
            int32, shape (n,). What becomes of a point depends on that point alone.
        """
        ...


def check_number_of_cells(what: str, cells: float, advice: str) -> None:
    """Refuse a cover that is too large, before any of it exists.

    Raises:
        UniverseError: if there are more than `MOST_CELLS`.
    """
    if cells > MOST_CELLS:
        raise UniverseError(
            f"{what} has about {cells:,.0f} locations, more than the {MOST_CELLS:,} that a "
            f"universe may have; {advice}."
        )
