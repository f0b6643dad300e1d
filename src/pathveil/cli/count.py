"""``pathveil count``: how many released trajectories went there?"""

from typing import Annotated

import typer

from pathveil.cli import options


def count(
    directory: options.Bundle,
    locations: Annotated[
        list[str],
        typer.Argument(metavar="STOP...", help="Location labels.", show_default=False),
    ],
    ordered: Annotated[
        bool, typer.Option("--ordered", help="Visited in this order (others may lie between).")
    ] = False,
    prefix: Annotated[
        bool, typer.Option("--prefix", help="The trajectory starts with exactly these.")
    ] = False,
    json: options.Json = False,
) -> None:
    """Count the released trajectories that visit all the given locations.

    Example: `pathveil count release S0001 S0002 --ordered`
    """
    from pathveil.cli.console import print_json, stdout_console
    from pathveil.errors import QueryError
    from pathveil.release.bundle import read_release

    if ordered and prefix:
        raise QueryError("Choose one of --ordered and --prefix.")
    release = read_release(directory)
    if ordered:
        answer = release.count_ordered(locations)
    elif prefix:
        answer = release.count_prefix(locations)
    else:
        answer = release.count(locations)
    if json:
        kind = "ordered" if ordered else "prefix" if prefix else "all"
        print_json(
            {
                "locations": locations,
                "query": kind,
                "count": answer,
                "status": release.certificate.status,
            }
        )
        return
    console = stdout_console()
    if not release.is_private:
        console.print("NOT PRIVATE: the noise was injected.", style="bold red")
    console.print(f"{answer:,}", highlight=False)
