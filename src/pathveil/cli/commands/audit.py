"""``pathveil audit``: attack the installed software, and report what a reviewer can file."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pathveil.cli import completion
from pathveil.cli.options import shared
from pathveil.cli.run import ALARM

if TYPE_CHECKING:
    from pathveil.audit.software import SoftwareAudit


def audit(
    method: Annotated[
        str,
        typer.Option(
            help="'basic' or 'full' (they share one gate), 'calibrated', or 'all' of them.",
            autocompletion=completion.one_of(completion.AUDITED_METHODS),
        ),
    ] = "all",
    epsilon: Annotated[
        str | None,
        typer.Option(
            "--epsilon", "-e", help="The claim to test. [default: 1 for trees, 8 for tables]"
        ),
    ] = None,
    height: Annotated[
        int | None,
        typer.Option(
            help="Height. [default: trees of 1 and 3, with times 2, tables of 8]", min=1, max=12
        ),
    ] = None,
    runs: Annotated[
        int,
        typer.Option(help="Runs per database. More runs find smaller flaws.", min=64, max=10**7),
    ] = 2048,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Also write the report to this .html or .md file."),
    ] = None,
    json: shared.Json = False,
) -> None:
    """Attack the installed software on made-up data: does it keep the ε that it claims?

    Exit code 0: no alarm. Exit code 1: an alarm, that is, a proof (but for one chance in a
    million) that more than ε is spent. No alarm is not a proof that all is well. Reads no data.

    Example: `pathveil audit --runs 16384 --out audit.html`
    """
    from pathveil.audit import filing
    from pathveil.audit.software import audit_software
    from pathveil.cli.console import print_json, progress

    if out is not None:
        filing.check_folder(out)
    with progress("Attacking", total=1) as done:
        result = audit_software(
            method=method, epsilon=epsilon, height=height, runs=runs, progress=done
        )
    if out is not None:
        filing.write(result, out)
    if json:
        print_json(filing.to_json(result))
    else:
        _print(result)
    if not result.passed:
        raise typer.Exit(ALARM)


def _print(result: "SoftwareAudit") -> None:
    from pathveil.audit import filing
    from pathveil.cli.console import print_table, stdout_console

    facts = filing.to_json(result)
    for part in facts["parts"]:
        print_table(part["part"], filing.COLUMNS, filing.rows(part), numbers={1, 2, 3, 4})
    console = stdout_console()
    versions = ", ".join(f"{name} {value}" for name, value in facts["versions"].items())
    for line in (
        f"Versions: {versions}",
        (
            f"Tests: {facts['tests']:,}. Probability of a false alarm, all tests together: "
            f"{facts['false_alarm_probability']:g}."
        ),
        "An audit can't show that all is well:",
        *(f"- {limit}" for limit in filing.LIMITS),
    ):
        console.print(line, highlight=False, markup=False)
    style = "bold green" if result.passed else "bold red"
    console.print(facts["verdict"], style=style, highlight=False, markup=False)
