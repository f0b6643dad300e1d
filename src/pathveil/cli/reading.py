"""Read raw data for a command, and tell the curator (nobody else) what was dropped."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathveil.model.time_grid import TimeGrid
    from pathveil.model.universe import Universe
    from pathveil.raw.database import TrajectoryDatabase
    from pathveil.raw.reading import ReadingReport
    from pathveil.raw.sources.columns import Columns


def read_for_curator(
    source: str,
    universe: "Universe",
    *,
    unit: str | None,
    trajectory: str | None,
    order: str | None,
    location: str | None,
    latitude: str | None = None,
    longitude: str | None = None,
    split: str = "none",
    repeats: str = "auto",
    time_zone: str = "UTC",
    max_trajectories_per_unit: int,
    query: str | None = None,
    table: str | None = None,
    time: str | None = None,
    time_grid: "TimeGrid | None" = None,
) -> "TrajectoryDatabase":
    """`read_trajectories` with a progress bar; the exact drop counts go to stderr only."""
    from pathveil.cli.console import progress
    from pathveil.raw.reading import read_trajectories

    with progress("Reading"):
        return read_trajectories(
            source,
            universe,
            unit=unit,
            trajectory=trajectory,
            order=order,
            location=location,
            latitude=latitude,
            longitude=longitude,
            split=split,
            repeats=repeats,
            time_zone=time_zone,
            max_trajectories_per_unit=max_trajectories_per_unit,
            query=query,
            table=table,
            time=time,
            time_grid=time_grid,
            report=_tell,
        )


def check_there(source: str) -> None:
    """Refuse a file that can't be opened, without opening it. A server is not asked.

    Raises:
        InputError: if it is not there, is a folder, or may not be read.
    """
    import os

    from pathveil.errors import InputError
    from pathveil.raw.sources.databases.addresses import file_of

    path = file_of(source)
    if path is None:
        return
    try:
        readable = os.access(path, os.R_OK) and not path.is_dir()
    except ValueError:  # a NUL in it
        readable = False
    if not readable:
        raise InputError(f"Can't read {path}: it is not a file that you may read.")


def _where(columns: "Columns") -> str:
    if columns.location is not None:
        return f"location {columns.location!r}"
    return f"latitude {columns.latitude!r}, longitude {columns.longitude!r}"


def _tell(report: "ReadingReport") -> None:
    from pathveil.cli.console import stderr_console

    columns = report.columns
    console = stderr_console()
    console.print(
        f"Columns: unit {columns.unit!r}, trajectory {columns.trajectory!r}, "
        f"order {columns.order!r}, {_where(columns)}.",
        highlight=False,
        markup=False,
    )
    dropped = {
        "malformed rows": report.malformed_rows,
        "visits outside the universe (or the time grid)": report.visits_outside_universe,
        "trajectories over the cap per unit": report.trajectories_over_the_cap,
        "visits past the end of the time grid": report.visits_past_the_grid,
        "visits that repeat the one before": report.repeats_collapsed,
    }
    if any(dropped.values()):
        console.print("Dropped (exact numbers: for you alone, do not publish them):")
        for what, number in dropped.items():
            if number:
                console.print(f"  {number:,} {what} of {report.rows:,} rows", highlight=False)
