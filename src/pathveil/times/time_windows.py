"""Time windows: which slots of a grid lie between two moments, start included, end not."""

import numpy as np
from numpy.typing import NDArray

from pathveil.errors import QueryError
from pathveil.times.time_grid import DAY, PERIOD, SINCE_MONDAY, WEEK, Kind, TimeGrid, read_moment

_ASK = "write a window as 07:00-10:00, 'Mon 07:00-Mon 10:00' or two ISO dates and times"


def slots_between(grid: TimeGrid | None, start: str, end: str) -> NDArray[np.bool_]:
    """Which slots lie in the window [start, end); bool, shape (|T|,).

    A time of day asks every day, and a time of the week every week, that the grid has; such a
    window may run over midnight or over Sunday.

    Args:
        grid: the release's grid; None if it has no times.
        start: ``HH:MM``, ``Mon HH:MM`` or an ISO 8601 date and time.
        end: likewise; ``24:00`` is the end of the day.

    Raises:
        QueryError: if there is no grid, a moment can't be read, or the window cuts a slot.
    """
    if grid is None:
        raise QueryError(
            "The release has no times, so it can't be asked about a time window; publish it with "
            "--time-column and --time-grid."
        )
    first, last = (_moment(text, grid) for text in (start, end))
    if first[0] != last[0]:
        raise QueryError(f"The two ends of a time window must be written alike: {_ASK}.")
    return _inside(grid, first[0], first[1], last[1])


def slots_in(grid: TimeGrid | None, window: str) -> NDArray[np.bool_]:
    """The same for a window in one text, such as ``07:00-10:00``."""
    time_zone = "UTC" if grid is None else grid.time_zone
    for at in (at for at, character in enumerate(window) if character in "-–"):
        start, end = window[:at].strip(), window[at + 1 :].strip()
        if read_moment(start, time_zone) and read_moment(end, time_zone):
            return slots_between(grid, start, end)
    raise QueryError(f"{window[:80]!r} is not a time window: {_ASK}.")


def _moment(text: str, grid: TimeGrid) -> tuple[Kind, int]:
    moment = read_moment(text, grid.time_zone) if isinstance(text, str) else None
    if moment is None:
        shown = f"{text[:80]!r} is" if isinstance(text, str) else "That is"
        raise QueryError(f"{shown} not a moment: {_ASK}.")
    return moment


def _inside(grid: TimeGrid, kind: Kind, first: int, last: int) -> NDArray[np.bool_]:
    starts, lengths = _slots_as(grid, kind)
    period = PERIOD[kind]
    if first == last or (period is None and first > last):
        raise QueryError("A time window must end after it starts.")
    if first > last and period is not None:
        last += period
    ends = starts + lengths
    inside = np.zeros(len(grid), dtype=np.bool_)
    touched = np.zeros(len(grid), dtype=np.bool_)
    # A window or a slot may run over midnight: meet also the windows a period away.
    for shift in (0,) if period is None else (-period, 0, period):
        inside |= (starts >= first + shift) & (ends <= last + shift)
        touched |= (starts < last + shift) & (ends > first + shift)
    cut = np.flatnonzero(touched & ~inside)
    if len(cut):
        raise QueryError(
            f"The time window cuts the slot {grid.labels[cut[0]]!r} in two; let it start and end "
            "where slots do."
        )
    return inside


def _slots_as(grid: TimeGrid, kind: Kind) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The slots' starts as moments of a kind, and their lengths."""
    starts = np.array(grid.starts, dtype=np.int64)
    lengths = np.array(grid.ends, dtype=np.int64) - starts
    if kind == grid.kind:
        return starts, lengths
    if kind == "day":
        return starts % DAY, lengths
    if kind == "week" and grid.kind == "dates":
        return (starts + SINCE_MONDAY) % WEEK, lengths
    what = {"week": "weekdays", "dates": "dates"}[kind]
    raise QueryError(f"The release's slots are slots of the {grid.kind}: they have no {what}.")
