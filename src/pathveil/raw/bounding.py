"""Contribution bounding: at most c trajectories per unit, before anything is counted.

The rule. A unit's visits are grouped by trajectory id and its trajectories are taken in the order
of their ids: ids that are whole numbers (``-?[0-9]{1,18}``) first, by value, and then all others;
ids that are equal so far by their UTF-8 bytes. The first c are kept (or, with keep="sample", a
random c: see `sampling`). In list form without a
trajectory column each row is a trajectory, and the unit's rows are taken in the order of the
source. In SQL, for every engine alike::

    ORDER BY CASE WHEN regexp_matches(id, '^-?[0-9]{1,18}$') THEN CAST(id AS BIGINT) END NULLS LAST,
             id  -- binary collation

Inside a trajectory, visits are sorted by their order values and ties by location code, so that
every engine sees the same trajectory; without an order column they keep the order of the source.
Codes are positions in the public universe, or, if it is yet to be discovered, in the order of the
labels' bytes (`observed`): which of two locations comes first is public, or follows from the two.

A visit to a location outside the universe is dropped before this, so a trajectory without a
visit inside the universe does not exist: it neither takes one of the c places nor becomes an
empty row.

Why the sensitivity of a count is c. Every row of the source is kept or dropped by looking at that
row alone, and belongs to one unit. What a unit contributes, a multiset of at most c trajectories,
is computed from the unit's own rows, their order relative to each other, and public parameters
(the universe, c). The database is the disjoint union of these contributions. So adding or removing
one unit, with all of its rows, adds or removes at most c trajectories and changes no other, and
each count of trajectories changes by at most c. Only the order in which units are stored depends
on other units' rows, and no count sees it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from pathveil.compiled import njit

_SHORT = 16  # below this length insertion beats merging
_KIND_SHIFT = np.uint64(62)


@dataclass(frozen=True, slots=True, repr=False)
class Visits:
    """Visits inside the universe, in the order of the source.

    Attributes:
        unit: int32, shape (n,); unit codes in ``[0, units)``.
        trajectory: int32, shape (n,); the position of the trajectory's id in the order of all ids.
            None if each unit has a single trajectory.
        integer: int64, shape (n,); see `OrderKeys`. None without an order column.
        rest: uint64, shape (n,); see `OrderKeys`. None if all are 0.
        location: int32, shape (n,); location codes.
        units: how many unit codes there are.
        unit_hash: uint64, shape (units,); a hash of each unit's id. None unless asked for.
        merged_forms: in how many further forms the units' ids are written.
    """

    unit: NDArray[np.int32]
    trajectory: NDArray[np.int32] | None
    integer: NDArray[np.int64] | None
    rest: NDArray[np.uint64] | None
    location: NDArray[np.int32]
    units: int
    unit_hash: NDArray[np.uint64] | None = None
    merged_forms: int = 0


NO_VISITS = Visits(np.empty(0, dtype=np.int32), None, None, None, np.empty(0, dtype=np.int32), 0)


@dataclass(frozen=True, slots=True, repr=False)
class BoundedTrajectories:
    """What is left after bounding, in compressed rows.

    Attributes:
        offsets: int64, shape (n + 1,).
        codes: int32, location codes.
        over_the_cap: how many trajectories were dropped.
        repeats: how many visits were dropped because they repeat the one before.
        instants: int64, the shape of ``codes``; the whole part of each visit's order value, a
            time in seconds. None unless asked for.
        past_the_grid: how many visits were cut off because the time grid ended before them.
        merged_forms: in how many further forms the units' ids are written.
        trips: int32, shape (n,); of a unit's first trajectory, how many the unit has, those that
            were dropped too; of its k-th further one −k. None if every unit has one at most.
    """

    offsets: NDArray[np.int64]
    codes: NDArray[np.int32]
    over_the_cap: int
    instants: NDArray[np.int64] | None = None
    past_the_grid: int = 0
    repeats: int = 0
    merged_forms: int = 0
    trips: NDArray[np.int32] | None = None


def bound_contributions(
    visits: Visits,
    max_trajectories_per_unit: int,
    *,
    timed: bool = False,
    is_open: bool = False,
) -> BoundedTrajectories:
    """Group visits into trajectories and keep the first c of each unit.

    Args:
        visits: the visits of all units.
        max_trajectories_per_unit: c.
        timed: whether the visits' times are wanted too.
        is_open: whether a smaller c may still be chosen, so that trips have to be told apart.

    Returns:
        The trajectories of the first unit (by code), then of the second, and so on.
    """
    starts, rows = rows_by_code(visits.unit, visits.units)
    location = visits.location[rows]
    offsets, codes, instants, trips, over = _arrange(
        starts,
        _grouped(visits.trajectory, rows, np.int32),
        _grouped(visits.integer, rows, np.int64),
        _grouped(visits.rest, rows, np.uint64),
        np.zeros(len(rows), dtype=np.int32) if visits.integer is None else location,
        location,
        max_trajectories_per_unit,
        timed,
    )
    return BoundedTrajectories(
        offsets,
        codes,
        over,
        instants if timed else None,
        merged_forms=visits.merged_forms,
        trips=trips if is_open or max_trajectories_per_unit > 1 else None,
    )


def _grouped(
    column: NDArray[Any] | None, rows: NDArray[np.int64], dtype: DTypeLike
) -> NDArray[Any]:
    """A column with each unit's rows together; zeros, which decide nothing, where it is missing."""
    return np.zeros(len(rows), dtype=dtype) if column is None else column[rows]


