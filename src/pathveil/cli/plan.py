"""``pathveil plan``: what a run would do, from public parameters alone."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pathveil.cli import options

if TYPE_CHECKING:
    from pathveil.model.forecast import Forecast
    from pathveil.model.parameters import Parameters


def plan(
    epsilon: options.Epsilon,
    height: options.Height,
    universe: Annotated[
        Path | None,
        typer.Option("--universe", "-u", help="The public list of locations."),
    ] = None,
    universe_size: Annotated[
        int | None,
        typer.Option("--universe-size", help="Or just how many locations it has."),
    ] = None,
    max_trajectories_per_unit: options.MaxTrajectories = 1,
    method: options.Method = "full",
    threshold: options.Threshold = "auto",
    max_nodes: options.MaxNodes = 20_000_000,
    json: options.Json = False,
) -> None:
    """Forecast the tree's size, the noise and what will survive. Reads no data, spends nothing.

    Example: `pathveil plan --universe-size 1012 --epsilon 1 --height 12`
    """
    from pathveil.errors import ParameterError
    from pathveil.model.forecast import Forecast
    from pathveil.model.parameters import Parameters
    from pathveil.model.universe import Universe

    if universe is not None and universe_size is None:
        size = len(Universe.read(universe))
    elif universe is None and universe_size is not None:
        size = universe_size
    else:
        raise ParameterError("Give either --universe FILE or --universe-size N.")
    parameters = Parameters.choose(
        epsilon=epsilon,
        height=height,
        universe_size=size,
        threshold=threshold,
        method=method,
        max_trajectories_per_unit=max_trajectories_per_unit,
        max_nodes=max_nodes,
    )
    if method == "calibrated":
        _print_measurements(parameters, json=json)
    else:
        _print(Forecast.of(parameters), json=json)


def _print_measurements(parameters: "Parameters", *, json: bool) -> None:
    """The tables of the calibrated method: their budgets and their noise."""
    from pathveil.cli.console import print_json, print_table, stdout_console
    from pathveil.model.forecast import noise_deviation
    from pathveil.model.measurement_plan import MeasurementPlan

    lines = MeasurementPlan.of(parameters).lines()
    if json:
        print_json(
            {
                "epsilon": str(parameters.budget),
                "height": parameters.height,
                "universe_size": parameters.universe_size,
                "max_trajectories_per_unit": parameters.max_trajectories_per_unit,
                "measurements": [
                    {
                        "name": line.name,
                        "budget": str(line.budget),
                        "sensitivity": line.sensitivity,
                        "noise": noise_deviation(line.epsilon),
                    }
                    for line in lines
                ],
            }
        )
        return
    print_table(
        f"Forecast for ε = {parameters.budget}, |L| = {parameters.universe_size:,}, calibrated",
        ["measurement", "budget", "one unit adds at most", "noise (standard deviation)"],
        [
            (
                line.name,
                f"{float(line.budget):.4f}",
                line.sensitivity,
                f"{noise_deviation(line.epsilon):.1f}",
            )
            for line in lines
        ],
        numbers={1, 2, 3},
    )
    stdout_console().print("Nothing was read or spent.")


def _print(forecast: "Forecast", *, json: bool) -> None:
    from pathveil.cli.console import print_json, print_table, stdout_console

    parameters = forecast.parameters
    if json:
        print_json(
            {
                "epsilon": str(parameters.budget),
                "height": parameters.height,
                "universe_size": parameters.universe_size,
                "max_trajectories_per_unit": parameters.max_trajectories_per_unit,
                "threshold": parameters.threshold,
                "invented_per_node": forecast.invented_per_node,
                "smallest_count_likely_to_survive": forecast.survives,
                "levels": [
                    {
                        "level": line.level,
                        "budget": str(line.budget),
                        "noise": line.noise,
                        "invented": line.invented,
                    }
                    for line in forecast.levels
                ],
            }
        )
        return
    print_table(
        f"Forecast for ε = {parameters.budget}, |L| = {parameters.universe_size:,}",
        ["level", "budget", "noise (standard deviation)", "invented nodes, at most"],
        [
            (line.level, str(line.budget), f"{line.noise:.1f}", f"{line.invented:.3g}")
            for line in forecast.levels
        ],
        numbers={0, 1, 2, 3},
    )
    console = stdout_console()
    for line in (
        f"Threshold: a noisy count of {parameters.threshold:,} is kept.",
        f"A path needs about {forecast.survives:,} trajectories to survive (with 95% certainty).",
        f"Every node invents {forecast.invented_per_node:.3g} children that nobody visited.",
        "Nothing was read or spent.",
    ):
        console.print(line, highlight=False)
