"""``pathveil publish``: raw trajectories in, a private release out."""

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from pathveil.cli import aftermath, completion, engines, options, signing, times, trip_options
from pathveil.cli.universe import read_universe

if TYPE_CHECKING:
    from pathveil.ledger.charges import Charge
    from pathveil.model.parameters import Parameters
    from pathveil.raw.engines import Engine, Trajectories
    from pathveil.release.release import Release

_MEASURING = 0.3  # of the time of a calibrated release, about; the rest is synthesis


def publish(
    source: Annotated[
        str,
        typer.Argument(
            metavar="INPUT",
            help="CSV or Parquet file, or a folder or pattern of Parquet files: one row per visit, "
            "or one row per trajectory with a list of locations. Or a database: postgresql://…, "
            "or a DuckDB or SQLite file.",
            show_default=False,
        ),
    ],
    universe: options.Universe,
    height: options.Height,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Folder for the release bundle; it must not exist yet. Only --dry-run does "
            "without.",
            rich_help_panel="The output",
            show_default=False,
        ),
    ] = None,
    epsilon: options.Epsilon = None,
    epsilon_per_trip: options.EpsilonPerTrip = None,
    taxonomy: options.Taxonomy = None,
    unit_column: options.UnitColumn = None,
    unit_text: trip_options.UnitText = "normal",
    trajectory_column: options.TrajectoryColumn = None,
    order_column: options.OrderColumn = None,
    location_column: options.LocationColumn = None,
    latitude_column: trip_options.LatitudeColumn = None,
    longitude_column: trip_options.LongitudeColumn = None,
    split: trip_options.Split = "none",
    repeats: trip_options.Repeats = "auto",
    time_column: times.TimeColumn = None,
    time_grid: times.GridText = None,
    time_zone: options.TimeZone = "UTC",
    query: options.Query = None,
    table: options.Table = None,
    max_trajectories_per_unit: options.MaxTrajectories = 1,
    keep: trip_options.Keep = "first",
    delta: options.Delta = None,
    method: options.Method = options.DEFAULT_METHOD,
    threshold: options.Threshold = "auto",
    max_nodes: options.MaxNodes = 20_000_000,
    dataset: Annotated[
        str | None,
        typer.Option(
            help="Charge ε to this dataset of the ledger, before the data is opened, and refuse "
            "a run over its limit. The name is printed on the certificate.",
            autocompletion=completion.ledger_datasets,
            rich_help_panel="The ledger",
        ),
    ] = None,
    population: Annotated[
        str | None,
        typer.Option(
            help="The data is about this declared population of the dataset only.",
            rich_help_panel="The ledger",
        ),
    ] = None,
    ledger: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|URL",
            envvar="PATHVEIL_LEDGER",
            help="The ledger: a file or postgresql://user@host/database. Default: "
            "~/.local/share/pathveil/ledger.db.",
            rich_help_panel="The ledger",
        ),
    ] = None,
    engine: engines.EngineName = "auto",
    memory: engines.Memory = "2GB",
    spill: engines.Spill = None,
    master: engines.Master = None,
    sign_key: signing.SignKey = None,
    signer: signing.SignerName = None,
    csv: Annotated[
        bool,
        typer.Option(
            "--csv",
            help="Also write the trajectories as CSV.",
            rich_help_panel="The output",
        ),
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Read the data and say what would be dropped, exact numbers for you alone. "
            "Publishes nothing and charges nothing. Who chooses ε, the height or c by them has "
            "looked at the data, and no certificate covers that.",
            rich_help_panel="The ledger",
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

    With zones, where the counts of single stops are small: `--method full --taxonomy zones.csv`,
    a file with the columns location and zone.

    With times: `--time-column tapped_at --time-grid 1h --time-zone America/Montreal` instead of
    the order column.

    People with many trips: `--trajectory-column trip -c 10 --keep sample`, and `--epsilon-per-trip
    0.1` if ε is to be given for each that is used (docs/people.md).

    Without a public list of locations: `--universe discover --delta 1e-9`.

    More data than memory: `--engine duckdb --memory 2GB --spill /var/tmp`, and INPUT may be a
    folder or a pattern of Parquet files (docs/engines.md).
    """
    from pathveil.cli.charging import account_for, charged, check_named
    from pathveil.cli.console import reported_progress
    from pathveil.cli.reading import read_with
    from pathveil.cli.rehearsal import rehearse
    from pathveil.cli.summary import print_summary
    from pathveil.cli.taxonomies import zones_for
    from pathveil.errors import ParameterError
    from pathveil.model.budget import Budget
    from pathveil.model.label_discovery import DISCOVER
    from pathveil.model.parameters import Parameters
    from pathveil.model.universe import Universe
    from pathveil.raw.engines import Engine
    from pathveil.raw.sources.databases.addresses import check_request
    from pathveil.release.staging import check_free, reserve

    # All that can be refused is refused before a row is read.
    if out is not None:
        check_free(out)
    elif not dry_run:
        raise ParameterError(
            "Missing option '--out' / '-o': a new folder for the release. Only --dry-run does "
            "without."
        )
    if master is not None:
        engines.check_cluster_request(query, table)
    elif dataset is None:
        check_request(source, query, table)
    else:  # charged before the file is opened, be it only to see what kind of file it is
        check_named(source, query, table)
    trip_options.check_trip_rules(split, time_zone, repeats, keep, unit_text)
    owner = signing.signer_for(sign_key, signer)
    locations: Universe | Literal["discover"]
    locations = DISCOVER if universe == DISCOVER else read_universe(universe)
    grid = times.grid_for(time_column, time_grid, time_zone)
    parameters = Parameters.choose(
        epsilon=Budget.choose(epsilon, epsilon_per_trip, max_trajectories_per_unit),
        height=height,
        universe_size=None if isinstance(locations, str) else len(locations),
        delta=delta,
        threshold=threshold,
        method=method,
        max_trajectories_per_unit=max_trajectories_per_unit,
        max_nodes=max_nodes,
        time_grid=grid,
        taxonomy=zones_for(taxonomy, locations),
    )
    chosen = Engine.choose(engine, source, parameters, memory=memory, spill=spill, master=master)
    _say_choices(parameters, height, chosen)
    account = account_for(ledger, dataset, population, source, is_remote=master is not None)
    rules: dict[str, Any] = {
        "split": split,
        "repeats": repeats,
        "time_zone": time_zone,
        "max_trajectories_per_unit": max_trajectories_per_unit,
        "keep": keep,
    }
    with ExitStack() as stack:
        place = None
        if out is not None and not dry_run:
            place = stack.enter_context(reserve(out, parameters.universe_size))
            aftermath.await_release(out)
        if place is not None and account is not None:
            rehearse(
                *(chosen, source, parameters, place.staging),
                has_trips=trajectory_column is not None,
                csv=csv,
                **rules,
            )
        charge = stack.enter_context(charged(None if dry_run else account, parameters))
        database = stack.enter_context(
            read_with(
                chosen,
                source,
                locations,
                parameters.height,
                unit=unit_column,
                trajectory=trajectory_column,
                order=order_column,
                location=location_column,
                latitude=latitude_column,
                longitude=longitude_column,
                unit_text=unit_text,
                query=query,
                table=table,
                time=time_column,
                time_grid=grid,
                **rules,
            )
        )
        if place is None or out is None:
            _print_rehearsal(json=json)
            return
        release = publish_with_progress(database, parameters, charge)
        with reported_progress("Writing"):
            release.write(place, csv=csv, signer=owner)
    print_summary(release, out, json=json)


def _say_choices(parameters: "Parameters", height: str, engine: "Engine") -> None:
    from pathveil.cli.console import say_step

    known = "unknown" if parameters.universe_is_open else f"{parameters.universe_size:,}"
    say_step(
        f"Public choices: ε = {parameters.budget}, height {height}, method {parameters.method}, "
        f"|L| = {known}, c = {parameters.max_trajectories_per_unit}; engine {engine.name}."
    )


def _print_rehearsal(*, json: bool) -> None:
    """Constant words: what was read is on stderr, for the curator."""
    from pathveil.cli.console import print_json, stdout_console

    if json:
        print_json({"dry_run": True, "charged": False})
        return
    stdout_console().print("A dry run: nothing was published, and nothing was charged.")


def publish_with_progress(
    database: "Trajectories", parameters: "Parameters", charge: "Charge | None" = None
) -> "Release":
    """Publish with a bar: levels of the tree, or what is measured and then calibrated."""
    from pathveil.cli.console import progress
    from pathveil.mechanism.randomness import Randomness
    from pathveil.progress_reports import reported_to
    from pathveil.publishing import publish_with

    is_calibrated = parameters.how.has_tables
    counting = _MEASURING if is_calibrated else 1.0
    words = "Measuring and calibrating" if is_calibrated else "Growing the noisy prefix tree"
    with (
        progress(words, total=1) as done,
        reported_to(lambda share: done(counting + (1 - counting) * share)),
    ):
        return publish_with(
            database,
            parameters,
            Randomness(),
            lambda some, every: done(counting * some / every),
            charge,
        )
