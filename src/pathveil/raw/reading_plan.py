"""What is settled before a row is read: columns, rules and bounds, all of them public.

Every engine reads by such a plan, and `steps` carries it out for every engine alike.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from operator import index

from pathveil.core.preparations import DISCOVER
from pathveil.errors import ParameterError
from pathveil.raw.database import check_max_trajectories
from pathveil.raw.sources.columns import Columns, choose_columns
from pathveil.raw.sources.raw_rows import Source
from pathveil.times.time_grid import TimeGrid
from pathveil.times.trip_rules import TripRules
from pathveil.universe.universe import Universe


@dataclass(frozen=True, slots=True)
class ReadingPlan:
    """How a source becomes trajectories.

    Attributes:
        columns: the columns in use, named or recognised.
        is_list: whether a row is a whole trajectory, its location column a list.
        universe: the public universe, or "discover".
        rules: how a unit's visits become trajectories.
        time_grid: the public slots of time; None if the visits have no times.
        max_trajectories_per_unit: c.
        seed: of the sample of a unit's trajectories; None for a fresh one.
    """

    columns: Columns
    is_list: bool
    universe: Universe | str
    rules: TripRules
    time_grid: TimeGrid | None
    max_trajectories_per_unit: int
    seed: int | None


def plan_reading(
    opening: Callable[[], Source],
    universe: Universe | str,
    *,
    unit: str | None,
    trajectory: str | None = None,
    order: str | None = None,
    location: str | None = None,
    latitude: str | None = None,
    longitude: str | None = None,
    split: str = "none",
    time_zone: str = "UTC",
    repeats: str = "auto",
    time: str | None = None,
    time_grid: TimeGrid | None = None,
    max_trajectories_per_unit: int = 1,
    keep: str = "first",
    keep_seed: int | None = None,
    unit_text: str = "normal",
) -> tuple[Source, ReadingPlan]:
    """Open a source and settle how it is read; `read_trajectories` says what the choices mean.

    Raises:
        ParameterError: if a column is unknown or ambiguous, or no unit column is given.
        InputError: if the source can't be opened.
    """
    if universe != DISCOVER and not isinstance(universe, Universe):
        raise ParameterError("The universe must be a Universe; make one with Universe(labels).")
    order, time_zone = _check_times(time, order, time_grid, time_zone)
    seed = _check_seed(keep_seed)
    cap = check_max_trajectories(max_trajectories_per_unit)
    source = opening()
    columns = _choose(
        source, universe, unit, trajectory, order, location, latitude, longitude,
        is_split=split != "none",
    )  # fmt: skip
    rules = TripRules.choose(
        split=split,
        time_zone=time_zone,
        repeats=repeats,
        by_point=columns.latitude is not None,
        keep=keep,
        unit_text=unit_text,
    )
    is_list = columns.location is not None and source.is_list(columns.location)
    return source, ReadingPlan(columns, is_list, universe, rules, time_grid, cap, seed)


def _check_seed(seed: int | None) -> int | None:
    if seed is not None and (isinstance(seed, bool) or not 0 <= index(seed) < 2**64):
        raise ParameterError("The seed of a sample must be a whole number of 64 bits.")
    return seed


def _check_times(
    time: str | None, order: str | None, grid: TimeGrid | None, time_zone: str
) -> tuple[str | None, str]:
    """The order column and the time zone that hold, once times are asked for."""
    if (time is None) != (grid is None):
        raise ParameterError("Times need both a time column and a time grid; give both or none.")
    if grid is None:
        return order, time_zone
    if not isinstance(grid, TimeGrid):
        raise ParameterError("The time grid must be a TimeGrid; make one with TimeGrid.parse.")
    if order not in (None, time):
        raise ParameterError("The time column orders the visits; leave the order column out.")
    if time_zone not in ("UTC", grid.time_zone):
        raise ParameterError("The time zone is that of the time grid; leave it out.")
    return time, grid.time_zone


def _choose(
    source: Source,
    universe: Universe | str,
    unit: str | None,
    trajectory: str | None,
    order: str | None,
    location: str | None,
    latitude: str | None,
    longitude: str | None,
    *,
    is_split: bool,
) -> Columns:
    named = [unit, trajectory, order, location, latitude, longitude]
    columns = choose_columns(
        source.names,
        unit=unit,
        trajectory=trajectory,
        order=order,
        location=location,
        latitude=latitude,
        longitude=longitude,
        has_cells=isinstance(universe, Universe) and universe.cells is not None,
        showable=source.showable(
            None if isinstance(universe, str) else universe, [name for name in named if name]
        ),
    )
    is_list = columns.location is not None and source.is_list(columns.location)
    if is_split:
        columns = _without_trajectories(columns, trajectory, is_list=is_list)
    if not is_list or columns.location is None:
        return columns
    if order is not None:
        raise ParameterError(
            f"The location column {columns.location[:80]!r} holds lists, which have an order of "
            "their own; leave the order column out."
        )
    return replace(columns, order=None)


def _without_trajectories(columns: Columns, trajectory: str | None, *, is_list: bool) -> Columns:
    """The columns for visits that are yet to be split into trajectories."""
    if trajectory is not None:
        raise ParameterError(
            "Visits are split into trajectories by time or by a trajectory column; choose one."
        )
    if is_list or columns.order is None:
        raise ParameterError(
            "Visits are split by the times of an order column, one row per visit; name it with "
            "order=… or --order-column."
        )
    return replace(columns, trajectory=None)
