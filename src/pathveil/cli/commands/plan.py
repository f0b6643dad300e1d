"""What `pathveil plan` says about choices: c, a height and a universe that are still open."""

from collections.abc import Callable
from dataclasses import asdict, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeAlias

import typer

from pathveil.cli.options import engines, planning, shared, trips

if TYPE_CHECKING:
    from fractions import Fraction

    from pathveil.core.parameters import Parameters
    from pathveil.trials.forecasting.forecast import SimulatedForecast


SIZES = (100, 1_000, 10_000)


def choices_as_json(parameters: "Parameters") -> dict[str, object]:
    """For scripts: what other numbers of trajectories per unit would cost, and what is open."""
    from pathveil.statistics.contribution_forecast import contribution_forecasts

    return {
        "delta": str(parameters.delta),
        "rho": _rho(parameters),
        "height_is_open": parameters.height_is_open,
        "choices_of_c": [
            {
                "max_trajectories_per_unit": choice.trajectories,
                "epsilon_per_trip": str(choice.epsilon_per_trip),
                "noise": choice.noise,
                "smallest_count_likely_to_survive": choice.survives,
            }
            for choice in contribution_forecasts(parameters)
        ],
    }


def print_choices(parameters: "Parameters") -> None:
    """A table of c with advice, and what is still open."""
    from pathveil.cli.console import print_table, stdout_console
    from pathveil.statistics.contribution_forecast import ADVICE, contribution_forecasts

    own = parameters.max_trajectories_per_unit
    print_table(
        "Other numbers of trajectories per unit (c) with the same ε",
        ["c", "ε/c", "noise per count", "a path needs about so many trajectories"],
        [
            (
                f"{choice.trajectories} (this plan)"
                if choice.trajectories == own
                else choice.trajectories,
                str(choice.epsilon_per_trip),
                f"{choice.noise:,.1f}",
                f"{choice.survives:,}",
            )
            for choice in contribution_forecasts(parameters)
        ],
        numbers={0, 1, 2, 3},
    )
    console = stdout_console()
    for line in (ADVICE, *_open_choices(parameters)):
        console.print(line, highlight=False)


def _open_choices(parameters: "Parameters") -> list[str]:
    """What a run will choose from the data, and what it pays for that."""
    from pathveil.statistics.contribution_forecast import CLIPPED, can_be_clipped

    said = [
        f"From {'ρ' if one.in_rho else 'ε'}, {one.budget} goes to {one.name} "
        f"(noise ± {one.noise.deviation:,.1f}): {one.rule}."
        for one in parameters.preparations
    ]
    if can_be_clipped(parameters):
        said.append(CLIPPED)
    if parameters.trips_are_open:
        said.append(
            "How many trips of a unit are used is not chosen yet; all of this is for the most, "
            f"{parameters.max_trajectories_per_unit}."
        )
    if parameters.height_is_open:
        said.append(
            f"The height is not chosen yet; all of this is for the largest, {parameters.height}."
        )
    return said


def discovery_as_json(parameters: "Parameters") -> dict[str, Any]:
    """For scripts: what can be said before the universe is known."""
    found = _discovery(parameters)
    return {
        "epsilon": str(parameters.budget),
        "delta": str(parameters.delta),
        "height": parameters.height,
        "height_is_open": parameters.height_is_open,
        "max_trajectories_per_unit": parameters.max_trajectories_per_unit,
        "discovery": {
            "budget": str(parameters.preparations[0].budget),
            "threshold": found.threshold,
            "smallest_count_likely_to_be_named": found.needed,
        },
        "if_the_universe_has": {
            str(size): {"noise": noise, "smallest_count_likely_to_survive": survives}
            for size, (noise, survives) in found.sizes.items()
        },
    }


