"""What an export needs to know of a release; raw data has no such thing."""

from typing import Protocol

import numpy as np

from pathveil.errors import ReleaseError
from pathveil.model.paths import Paths
from pathveil.model.time_grid import TimeGrid
from pathveil.model.universe import Universe

MOST_VISITS = 2**31


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


def check_number_of_visits(release: Published) -> None:
    """Refuse to write out, one by one, more visits than any tool reads.

    Raises:
        ReleaseError: if there are more than 2³¹: a bundle of some lines can say so.
    """
    paths = release.timed_paths()
    visits = float(paths.weights @ paths.lengths.astype(np.float64))
    if visits > MOST_VISITS:
        raise ReleaseError(
            f"The release has {visits:.3g} visits, and at most {MOST_VISITS:,} are written one by "
            "one; use its trajectories.parquet, which holds every trajectory once with its count."
        )
