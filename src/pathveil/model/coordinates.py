"""Coordinates of locations: degrees in pairs, NaN where a location has none."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pathveil.errors import UniverseError

Degrees = Sequence[float] | NDArray[np.float64]
Coordinate = NDArray[np.float64] | None

_LATITUDE, _LONGITUDE = 90.0, 180.0


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
