"""The part of `pathveil plan` that simulates: options, progress, tables and the page."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

if TYPE_CHECKING:
    from pathveil.forecasting.forecast import SimulatedForecast
    from pathveil.model.parameters import Parameters

_PANEL = "What the data may look like (never look at it to tell)"

Trajectories: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--trajectories",
        metavar="N",
        help="About how many trajectories you expect. Simulated ones of that number are then "
        "published with the real mechanism, to show what survives and how accurate it is.",
        rich_help_panel=_PANEL,
    ),
]
Length: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--length",
        metavar="X",
        help="With --trajectories: how many locations a trajectory has on average. "
        "[default: 6.7, a week of transit taps]",
        rich_help_panel=_PANEL,
    ),
]
Page: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        metavar="FILE",
        help="With --trajectories: draw it as an HTML page that works offline; an earlier one is "
        "replaced.",
        rich_help_panel="The output",
    ),
]


def check_simulation(
    trajectories: int | None, length: float | None, page: Path | None, parameters: "Parameters"
) -> None:
    """Refuse what can't be simulated or drawn, before it is.

    Raises:
        ParameterError: if so.
    """
    from pathveil.errors import ParameterError

    if trajectories is None:
        if length is not None or page is not None:
            raise ParameterError(
                "--length and --out are for a simulated forecast: say how many trajectories you "
                "expect with --trajectories N."
            )
        return
    from pathveil.forecasting.forecast import check_can_be_simulated
    from pathveil.forecasting.page import check_page
    from pathveil.forecasting.shape import Shape

    Shape.expected(trajectories, length, parameters.universe_size)
    check_can_be_simulated(parameters)
    if page is not None:
        check_page(page)


def simulate_plan(
    trajectories: int,
    length: float | None,
    page: Path | None,
    choices: "Callable[[Fraction], Parameters]",
) -> "SimulatedForecast":
    """Simulate with a progress bar, and draw the page if there is to be one."""
    from pathveil.cli.console import progress
    from pathveil.forecasting.forecast import forecast
    from pathveil.forecasting.page import write_page
    from pathveil.forecasting.shape import Shape

    expected = Shape.expected(trajectories, length, choices(Fraction(1)).universe_size)
    with progress("Publishing simulated trajectories", total=1) as done:
        result = forecast(expected, choices, progress=done)
    if page is not None:
        write_page(result, page)
    return result


def print_simulation(result: "SimulatedForecast", page: Path | None) -> None:
    """The tables, and what they are not."""
    from pathveil.cli.console import print_table, stdout_console
    from pathveil.forecasting.tables import WHAT_IT_IS, tables

    console = stdout_console()
    shape = result.simulated
    console.print(
        f"Simulated: {shape.trajectories:,} trajectories of {shape.mean_length:.1f} locations on "
        f"average, {shape.universe_size:,} locations.",
        style="bold",
        highlight=False,
    )
    for table in tables(result):
        numbers = set(range(1, len(table.columns)))
        print_table(table.title, table.columns, table.rows, numbers=numbers)
        if table.note:
            console.print(table.note, markup=False, highlight=False)
    for line in (*result.expected.cautions(), WHAT_IT_IS):
        console.print(line, markup=False, highlight=False)
    if page is not None:
        console.print(f"The page is {page}", markup=False, highlight=False)
