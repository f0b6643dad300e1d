"""A public box on the map: south, west, north, east, in degrees."""

import math
from dataclasses import dataclass

from pathveil.errors import UniverseError


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
