"""What exports share: what they need to know of a release, and the columns that tools expect."""

from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np

from pathveil.core.paths import Paths
from pathveil.errors import ParameterError, ReleaseError, did_you_mean
from pathveil.release.answering import Answering
from pathveil.times.time_grid import TimeGrid
from pathveil.universe.universe import Universe

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
    def suppress_below(self) -> int:
        """Counts below it are left out of tables: the publisher's rule; 0 if there is none."""
        ...

    @property
    def time_grid(self) -> TimeGrid | None:
        """The public time grid, if its visits have times."""
        ...

    @property
    def answering(self) -> Answering | None:
        """How far its counts are off; None if it can't say."""
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


# What the columns of a long table are called in each tool.


@dataclass(frozen=True, slots=True)
class ColumnNames:
    """The columns of one row per visit; those without a name are left out.

    Attributes:
        trajectory: the number of the released trajectory, from 1; one name or several.
        order: the position of the visit in its trajectory, from 1.
        location: the label.
        name: the location's display name, if the universe has names.
        latitude: degrees north, if the universe has coordinates.
        longitude: degrees east.
        slot: the label of the time slot, if the release has times.
        datetime: its start as a timestamp; see `pathveil.release.exports.visit_rows`.
        clock: its start as ``HH:MM:SS`` since midnight of the grid's first day.
    """

    trajectory: tuple[str, ...]
    order: str
    location: str
    latitude: str
    longitude: str
    name: str | None = None
    slot: str | None = None
    datetime: str | None = None
    clock: str | None = None


NAMES: Final = {
    "pathveil": ColumnNames(
        trajectory=("trajectory_id",),
        order="seq",
        location="location",
        latitude="latitude",
        longitude="longitude",
        name="name",
        slot="time",
    ),
    "scikit-mobility": ColumnNames(
        trajectory=("uid", "tid"),
        order="seq",
        location="location",
        latitude="lat",
        longitude="lng",
        datetime="datetime",
    ),
    "movingpandas": ColumnNames(
        trajectory=("traj_id",),
        order="seq",
        location="location",
        latitude="y",
        longitude="x",
        datetime="t",
    ),
    "gtfs": ColumnNames(
        trajectory=("trip_id",),
        order="stop_sequence",
        location="stop_id",
        latitude="stop_lat",
        longitude="stop_lon",
        name="stop_name",
        clock="arrival_time",
    ),
}


def choose_names(names: str) -> ColumnNames:
    """The names that a tool uses.

    Raises:
        ParameterError: if we do not know the tool.
    """
    if names not in NAMES:
        raise ParameterError(
            f"Column names are those of {', '.join(NAMES)}; choose one of these."
            f"{did_you_mean(names, NAMES)}"
        )
    return NAMES[names]
