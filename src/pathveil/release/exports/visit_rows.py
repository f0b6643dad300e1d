"""One row per visit of every released trajectory, with its slot of time as a timestamp."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pathveil.progress_reports import report_progress
from pathveil.promise.certificate import NOT_PRIVATE
from pathveil.release.exports.published import ColumnNames, Published, check_number_of_visits
from pathveil.times.time_grid import TimeGrid

MONDAY: Final = np.datetime64("2001-01-01", "s")
_EPOCH: Final = np.datetime64("1970-01-01", "s")
_HOUR, _MINUTE, _DAY = 3600, 60, 86_400
STATUS = "status"  # the column of a table that is not private
_TRAJECTORIES = 2**15


# Slots of time as timestamps.
#
# A slot is told by its start. Slots of the day or the week have no date, and tools want one: they
# are put into the week that begins on Monday, 1 January 2001 (a slot of the day: on that Monday).


def slot_datetimes(grid: TimeGrid) -> NDArray[np.datetime64]:
    """The start of each slot on the wall clock of the grid's zone, datetime64[s], shape (|T|,)."""
    first = _EPOCH if grid.kind == "dates" else MONDAY
    times: NDArray[np.datetime64] = first + np.array(grid.starts, dtype="timedelta64[s]")
    return times


def slot_clocks(grid: TimeGrid) -> list[str]:
    """The start of each slot as ``HH:MM:SS``; hours count on after 24, as in GTFS."""
    midnight = grid.starts[0] // _DAY * _DAY if grid.kind == "dates" else 0
    since = [start - midnight for start in grid.starts]
    return [f"{s // _HOUR:02d}:{s % _HOUR // _MINUTE:02d}:{s % _MINUTE:02d}" for s in since]


# One row per visit of every released trajectory, a bounded number at a time.


@dataclass(frozen=True, slots=True, repr=False)
class VisitRows:
    """The visits of consecutive trajectories.

    Attributes:
        trajectory: int64, shape (n,); the number of the trajectory, from 1.
        order: int32, shape (n,); the position in it, from 1.
        location: int32, shape (n,); location codes.
        slot: int32, shape (n,); slots of the time grid. None without times.
    """

    trajectory: NDArray[np.int64]
    order: NDArray[np.int32]
    location: NDArray[np.int32]
    slot: NDArray[np.int32] | None


def visit_rows(release: Published) -> Iterator[VisitRows]:
    """The visits of all released trajectories, in canonical order."""
    check_number_of_visits(release)
    return _visit_rows(release)


def _visit_rows(release: Published) -> Iterator[VisitRows]:
    paths, locations = release.timed_paths(), len(release.universe)
    until = np.cumsum(paths.weights)
    total = int(until[-1]) if len(until) else 0
    for first in range(0, total, _TRAJECTORIES):
        number = np.arange(first, min(first + _TRAJECTORIES, total))
        path = np.searchsorted(until, number, side="right")
        lengths = paths.lengths[path]
        starts = np.concatenate(([0], np.cumsum(lengths)[:-1]))
        order = np.arange(lengths.sum()) - np.repeat(starts, lengths)
        codes = paths.codes[np.repeat(paths.offsets[path], lengths) + order]
        yield VisitRows(
            trajectory=np.repeat(number + 1, lengths),
            order=(order + 1).astype(np.int32),
            location=codes % locations,
            slot=None if release.time_grid is None else codes // locations,
        )
        report_progress(first + len(number), total)


def visit_batches(
    release: Published, names: ColumnNames, written: Callable[[str], str] = str
) -> tuple[Any, Iterator[Any]]:
    """The same as Arrow record batches.

    Args:
        release: what was published.
        names: what the columns are called.
        written: how a text is written (CSV needs an escape).

    Returns:
        The schema, and the batches.
    """
    columns = _columns(release, names, written)
    schema = pa.schema([(name, column(_NO_ROWS).type) for name, column in columns.items()])
    batches = (
        pa.record_batch([column(rows) for column in columns.values()], schema=schema)
        for rows in visit_rows(release)
    )
    return schema, batches


_NO_ROWS = VisitRows(
    np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.int32)
)


def _degrees(values: NDArray[np.float64] | None) -> Any:
    return pa.array(values, from_pandas=True)  # null, not NaN, for a location without coordinates


def _columns(
    release: Published, names: ColumnNames, written: Callable[[str], str]
) -> dict[str, Callable[[VisitRows], Any]]:
    """Each column by its name: how to make it from rows."""
    universe, grid = release.universe, release.time_grid

    def by_location(values: Any) -> Callable[[VisitRows], Any]:
        return lambda rows: values.take(pa.array(rows.location))

    def by_slot(values: Any) -> Callable[[VisitRows], Any]:
        return lambda rows: values.take(pa.array(rows.slot))

    def texts(values: Any) -> Any:
        return pa.array(list(map(written, values)), pa.string())

    columns: dict[str, Callable[[VisitRows], Any]] = {
        name: lambda rows: pa.array(rows.trajectory) for name in names.trajectory
    }
    columns[names.order] = lambda rows: pa.array(rows.order)
    if grid is not None and names.slot is not None:
        columns[names.slot] = by_slot(texts(grid.labels))
    if grid is not None and names.datetime is not None:
        columns[names.datetime] = by_slot(pa.array(slot_datetimes(grid)))
    if grid is not None and names.clock is not None:
        columns[names.clock] = by_slot(texts(slot_clocks(grid)))
    columns[names.location] = by_location(texts(universe.labels))
    if names.name is not None and universe.names is not None:
        columns[names.name] = by_location(texts(universe.names))
    if universe.has_coordinates:
        columns[names.latitude] = by_location(_degrees(universe.latitude))
        columns[names.longitude] = by_location(_degrees(universe.longitude))
    if not release.is_private:
        columns[STATUS] = lambda rows: pa.repeat(NOT_PRIVATE, len(rows.order))
    return columns
