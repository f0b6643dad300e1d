"""Read raw trajectories: a file or a table in, a bounded trajectory database out.

This module is cheap to import; what does the work is imported when it is called.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from pathveil.progress_reports import portion, report_progress
from pathveil.raw.database import TrajectoryDatabase
from pathveil.raw.reading_plan import Reading, ReadingPlan, check_universe
from pathveil.raw.sources.columns import Columns
from pathveil.raw.sources.opening import open_source
from pathveil.raw.sources.raw_rows import RawRows, Source, attempt
from pathveil.threads import in_threads
from pathveil.universe.universe import Universe

_READING = 0.7  # of the time, the rest is bounding; about

if TYPE_CHECKING:
    from pathveil.raw.bounding import BoundedTrajectories
    from pathveil.raw.inspection import Findings
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
        unreadable_orders: how many of these have an order that is no number and no ISO 8601 time.
        visits_outside_universe: visits dropped because the universe lacks their location.
        trajectories_over_the_cap: trajectories dropped because their unit has more than c.
        repeats_collapsed: visits that were dropped because they repeat the one before.
        visits_past_the_grid: visits cut off because their trajectory outlasts the time grid.
        unit_forms_merged: in how many further forms units' ids are written (``7`` and ``07``); each
            was taken for the unit it is a form of.
        findings: more of it, after a rehearsal; else None.
    """

    columns: Columns
    rows: int
    malformed_rows: int
    visits_outside_universe: int
    trajectories_over_the_cap: int
    repeats_collapsed: int = 0
    visits_past_the_grid: int = 0
    unreadable_orders: int = 0
    unit_forms_merged: int = 0
    findings: "Findings | None" = None

    def __repr__(self) -> str:
        return "ReadingReport(<private>)"


Report: TypeAlias = Callable[[ReadingReport], None]


def read_trajectories(
    source: Any,
    universe: Universe | Literal["discover"],
    *,
    report: Report | None = None,
    **reading: Any,
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
            DuckDB or SQLite file (``duckdb:FILE``, ``sqlite:FILE``); or a table that keeps its
            history: ``delta:PLACE``, ``iceberg:NAMESPACE.TABLE``.
        universe: the public universe; or "discover" if there is none, which takes every label
            that occurs. Publishing then spends a share of ε and a δ on naming labels.
        report: called once with what was read and dropped. For the curator's eyes only.
        **reading: the columns and rules, by the names that `pathveil.Reading` has and explains:
            ``unit`` (required), ``trajectory``, ``order``, ``location``, ``latitude`` and
            ``longitude``; ``split``, ``time_zone``, ``repeats``, ``time``, ``time_grid``;
            ``max_trajectories_per_unit``, ``keep``, ``keep_seed``, ``unit_text``; ``encoding``,
            ``time_format`` and ``decimal_comma``; ``query`` and ``table`` of a database;
            ``snapshot`` of a Delta or Iceberg table.

    Raises:
        ParameterError: if a choice or a column is unknown or ambiguous, or no unit column is
            given.
        InputError: if the source can't be read. The message never quotes a value of it.
    """
    return read(source, universe, Reading.of(reading), report)


def read(
    source: Any,
    universe: Universe | str,
    reading: Reading,
    report: Report | None = None,
    *,
    inspect: bool = False,
) -> TrajectoryDatabase:
    """`read_trajectories`, by a value that has all choices; ``inspect`` has more to report."""
    check_universe(universe)
    opened = open_source(source, **reading.whereabouts)
    plan = ReadingPlan.of(opened, universe, reading)
    plan = plan.inspected() if inspect else plan
    bounded, partitions, locations = attempt(
        lambda: _bounded(opened, plan), f"The rows of {opened.label} can't be read."
    )
    if report is not None:
        report(
            ReadingReport(
                columns=plan.columns,
                rows=partitions.rows,
                malformed_rows=partitions.malformed,
                visits_outside_universe=partitions.outside,
                trajectories_over_the_cap=bounded.over_the_cap,
                repeats_collapsed=bounded.repeats,
                visits_past_the_grid=bounded.past_the_grid,
                unreadable_orders=partitions.unordered,
                unit_forms_merged=bounded.merged_forms,
                findings=None if plan.inspection is None else plan.inspection.findings(),
            )
        )
    # How many pairs a private universe makes is nobody's business: it is not checked.
    wrap = TrajectoryDatabase.from_arrays if locations is plan.universe else TrajectoryDatabase
    return replace(
        wrap(
            bounded.offsets,
            bounded.codes,
            locations,
            max_trajectories_per_unit=plan.max_trajectories_per_unit,
            rules=tuple(plan.rules.sentences()),
            time_grid=plan.time_grid,
        ),
        trips=bounded.trips,
        trips_are_open=plan.trips_are_open,
    )


def _bounded(
    source: Source, plan: ReadingPlan
) -> "tuple[BoundedTrajectories, Partitions, Universe]":
    """Read piece by piece, then bound bucket by bucket, each in threads."""
    from pathveil.raw.bounding import BoundedTrajectories, join
    from pathveil.raw.observed import LabelCollector
    from pathveil.raw.partitioning import BUCKETS, PartitionedPiece, Partitions, partition
    from pathveil.raw.steps import VisitSteps

    steps = VisitSteps.of(plan)
    labels = LabelCollector(steps.times, exact_units=plan.rules.exact_units)
    is_open = isinstance(plan.universe, str)

    def read(piece: Callable[[], RawRows]) -> PartitionedPiece:
        rows = steps.with_instants(piece())
        return partition(labels.encode(rows) if is_open else steps.encode(rows))

    def bound(bucket: int) -> BoundedTrajectories:
        visits = partitions.visits(bucket, hashed=steps.is_sample)
        if code_of is not None:
            visits = replace(visits, location=code_of[visits.location])
        return steps.bound(visits, size)

    with portion(0, _READING):
        partitions = Partitions(list(in_threads(read, plan.pieces(source))))
    code_of = labels.codes() if is_open else None
    size = len(plan.universe) if code_of is None else len(code_of)
    parts = []
    for part in in_threads(bound, range(BUCKETS)):
        parts.append(part)
        with portion(_READING, 1):
            report_progress(len(parts), BUCKETS)
    bounded = join(parts)
    if isinstance(plan.universe, Universe):
        return bounded, partitions, plan.universe
    bounded, observed = labels.introduced(bounded)
    return bounded, partitions, observed
