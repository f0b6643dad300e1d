"""When visits happen, as a heat map: what its rows and columns are depends on the time grid.

Slots of the day: the most visited locations by slot. Slots of the week, or of a stretch of the
calendar: days by time of the day. A slot is told by its start; where there are too many to be
told apart, by the hour of its start.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pathveil.pages.listings import Location, Released
from pathveil.times.time_grid import DAY, SINCE_MONDAY, WEEKDAYS, TimeGrid, write_moment

MOST_LOCATIONS = 20
MOST_COLUMNS = 48
MOST_DAYS = 31
_HOUR, _MINUTE = 3600, 60


@dataclass(frozen=True, slots=True, eq=False)
class HeatMap:
    """Visits by two things.

    Attributes:
        rows: what stands left of each row: a location, a weekday or a date.
        columns: what stands above each column: a time of the day, such as "07:00".
        counts: int64, shape (rows, columns); visits.
        title: what it is, in one line.
        by: what the rows are.
        description: what can be seen on it, for those who can't see it.
    """

    rows: tuple[Location, ...]
    columns: tuple[str, ...]
    counts: NDArray[np.int64]
    title: str
    by: str
    description: str

    @property
    def most(self) -> int:
        """The largest count, at least 1: without visits a day has no rows at all."""
        return max(int(self.counts.max(initial=0)), 1)


def count_hours(release: Released, *, locations: int = MOST_LOCATIONS) -> HeatMap | None:
    """The visits of a release by time; None if they have no times.

    Args:
        release: the release.
        locations: rows, at most, if the rows are locations.
    """
    grid = release.time_grid
    if grid is None:
        return None
    paths, size = release.timed_paths(), len(release.universe)
    slot, location = np.divmod(paths.codes, np.int32(size))
    weights = np.repeat(paths.weights, paths.lengths)
    columns, column = _columns(grid)
    if grid.kind == "day":
        chosen = _most_visited(location, weights, size, locations)
        named, by = tuple(Location.of(release.universe, code) for code in chosen), "location"
        row_of = np.full(size, -1, dtype=np.int64)
        row_of[chosen] = np.arange(len(chosen))
        row = row_of[location]
    else:
        days, day = _days(grid)
        named, by = tuple(Location(text, "") for text in days), "day"
        row = day[slot]
    counts = np.zeros((len(named), len(columns)), dtype=np.int64)
    inside = row >= 0
    np.add.at(counts, (row[inside], column[slot[inside]]), weights[inside])
    return HeatMap(
        named,
        columns,
        counts,
        title=f"Visits by {by} and time of the day ({grid.time_zone})",
        by=by,
        description=_description(named, columns, counts),
    )


def _most_visited(
    location: NDArray[np.int32], weights: NDArray[np.int64], size: int, most: int
) -> list[int]:
    """The codes of the locations with the most visits, every visit counted."""
    counts = np.zeros(size, dtype=np.int64)
    np.add.at(counts, location, weights)
    order = np.argsort(-counts, kind="stable")[:most]
    return [int(code) for code in order[counts[order] > 0]]


def _columns(grid: TimeGrid) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """The times of the day, and which of them each slot starts at."""
    since_midnight = np.array(grid.starts, dtype=np.int64) % DAY
    times = np.unique(since_midnight)
    if len(times) > MOST_COLUMNS:
        since_midnight = since_midnight // _HOUR * _HOUR
        times = np.unique(since_midnight)
    texts = tuple(f"{t // _HOUR:02d}:{t % _HOUR // _MINUTE:02d}" for t in times.tolist())
    return texts, np.searchsorted(times, since_midnight)


def _days(grid: TimeGrid) -> tuple[Sequence[str], NDArray[np.int64]]:
    """The days, and which of them each slot starts on: dates if they are few, else weekdays."""
    number = np.array(grid.starts, dtype=np.int64) // DAY
    if grid.kind == "week":
        return WEEKDAYS, number
    dates, day = np.unique(number, return_inverse=True)
    if len(dates) > MOST_DAYS:
        return WEEKDAYS, (number + SINCE_MONDAY // DAY) % len(WEEKDAYS)
    return [write_moment("dates", int(date) * DAY)[: len("2024-02-29")] for date in dates], day


def _description(
    rows: Sequence[Location], columns: Sequence[str], counts: NDArray[np.int64]
) -> str:
    if not counts.any():
        return "No visits were released."
    row, column = np.unravel_index(int(counts.argmax()), counts.shape)
    return (
        "Stronger cells have more visits (by square roots); the most, "
        f"{int(counts.max()):,}, are those at {columns[int(column)]} of "
        f"{rows[int(row)].full_name}. The table below has all figures."
    )
