"""The commands of ``pathveil``, in the order in which people meet them."""

from typing import Annotated

import typer

from pathveil.cli.commands.audit import audit
from pathveil.cli.commands.compare import compare
from pathveil.cli.commands.count import count
from pathveil.cli.commands.demo import demo
from pathveil.cli.commands.evaluate import evaluate
from pathveil.cli.commands.explain import explain
from pathveil.cli.commands.explore import explore
from pathveil.cli.commands.export import export
from pathveil.cli.commands.flows import flows
from pathveil.cli.commands.ledger import ledger
from pathveil.cli.commands.patterns import patterns
from pathveil.cli.commands.plan import plan
from pathveil.cli.commands.publish import publish
from pathveil.cli.commands.registry import registry
from pathveil.cli.commands.report import report
from pathveil.cli.commands.reproduce import reproduce
from pathveil.cli.commands.sign import keygen, sign
from pathveil.cli.commands.simulate import simulate
from pathveil.cli.commands.universe import universe
from pathveil.cli.commands.verify import verify
from pathveil.cli.options.groups import with_groups
from pathveil.cli.run import IN_ONE_LINE
from pathveil.cli.verbosity import Quiet, Verbose, choose, with_verbosity

app = typer.Typer(
    name="pathveil",
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="Publish who-went-where data under differential privacy, and use what was published.",
    epilog=f"Start with `pathveil demo`. Exit codes: {IN_ONE_LINE}.",
)

_START, _USE, _INSIDE = "Publish", "Use a release", "Look inside (not for publication)"
for command, panel in (
    (demo, _START),
    (plan, _START),
    (universe, _START),
    (publish, _START),
    (keygen, _START),
    (sign, _START),
    (verify, _USE),
    (explain, _USE),
    (registry, _START),
    (count, _USE),
    (patterns, _USE),
    (flows, _USE),
    (compare, _USE),
    (report, _USE),
    (explore, _USE),
    (export, _USE),
    (evaluate, _INSIDE),
    (reproduce, _INSIDE),
    (simulate, _INSIDE),
    (audit, _INSIDE),
):
    app.command(rich_help_panel=panel)(command)
app.add_typer(ledger, rich_help_panel=_START)
for registered in (*app.registered_commands, *ledger.registered_commands):
    if registered.callback is not None:
        registered.callback = with_verbosity(with_groups(registered.callback))


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"pathveil {version('pathveil')}")
        raise typer.Exit


@app.callback()
def root(
    *,
    version: Annotated[  # noqa: ARG001  (its callback answers)
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Publish who-went-where data under differential privacy, and use what was published."""
    choose(quiet=quiet, verbose=verbose)
