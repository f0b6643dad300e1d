"""A time zone's wall clock: what it shows at an instant, and which instant it means.

Python's `zoneinfo` answers for one moment at a time. Here the moments at which the zone changes its
offset are found once, day by day from 1900 to 2100, and then looked up for whole columns. Outside
these years the nearest offset holds.
"""

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

_FIRST = datetime(1900, 1, 1, tzinfo=UTC)
_DAYS = 73_050
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class WallClock:
    """The wall clock of a zone. All times are int64 seconds since 1970.

    Args:
        time_zone: IANA name.
    """

    def __init__(self, time_zone: str) -> None:
        self._changes, self._offsets = _offset_changes(time_zone)
        # A reading is by the later offset once both the old and the new clock have reached it: so
        # of an hour that happens twice the first is meant, and one that is skipped is as far
        # after the change as it is after the skipped hour's beginning.
        larger = np.maximum(self._offsets[:-1], self._offsets[1:])
        self._readings = self._changes + larger

    def shows(self, instants: NDArray[np.int64]) -> NDArray[np.int64]:
        """What the clock shows at some instants."""
        after = np.searchsorted(self._changes, instants, side="right")
        shown: NDArray[np.int64] = instants + self._offsets[after]
        return shown

    def means(self, readings: NDArray[np.int64]) -> NDArray[np.int64]:
        """The instants that readings of the clock mean."""
        after = np.searchsorted(self._readings, readings, side="right")
        instants: NDArray[np.int64] = readings - self._offsets[after]
        return instants


@lru_cache(maxsize=8)
def _offset_changes(time_zone: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The instants at which the offset changes, n of them, and the n + 1 offsets around them."""
    if time_zone == "UTC":
        return np.empty(0, dtype=np.int64), np.zeros(1, dtype=np.int64)
    zone = ZoneInfo(time_zone)
    start = int((_FIRST - _EPOCH).total_seconds())
    changes: list[int] = []
    offsets = [_offset(zone, start)]
    for day in range(start, start + _DAYS * 86_400, 86_400):
        while offsets[-1] != _offset(zone, day + 86_400):
            changes.append(_next_change(zone, max(day, changes[-1] if changes else day), day))
            offsets.append(_offset(zone, changes[-1]))
    return np.array(changes, dtype=np.int64), np.array(offsets, dtype=np.int64)


def _next_change(zone: ZoneInfo, low: int, day: int) -> int:
    """The first instant after ``low``, within the day, with another offset, by bisection."""
    before, high = _offset(zone, low), day + 86_400
    while high - low > 1:
        middle = (low + high) // 2
        if _offset(zone, middle) == before:
            low = middle
        else:
            high = middle
    return high


def _offset(zone: ZoneInfo, instant: int) -> int:
    moment = (_EPOCH + timedelta(seconds=instant)).astimezone(zone)
    return int((moment.utcoffset() or timedelta()).total_seconds())