def print_discovery(parameters: "Parameters") -> None:
    """What can be said before the universe is known: what labels and paths need to be seen."""
    from pathveil.cli.console import print_table, stdout_console

    found = _discovery(parameters)
    print_table(
        f"Forecast for ε = {parameters.budget}, δ = {parameters.delta}, an unknown universe",
        ["if so many are named", "noise per count", "a path needs about so many trajectories"],
        [
            (f"{size:,}", f"{noise:,.1f}", f"{survives:,}")
            for size, (noise, survives) in found.sizes.items()
        ],
        numbers={0, 1, 2},
    )
    console = stdout_console()
    for line in (
        f"A label needs about {found.needed:,} trajectories to be named (with 95% certainty).",
        *_open_choices(parameters),
        "For a whole forecast, say how many you expect: --universe-size N.",
    ):
        console.print(line, highlight=False)


class _Discovery(NamedTuple):
    """θ of a label, the count with which it is named, and (noise, survivor) by size of |L|."""

    threshold: int
    needed: int
    sizes: dict[int, tuple[float, int]]


def _discovery(parameters: "Parameters") -> _Discovery:
    from pathveil.core.preparations import discovery_threshold
    from pathveil.statistics.contribution_forecast import first_level

    naming = parameters.preparations[0]
    contribution = parameters.max_trajectories_per_unit
    threshold = discovery_threshold(naming.epsilon, contribution, naming.delta)
    sizes = {}
    for size in SIZES:
        noise, least = first_level(parameters.with_universe_size(size))
        sizes[size] = (noise.deviation, noise.survivor(least))
    return _Discovery(threshold, naming.noise.survivor(threshold), sizes)


# The part of `pathveil plan` that simulates: options, progress, tables and the page.


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
    from pathveil.trials.forecasting.data_size import DataSize
    from pathveil.trials.forecasting.forecast import check_can_be_simulated
    from pathveil.trials.forecasting.plan_page import check_page

    DataSize.expected(trajectories, length, parameters.universe_size)
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
    from pathveil.trials.forecasting.data_size import DataSize
    from pathveil.trials.forecasting.forecast import forecast
    from pathveil.trials.forecasting.plan_page import write_page

    expected = DataSize.expected(trajectories, length, choices(Fraction(1)).universe_size)
    with progress("Publishing simulated trajectories", total=1) as done:
        result = forecast(expected, choices, progress=done)
    if page is not None:
        write_page(result, page)
    return result


def print_simulation(result: "SimulatedForecast", page: Path | None) -> None:
    """The tables, and what they are not."""
    from pathveil.cli.console import print_table, stdout_console
    from pathveil.trials.forecasting.forecast_tables import WHAT_IT_IS, tables
    from pathveil.trials.forecasting.kinds import what_to_ask

    console = stdout_console()
    size = result.simulated
    console.print(
        f"Simulated: {size.trajectories:,} trajectories of {size.mean_length:.1f} locations on "
        f"average, {size.universe_size:,} locations.",
        style="bold",
        highlight=False,
    )
    console.print(what_to_ask(result.run.kinds), style="bold", markup=False, highlight=False)
    for table in tables(result):
        numbers = set(range(1, len(table.columns)))
        print_table(table.title, table.columns, table.rows, numbers=numbers)
        if table.note:
            console.print(table.note, markup=False, highlight=False)
    for line in (*result.expected.cautions(), WHAT_IT_IS):
        console.print(line, markup=False, highlight=False)
    if page is not None:
        console.print(f"The page is {page}", markup=False, highlight=False)


# ``pathveil plan``: what a run would do, from public parameters alone.


