"""Options that several commands share, with the words that explain them."""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

_DATA, _PRIVACY, _OUTPUT = "The data", "The privacy", "The output"

Universe: TypeAlias = Annotated[
    Path,
    typer.Option(
        "--universe",
        "-u",
        help="CSV or Parquet file with the public list of locations (column 'location', or the "
        "first one). It is public: a stop list, a grid, never taken from the data.",
        rich_help_panel=_DATA,
    ),
]
UnitColumn: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Column that says whose row it is: the person or card to protect. Required unless "
        "it has a well-known name (uid, user_id, token_id).",
        rich_help_panel=_DATA,
    ),
]
TrajectoryColumn: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Column that tells a unit's trajectories apart (a week, a trip). Without one, all "
        "rows of a unit are one trajectory.",
        rich_help_panel=_DATA,
    ),
]
OrderColumn: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Column that orders the visits: a number or an ISO 8601 time. Without one, the "
        "order of the rows.",
        rich_help_panel=_DATA,
    ),
]
LocationColumn: TypeAlias = Annotated[
    str | None,
    typer.Option(help="Column with the location's label.", rich_help_panel=_DATA),
]
MaxTrajectories: TypeAlias = Annotated[
    int,
    typer.Option(
        "--max-trajectories-per-unit",
        "-c",
        help="Use at most this many trajectories of each unit. The noise grows with it.",
        rich_help_panel=_PRIVACY,
    ),
]
Epsilon: TypeAlias = Annotated[
    str,
    typer.Option(
        "--epsilon",
        "-e",
        help="Total privacy budget, an exact number such as 1, 0.5 or 1/3.",
        rich_help_panel=_PRIVACY,
    ),
]
Height: TypeAlias = Annotated[
    int,
    typer.Option(
        "--height",
        help="Height of the prefix tree: trajectories are cut after this many locations. "
        "10 to 16 suits most data.",
        rich_help_panel=_PRIVACY,
    ),
]
Method: TypeAlias = Annotated[
    str,
    typer.Option(
        help="'full' (the paper's, with constrained inference), 'basic' (the noisy counts as they "
        "are) or 'calibrated' (measures more than the tree, and calibrates to it).",
        rich_help_panel=_PRIVACY,
    ),
]
Threshold: TypeAlias = Annotated[
    str,
    typer.Option(
        help="Smallest noisy count that is kept: 'auto' (few invented paths), 'paper' "
        "(two standard deviations) or a whole number.",
        rich_help_panel=_PRIVACY,
    ),
]
MaxNodes: TypeAlias = Annotated[
    int,
    typer.Option(
        help="Refuse parameters whose expected tree is larger than this.",
        rich_help_panel=_PRIVACY,
    ),
]
Json: TypeAlias = Annotated[
    bool,
    typer.Option("--json", help="Print JSON for scripts.", rich_help_panel=_OUTPUT),
]
Bundle: TypeAlias = Annotated[
    Path, typer.Argument(metavar="DIR", help="A release bundle.", show_default=False)
]
