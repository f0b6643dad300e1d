"""``pathveil plan``: what a run would do, from public parameters alone."""

from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

from pathveil.cli import options, plan_simulation, planning, times
from pathveil.cli.plan_choices import (
    choices_as_json,
    discovery_as_json,
    print_choices,
    print_discovery,
)

if TYPE_CHECKING:
    from pathveil.model.parameters import Parameters


def plan(
    height: options.Height,
    epsilon: options.Epsilon = None,
    epsilon_per_trip: options.EpsilonPerTrip = None,
    universe: planning.UniverseFile = None,
    universe_size: planning.UniverseSize = None,
    taxonomy: options.Taxonomy = None,
    max_trajectories_per_unit: options.MaxTrajectories = 1,
    method: options.Method = options.DEFAULT_METHOD,
    threshold: options.Threshold = "auto",
    max_nodes: options.MaxNodes = 20_000_000,
    time_grid: times.GridText = None,
    delta: options.Delta = None,
    trajectories: plan_simulation.Trajectories = None,
    length: plan_simulation.Length = None,
    out: plan_simulation.Page = None,
    json: options.Json = False,
) -> None:
    """Forecast the tree's size, the noise and what will survive. Reads no data, spends nothing.

    A table shows what other numbers of trajectories per unit (c) would cost. With --trajectories
    the real mechanism runs on simulated commuters, for ε and some budgets around it: what
    survives, and how accurate answers and patterns will be (docs/plan.md).

    Example: `pathveil plan --universe-size 1012 --epsilon 1 --height 12`

    As a picture: `pathveil plan --universe-size 1012 --epsilon 1 --height 12 --trajectories 120000
    --out plan.html`
    """
    from pathveil.cli.console import print_json, stdout_console
    from pathveil.model.budget import Budget

    budget = Budget.choose(epsilon, epsilon_per_trip, max_trajectories_per_unit)
    choose = partial(
        planning.planned_parameters,
        height=height,
        universe=universe,
        universe_size=universe_size,
        max_trajectories_per_unit=max_trajectories_per_unit,
        method=method,
        threshold=threshold,
        max_nodes=max_nodes,
        time_grid=time_grid,
        delta=delta,
        taxonomy=taxonomy,
    )
    parameters = choose(epsilon=str(budget))
    plan_simulation.check_simulation(trajectories, length, out, parameters)
    simulated = None
    if trajectories is not None:

        def at(multiple: Fraction) -> "Parameters":
            return choose(epsilon=str(budget.epsilon * multiple))

        simulated = plan_simulation.simulate_plan(trajectories, length, out, at)
    if json:
        facts = _as_json(parameters)
        if simulated is not None:
            from pathveil.forecasting.tables import as_json

            page = None if out is None else str(out)
            facts |= {"simulation": as_json(simulated) | {"page": page}}
        print_json(facts)
        return
    _print(parameters)
    if simulated is not None:
        plan_simulation.print_simulation(simulated, out)
    stdout_console().print("Nothing was read or spent.")


def _as_json(parameters: "Parameters") -> dict[str, Any]:
    """By the keys of docs/json.md."""
    if parameters.universe_is_open:
        return discovery_as_json(parameters)
    shared = {
        "epsilon": str(parameters.budget),
        "height": parameters.height,
        "universe_size": parameters.universe_size,
        "max_trajectories_per_unit": parameters.max_trajectories_per_unit,
        "time_slots": len(parameters.time_grid) if parameters.time_grid else None,
        "zones": len(parameters.taxonomy) if parameters.taxonomy else None,
        **choices_as_json(parameters),
    }
    if parameters.how.has_tables:
        return shared | {"measurements": _measurements(parameters)}
    from pathveil.model.forecast import Forecast

    forecast = Forecast.of(parameters)
    return shared | {
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


def _measurements(parameters: "Parameters") -> list[dict[str, Any]]:
    """The tables of the calibrated method: their budgets and their noise."""
    from pathveil.model.forecast import noise_deviation
    from pathveil.model.measurement_plan import MeasurementPlan

    return [
        {
            "name": line.name,
            "budget": str(line.budget),
            "sensitivity": line.sensitivity,
            "noise": noise_deviation(line.epsilon),
        }
        for line in MeasurementPlan.of(parameters).lines()
    ]


def _print(parameters: "Parameters") -> None:
    if parameters.universe_is_open:
        print_discovery(parameters)
    elif parameters.how.has_tables:
        _print_measurements(parameters)
    else:
        _print_levels(parameters)


def _title(parameters: "Parameters") -> str:
    slots = f", |T| = {len(parameters.time_grid):,}" if parameters.time_grid else ""
    zones = f", {len(parameters.taxonomy):,} zones" if parameters.taxonomy else ""
    return f"Forecast for ε = {parameters.budget}, |L| = {parameters.universe_size:,}{slots}{zones}"


def _print_measurements(parameters: "Parameters") -> None:
    from pathveil.cli.console import print_table

    print_table(
        f"{_title(parameters)}, calibrated",
        ["measurement", "budget", "one unit adds at most", "noise (standard deviation)"],
        [
            (
                line["name"],
                f"{float(Fraction(line['budget'])):.4f}",
                line["sensitivity"],
                f"{line['noise']:.1f}",
            )
            for line in _measurements(parameters)
        ],
        numbers={1, 2, 3},
    )
    print_choices(parameters)


def _print_levels(parameters: "Parameters") -> None:
    from pathveil.cli.console import print_table, stdout_console
    from pathveil.model.forecast import Forecast

    forecast = Forecast.of(parameters)
    print_table(
        _title(parameters),
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
        *_zones(parameters),
        f"Threshold: a noisy count of {parameters.threshold:,} is kept.",
        f"A path needs about {forecast.survives:,} trajectories to survive (with 95% certainty).",
        f"Every node invents {forecast.invented_per_node:.3g} children that nobody visited.",
    ):
        console.print(line, highlight=False)


def _zones(parameters: "Parameters") -> list[str]:
    """What zones change, in words: the table is about locations."""
    from pathveil.model.forecast import noise_deviation, smallest_survivor

    both = parameters.sub_levels
    if both is None:
        return []
    needed = smallest_survivor(both.zone_threshold, both.zone_epsilon)
    return [
        (
            f"Of every level's budget, {both.zone_share} counts zones (noise "
            f"{noise_deviation(both.zone_epsilon):,.1f}); the figures above are of locations, "
            "which have the rest."
        ),
        f"A path told by zones needs about {needed:,} trajectories to survive.",
    ]
