"""Read raw data for a command, and tell the curator (nobody else) what was dropped."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathveil.model.universe import Universe
    from pathveil.raw.database import TrajectoryDatabase
    from pathveil.raw.reading import ReadingReport


def read_for_curator(
    source: Path,
    universe: "Universe",
    *,
    unit: str | None,
    trajectory: str | None,
    order: str | None,
    location: str | None,
    max_trajectories_per_unit: int,
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
            max_trajectories_per_unit=max_trajectories_per_unit,
            report=_tell,
        )


def _tell(report: "ReadingReport") -> None:
    from pathveil.cli.console import stderr_console

    columns = report.columns
    console = stderr_console()
    console.print(
        f"Columns: unit {columns.unit!r}, trajectory {columns.trajectory!r}, "
        f"order {columns.order!r}, location {columns.location!r}.",
        highlight=False,
        markup=False,
    )
    dropped = {
        "malformed rows": report.malformed_rows,
        "visits outside the universe": report.visits_outside_universe,
        "trajectories over the cap per unit": report.trajectories_over_the_cap,
    }
    if any(dropped.values()):
        console.print("Dropped (exact numbers: for you alone, do not publish them):")
        for what, number in dropped.items():
            if number:
                console.print(f"  {number:,} {what} of {report.rows:,} rows", highlight=False)
