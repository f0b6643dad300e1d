"""``pathveil count``: how many released trajectories went there?"""

from typing import Annotated

import typer

from pathveil.cli import completion
from pathveil.cli.options import shared, trips


def count(
    directory: shared.Bundle,
    locations: Annotated[
        list[str],
        typer.Argument(
            metavar="STOP...",
            help="Location labels; STOP@07:00-10:00 asks for a visit in that time window.",
            autocompletion=completion.released_locations,
            show_default=False,
        ),
    ],
    ordered: Annotated[
        bool, typer.Option("--ordered", help="Visited in this order (others may lie between).")
    ] = False,
    prefix: Annotated[
        bool, typer.Option("--prefix", help="The trajectory starts with exactly these.")
    ] = False,
    between: trips.Between = None,
    json: shared.Json = False,
) -> None:
    """Count the released trajectories that visit all the given locations.

    For a calibrated release the answer comes with an interval that is meant to hold the true count
    in 90% of questions of its kind and size, and with a mark: reliable, rough, or noise (it can't
    be told from noise). Where nothing was measured that tells, the interval is a bound that needs
    no model: from 0 to the most who may visit the rarest of the locations.

    Example: `pathveil count release Central Harbour --ordered`

    Central in the morning, then Harbour:
    `pathveil count release Central@07:00-10:00 Harbour --ordered`
    """
    from dataclasses import asdict

    from pathveil.analysis.timed_queries import read_step
    from pathveil.cli.console import (
        open_release,
        print_json,
        stderr_console,
        stdout_console,
        warn_if_injected,
    )
    from pathveil.cli.intervals import in_words, interval_fields
    from pathveil.errors import QueryError

    if ordered and prefix:
        raise QueryError("Choose one of --ordered and --prefix.")
    release = open_release(directory)
    asked = trips.within(release, between)
    steps = [read_step(text, release.askable) for text in locations]
    if ordered:
        answer = asked.count_ordered(steps)
    elif prefix:
        answer = asked.count_prefix(steps)
    else:
        answer = asked.count(steps)
    is_suppressed = int(answer) < release.suppress_below
    every = None if is_suppressed else release.of_all_trips(answer)
    if json:
        kind = "ordered" if ordered else "prefix" if prefix else "all"
        told = interval_fields(answer)
        part = None
        if between is None and not is_suppressed:
            part = release.share(steps, how="any" if kind == "all" else kind)
        print_json(
            {
                "locations": locations,
                "query": kind,
                "between": between,
                "count": None if is_suppressed else int(answer),
                **(dict.fromkeys(told) if is_suppressed else told),
                "suppressed": is_suppressed,
                "of_all_trips": every,
                "share": None if part is None else asdict(part),
                "status": release.certificate.status,
            }
        )
        return
    console = stdout_console()
    warn_if_injected(release)
    below = f"suppressed: below {release.suppress_below:,}, by the publisher's rule"
    words = below if is_suppressed else in_words(answer)
    console.print(words, highlight=False, markup=False)
    if every is not None and every != int(answer):
        console.print(f"About {every:,} of all trips, estimated.", highlight=False)
    # On stderr: scripts read the number.
    stderr_console().print(release.counted, markup=False, highlight=False, soft_wrap=True)
