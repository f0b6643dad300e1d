"""The commands of ``pathveil``, in the order in which people meet them."""

from typing import Annotated

import typer

from pathveil.cli.count import count
from pathveil.cli.demo import demo
from pathveil.cli.evaluate import evaluate
from pathveil.cli.patterns import patterns
from pathveil.cli.plan import plan
from pathveil.cli.publish import publish
from pathveil.cli.reproduce import reproduce
from pathveil.cli.simulate import simulate
from pathveil.cli.verify import verify

app = typer.Typer(
    name="pathveil",
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="Publish who-went-where data under differential privacy, and use what was published.",
    epilog="Start with `pathveil demo`. Exit codes: 0 done, 2 the request or the data can't be "
    "used, 130 interrupted.",
)

_START, _USE, _INSIDE = "Publish", "Use a release", "Look inside (not for publication)"
for command, panel in (
    (demo, _START),
    (plan, _START),
    (publish, _START),
    (verify, _USE),
    (count, _USE),
    (patterns, _USE),
    (evaluate, _INSIDE),
    (reproduce, _INSIDE),
    (simulate, _INSIDE),
):
    app.command(rich_help_panel=panel)(command)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"pathveil {version('pathveil')}")
        raise typer.Exit


@app.callback()
def root(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Publish who-went-where data under differential privacy, and use what was published."""
