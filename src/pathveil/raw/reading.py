"""Read raw trajectories: a file or a table in, a bounded trajectory database out.

This module is cheap to import; what does the work is imported when it is called.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from pathveil.errors import ParameterError
from pathveil.model.label_discovery import DISCOVER
from pathveil.model.time_grid import TimeGrid
from pathveil.model.trip_rules import TripRules
from pathveil.model.universe import Universe
from pathveil.raw.database import TrajectoryDatabase, check_max_trajectories
from pathveil.raw.sources.columns import Columns, choose_columns
from pathveil.raw.sources.failures import attempt
from pathveil.raw.sources.opening import open_source
from pathveil.raw.sources.raw_rows import RawRows, Source
from pathveil.raw.threads import in_threads

if TYPE_CHECKING:
    from pathveil.raw.bounding import BoundedTrajectories
    from pathveil.raw.partitioning import Partitions


@dataclass(frozen=True, slots=True, repr=False)
class ReadingReport:
    """What was read and what was dropped: exact numbers, for the curator's terminal only.

    They are facts about people: nothing may store or publish them.

    Attributes:
        columns: the columns in use, named or recognised.
        rows: rows of the source, dropped ones included.
        malformed_rows: rows dropped because a value in them can't be read (in list form: also
            single items of a list).
        visits_outside_universe: visits dropped because the universe lacks their location.
        trajectories_over_the_cap: trajectories dropped because their unit has more than c.
        repeats_collapsed: visits that were dropped because they repeat the one before.
        visits_past_the_grid: visits cut off because their trajectory outlasts the time grid.
    """

    columns: Columns
    rows: int
    malformed_rows: int
    visits_outside_universe: int
    trajectories_over_the_cap: int
    repeats_collapsed: int = 0
    visits_past_the_grid: int = 0

    def __repr__(self) -> str:
        return "ReadingReport(<private>)"


def read_trajectories(
    source: Any,
    universe: Universe | Literal["discover"],
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
    query: str | None = None,
    table: str | None = None,
    report: Callable[[ReadingReport], None] | None = None,
) -> TrajectoryDatabase:
    """Read trajectories in long form (one row per visit) or list form (one row per trajectory).

    What becomes of a row depends on that row alone. It is dropped if its unit, trajectory,
    order or location is missing or can't be read, or if its location is outside the universe.
    Units, trajectories and locations are what their text says: the integer 7 is the label
    ``7``. `pathveil.raw.sources.order_values` says what an order value is, and
    `pathveil.raw.bounding` which trajectories of a unit are kept.

    Args:
        source: the path of a CSV or Parquet file; a pandas, polars or Arrow table (anything
            with ``__arrow_c_stream__``); or a database: ``postgresql://…``, or the path of a
            DuckDB or SQLite file (``duckdb:FILE``, ``sqlite:FILE``).
        universe: the public universe; or "discover" if there is none, which takes every label
            that occurs. Publishing then spends a share of ε and a δ on naming labels.
        unit: the column that says whose row it is: the unit of privacy. None looks for the
            well-known names of scikit-mobility, TIDES and trackintel.
        trajectory: the column that tells a unit's trajectories apart. Without one, a unit's
            rows are one trajectory (in list form: each row is one).
        order: the column that orders a trajectory's visits: numbers or ISO 8601 times. Without
            one, the order of the rows. In list form the list has its own order.
        location: the column of locations, or of lists of them.
        latitude: the column of degrees north, instead of ``location``: each point is placed in
            the cell of the universe (`Universe.from_grid`, `Universe.from_h3`) in which it lies.
            A row whose coordinates can't be read is dropped, and a point outside all cells.
        longitude: the column of degrees east.
        split: how a unit's visits are cut into trajectories, by the times of the order column:
            "day", "week", "gap:30min" or "none": see `pathveil.model.trip_rules`.
        time_zone: IANA name of the zone whose wall clock says what a day or a week is, and in
            which times without an offset are read when visits are split.
        repeats: what becomes of a visit to the location before: "keep", "collapse" or "auto"
            (collapse for points).
        time: the column of times, if the visits are to have times: ISO 8601 dates and times. It
            is the order column too. `pathveil.raw.visit_times` says what becomes of each.
        time_grid: the public slots that times are put into; its time zone is the one that holds.
        max_trajectories_per_unit: c, the number of trajectories that a unit may contribute.
        query: the rows of a database, a single SELECT. It must choose rows by their own values
            and public ones, never by other units' rows; an order column is required.
        table: a database's table, instead of a query.
        report: called once with what was read and dropped. For the curator's eyes only.

    Raises:
        ParameterError: if a column is unknown or ambiguous, or no unit column is given.
        InputError: if the source can't be read. The message never quotes a value of it.
    """
    if universe != DISCOVER and not isinstance(universe, Universe):
        raise ParameterError("The universe must be a Universe; make one with Universe(labels).")
    order, time_zone = _check_times(time, order, time_grid, time_zone)
    if time_grid is not None and universe == DISCOVER:
        raise ParameterError("A universe can't be discovered together with a time grid yet.")
    cap = check_max_trajectories(max_trajectories_per_unit)
    opened = open_source(source, query=query, table=table)
    columns = _choose(
        opened, universe, unit, trajectory, order, location, latitude, longitude,
        is_split=split != "none",
    )  # fmt: skip
    rules = TripRules.choose(
        split=split, time_zone=time_zone, repeats=repeats, by_point=columns.latitude is not None
    )
    bounded, partitions, locations = attempt(
        lambda: _bounded(opened, columns, universe, cap, rules, time_grid),
        f"The rows of {opened.label} can't be read.",
    )
    if report is not None:
        report(
            ReadingReport(
                columns=columns,
                rows=partitions.rows,
                malformed_rows=partitions.malformed,
                visits_outside_universe=partitions.outside,
                trajectories_over_the_cap=bounded.over_the_cap,
                repeats_collapsed=bounded.repeats,
                visits_past_the_grid=bounded.past_the_grid,
            )
        )
    return TrajectoryDatabase.from_arrays(
        bounded.offsets,
        bounded.codes,
        locations,
        max_trajectories_per_unit=cap,
        rules=tuple(rules.sentences()),
        time_grid=time_grid,
    )


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


def _bounded(
    source: Source,
    columns: Columns,
    universe: Universe | str,
    cap: int,
    rules: TripRules,
    grid: TimeGrid | None,
) -> "tuple[BoundedTrajectories, Partitions, Universe]":
    """Read piece by piece, then bound bucket by bucket, each in threads."""
    from pathveil.raw.bounding import BoundedTrajectories, bound_contributions, join
    from pathveil.raw.discretize import places_of
    from pathveil.raw.observed import LabelCollector
    from pathveil.raw.partitioning import BUCKETS, PartitionedPiece, Partitions, partition
    from pathveil.raw.sources.encoding import encode
    from pathveil.raw.splitting import at_instants, collapse_repeats, split_visits
    from pathveil.raw.visit_times import TimedPlaces, VisitTimes

    labels = LabelCollector()
    times = None if grid is None else VisitTimes(grid)
    if isinstance(universe, str):
        encode_piece = labels.encode
    else:
        places = places_of(universe, by_point=rules.by_point)
        encode_piece = partial(
            encode, places=places if times is None else TimedPlaces(places, times)
        )

    def read(piece: Callable[[], RawRows]) -> PartitionedPiece:
        rows = piece()
        if times is not None:
            rows = times.at_instants(rows)
        elif rules.split.kind != "none":
            rows = at_instants(rows, rules.time_zone)
        return partition(encode_piece(rows))

    def bound(bucket: int) -> BoundedTrajectories:
        visits = split_visits(partitions.visits(bucket), rules)
        bounded = bound_contributions(visits, cap, timed=times is not None)
        if rules.collapse_repeats:
            bounded = collapse_repeats(bounded)
        return bounded if times is None else times.on_grid(bounded, len(universe))

    partitions = Partitions(list(in_threads(read, source.pieces(columns))))
    bounded = join(list(in_threads(bound, range(BUCKETS))))
    return bounded, partitions, labels.universe() if isinstance(universe, str) else universe
