"""Slots of time as timestamps.

A slot is told by its start. Slots of the day or the week have no date, and tools want one: they
are put into the week that begins on Monday, 1 January 2001 (a slot of the day: on that Monday).
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from pathveil.model.time_grid import TimeGrid

MONDAY: Final = np.datetime64("2001-01-01", "s")
_EPOCH: Final = np.datetime64("1970-01-01", "s")
_HOUR, _MINUTE, _DAY = 3600, 60, 86_400


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