def join(parts: Sequence[BoundedTrajectories]) -> BoundedTrajectories:
    """Put the trajectories of separate sets of units into one."""
    before = np.cumsum([0, *(len(part.codes) for part in parts)])
    offsets = [part.offsets[:-1] + first for part, first in zip(parts, before, strict=False)]
    return BoundedTrajectories(
        offsets=np.concatenate([*offsets, before[-1:]]),
        codes=np.concatenate([np.empty(0, dtype=np.int32), *(part.codes for part in parts)]),
        over_the_cap=sum(part.over_the_cap for part in parts),
        repeats=sum(part.repeats for part in parts),
        past_the_grid=sum(part.past_the_grid for part in parts),
        merged_forms=sum(part.merged_forms for part in parts),
        trips=_joined_trips(parts),
    )


def _joined_trips(parts: Sequence[BoundedTrajectories]) -> NDArray[np.int32] | None:
    trips = [part.trips for part in parts if part.trips is not None]
    return np.concatenate(trips) if trips else None


@njit(cache=True, nogil=True)
def rows_by_code(
    code: NDArray[np.int32], codes: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """A stable counting sort.

    Args:
        code: int32, shape (n,); a code in ``[0, codes)`` for each row.
        codes: how many codes there are.

    Returns:
        Where each code's rows start (int64, shape (codes + 1,)), and the rows in the order of
        their codes (int64, shape (n,)).
    """
    starts = np.zeros(codes + 1, dtype=np.int64)
    for row in range(len(code)):
        starts[code[row] + 1] += 1
    for i in range(codes):
        starts[i + 1] += starts[i]
    rows = np.empty(len(code), dtype=np.int64)
    free = starts[:-1].copy()
    for row in range(len(code)):
        rows[free[code[row]]] = row
        free[code[row]] += 1
    return starts, rows


@njit(cache=True, nogil=True)
def _arrange(
    starts: NDArray[np.int64],
    trajectory: NDArray[np.int32],
    integer: NDArray[np.int64],
    rest: NDArray[np.uint64],
    tie: NDArray[np.int32],
    location: NDArray[np.int32],
    cap: int,
    timed: bool,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64], NDArray[np.int32], int]:
    """Sort each unit's visits and write out its first ``cap`` trajectories."""
    offsets = np.empty(len(location) + 1, dtype=np.int64)
    codes = np.empty(len(location), dtype=np.int32)
    instants = np.empty(len(location) if timed else 0, dtype=np.int64)
    trips = np.empty(len(location), dtype=np.int32)
    offsets[0] = 0
    written = trajectories = over = 0
    longest = 0
    for unit in range(len(starts) - 1):
        longest = max(longest, starts[unit + 1] - starts[unit])
    mine = np.empty(longest, dtype=np.int64)
    spare = np.empty(longest, dtype=np.int64)
    for unit in range(len(starts) - 1):
        size = starts[unit + 1] - starts[unit]
        in_order = True
        for i in range(size):
            b = starts[unit] + i
            mine[i] = b
            a = max(b - 1, starts[unit])
            in_order &= not _precedes(
                trajectory[b], integer[b], rest[b], tie[b], b,
                trajectory[a], integer[a], rest[a], tie[a], a,
            )  # fmt: skip
        if not in_order:
            _sort(mine, spare, size, trajectory, integer, rest, tie)
        seen, first = 0, trajectories
        for i in range(size):
            if i == 0 or trajectory[mine[i]] != trajectory[mine[i - 1]]:
                seen += 1
                trajectories += seen <= cap
            if seen <= cap:
                trips[trajectories - 1] = 1 - seen
                codes[written] = location[mine[i]]
                if timed:
                    instants[written] = integer[mine[i]]
                written += 1
                offsets[trajectories] = written
        trips[first : first + min(seen, 1)] = seen
        over += max(seen - cap, 0)
    return (
        offsets[: trajectories + 1].copy(),
        codes[:written].copy(),
        instants[:written].copy() if timed else instants,
        trips[:trajectories].copy(),
        over,
    )


