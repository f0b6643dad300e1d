"""Time options from the command line: a public grid, and windows of it."""

from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from pathveil.cli import completion

if TYPE_CHECKING:
    from pathveil.model.time_grid import TimeGrid
    from pathveil.release.release import Release
    from pathveil.release.time_view import TimeView

_TIMES = "The times"

TimeColumn: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Column with the time of each visit, an ISO 8601 date and time; with --time-grid. "
        "It orders the visits too.",
        rich_help_panel=_TIMES,
    ),
]
GridText: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--time-grid",
        metavar="1h|15min|weekday-hour|FILE",
        help="Publish times in these public slots: of the day, of the week, or a CSV file of slot "
        "starts.",
        autocompletion=completion.one_of(completion.TIME_GRIDS),
        rich_help_panel=_TIMES,
    ),
]
Between: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="START-END",
        help="Only visits in this time window, such as 07:00-10:00 (every day) or 'Mon 07:00-Fri "
        "10:00'; the end is not part of it.",
    ),
]


def grid_for(time_column: str | None, time_grid: str | None, time_zone: str) -> "TimeGrid | None":
    """The time grid that a publisher asks for.

    Raises:
        ParameterError: if there is no such grid, or only one of column and grid is given.
    """
    from pathveil.errors import ParameterError
    from pathveil.model.time_grid import TimeGrid

    if (time_column is None) != (time_grid is None):
        raise ParameterError("Times need both --time-column and --time-grid; give both or none.")
    return None if time_grid is None else TimeGrid.parse(time_grid, time_zone)


def check_column(time_column: str | None, release: "Release") -> None:
    """The time column is named exactly if the release has times.

    Raises:
        ParameterError: if not.
    """
    from pathveil.errors import ParameterError

    if release.time_grid is not None and time_column is None:
        raise ParameterError("The release has times: name the column with --time-column.")
    if release.time_grid is None and time_column is not None:
        raise ParameterError("The release has no times: use --order-column, not --time-column.")


def within(release: "Release", window: str | None) -> "Release | TimeView":
    """The release, or its visits in a window."""
    return release if window is None else release.within(window)
