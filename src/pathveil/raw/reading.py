"""Read raw trajectories: a file or a table in, a bounded trajectory database out.

This module is cheap to import; what does the work is imported when it is called.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pathveil.errors import ParameterError
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
    """

    columns: Columns
    rows: int
    malformed_rows: int
    visits_outside_universe: int
    trajectories_over_the_cap: int

    def __repr__(self) -> str:
        return "ReadingReport(<private>)"


def read_trajectories(
    source: Any,
    universe: Universe,
    *,
    unit: str | None,
    trajectory: str | None = None,
    order: str | None = None,
    location: str | None = None,
    max_trajectories_per_unit: int = 1,
    report: Callable[[ReadingReport], None] | None = None,
) -> TrajectoryDatabase:
    """Read trajectories in long form (one row per visit) or list form (one row per trajectory).

    What becomes of a row depends on that row alone. It is dropped if its unit, trajectory,
    order or location is missing or can't be read, or if its location is outside the universe.
    Units, trajectories and locations are what their text says: the integer 7 is the label
    ``7``. `pathveil.raw.sources.order_values` says what an order value is, and
    `pathveil.raw.bounding` which trajectories of a unit are kept.

    Args:
        source: the path of a CSV or Parquet file, or a pandas, polars or Arrow table (anything
            with ``__arrow_c_stream__``).
        universe: the public universe.
        unit: the column that says whose row it is: the unit of privacy. None looks for the
            well-known names of scikit-mobility, TIDES and trackintel.
        trajectory: the column that tells a unit's trajectories apart. Without one, a unit's
            rows are one trajectory (in list form: each row is one).
        order: the column that orders a trajectory's visits: numbers or ISO 8601 times. Without
            one, the order of the rows. In list form the list has its own order.
        location: the column of locations, or of lists of them.
        max_trajectories_per_unit: c, the number of trajectories that a unit may contribute.
        report: called once with what was read and dropped. For the curator's eyes only.

    Raises:
        ParameterError: if a column is unknown or ambiguous, or no unit column is given.
        InputError: if the source can't be read. The message never quotes a value of it.
    """
    if not isinstance(universe, Universe):
        raise ParameterError("The universe must be a Universe; make one with Universe(labels).")
    cap = check_max_trajectories(max_trajectories_per_unit)
    opened = open_source(source)
    columns = _choose(opened, universe, unit, trajectory, order, location)
    bounded, partitions = attempt(
        lambda: _bounded(opened, columns, universe, cap),
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
            )
        )
    return TrajectoryDatabase.from_arrays(
        bounded.offsets, bounded.codes, universe, max_trajectories_per_unit=cap
    )


def _choose(
    source: Source,
    universe: Universe,
    unit: str | None,
    trajectory: str | None,
    order: str | None,
    location: str | None,
) -> Columns:
    columns = choose_columns(
        source.names,
        unit=unit,
        trajectory=trajectory,
        order=order,
        location=location,
        showable=source.showable(
            universe, [name for name in (unit, trajectory, order, location) if name]
        ),
    )
    if not source.is_list(columns.location):
        return columns
    if order is not None:
        raise ParameterError(
            f"The location column {columns.location[:80]!r} holds lists, which have an order of "
            "their own; leave the order column out."
        )
    return replace(columns, order=None)


def _bounded(
    source: Source, columns: Columns, universe: Universe, cap: int
) -> "tuple[BoundedTrajectories, Partitions]":
    """Read piece by piece, then bound bucket by bucket, each in threads."""
    from pathveil.raw.bounding import BoundedTrajectories, bound_contributions, join
    from pathveil.raw.partitioning import BUCKETS, PartitionedPiece, Partitions, partition
    from pathveil.raw.sources.encoding import encode, universe_codes

    known = universe_codes(universe)

    def read(piece: Callable[[], RawRows]) -> PartitionedPiece:
        return partition(encode(piece(), known))

    def bound(bucket: int) -> BoundedTrajectories:
        return bound_contributions(partitions.visits(bucket), cap)

    partitions = Partitions(list(in_threads(read, source.pieces(columns))))
    return join(list(in_threads(bound, range(BUCKETS)))), partitions
