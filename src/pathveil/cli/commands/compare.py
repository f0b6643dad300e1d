"""``pathveil compare``: what differs between two releases, and what of it noise may explain."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pathveil.cli import completion
from pathveil.cli.options import shared

if TYPE_CHECKING:
    from pathveil.release.differences import Difference

RULE = "certain: 0 lies outside the interval, so that noise can't explain the difference"


def compare(
    directory: shared.Bundle,
    other: Annotated[Path, typer.Argument(metavar="OTHER", help="The second release.")],
    locations: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="STOP...",
            help="Ask both how many visit all of these. Without: the stops whose visits differ "
            "most.",
            autocompletion=completion.released_locations,
            show_default=False,
        ),
    ] = None,
    ordered: Annotated[
        bool, typer.Option("--ordered", help="Visited in this order (others may lie between).")
    ] = False,
    prefix: Annotated[
        bool, typer.Option("--prefix", help="The trajectory starts with exactly these.")
    ] = False,
    k: Annotated[int, typer.Option("-k", min=1, help="How many stops.")] = 20,
    everything: Annotated[
        bool, typer.Option("--all", help="Also differences that noise may explain.")
    ] = False,
    json: shared.Json = False,
) -> None:
    """Compare two releases: the second less the first, with 90% intervals.

    The interval of a difference spans what the 95% intervals of the two answers allow. So it holds
    in at least 90% of cases, whatever the two releases have to do with each other. Without
    locations, stops whose difference noise may explain are left out.

    Example: `pathveil compare march april Central Harbour --ordered`
    """
    from pathveil.analysis.timed_queries import read_step
    from pathveil.cli.console import (
        open_release,
        print_json,
        print_note,
        print_table,
        warn_if_injected,
    )
    from pathveil.errors import QueryError
    from pathveil.release.differences import (
        counted_otherwise,
        difference,
        differences_of_visits,
    )

    if ordered and prefix:
        raise QueryError("Choose one of --ordered and --prefix.")
    if (ordered or prefix) and not locations:
        raise QueryError("--ordered and --prefix are about locations; name some.")
    first, second = open_release(directory), open_release(other)
    how = "ordered" if ordered else "prefix" if prefix else "any"
    if locations:
        steps = [read_step(text, first.universe) for text in locations]
        found = [(", ".join(locations), difference(first, second, steps, how))]
        left_out, of = 0, 1
    else:
        all_stops = differences_of_visits(first, second)
        shown = [row for row in all_stops if everything or not _may_be_noise(row[1])]
        found, of = shown[:k], len(all_stops)
        left_out = len(all_stops) - len(shown)
    if json:
        print_json(
            {
                "differences": [{"locations": what, **fields(one)} for what, one in found],
                "query": how if locations else "visits",
                "left_out": left_out,
                "rule": RULE,
                "counted_otherwise": counted_otherwise(first, second),
                "status": [release.certificate.status for release in (first, second)],
            }
        )
        return
    for release in (first, second):
        warn_if_injected(release)
    print_table(
        "Second release less first",
        ["locations", "first", "second", "difference", "90% interval", "certain"],
        [(what, *_cells(one)) for what, one in found],
        numbers={1, 2, 3, 4},
    )
    if left_out:
        print_note(
            f"{left_out:,} of {of:,} stops were left out because noise may explain the difference; "
            "--all shows them."
        )
    otherwise = counted_otherwise(first, second)
    if otherwise is not None:
        print_note(otherwise)


def fields(one: "Difference") -> dict[str, object]:
    """A difference for JSON; null where it is not known."""
    return {
        "first": None if one.first is None else int(one.first),
        "second": None if one.second is None else int(one.second),
        "difference": one.value,
        "low": one.low,
        "high": one.high,
        "level": one.level,
        "certain": one.is_certain,
    }


def _may_be_noise(one: "Difference") -> bool:
    return one.level is not None and not one.is_certain


def _cells(one: "Difference") -> tuple[str, ...]:
    values = fields(one)
    counts = [
        "–" if values[name] is None else f"{values[name]:,}"
        for name in ("first", "second", "difference")
    ]
    if one.low is None or one.high is None:
        return (*counts, "–", "–")
    return (*counts, f"{one.low:,} to {one.high:,}", "yes" if one.is_certain else "no")
