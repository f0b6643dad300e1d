"""Options that several commands share, with the words that explain them."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from pathveil.cli import completion

if TYPE_CHECKING:
    from pathveil.universe.background import Background as BackgroundLines

_DATA, _PRIVACY, _OUTPUT = "The data", "The privacy", "The output"

Universe: TypeAlias = Annotated[
    str,
    typer.Option(
        "--universe",
        "-u",
        metavar="UNIVERSE",
        help="The public list of locations, never taken from the data. A CSV or Parquet file "
        "(column 'location', or the first one); gtfs:feed.zip or gtfs:stops.txt (gtfs-stations: "
        "for stations, gtfs-merged: for stations and the stops without one); "
        "grid:36x28:37.70,-122.52,37.82,-122.35 (rows, columns; south, west, north, east); "
        "h3:8:45.40,-73.98,45.70,-73.47 or h3:8:city.geojson (H3 cells that cover an area); "
        "codes:1..500 or codes:list.txt. If there is no such list: 'discover', with --delta, which "
        "names labels from the data, for a fifth of ε.",
        rich_help_panel=_DATA,
    ),
]
Taxonomy: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--taxonomy",
        metavar="TAXONOMY",
        help="The public zone of every location, so that what is too rare for a count of its own "
        "is counted by zone: a CSV or Parquet file with the columns 'location' and 'zone'; "
        "parent:1 (coarser cells of a grid: or h3: universe); gtfs:feed.zip (the station of each "
        "stop); grid:… or h3:… (the coarse cell in which each location lies).",
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
Query: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="For a database: one SELECT, read-only. It must choose rows by their own values and "
        "public ones: no LIMIT, no sampling, nothing that other people's rows decide.",
        rich_help_panel=_DATA,
    ),
]
Table: TypeAlias = Annotated[
    str | None,
    typer.Option(help="For a database: all rows of this table.", rich_help_panel=_DATA),
]
Snapshot: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="N|NAME",
        help="For delta:PLACE and iceberg:NAMESPACE.TABLE: an old state of the table, instead of "
        "its newest. The number of a Delta table's version, such as 3; or the id, a tag or a "
        "branch of an Iceberg snapshot. One that is not there is refused before anything is "
        "charged.",
        rich_help_panel=_DATA,
    ),
]
TimeZone: TypeAlias = Annotated[
    str,
    typer.Option(
        "--time-zone",
        help="IANA name of the public time zone whose wall clock decides, such as "
        "America/Montreal.",
        autocompletion=completion.time_zones,
        rich_help_panel=_DATA,
    ),
]
MaxTrajectories: TypeAlias = Annotated[
    str,
    typer.Option(
        "--trips",
        "--max-trajectories-per-unit",
        "-c",
        metavar="N|auto",
        help="Use at most this many trajectories of each unit; the noise grows with it. 'auto' "
        "spends 1/25 of ε on choosing it, from noisy counts of how many trips people make.",
        autocompletion=completion.one_of(completion.HEIGHTS),
        rich_help_panel=_PRIVACY,
    ),
]


def trips_of(text: str) -> int | str:
    """C as it was typed: a number, or 'auto'.

    Raises:
        ParameterError: if it is neither.
    """
    from pathveil.raw.database import check_max_trajectories

    if text == "auto":
        return text
    return check_max_trajectories(int(text) if text.isascii() and text.isdigit() else text)


Epsilon: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--epsilon",
        "-e",
        help="Total privacy budget of a unit, an exact number such as 1, 0.5 or 1/3. Required, or "
        "--epsilon-per-trip instead.",
        rich_help_panel=_PRIVACY,
    ),
]
EpsilonPerTrip: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="ε for each trajectory that is used, instead of --epsilon: that of a unit is c times "
        "as much. It protects one trip by itself only if its unit has at most c of them.",
        rich_help_panel=_PRIVACY,
    ),
]
Delta: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="A probability, such as 1e-9: the promise is then (ε, δ). With a public universe "
        "'calibrated' adds Gaussian noise, which is smaller than that of pure ε. With --universe "
        "discover: the probability that a label which one unit alone visits is published.",
        rich_help_panel=_PRIVACY,
    ),
]
Rho: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Instead of --epsilon, with --delta: the budget as ρ of zero-concentrated "
        "differential privacy, such as 0.015; ε is what follows from it at δ.",
        rich_help_panel=_PRIVACY,
    ),
]
Height: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--height",
        help="For 'full' and 'basic': the height of the prefix tree, where trajectories are cut; 6 "
        "to 12 suits most data, and 'auto' spends a twentieth of ε on choosing it. 'calibrated' "
        "needs none: it plans how much of a trajectory each table looks at, and a number here is "
        "only the most that it may.",
        autocompletion=completion.one_of(completion.HEIGHTS),
        rich_help_panel=_PRIVACY,
    ),
]
Method: TypeAlias = Annotated[
    str,
    typer.Option(
        help="'calibrated' (measures more than the paper's tree, and calibrates to it: several "
        "times more accurate), 'full' (the paper's, with constrained inference) or 'basic' (the "
        "paper's noisy counts as they are).",
        autocompletion=completion.one_of(completion.METHODS),
        rich_help_panel=_PRIVACY,
    ),
]
DEFAULT_METHOD = "calibrated"
Purpose: TypeAlias = Annotated[
    str,
    typer.Option(
        "--for",
        metavar="PURPOSE",
        help="What 'calibrated' is to be good at: 'everything', 'stops' (how many visit each "
        "location), 'flows' (who goes from where to where), 'patterns' (frequent journeys) or "
        "'hours' (when; with times). It shifts budget between the tables; ε and the promise stay "
        "the same, and all other questions can still be asked.",
        autocompletion=completion.one_of(completion.PURPOSES),
        rich_help_panel=_PRIVACY,
    ),
]
DEFAULT_PURPOSE = "everything"
Threshold: TypeAlias = Annotated[
    str,
    typer.Option(
        help="Smallest noisy count that is kept: 'auto' (few invented paths), 'paper' "
        "(two standard deviations) or a whole number.",
        autocompletion=completion.one_of(completion.THRESHOLDS),
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


BUDGET = ("epsilon", "epsilon_per_trip", "delta", "rho")
"""Those of `PrivacyOptions` that say what is spent."""


@dataclass(frozen=True, slots=True)
class PrivacyOptions:
    """What is spent and on what, by the names of `Request.choose`. c is part of the reading."""

    epsilon: Epsilon = None
    epsilon_per_trip: EpsilonPerTrip = None
    delta: Delta = None
    rho: Rho = None
    purpose: Purpose = DEFAULT_PURPOSE
    method: Method = DEFAULT_METHOD
    height: Height = None
    threshold: Threshold = "auto"
    max_nodes: MaxNodes = 20_000_000


All: TypeAlias = Annotated[
    bool,
    typer.Option("--all", help="Also show what can't be told from noise; without, it is left out."),
]
Json: TypeAlias = Annotated[
    bool,
    typer.Option("--json", help="Print JSON for scripts.", rich_help_panel=_OUTPUT),
]
Bundle: TypeAlias = Annotated[
    Path, typer.Argument(metavar="DIR", help="A release bundle.", show_default=False)
]
LedgerAddress: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--ledger",
        metavar="FILE|URL",
        envvar="PATHVEIL_LEDGER",
        help="The ledger: a file, or postgresql://user@host/database (keep passwords in PGPASSWORD "
        "or a password file). Default: ~/.local/share/pathveil/ledger.db.",
    ),
]
Background: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--background",
        metavar="FILE",
        help="Public lines under the maps: a GeoJSON file (rails, rivers, borders), or a GTFS "
        "feed. With --universe gtfs:feed.zip the lines of the feed, unless 'none'.",
        rich_help_panel=_OUTPUT,
    ),
]


def background_for(given: str | None, universe: str) -> "BackgroundLines":
    """The lines that are asked for, or those of the feed that the universe is from.

    Raises:
        UniverseError: if they can't be read.
    """
    from pathveil.universe.background import Background

    if given == "none":
        return Background()
    if given is not None:
        return Background.read(given)
    scheme, _, path = universe.partition(":")
    if scheme.startswith("gtfs") and path.lower().endswith(".zip"):
        return Background.of_feed(Path(path))
    return Background()
