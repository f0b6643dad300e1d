"""Options between a row and a trajectory: points, splitting and repeats. All of them are public."""

from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from pathveil.cli import completion

if TYPE_CHECKING:
    from pathveil.model.universe import Universe

_DATA = "The data"

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


def same_universe(where: str | None, released: "Universe") -> "Universe":
    """The universe of a release, or the one it was made with, which knows cells and aliases.

    Raises:
        ParameterError: if the one that is given is not that of the release.
    """
    from pathveil.errors import ParameterError
    from pathveil.model.label_discovery import DISCOVER
    from pathveil.model.universe import Universe

    if where in (None, DISCOVER):  # what was discovered is public now
        return released
    given = Universe.read(where)
    if given != released:
        raise ParameterError("The universe that is given is not the one of the release.")
    return given


def check_trip_rules(
    split: str, time_zone: str, repeats: str, keep: str = "first", unit_text: str = "normal"
) -> None:
    """Refuse rules that can't be used, before anything is charged or read.

    Raises:
        ParameterError: if one can't.
    """
    from pathveil.model.trip_rules import TripRules

    TripRules.choose(
        split=split,
        time_zone=time_zone,
        repeats=repeats,
        by_point=False,
        keep=keep,
        unit_text=unit_text,
    )