def plan(
    epsilon: shared.Epsilon = None,
    epsilon_per_trip: shared.EpsilonPerTrip = None,
    universe: planning.UniverseFile = None,
    universe_size: planning.UniverseSize = None,
    taxonomy: shared.Taxonomy = None,
    max_trajectories_per_unit: shared.MaxTrajectories = "1",
    protect: trips.Protect = "person",
    purpose: shared.Purpose = shared.DEFAULT_PURPOSE,
    method: shared.Method = shared.DEFAULT_METHOD,
    height: shared.Height = None,
    threshold: shared.Threshold = "auto",
    max_nodes: shared.MaxNodes = 20_000_000,
    time_grid: trips.GridText = None,
    delta: shared.Delta = None,
    rho: shared.Rho = None,
    trajectories: Trajectories = None,
    length: Length = None,
    *,
    source: Annotated[
        str | None,
        typer.Option(
            "--input",
            metavar="INPUT",
            help="What `publish` is to read: the plan then says how much memory and spill a run "
            "takes. It looks at the size of the files, and opens none.",
            rich_help_panel="The engine",
        ),
    ] = None,
    snapshot: shared.Snapshot = None,
    counting: engines.EngineOptions,
    out: Page = None,
    json: shared.Json = False,
) -> None:
    """Forecast the tree's size, the noise and what will survive. Reads no data, spends nothing.

    A table shows what other numbers of trajectories per unit (c) would cost. With --trajectories
    the real mechanism runs on simulated commuters, for ε and some budgets around it: what
    survives, and how accurate answers and patterns will be (docs/plan.md).

    Example: `pathveil plan --universe-size 1012 --epsilon 1 --trajectories 120000`

    As a picture: `pathveil plan --universe-size 1012 --epsilon 1 --trajectories 120000
    --out plan.html`

    What a run will take: `pathveil plan --universe-size 1012 --epsilon 1 --input taps.csv
    --engine duckdb`
    """
    from pathveil.cli.console import print_json, stdout_console
    from pathveil.core.budget import Budget
    from pathveil.times.protected_units import check_protect

    unit = check_protect(protect)
    budget = Budget.choose(
        epsilon,
        epsilon_per_trip,
        shared.trips_of(max_trajectories_per_unit),
        rho=rho,
        delta=delta,
    )
    choose = partial(
        planning.planned_parameters,
        height=height,
        universe=universe,
        universe_size=universe_size,
        max_trajectories_per_unit=shared.trips_of(max_trajectories_per_unit),
        method=method,
        threshold=threshold,
        max_nodes=max_nodes,
        time_grid=time_grid,
        delta=delta,
        taxonomy=taxonomy,
        purpose=purpose,
    )
    parameters = choose(epsilon=str(budget) if rho is None else None, rho=rho)
    check_simulation(trajectories, length, out, parameters)
    simulated = None
    if trajectories is not None:

        def at(multiple: Fraction) -> "Parameters":
            return choose(epsilon=str(budget.epsilon * multiple))

        simulated = simulate_plan(trajectories, length, out, at)
        parameters = replace(parameters, planned=simulated.run.parameters.planned)
    takes = _takes(source, snapshot, counting, parameters)
    if json:
        facts = _as_json(parameters) | planning.protect_as_json(parameters, unit) | takes
        if simulated is not None:
            from pathveil.trials.forecasting.forecast_tables import as_json

            page = None if out is None else str(out)
            facts |= {"simulation": as_json(simulated) | {"page": page}}
        print_json(facts)
        return
    if simulated is not None:
        print_simulation(simulated, out)
    _print(parameters)
    console = stdout_console()
    for words in planning.protect_words(parameters, unit):
        console.print(words, markup=False, highlight=False)
    console.print(f"A run takes: {takes['takes']}.", markup=False, highlight=False)
    console.print("Nothing was read or spent.")


def _takes(
    source: str | None,
    snapshot: str | None,
    counting: engines.EngineOptions,
    parameters: "Parameters",
) -> dict[str, Any]:
    """What a run will take: passes, memory, spill; as far as the size of the files tells."""
    from pathveil.raw.sources.lake_tables import refuse_snapshot

    passes = parameters.how.passes(parameters)
    if source is None:
        refuse_snapshot(snapshot)
        how = "the memory that they need, and no spill, unless --input says what is read"
        return {"passes": passes, "takes": f"at most {passes} passes over the trajectories; {how}"}
    from pathveil.raw.engines.engine import SPARK, Engine

    chosen = asdict(counting)
    engine = Engine.choose(chosen.pop("engine"), source, snapshot=snapshot, **chosen)
    if engine.name != SPARK:  # whose workers may see what this machine does not
        _check_there(source, snapshot)
    return {"passes": passes, "takes": engine.needs(source, parameters, snapshot)}


