"""``pathveil patterns``: the most frequent sequential patterns of a release."""

from typing import Annotated

import typer

from pathveil.cli.options import shared, trips


def patterns(
    directory: shared.Bundle,
    k: Annotated[int, typer.Option("-k", help="How many patterns.")] = 50,
    contiguous: Annotated[
        bool, typer.Option("--contiguous", help="Only locations visited one right after another.")
    ] = False,
    min_length: Annotated[int, typer.Option(help="Fewest locations in a pattern.")] = 1,
    max_length: Annotated[int | None, typer.Option(help="Most locations in a pattern.")] = None,
    repeats: Annotated[
        bool,
        typer.Option(
            "--repeats",
            help="Also patterns that visit a location twice. Without, every location of a pattern "
            "is another: people return to where they began, and A → A → A fills the list.",
        ),
    ] = False,
    everything: shared.All = False,
    between: trips.Between = None,
    json: shared.Json = False,
) -> None:
    """Show the top-k sequential patterns: locations that many trajectories visit in this order.

    Of a calibrated release each has a 90% interval, and the figure shown is the middle of what the
    true count may be. Those of the k that can't be told from noise are left out.
    Ties: the shorter pattern first, then the universe's order.

    Example: `pathveil patterns release -k 20 --min-length 2`
    """
    from pathveil.cli.console import (
        called,
        open_release,
        print_json,
        print_note,
        print_table,
        reported_progress,
    )
    from pathveil.cli.intervals import HEADINGS, cells, interval_fields, rule_words, told
    from pathveil.core.error_table import RULE, largest_first

    release = open_release(directory)
    with reported_progress("Mining"):
        found = trips.within(release, between).top_patterns(
            k,
            contiguous=contiguous,
            min_length=min_length,
            max_length=max_length,
            different=not repeats,
        )
    if between is not None and release.answering is not None:
        found = release.answering.of_patterns(found, contiguous=contiguous, at_hours=True)
    found = largest_first(found, lambda one: one.support)
    ranked = list(enumerate(found, start=1))
    shown, left_out = told([(row, row[1].support) for row in ranked], everything=everything)
    if json:
        print_json(
            {
                "patterns": [
                    {"locations": p.locations, "support": p.support, **interval_fields(p.support)}
                    for _, p in shown
                ],
                "left_out": left_out,
                "rule": RULE,
                "status": release.certificate.status,
            }
        )
        return
    stamp = "" if release.is_private else "NOT PRIVATE: "
    when = "" if between is None else f" in {between}"
    print_table(
        f"{stamp}Top {k} sequential patterns{when}",
        ["rank", "locations", *HEADINGS],
        [(rank, " → ".join(called(release, p.locations)), *cells(p.support)) for rank, p in shown],
        numbers={0, 2, 3},
    )
    if release.error_table is not None:
        supports = [one.support for one in found]
        print_note(rule_words(left_out, supports, "patterns", release.parameters.purpose))
