"""Times of visits: from what a row says to a slot of the public time grid.

Each rule looks at one row, or at one trajectory, and at public parameters:

- A time that states its offset (``Z``, ``-05:00``) is an instant. One that does not is a reading of
  the wall clock in the grid's zone: of the hour that happens twice when summer time ends the first
  is meant, and a reading in the hour that is skipped when it begins is as late after the change.
- Visits are ordered by instant; the slot of a visit is what the wall clock shows then.
- A visit that no slot covers is dropped, as one outside the universe is.
- The slots of a trajectory never decrease. When the wall clock is set back, a visit whose slot
  would be before that of the visit before it is given the slot of that visit.
- A grid of the day (of the week) is one day (one week) long: a trajectory is cut at the first visit
  of a later day (week) than that of its first visit.
- A plain number is seconds since 1970 in UTC. A time before the year 0 or after 9999 (milliseconds
  taken for seconds, for example) makes its row malformed, as what is no time at all does.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import njit
from pathveil.raw.bounding import BoundedTrajectories
from pathveil.raw.discretize import Locator
from pathveil.raw.sources.order_text import TIMESTAMP
from pathveil.raw.sources.order_values import FIRST_SECOND, LAST_SECOND
from pathveil.raw.sources.raw_rows import RawRows
from pathveil.raw.sources.text_columns import UNREADABLE, OrderKeys
from pathveil.raw.splitting import WallClock
from pathveil.times.time_grid import OUTSIDE, TimeGrid


class VisitTimes:
    """A time grid and its clock. Used by several threads at once.

    Args:
        grid: the public grid.
    """

    def __init__(self, grid: TimeGrid) -> None:
        self._grid = grid
        self._clock = WallClock(grid.time_zone)

    @property
    def slots(self) -> int:
        """|T|, the number of slots."""
        return len(self._grid)

    def at_instants(self, rows: RawRows) -> RawRows:
        """The same rows with the instants of their times as order; what has none is unreadable."""
        order = rows.order
        if order is None:
            raise ValueError("the rows have no times")
        rest = np.zeros(len(order.integer), np.uint64) if order.rest is None else order.rest
        seconds = order.integer
        good = (rest != UNREADABLE) & (seconds >= FIRST_SECOND) & (seconds <= LAST_SECOND)
        seconds = np.where(good, seconds, 0)
        if order.zoneless is not None:
            seconds = np.where(order.zoneless, self._clock.means(seconds), seconds)
        # One kind, so that numbers and timestamps compare by instant.
        return replace(rows, order=OrderKeys(seconds, np.where(good, rest | TIMESTAMP, UNREADABLE)))

    def ticks(self, instants: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where instants fall on the grid; see `TimeGrid.ticks`."""
        return self._grid.ticks(self._clock.shows(instants))

    def on_grid(self, bounded: BoundedTrajectories, universe_size: int) -> BoundedTrajectories:
        """Trajectories of pairs: slot · |L| + location."""
        if bounded.instants is None:
            raise ValueError("the times of the visits were not kept")
        ticks = self.ticks(bounded.instants)
        offsets, codes = _settle(
            bounded.offsets, bounded.codes, ticks, len(self._grid), universe_size
        )
        past = len(bounded.codes) - len(codes)
        return replace(bounded, offsets=offsets, codes=codes, instants=None, past_the_grid=past)


@dataclass(frozen=True, slots=True, repr=False)
class TimedLocator:
    """Locations of visits that a slot covers; the others are outside. Satisfies `Locator`.

    Attributes:
        locator: how rows name their locations.
        times: how they name their times; their order is instants already.
    """

    locator: Locator
    times: VisitTimes

    def locate(self, rows: RawRows) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
        """See `Locator`."""
        codes, readable = self.locator.locate(rows)
        if rows.order is None:
            return codes, readable
        covered = self.times.ticks(rows.order.integer) != OUTSIDE
        return np.where(covered, codes, np.int32(-1)), readable


@njit(cache=True, nogil=True)
def _settle(
    offsets: NDArray[np.int64],
    codes: NDArray[np.int32],
    ticks: NDArray[np.int64],
    slots: int,
    universe_size: int,
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Pairs whose slots never decrease, each trajectory within the period of its first visit."""
    settled_offsets = np.zeros_like(offsets)
    settled = np.empty_like(codes)
    written = 0
    for row in range(len(offsets) - 1):
        start, stop = offsets[row], offsets[row + 1]
        latest = ticks[start] if start < stop else 0
        end_of_period = (latest // slots + 1) * slots
        for i in range(start, stop):
            if ticks[i] >= end_of_period:
                break
            latest = max(latest, ticks[i])
            settled[written] = (latest % slots) * universe_size + codes[i]
            written += 1
        settled_offsets[row + 1] = written
    return settled_offsets, settled[:written].copy()