def _check_there(source: str, snapshot: str | None) -> None:
    """Refuse an input that is not there: a file, a table or a store's files, by their metadata.

    Raises:
        InputError: if so.
        ParameterError: if there is no such snapshot.
    """
    from pathveil.cli.options.reading import check_there
    from pathveil.raw.sources.lake_tables import named_table, open_table, refuse_snapshot
    from pathveil.raw.sources.object_store import StoredFiles, is_stored

    if lake := named_table(source):
        open_table(*lake, snapshot)
        return
    refuse_snapshot(snapshot)
    if is_stored(source):
        StoredFiles.at(source)
    else:
        check_there(source)


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
        return shared | {
            "purpose": parameters.purpose,
            "is_planned": parameters.planned is not None,
            "measurements": _measurements(parameters),
        }
    from pathveil.core.tree_forecast import Forecast

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
    from pathveil.statistics.measurement_plan import MeasurementPlan

    return [
        {
            "name": line.name,
            "budget": str(line.budget),
            "cap": line.cap,
            "sensitivity": line.sensitivity,
            "noise": line.deviation,
            "noise_law": "gaussian" if line.in_rho else "laplace",
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
    budget = f"ε = {parameters.budget}"
    if parameters.gaussian_delta:
        budget += f", δ = {parameters.delta}"
    if (rho := _rho(parameters)) is not None:
        budget += f", ρ = {float(Fraction(rho)):.6g}"
    return f"Forecast for {budget}, |L| = {parameters.universe_size:,}{slots}{zones}"


def _print_measurements(parameters: "Parameters") -> None:
    from pathveil.cli.console import print_table, stdout_console

    print_table(
        f"{_title(parameters)}, calibrated, for {parameters.purpose}",
        [
            "measurement",
            "budget",
            "one unit adds at most",
            "noise (standard deviation)",
        ],
        [
            (
                line["name"],
                _budget(line),
                line["sensitivity"],
                f"{line['noise']:.1f}",
            )
            for line in _measurements(parameters)
        ],
        numbers={1, 2, 3},
    )
    stdout_console().print(_whose_plan(parameters), highlight=False)
    print_choices(parameters)


def _budget(line: dict[str, Any]) -> str:
    """In ε; or in ρ, which is small."""
    budget = float(Fraction(line["budget"]))
    return f"ρ {budget:.3g}" if line["noise_law"] == "gaussian" else f"{budget:.4f}"


def _rho(parameters: "Parameters") -> str | None:
    """The ρ of the tables with Gaussian noise, as far as they are planned."""
    from pathveil.statistics.measurement_plan import MeasurementPlan

    rho = MeasurementPlan.of(parameters).rho if parameters.how.has_tables else 0
    return str(rho) if rho else None


def _whose_plan(parameters: "Parameters") -> str:
    """What the table of measurements is."""
    if parameters.planned is None:
        either = (
            " With a δ they may get Gaussian noise, where the forecast is better."
            if parameters.gaussian_delta and parameters.concentrated is None
            else ""
        )
        return (
            "This is the plan that a run begins with. After the first three tables it plans the "
            "others anew, from noisy counts: which are measured, how much of a trajectory each "
            f"looks at, with which budget.{either} To see what that may come to, say how many "
            "trajectories you expect: --trajectories N."
        )
    if not parameters.planned.reasons:
        return "Nothing would stand out of the noise of the first three tables: as usual."
    figures = "; ".join(f"{one.name}: {one.value}" for one in parameters.planned.reasons)
    return f"Planned for the simulated trajectories, from noisy counts. {figures}."


def _print_levels(parameters: "Parameters") -> None:
    from pathveil.cli.console import print_table, stdout_console
    from pathveil.core.tree_forecast import Forecast

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
    from pathveil.core.tree_forecast import noise_deviation, smallest_survivor

    sub_levels = parameters.sub_levels
    if sub_levels is None:
        return []
    needed = smallest_survivor(sub_levels.zone_threshold, sub_levels.zone_epsilon)
    return [
        (
            f"Of every level's budget, {sub_levels.zone_share} counts zones (noise "
            f"{noise_deviation(sub_levels.zone_epsilon):,.1f}); the figures above are of "
            "locations, which have the rest."
        ),
        f"A path told by zones needs about {needed:,} trajectories to survive.",
    ]
