"""Read raw data for a command, and tell the curator (nobody else) what was dropped."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pathveil.cli.options import shared, trips

if TYPE_CHECKING:
    from rich.console import Console

    from pathveil.raw.database import TrajectoryDatabase
    from pathveil.raw.inspection import Findings
    from pathveil.raw.reading import ReadingReport, Report
    from pathveil.raw.reading_plan import Reading
    from pathveil.raw.sources.columns import Columns
    from pathveil.times.time_grid import TimeGrid
    from pathveil.universe.universe import Universe


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """How rows become trajectories, as the command line asks for it; see `Reading`.

    The time grid and c are not among them: whoever publishes chooses them, and whoever looks at a
    release finds them there.
    """

    unit_column: shared.UnitColumn = None
    unit_text: trips.UnitText = "normal"
    protect: trips.Protect = "person"
    trajectory_column: shared.TrajectoryColumn = None
    order_column: shared.OrderColumn = None
    location_column: shared.LocationColumn = None
    latitude_column: trips.LatitudeColumn = None
    longitude_column: trips.LongitudeColumn = None
    split: trips.Split = "none"
    repeats: trips.Repeats = "auto"
    keep: trips.Keep = "first"
    time_column: trips.TimeColumn = None
    time_zone: shared.TimeZone = "UTC"
    encoding: trips.Encoding = "utf-8"
    time_format: trips.TimeFormat = "iso"
    decimal_comma: trips.DecimalComma = False
    query: shared.Query = None
    table: shared.Table = None
    snapshot: shared.Snapshot = None

    def reading(
        self, time_grid: "TimeGrid | None", max_trajectories_per_unit: int | str = 1
    ) -> "Reading":
        """The value that all the rest of the program reads by.

        Raises:
            ParameterError: if a choice can't be used; nothing was opened.
        """
        from pathveil.raw.reading_plan import Reading

        return Reading(
            unit=self.unit_column,
            trajectory=self.trajectory_column,
            order=self.order_column,
            location=self.location_column,
            latitude=self.latitude_column,
            longitude=self.longitude_column,
            split=self.split,
            repeats=self.repeats,
            time_zone=self.time_zone,
            time=self.time_column,
            time_grid=time_grid,
            max_trajectories_per_unit=max_trajectories_per_unit,
            keep=self.keep,
            unit_text=self.unit_text,
            protect=self.protect,
            encoding=self.encoding,
            time_format=self.time_format,
            decimal_comma=self.decimal_comma,
            query=self.query,
            table=self.table,
            snapshot=self.snapshot,
        )


def read_for_curator(source: str, universe: "Universe", reading: "Reading") -> "TrajectoryDatabase":
    """`read_trajectories` with a progress bar; the exact drop counts go to stderr only."""
    from pathveil.raw.reading import read

    with tell_reading(timed=reading.time_grid is not None, is_compared=True) as report:
        return read(source, universe, reading, report)


@contextmanager
def tell_reading(
    *, timed: bool, universe: "Universe | None" = None, is_compared: bool = False
) -> "Iterator[Report]":
    """A bar while the block reads; then the exact drop counts, on stderr only.

    They are said when the bar is gone, which would share its line with them.

    Args:
        timed: with a time grid.
        universe: the public locations, which unknown ones may be misspelled names of.
        is_compared: with a release; nothing is published then.
    """
    from pathveil.cli.console import reported_progress, stderr_console

    reports: list[ReadingReport] = []
    with reported_progress("Reading"):
        yield reports.append
    for report in reports:
        _tell(report, stderr_console(), timed=timed, universe=universe, is_compared=is_compared)


def check_there(source: str) -> None:
    """Refuse a file that can't be opened, without opening it. A server is not asked.

    Raises:
        InputError: if it is not there, is a folder without Parquet files, or may not be read.
    """
    import os

    from pathveil.errors import InputError
    from pathveil.raw.sources.databases.addresses import file_of
    from pathveil.raw.sources.opening import parquet_files

    path = file_of(source)
    if path is None:
        return
    try:
        files = parquet_files(path) or [path]
        readable = all(os.access(file, os.R_OK) and not file.is_dir() for file in files)
    except InputError:
        raise
    except (OSError, ValueError):  # a NUL in it
        readable = False
    if not readable:
        raise InputError(f"Can't read {path}: it is not a file that you may read.")


def _where(columns: "Columns") -> str:
    if columns.location is not None:
        return f"location {columns.location!r}"
    return f"latitude {columns.latitude!r}, longitude {columns.longitude!r}"


def _tell(
    report: "ReadingReport",
    console: "Console",
    *,
    timed: bool,
    universe: "Universe | None",
    is_compared: bool,
) -> None:
    columns = report.columns
    named = (("trajectory", columns.trajectory), ("order", columns.order))
    others = "".join(f"{role} {name!r}, " for role, name in named if name is not None)
    own = "; no order column: that of the rows, or of a list, counts"
    unordered = own if columns.order is None else ""
    console.print(
        f"Columns: unit {columns.unit!r}, {others}{_where(columns)}{unordered}.",
        highlight=False,
        markup=False,
    )
    if report.findings is not None:
        rows = _findings(report, report.findings, timed=timed, universe=universe)
        _print_findings(rows, console)
    else:
        _tell_dropped(report, console, timed=timed)
    for advice in _advice(report, is_compared=is_compared):
        console.print(advice, highlight=False, markup=False, soft_wrap=True)


def _one(what: str, number: int) -> str:
    """The word for things that are counted, if there is one of them."""
    for many, one in (("rows", "row"), ("visits", "visit"), ("trajectories", "trajectory")):
        what = what.replace(many, one, 1) if number == 1 else what
    return what


def _tell_dropped(report: "ReadingReport", console: "Console", *, timed: bool) -> None:
    dropped = {
        "malformed rows": report.malformed_rows,
        f"visits outside the universe{' or the time grid' if timed else ''}": (
            report.visits_outside_universe
        ),
        "trajectories over the cap per unit": report.trajectories_over_the_cap,
        "visits past the end of the time grid": report.visits_past_the_grid,
        "visits that repeat the one before": report.repeats_collapsed,
    }
    if any(dropped.values()):
        console.print("Dropped (exact numbers: for you alone, do not publish them):")
        for what, number in dropped.items():
            if number:
                of = f"of {report.rows:,} rows"
                console.print(f"  {number:,} {_one(what, number)} {of}", highlight=False)
    else:
        console.print("No row was dropped.", highlight=False)
    if report.unit_forms_merged:
        console.print(
            f"Units are written in {report.unit_forms_merged:,} forms too many (such as 7, 07 and "
            "7.0): each was taken for the unit that it is a form of. --unit-text exact does not.",
            highlight=False,
            soft_wrap=True,
        )


def _print_findings(rows: Iterable[tuple[str, str, str, str]], console: "Console") -> None:
    """One table: what is used, what is dropped and why. Each number says what it counts."""
    from rich.table import Table

    from pathveil.cli.console import visible

    table = Table(title="What a run would read: exact numbers, for you alone", title_justify="left")
    table.add_column("")
    table.add_column("", justify="right")
    table.add_column("of what")
    table.add_column("where", overflow="fold")
    for what, number, kind, where in rows:
        table.add_row(visible(what), number, kind, visible(where))
    console.print(table, highlight=False, markup=False)


def _findings(
    report: "ReadingReport", findings: "Findings", *, timed: bool, universe: "Universe | None"
) -> "Iterator[tuple[str, str, str, str]]":
    from pathveil.errors import did_you_mean

    known = () if universe is None else universe.labels
    yield "read", f"{report.rows:,}", "rows", ""
    for trouble in findings.troubles:
        column = "" if trouble.column is None else f"{trouble.column!r} "
        more = ", …" if trouble.rows > len(trouble.first) else ""
        places = ", ".join(f"{number:,}" for number in trouble.first) + more
        what = f"malformed: {column}{trouble.reason}"
        yield what, f"{trouble.rows:,}", "rows", f"at {places}"
    told = sum(trouble.rows for trouble in findings.troubles)
    if report.malformed_rows > told:
        yield "malformed: items of lists", f"{report.malformed_rows - told:,}", "items", ""
    unknown = sum(number for _, number in findings.unknown)
    for label, number in findings.unknown:
        near = did_you_mean(label, known).strip()
        yield f"not in the universe: {label[:60]!r}", f"{number:,}", "visits", near
    if findings.unknown_labels > len(findings.unknown):
        others = findings.unknown_labels - len(findings.unknown)
        yield f"not in the universe: {others:,} further labels", "", "", ""
    rest = report.visits_outside_universe - unknown
    if rest and findings.unknown_labels <= len(findings.unknown):
        yield (
            f"outside the {'time grid or the ' if timed else ''}universe",
            f"{rest:,}",
            "visits",
            "",
        )
    for what, number, kind in (
        ("over the cap per unit", report.trajectories_over_the_cap, "trajectories"),
        ("past the end of the time grid", report.visits_past_the_grid, "visits"),
        ("repeat the visit before", report.repeats_collapsed, "visits"),
        ("occur twice: kept", findings.twice, "visits"),
        ("further forms of ids (7, 07, 7.0): merged", report.unit_forms_merged, "ids"),
    ):
        if number:
            yield what, f"{number:,}", kind, ""
    yield "used", f"{findings.visits:,}", "visits", ""
    yield "used", f"{findings.trajectories:,}", "trajectories", ""
    yield "used", f"{findings.units:,}", "units", ""
    if findings.period is not None:
        yield "from", _moment(findings.period[0]), "", ""
        yield "to", _moment(findings.period[1]), "", ""


def _moment(seconds: int) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M")


def _advice(report: "ReadingReport", *, is_compared: bool) -> "Iterator[str]":
    """What to look at when much was dropped; as exact as the numbers, and for the same eyes."""
    if report.unreadable_orders:
        form = report.columns.written.time_format
        wanted = (
            "neither a number nor an ISO 8601 time, such as 2026-03-02T07:58:10; --time-format de, "
            "us or uk reads 02.03.2026 07:58, 3/2/2026 7:58 AM or 02/03/2026 07:58"
            if form is None
            else f"no time in the format {form.name}"
        )
        rows = _one("rows", report.unreadable_orders)
        yield f"{report.unreadable_orders:,} {rows}: {report.columns.order!r} is {wanted}."
    if report.findings is not None:
        yield from _advice_on_text(report.findings)
    outside = report.visits_outside_universe
    if 2 * outside > report.rows:
        yield (
            "Most visits are outside the universe: does it spell its labels as the data does "
            "(capitals, leading zeros, an id and not a name)?"
        )
    if 0 < report.rows <= report.malformed_rows + outside:
        if is_compared:
            yield "No visit is left."
        elif report.findings is not None:
            yield "No visit is left: a run would be charged for an empty release."
        else:
            yield "No visit is left: the release is empty. --dry-run says why, and costs nothing."


def _advice_on_text(findings: "Findings") -> "Iterator[str]":
    from pathveil.raw.inspection import NO_DEGREES, NO_TEXT

    spoiled = dict.fromkeys((NO_TEXT, NO_DEGREES), 0)
    for trouble in findings.troubles:
        if trouble.reason in spoiled:
            spoiled[trouble.reason] += trouble.rows
    if spoiled[NO_TEXT]:
        yield (
            f"{spoiled[NO_TEXT]:,} rows are no text in this encoding: if Windows or Excel wrote "
            "the file, try --encoding windows-1252."
        )
    if spoiled[NO_DEGREES]:
        yield (
            f"{spoiled[NO_DEGREES]:,} rows have no degrees: if decimals stand behind a comma, try "
            "--decimal-comma."
        )
