"""``pathveil flows``: from where to where, the largest flows of a release."""

from typing import TYPE_CHECKING, Annotated

import typer

from pathveil.cli import completion
from pathveil.cli.options import shared

if TYPE_CHECKING:
    from pathveil.release.release import Release


def flows(
    directory: shared.Bundle,
    kind: Annotated[
        str,
        typer.Option(
            help="'transitions' (what directly follows what) or 'origin-destination' (where "
            "trajectories begin and end).",
            autocompletion=completion.one_of(completion.FLOWS[:2]),
        ),
    ] = "transitions",
    k: Annotated[int, typer.Option("-k", min=1, help="How many flows.")] = 50,
    staying: Annotated[
        bool, typer.Option("--staying", help="Also from a location to itself.")
    ] = False,
    everything: shared.All = False,
    json: shared.Json = False,
) -> None:
    """Show the largest flows between locations, with 90% intervals if the release is calibrated.

    The figure shown is the middle of what the true count may be. Those of the k that can't be told
    from noise are left out. `pathveil export --flows` writes all of them as a file.

    Example: `pathveil flows release --kind origin-destination -k 20`
    """
    from pathveil.cli.console import called, open_release, print_json, print_note, print_table
    from pathveil.cli.intervals import HEADINGS, cells, interval_fields, rule_words, told
    from pathveil.core.error_table import RULE, largest_first

    release = open_release(directory)
    found = [flow for flow in release.flows(kind) if staying or flow.origin != flow.destination][:k]
    found = largest_first(found, lambda one: one.count)
    ranked = list(enumerate(found, start=1))
    shown, left_out = told([(row, row[1].count) for row in ranked], everything=everything)
    if json:
        print_json(
            {
                "flows": [
                    {
                        "origin": flow.origin,
                        "destination": flow.destination,
                        "count": int(flow.count),
                        **interval_fields(flow.count),
                    }
                    for _, flow in shown
                ],
                "kind": kind,
                "left_out": left_out,
                "rule": RULE,
                "trips_for_each_that_is_used": _expansion(release),
                "status": release.certificate.status,
            }
        )
        return
    stamp = "" if release.is_private else "NOT PRIVATE: "
    print_table(
        f"{stamp}Top {k} {kind}",
        ["rank", "from", "to", *HEADINGS],
        [
            (rank, *called(release, (flow.origin, flow.destination)), *cells(flow.count))
            for rank, flow in shown
        ],
        numbers={0, 3, 4},
    )
    if release.error_table is not None:
        counts = [one.count for one in found]
        print_note(rule_words(left_out, counts, "flows", release.parameters.purpose))
    print_note(release.counted)


def _expansion(release: "Release") -> str | None:
    expansion = release.parameters.expansion
    return None if expansion is None else str(expansion)
