"""``pathveil explain``: what a release promises and what it does not, in plain words."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pathveil.cli.options import planning, shared, trips

if TYPE_CHECKING:
    from pathveil.promise.certificate import Certificate
    from pathveil.promise.explanation import Explanation, Passage

_PLAN = "With --plan"
WIDEST = 96


def explain(
    directory: Annotated[
        Path | None,
        typer.Argument(metavar="[DIR]", help="A release bundle.", show_default=False),
    ] = None,
    plan: Annotated[
        bool,
        typer.Option("--plan", help="Explain public parameters instead of a release."),
    ] = False,
    epsilon: Annotated[
        str | None,
        typer.Option("--epsilon", "-e", help="Total privacy budget.", rich_help_panel=_PLAN),
    ] = None,
    epsilon_per_trip: shared.EpsilonPerTrip = None,
    delta: shared.Delta = None,
    rho: shared.Rho = None,
    height: Annotated[
        str | None,
        typer.Option(
            "--height",
            help="Of 'full' and 'basic': height of the prefix tree, or 'auto'.",
            rich_help_panel=_PLAN,
        ),
    ] = None,
    purpose: shared.Purpose = shared.DEFAULT_PURPOSE,
    universe: planning.UniverseFile = None,
    universe_size: planning.UniverseSize = None,
    max_trajectories_per_unit: shared.MaxTrajectories = "1",
    protect: trips.Protect = "person",
    method: shared.Method = shared.DEFAULT_METHOD,
    threshold: shared.Threshold = "auto",
    max_nodes: shared.MaxNodes = 20_000_000,
    time_grid: trips.GridText = None,
    json: shared.Json = False,
) -> None:
    """Say in plain words what a release promises, to whom, as odds, and what it does not.

    With a release, its certificate is explained. With --plan and the public parameters of
    `pathveil publish`, the certificate that such a release would have. Reads no raw data.

    Example: `pathveil explain --plan --universe-size 1012 --epsilon 1`
    """
    from pathveil.cli.console import print_json
    from pathveil.errors import ParameterError
    from pathveil.promise.certificate import Certificate
    from pathveil.promise.explanation import explain as explain_certificate
    from pathveil.times.protected_units import check_protect, sentence

    if plan == (directory is not None):
        raise ParameterError("Give either a release or --plan with its parameters.")
    given = any(
        value is not None
        for value in (epsilon, epsilon_per_trip, delta, rho, height, universe, universe_size)
    )
    height_is_open = False
    if directory is not None:
        certificate = _certificate(directory, has_parameters=given)
    elif epsilon is None and epsilon_per_trip is None and rho is None:
        raise ParameterError("With --plan, give --epsilon.")
    else:
        parameters = planning.planned_parameters(
            epsilon=epsilon,
            height=height,
            universe=universe,
            universe_size=universe_size,
            max_trajectories_per_unit=shared.trips_of(max_trajectories_per_unit),
            method=method,
            threshold=threshold,
            max_nodes=max_nodes,
            time_grid=time_grid,
            epsilon_per_trip=epsilon_per_trip,
            delta=delta,
            rho=rho,
            purpose=purpose,
        )
        if parameters.universe_is_open:
            raise ParameterError(
                "How many locations will be discovered is not known before: say how many you "
                "expect with --universe-size N."
            )
        rule = sentence(check_protect(protect), "UTC")
        rules = () if rule is None else (rule,)
        certificate = Certificate.of(parameters, is_private=True, trajectory_rules=rules)
        height_is_open = parameters.height_is_open
    explanation = explain_certificate(certificate)
    if json:
        print_json(explanation.to_json())
    else:
        if height_is_open:
            _say_height(certificate.implementation.height)
        _print(explanation)


def _say_height(most: int) -> None:
    from pathveil.cli.console import stdout_console

    stdout_console().print(
        f"The height is not chosen yet; this is for the largest that can come out, {most}.",
        highlight=False,
    )


def _certificate(directory: Path, *, has_parameters: bool) -> "Certificate":
    """The certificate of a bundle that is whole; its own parameters are the only ones."""
    from pathveil.cli.console import open_release
    from pathveil.errors import ParameterError

    if has_parameters:
        raise ParameterError("A release has its own parameters; leave them away, or use --plan.")
    # The words that follow from its parameters, not those that stand in its files.
    return open_release(directory).certificate


def _print(explanation: "Explanation") -> None:
    from pathveil.cli.console import stdout_console

    console = stdout_console()
    width = min(console.width, WIDEST)
    if explanation.status != "PRIVATE":
        console.print(explanation.status, style="bold red")
    for passage in explanation.passages:
        console.print(f"\n{passage.title}", style="bold", highlight=False, markup=False)
        for line in _lines(passage, width):
            console.print(line, highlight=False, markup=False)
        if passage.table:
            _print_table(passage)
        for item in passage.items:
            console.print(_filled(f"- {item}", width, "  "), highlight=False, markup=False)


def _lines(passage: "Passage", width: int) -> list[str]:
    return [_filled(paragraph, width) for paragraph in passage.paragraphs]


def _filled(text: str, width: int, indent: str = "") -> str:
    import textwrap

    return textwrap.fill(text, width, subsequent_indent=indent, break_long_words=False)


def _print_table(passage: "Passage") -> None:
    from pathveil.cli.console import print_table

    table = passage.table
    if table is not None:
        numbers = set(range(1, len(table.columns)))
        print_table("", table.columns, table.rows, numbers=numbers)
