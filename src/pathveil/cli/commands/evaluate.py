"""``pathveil evaluate``: raw data against a release. INTERNAL: its figures are not private."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pathveil.cli.options import reading, shared, trips

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pathveil.release.release import Release
    from pathveil.trials.evaluation.coverage import Held
    from pathveil.trials.evaluation.measures import Evaluation

_EVALUATION = "The evaluation"


def evaluate(
    source: Annotated[
        str,
        typer.Argument(
            metavar="INPUT",
            help="The CSV or Parquet file, or the database, that the release was made from.",
            show_default=False,
        ),
    ],
    directory: shared.Bundle,
    options: reading.ReadingOptions,
    universe: trips.SameUniverse = None,
    queries: Annotated[
        int,
        typer.Option(
            help="Random count queries, in four subsets together.", rich_help_panel=_EVALUATION
        ),
    ] = 40_000,
    patterns: Annotated[
        int,
        typer.Option(
            "--patterns",
            "-k",
            help="Top patterns to compare.",
            min=1,
            rich_help_panel=_EVALUATION,
        ),
    ] = 100,
    seed: Annotated[
        int, typer.Option(help="Fixes the random queries.", min=0, rich_help_panel=_EVALUATION)
    ] = 0,
    all_trips: Annotated[
        bool,
        typer.Option(
            "--all-trips",
            help="Compare with all trips of everybody, not with those that were used: the release "
            "is multiplied by its own estimate of how many more there are (--trips auto).",
            rich_help_panel=_EVALUATION,
        ),
    ] = False,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            help="The HTML page. Its name is given the prefix INTERNAL- if it has none, and it "
            "may not lie in a release bundle.",
            rich_help_panel="The output",
        ),
    ] = Path("INTERNAL-evaluation.html"),
    json: shared.Json = False,
) -> None:
    """Compare a release with the raw data it was made from. INTERNAL, not private.

    First a verdict in words: how often the intervals of a calibrated release hold the truth, by
    kind of question, for questions picked at random, from people's own trajectories, and from the
    top of the release's own lists. Then a table of utility measures, each beside the score of an
    empty release; and a page with plots. Give the same column options as for `pathveil publish`:
    the raw data is bounded to the same number of trajectories per unit as the release says, and
    compared as such.
    A release with times needs --time-column: the raw visits are put on its time grid (and cut
    where it ends), and compared by their locations. With --keep sample another sample is drawn
    than the one that was published.

    A tree with a taxonomy is compared by zones.

    Example: `pathveil evaluate taps.csv release --unit-column card_id --order-column tapped_at
    --location-column stop`
    """
    from fractions import Fraction

    from pathveil.cli.console import open_release, progress
    from pathveil.errors import InputError
    from pathveil.raw.database import MOST_PER_UNIT
    from pathveil.raw.sources.databases.addresses import check_request
    from pathveil.trials.evaluation.charts import altair
    from pathveil.trials.evaluation.compared import Expanded, at_one_level
    from pathveil.trials.evaluation.coverage import held
    from pathveil.trials.evaluation.evaluation_page import evaluation_page
    from pathveil.trials.evaluation.internal import internal_path, write_internal
    from pathveil.trials.evaluation.measures import evaluate as measure

    # All that can be refused is refused before a row is read.
    check_request(source, options.query, options.table)
    page = internal_path(out)
    altair()
    release = open_release(directory)
    trips.check_column(options.time_column, release)
    database = reading.read_for_curator(
        source,
        trips.same_universe(universe, release),
        options.reading(
            release.time_grid,
            MOST_PER_UNIT if all_trips else release.parameters.max_trajectories_per_unit,
        ),
    )
    origin = release.certificate.implementation.universe_origin
    if not len(database) and universe is None and origin.startswith(("gtfs-", "h3:")):
        raise InputError(
            "No row of the raw data is at a location of the release. If it has points, or ids that "
            f"stand for stations, give the universe as it was given: --universe {origin}"
        )
    _warn_of_other_rules(database.rules, release.rules)
    raw, released = at_one_level(database, release)
    if all_trips:
        released = Expanded(released, release.parameters.expansion or Fraction(1))
    with progress("Measuring", total=1) as done:
        evaluation = measure(
            raw,
            released,
            height=release.parameters.height,
            queries=queries,
            patterns=patterns,
            seed=seed,
            progress=lambda done_so_far, every: done(done_so_far / every),
        )
    with progress("Asking"):
        # The intervals are of counts of the trips that were used.
        intervals = None if all_trips else held(raw, release, seed=seed)
    with progress("Drawing"):
        html = evaluation_page(
            evaluation, release.parameters, is_private=release.is_private, intervals=intervals
        )
    page = write_internal(page, html)
    _print(evaluation, intervals, release, page, all_trips=all_trips, json=json)


def _warn_of_other_rules(here: "Sequence[str]", released: "Sequence[str]") -> None:
    """Say so if the raw rows were made into other trajectories: the figures would be of no use."""
    from pathveil.cli.console import stderr_console
    from pathveil.times.trip_rules import are_cut_alike

    if are_cut_alike(here, released):
        return
    told, own = ("; ".join(rules) or "none" for rules in (released, here))
    stderr_console().print(
        "The raw rows were made into trajectories by other rules than those of the release, so "
        "other things are compared: give the same --split, --protect, --time-zone and --repeats as "
        f"for `pathveil publish`. The release's rules: {told}. Those here: {own}.",
        highlight=False,
        markup=False,
        soft_wrap=True,
    )


def _print(
    evaluation: "Evaluation",
    held: "Held | None",
    release: "Release",
    page: Path,
    *,
    all_trips: bool,
    json: bool,
) -> None:
    from pathveil.cli.console import Copied, print_json, print_table, stdout_console
    from pathveil.trials.evaluation.internal import NOTICE, number, stamped

    if json:
        values = {**_values(evaluation, release), **_intervals(held), "page": str(page)}
        values["all_trips"] = all_trips
        print_json(stamped(values))
        return
    console = stdout_console()
    console.print(NOTICE, style="bold red")
    if not all_trips:
        _print_intervals(held)
    groups = dict.fromkeys(figure.measure.group for figure in evaluation.figures)
    for group in groups:
        print_table(
            group,
            ["measure", "release", "empty release", "better"],
            [
                (
                    figure.measure.name,
                    number(figure.release),
                    number(figure.empty),
                    figure.measure.better,
                )
                for figure in evaluation.figures
                if figure.measure.group == group
            ],
            numbers={1, 2},
        )
    console.print(
        f"Compared with all trips of everybody. {release.counted}"
        if all_trips
        else "The raw data is compared as bounded for the release: at most "
        f"{release.parameters.max_trajectories_per_unit} per unit.",
        highlight=False,
    )
    if release.parameters.sub_levels is not None:
        console.print("The release has zones: every visit, raw or released, is told by its zone.")
    console.print("The page is", style="bold", end=" ")
    console.print(Copied(page), markup=False, highlight=False)


def _print_intervals(held: "Held | None") -> None:
    """The verdict, and the tables behind it."""
    from pathveil.cli.console import print_table, stdout_console
    from pathveil.trials.evaluation.coverage import by_kind

    console = stdout_console()
    if held is None:
        console.print("The release has no intervals: only calibrated ones do.")
        return
    for words in held.verdict():
        console.print(words, highlight=False)
    heading, *rows = by_kind(held.coverage)
    print_table(
        "Held by 90% intervals (median width over the true answer)", heading, rows, numbers=set()
    )
    if held.worst:
        print_table(
            "The worst stops",
            ["location", "true", "released", "90% interval"],
            [(m.location, m.true, m.released, f"{m.low:,} to {m.high:,}") for m in held.worst],
            numbers={1, 2, 3},
        )


def _intervals(held: "Held | None") -> dict[str, object]:
    from dataclasses import asdict

    if held is None:
        return {"verdict": None, "coverage": None, "worst_stops": None}
    return {
        "verdict": held.verdict(),
        "coverage": [asdict(one) for one in held.coverage],
        "worst_stops": [asdict(one) for one in held.worst],
    }


def _values(evaluation: "Evaluation", release: "Release") -> dict[str, object]:
    return {
        "max_trajectories_per_unit": release.parameters.max_trajectories_per_unit,
        "status": release.certificate.status,
        "measures": {
            figure.measure.key: {
                "name": figure.measure.name,
                "group": figure.measure.group,
                "release": figure.release,
                "empty_release": figure.empty,
                "better": figure.measure.better,
            }
            for figure in evaluation.figures
        },
    }
