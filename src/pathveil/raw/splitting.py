"""A time zone's wall clock: what it shows at an instant, and which instant it means.

Python's `zoneinfo` answers for one moment at a time. Here the moments at which the zone changes its
offset are found once, day by day from 1900 to 2100, and then looked up for whole columns. Outside
these years the nearest offset holds.
"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from pathveil.errors import InputError
from pathveil.raw.bounding import BoundedTrajectories, Visits
from pathveil.raw.sources.raw_rows import RawRows
from pathveil.raw.sources.text_columns import OrderKeys
from pathveil.times.time_grid import DAY, SINCE_MONDAY, WEEK
from pathveil.times.trip_rules import TripRules

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
    clock = ZoneInfo(time_zone)
    start = int((_FIRST - _EPOCH).total_seconds())
    changes: list[int] = []
    offsets = [_offset(clock, start)]
    for day in range(start, start + _DAYS * 86_400, 86_400):
        while offsets[-1] != _offset(clock, day + 86_400):
            changes.append(_next_change(clock, max(day, changes[-1] if changes else day), day))
            offsets.append(_offset(clock, changes[-1]))
    return np.array(changes, dtype=np.int64), np.array(offsets, dtype=np.int64)


def _next_change(clock: ZoneInfo, low: int, day: int) -> int:
    """The first instant after ``low``, within the day, with another offset, by bisection."""
    before, high = _offset(clock, low), day + 86_400
    while high - low > 1:
        middle = (low + high) // 2
        if _offset(clock, middle) == before:
            low = middle
        else:
            high = middle
    return high


def _offset(clock: ZoneInfo, instant: int) -> int:
    moment = (_EPOCH + timedelta(seconds=instant)).astimezone(clock)
    return int((moment.utcoffset() or timedelta()).total_seconds())


# Cut each unit's stream of visits into trajectories, by a public rule on their times.
#
# A visit's time is its order value. A time that states its offset is an instant; one that does not
# is
# a reading of the wall clock in the public zone (see `wall_clock` for hours that happen twice or
# never); a plain number is seconds since 1970 in UTC. What lies before the year 0 or after 9999
# counts as the first or the last moment between.
#
# Trajectories are numbered in the order of time, so that of a unit with more than c of them the
# earliest c are kept (see `bounding`). A unit's numbers come from its own visits and public rules
# alone, so what another unit does changes none of them.


_FIRST_SECOND = -62_167_219_200  # 0000-01-01T00:00:00Z
_LAST_SECOND = 253_402_300_799  # 9999-12-31T23:59:59Z
_FRACTION = np.uint64(2**62 - 1)  # the lower bits of a key's rest; the upper two are its kind


def at_instants(rows: RawRows, time_zone: str) -> RawRows:
    """The same rows with times that state no offset as instants of a zone's wall clock."""
    order = rows.order
    if order is None or order.zoneless is None:
        return rows
    instants = np.where(order.zoneless, WallClock(time_zone).means(order.integer), order.integer)
    return replace(rows, order=OrderKeys(instants, order.rest))


def split_visits(visits: Visits, rules: TripRules) -> Visits:
    """The same visits with the trajectories that the rule gives them.

    Raises:
        InputError: if the visits have no times.
    """
    if rules.split.kind in ("none", "whole") or len(visits.unit) == 0:
        return visits
    if visits.integer is None:
        raise InputError("Visits without times can't be split into trajectories.")
    if rules.split.kind == "gap":
        instants = np.clip(visits.integer, _FIRST_SECOND, _LAST_SECOND)
        numbers = _by_gap(visits.unit, instants, visits.rest, rules.split.seconds)
    else:
        numbers = periods(visits.integer, rules.split.kind == "day", rules.time_zone)
    return replace(visits, trajectory=numbers.astype(np.int32))


def periods(integer: NDArray[np.int64], by_day: bool, time_zone: str) -> NDArray[np.int64]:
    """The number of the day, or of the week from Monday to Sunday, of each visit's instant."""
    instants = np.clip(integer, _FIRST_SECOND, _LAST_SECOND)
    wall = WallClock(time_zone).shows(instants)
    return wall // DAY if by_day else (wall + SINCE_MONDAY) // WEEK


def _by_gap(
    unit: NDArray[np.int32],
    instants: NDArray[np.int64],
    rest: NDArray[np.uint64] | None,
    seconds: int,
) -> NDArray[np.int64]:
    """Number the trajectories of all units; a unit's own numbers rise with time."""
    fraction = np.zeros(len(unit), np.uint64) if rest is None else rest & _FRACTION
    order = np.lexsort((fraction, instants, unit))
    unit, instants, fraction = unit[order], instants[order], fraction[order]
    pause = np.diff(instants)
    starts = (unit[1:] != unit[:-1]) | (pause > seconds)
    starts |= (pause == seconds) & (fraction[1:] > fraction[:-1])
    numbers = np.empty(len(order), dtype=np.int64)
    numbers[order] = np.concatenate(([0], np.cumsum(starts)))
    return numbers


def collapse_repeats(bounded: BoundedTrajectories) -> BoundedTrajectories:
    """Drop each visit that repeats the one before it in its trajectory.

    Of times, the first visit's stays.
    """
    codes, offsets = bounded.codes, bounded.offsets
    if len(codes) == 0:
        return bounded
    kept = np.append(True, codes[1:] != codes[:-1])
    kept[offsets[:-1][offsets[:-1] < len(codes)]] = True  # the first visit of each trajectory
    kept_before = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(kept)))
    repeats = len(codes) - int(kept_before[-1])
    instants = None if bounded.instants is None else bounded.instants[kept]
    return replace(
        bounded, offsets=kept_before[offsets], codes=codes[kept], instants=instants, repeats=repeats
    )
