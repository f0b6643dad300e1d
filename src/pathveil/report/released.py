"""What the page needs to know of a release; raw data has no such thing."""

from typing import Protocol

from pathveil.model.paths import Paths, WeightedPaths
from pathveil.model.time_grid import TimeGrid
from pathveil.uncertainty.error_table import ErrorTable


class Released(WeightedPaths, Protocol):
    """A release, as the page and the charts see it. See `pathveil.release.release.Release`."""

    @property
    def is_private(self) -> bool:
        """False if its noise was injected."""
        ...

    @property
    def time_grid(self) -> TimeGrid | None:
        """The public time grid, if its visits have times."""
        ...

    @property
    def error_table(self) -> ErrorTable | None:
        """What its answers may be off by, if that is known."""
        ...

    def timed_paths(self) -> Paths:
        """The trajectories as pair codes, slot · |L| + location; without times, as `paths`."""
        ...
