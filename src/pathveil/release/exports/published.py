"""What an export needs to know of a release; raw data has no such thing."""

from typing import Protocol

from pathveil.model.paths import Paths
from pathveil.model.time_grid import TimeGrid
from pathveil.model.universe import Universe


class Published(Protocol):
    """A release, as the exports see it. See `pathveil.release.release.Release`."""

    @property
    def is_private(self) -> bool:
        """False if its noise was injected."""
        ...

    @property
    def universe(self) -> Universe:
        """The public universe."""
        ...

    @property
    def time_grid(self) -> TimeGrid | None:
        """The public time grid, if its visits have times."""
        ...

    def paths(self) -> Paths:
        """The released trajectories."""
        ...

    def timed_paths(self) -> Paths:
        """The same as pair codes, slot · |L| + location; without times, as `paths`."""
        ...
