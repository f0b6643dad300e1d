"""What the columns of a long table are called in each tool."""

from dataclasses import dataclass
from typing import Final

from pathveil.errors import ParameterError
from pathveil.suggestions import did_you_mean


@dataclass(frozen=True, slots=True)
class ColumnNames:
    """The columns of one row per visit; those without a name are left out.

    Attributes:
        trajectory: the number of the released trajectory, from 1; one name or several.
        order: the place of the visit in its trajectory, from 1.
        location: the label.
        name: the location's display name, if the universe has names.
        latitude: degrees north, if the universe has coordinates.
        longitude: degrees east.
        slot: the label of the time slot, if the release has times.
        datetime: its start as a timestamp; see `pathveil.release.exports.slot_times`.
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
