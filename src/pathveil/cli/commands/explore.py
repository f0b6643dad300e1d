"""``pathveil explore``: a local web page over a release."""

from pathlib import Path
from typing import Annotated

import typer

from pathveil.cli.options import shared


def explore(
    directory: shared.Bundle,
    other: Annotated[
        Path | None,
        typer.Argument(
            metavar="[OTHER_DIR]", help="A second release, to compare.", show_default=False
        ),
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Where to listen; 0: any port that is free.")
    ] = 8321,
    no_open: Annotated[
        bool, typer.Option("--no-open", help="Don't open a browser; only print the address.")
    ] = False,
    json: shared.Json = False,
) -> None:
    """Look at a release in the browser: count, patterns, prefix tree, flows, two side by side.

    The page is served to this computer only, and needs no network. It opens release folders and
    nothing else: no raw data, no INTERNAL figures. Ctrl-C ends it.

    Example: `pathveil explore release --port 8321`
    """
    import sys

    from pathveil.cli.console import (
        open_release,
        print_json,
        progress,
        stderr_console,
        stdout_console,
    )
    from pathveil.errors import ParameterError
    from pathveil.explorer import mining_beside
    from pathveil.explorer.indexed_release import IndexedRelease

    try:
        from pathveil.explorer.server import address_of, listen, serve
    except ModuleNotFoundError:
        raise ParameterError(
            "The explorer needs starlette and uvicorn: install pathveil[explorer]."
        ) from None

    folders = [directory] if other is None else [directory, other]
    releases = [(folder, open_release(folder, mining_beside.open_release)) for folder in folders]
    listener = listen(port)
    address = address_of(listener)
    with progress("Indexing"):
        indexed = tuple(
            IndexedRelease.build(release, folder.absolute().name, folder)
            for folder, release in releases
        )

    def tell() -> None:
        if json:
            print_json({"address": address})
        else:
            stdout_console().print(f"Exploring at {address} (Ctrl-C ends it)", highlight=False)
        sys.stdout.flush()  # a script that waits for the address reads a pipe
        if not no_open:
            import webbrowser
            from threading import Thread

            # Beside us: a browser in the terminal would not return until it is left.
            Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    serve(indexed, listener, tell)
    stderr_console().print("Stopped.")