@njit(cache=True, nogil=True)
def _precedes(
    trajectory_a: int, integer_a: int, rest_a: np.uint64, tie_a: int, a: int,
    trajectory_b: int, integer_b: int, rest_b: np.uint64, tie_b: int, b: int,
) -> bool:  # fmt: skip
    """Whether visit ``a`` comes before visit ``b``: a strict total order on a unit's visits.

    It takes numbers, because handing over arrays costs more than comparing.
    """
    if trajectory_a != trajectory_b:
        return trajectory_a < trajectory_b
    if rest_a >> _KIND_SHIFT != rest_b >> _KIND_SHIFT:
        return bool(rest_a < rest_b)
    if integer_a != integer_b:
        return integer_a < integer_b
    if rest_a != rest_b:
        return bool(rest_a < rest_b)
    if tie_a != tie_b:
        return tie_a < tie_b
    return a < b


@njit(cache=True, nogil=True)
def _sort(
    mine: NDArray[np.int64],
    spare: NDArray[np.int64],
    size: int,
    trajectory: NDArray[np.int32],
    integer: NDArray[np.int64],
    rest: NDArray[np.uint64],
    tie: NDArray[np.int32],
) -> None:
    """Sort ``mine[:size]``: insertion in short runs, then merging them bottom-up."""
    for first in range(0, size, _SHORT):
        for i in range(first + 1, min(first + _SHORT, size)):
            b, j = mine[i], i
            while j > first:
                a = mine[j - 1]
                if not _precedes(
                    trajectory[b], integer[b], rest[b], tie[b], b,
                    trajectory[a], integer[a], rest[a], tie[a], a,
                ):  # fmt: skip
                    break
                mine[j] = a
                j -= 1
            mine[j] = b
    width = _SHORT
    while width < size:
        for first in range(0, size, 2 * width):
            middle, last = min(first + width, size), min(first + 2 * width, size)
            _merge(mine, spare, first, middle, last, trajectory, integer, rest, tie)
        for i in range(size):
            mine[i] = spare[i]
        width *= 2


@njit(cache=True, nogil=True)
def _merge(
    mine: NDArray[np.int64],
    spare: NDArray[np.int64],
    first: int,
    middle: int,
    last: int,
    trajectory: NDArray[np.int32],
    integer: NDArray[np.int64],
    rest: NDArray[np.uint64],
    tie: NDArray[np.int32],
) -> None:
    """Merge ``mine[first:middle]`` and ``mine[middle:last]`` into ``spare[first:last]``."""
    i, j = first, middle
    for k in range(first, last):
        from_left = j == last
        if i < middle and j < last:
            a, b = mine[i], mine[j]
            from_left = _precedes(
                trajectory[a], integer[a], rest[a], tie[a], a,
                trajectory[b], integer[b], rest[b], tie[b], b,
            )  # fmt: skip
        if from_left:
            spare[k] = mine[i]
            i += 1
        else:
            spare[k] = mine[j]
            j += 1
