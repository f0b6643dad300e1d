"""``pathveil publish``: raw trajectories in, a private release out."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pathveil.cli import options

if TYPE_CHECKING:
    from pathveil.model.parameters import Parameters
    from pathveil.raw.database import TrajectoryDatabase
    from pathveil.release.release import Release


def publish(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="INPUT",
            help="CSV or Parquet file: one row per visit, or one row per trajectory with a list "
            "of locations.",
            show_default=False,
        ),
    ],
    universe: options.Universe,
    epsilon: options.Epsilon,
    height: options.Height,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            help="Folder for the release bundle; it must not exist yet.",
            rich_help_panel="The output",
        ),
    ],
    unit_column: options.UnitColumn = None,
    trajectory_column: options.TrajectoryColumn = None,
    order_column: options.OrderColumn = None,
    location_column: options.LocationColumn = None,
    max_trajectories_per_unit: options.MaxTrajectories = 1,
    method: options.Method = "full",
    threshold: options.Threshold = "auto",
    max_nodes: options.MaxNodes = 20_000_000,
    csv: Annotated[
        bool,
        typer.Option(
            "--csv",
            help="Also write the trajectories as CSV.",
            rich_help_panel="The output",
        ),
    ] = False,
    json: options.Json = False,
) -> None:
    """Publish trajectories under ε-differential privacy.

    Reads the data once, spends exactly ε on it, and writes a bundle that anybody may see. The
    universe, the height and the threshold are public choices: make them without looking at the
    data (`pathveil plan` helps).

    Example: `pathveil publish taps.csv --universe stops.csv --unit-column card_id
    --order-column tapped_at --location-column stop --epsilon 1 --height 12 --out release`
    """
    from pathveil.cli.console import progress
    from pathveil.cli.reading import read_for_curator
    from pathveil.cli.summary import print_summary
    from pathveil.model.parameters import Parameters
    from pathveil.model.universe import Universe
    from pathveil.release.bundle import check_free

    # All that can be refused is refused before a row is read.
    check_free(out)
    locations = Universe.read(universe)
    parameters = Parameters.choose(
        epsilon=epsilon,
        height=height,
        universe_size=len(locations),
        threshold=threshold,
        method=method,
        max_trajectories_per_unit=max_trajectories_per_unit,
        max_nodes=max_nodes,
    )
    database = read_for_curator(
        source,
        locations,
        unit=unit_column,
        trajectory=trajectory_column,
        order=order_column,
        location=location_column,
        max_trajectories_per_unit=max_trajectories_per_unit,
    )
    release = publish_with_progress(database, parameters)
    with progress("Writing"):
        release.write(out, csv=csv)
    print_summary(release, out, json=json)


def publish_with_progress(database: "TrajectoryDatabase", parameters: "Parameters") -> "Release":
    """Publish with a bar that counts levels."""
    from pathveil.cli.console import progress
    from pathveil.mechanism.randomness import Randomness
    from pathveil.publishing import publish_with

    with progress("Growing the noisy prefix tree", total=parameters.height) as done:
        return publish_with(database, parameters, Randomness(), lambda level, _height: done(level))
