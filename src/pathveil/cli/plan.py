"""``pathveil plan``: what a run would do, from public parameters alone."""

from typing import TYPE_CHECKING

from pathveil.cli import options, planning, times
from pathveil.cli.plan_choices import choices_as_json, print_choices, print_discovery

if TYPE_CHECKING:
    from pathveil.model.forecast import Forecast
    from pathveil.model.parameters import Parameters


def plan(
    height: options.Height,
    epsilon: options.Epsilon = None,
    epsilon_per_trip: options.EpsilonPerTrip = None,
    universe: planning.UniverseFile = None,
    universe_size: planning.UniverseSize = None,
    max_trajectories_per_unit: options.MaxTrajectories = 1,
    method: options.Method = options.DEFAULT_METHOD,
    threshold: options.Threshold = "auto",
    max_nodes: options.MaxNodes = 20_000_000,
    time_grid: times.GridText = None,
    delta: options.Delta = None,
    json: options.Json = False,
) -> None:
    """Forecast the tree's size, the noise and what will survive. Reads no data, spends nothing.

    A table shows what other numbers of trajectories per unit (c) would cost.

    Example: `pathveil plan --universe-size 1012 --epsilon 1 --height 12`
    """
    from pathveil.model.forecast import Forecast

    parameters = planning.planned_parameters(
        epsilon=epsilon,
        height=height,
        universe=universe,
        universe_size=universe_size,
        max_trajectories_per_unit=max_trajectories_per_unit,
        method=method,
        threshold=threshold,
        max_nodes=max_nodes,
        time_grid=time_grid,
        epsilon_per_trip=epsilon_per_trip,
        delta=delta,
    )
    if parameters.universe_is_open:
        print_discovery(parameters, json=json)
    elif method == "calibrated":
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
                "time_slots": len(parameters.time_grid) if parameters.time_grid else None,
                **choices_as_json(parameters),
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
        f"Forecast for ε = {parameters.budget}, |L| = {parameters.universe_size:,}"
        f"{_slots(parameters)}, calibrated",
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
    print_choices(parameters)
    stdout_console().print("Nothing was read or spent.")


def _slots(parameters: "Parameters") -> str:
    return f", |T| = {len(parameters.time_grid):,}" if parameters.time_grid else ""


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
                "time_slots": len(parameters.time_grid) if parameters.time_grid else None,
                "threshold": parameters.threshold,
                "invented_per_node": forecast.invented_per_node,
                "smallest_count_likely_to_survive": forecast.survives,
                **choices_as_json(parameters),
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
        f"Forecast for ε = {parameters.budget}, |L| = {parameters.universe_size:,}"
        f"{_slots(parameters)}",
        ["level", "budget", "noise (standard deviation)", "invented nodes, at most"],
        [
            (line.level, str(line.budget), f"{line.noise:.1f}", f"{line.invented:.3g}")
            for line in forecast.levels
        ],
        numbers={0, 1, 2, 3},
    )
    print_choices(parameters)
    console = stdout_console()
    for line in (
        f"Threshold: a noisy count of {parameters.threshold:,} is kept.",
        f"A path needs about {forecast.survives:,} trajectories to survive (with 95% certainty).",
        f"Every node invents {forecast.invented_per_node:.3g} children that nobody visited.",
        "Nothing was read or spent.",
    ):
        console.print(line, highlight=False)
