"""Options between a row and a trajectory: points, splitting and repeats. All of them are public."""

from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from pathveil.cli import completion

if TYPE_CHECKING:
    from pathveil.release.release import Release
    from pathveil.release.views import TimeView
    from pathveil.times.time_grid import TimeGrid
    from pathveil.universe.universe import Universe


_DATA, _PRIVACY = "The data", "The privacy"

LatitudeColumn: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Column with degrees north, instead of a location: points are placed in the cells of "
        "a grid: or h3: universe. Well-known names (lat, lng, latitude, longitude) are found.",
        rich_help_panel=_DATA,
    ),
]
LongitudeColumn: TypeAlias = Annotated[
    str | None,
    typer.Option(help="Column with degrees east.", rich_help_panel=_DATA),
]
Split: TypeAlias = Annotated[
    str,
    typer.Option(
        metavar="RULE",
        help="Split a unit's visits into trajectories by time: 'day', 'week' (Monday to Sunday), "
        "'gap:30min' (a new one after a longer pause; s, min, h or d); 'whole' makes one of all; "
        "'none' leaves them as the data has them.",
        autocompletion=completion.one_of(completion.SPLITS),
        rich_help_panel=_DATA,
    ),
]
Repeats: TypeAlias = Annotated[
    str,
    typer.Option(
        help="Consecutive visits to one location: 'keep' them, or 'collapse' them into one. "
        "'auto' collapses points and keeps named locations.",
        autocompletion=completion.one_of(completion.REPEATS),
        rich_help_panel=_DATA,
    ),
]
Keep: TypeAlias = Annotated[
    str,
    typer.Option(
        help="Of a unit with more trajectories than are used: keep the 'first' (by id or by time) "
        "or a random 'sample'.",
        autocompletion=completion.one_of(completion.KEEPS),
        rich_help_panel=_DATA,
    ),
]
Protect: TypeAlias = Annotated[
    str,
    typer.Option(
        "--protect",
        metavar="UNIT",
        help="Who is protected as one: a 'person' (all rows of one value of the unit column), a "
        "'person-week' or 'person-day' (those of a week, Monday to Sunday, or of a day), or a "
        "'trip' (one trajectory). A smaller unit promises less: a person who is there for a year "
        "is 52, 365 or some 500 of them, and has so many times ε.",
        autocompletion=completion.one_of(completion.PROTECTS),
        rich_help_panel=_PRIVACY,
    ),
]
UnitText: TypeAlias = Annotated[
    str,
    typer.Option(
        help="Ids of units that differ only in how they are written (7, 07, 7.0, +7, spaces, "
        "full-width digits) are one unit: 'normal'. With 'exact' every difference makes another "
        "unit, and a person who is written in two ways loses twice ε.",
        autocompletion=completion.one_of(completion.UNIT_TEXTS),
        rich_help_panel=_DATA,
    ),
]

Encoding: TypeAlias = Annotated[
    str,
    typer.Option(
        help="Encoding of a CSV file: 'utf-8', 'utf-16', 'windows-1252' (what Windows and Excel "
        "mostly write), 'latin-1' or another of one byte per character. It is never guessed from "
        "rows; --dry-run says how many rows are not text in it.",
        autocompletion=completion.one_of(completion.ENCODINGS),
        rich_help_panel=_DATA,
    ),
]
TimeFormat: TypeAlias = Annotated[
    str,
    typer.Option(
        metavar="FORMAT",
        help="How times are written: 'iso' (2026-03-02T07:58:10, and plain numbers), 'de' "
        "(02.03.2026 07:58), 'us' (3/2/2026 7:58 AM), 'uk' (02/03/2026 07:58), or a format such "
        "as '%d.%m.%Y %H:%M' in the letters of strptime.",
        autocompletion=completion.one_of(completion.TIME_FORMATS),
        rich_help_panel=_DATA,
    ),
]
DecimalComma: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--decimal-comma",
        help="Numbers have a comma before their decimals: 52,52 degrees.",
        rich_help_panel=_DATA,
    ),
]

SameUniverse: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--universe",
        "-u",
        metavar="UNIVERSE",
        help="The universe as it was given to `pathveil publish`: needed if the data has points, "
        "or ids that stand for stations.",
        rich_help_panel=_DATA,
    ),
]


def same_universe(where: str | None, release: "Release") -> "Universe":
    """The universe of a release, or the one it was made with, which knows cells and aliases.

    A grid is told whole by its description, which stands on the certificate.

    Raises:
        ParameterError: if the one that is given is not that of the release.
    """
    from pathveil.core.preparations import DISCOVER
    from pathveil.errors import ParameterError
    from pathveil.universe.universe import Universe

    released = release.locations
    origin = release.certificate.implementation.universe_origin
    if where is None and origin.startswith("grid:"):
        where = origin
    if where in (None, DISCOVER):  # what was discovered is public now
        return released
    given = Universe.read(where)
    if given != released:
        raise ParameterError("The universe that is given is not the one of the release.")
    return given


# Time options from the command line: a public grid, and windows of it.


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
    from pathveil.times.time_grid import TimeGrid

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
