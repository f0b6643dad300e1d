"""A taxonomy from the command line."""

from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from pathveil.cli.commands.universe import read_universe
from pathveil.errors import ParameterError

if TYPE_CHECKING:
    from pathveil.core.parameters import Parameters
    from pathveil.times.protected_units import Protect
    from pathveil.universe.taxonomy import Taxonomy
    from pathveil.universe.universe import Universe


def zones_for(taxonomy: str | None, locations: "Universe | str") -> "Taxonomy | None":
    """The zones that --taxonomy names, of the universe that --universe names.

    Raises:
        ParameterError: if the universe is to be discovered.
        UniverseError: if the taxonomy can't be used.
    """
    from pathveil.universe.taxonomy_spec import read_taxonomy

    if taxonomy is None:
        return None
    if isinstance(locations, str):
        raise ParameterError("A taxonomy needs a public universe; it can't be discovered.")
    return read_taxonomy(taxonomy, locations)


# Public parameters from the command line, for the commands that read no data.


UniverseFile: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--universe",
        "-u",
        metavar="UNIVERSE",
        help="The public list of locations: a file, a description such as gtfs:feed.zip, or "
        "'discover'.",
    ),
]
UniverseSize: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--universe-size",
        help="Or just how many locations it has; with --universe discover, how many you expect.",
    ),
]


def planned_parameters(
    *,
    epsilon: str | None,
    height: int | str | None,
    universe: str | None,
    universe_size: int | None,
    max_trajectories_per_unit: int | str,
    method: str,
    threshold: str,
    max_nodes: int,
    time_grid: str | None = None,
    epsilon_per_trip: str | None = None,
    delta: str | None = None,
    rho: str | None = None,
    taxonomy: str | None = None,
    purpose: str = "everything",
) -> "Parameters":
    """The parameters that a run with these choices would have.

    With "discover" the size of the universe stays open, unless the number that is expected is
    given: then they are those of a run that names so many.

    Raises:
        ParameterError: if a choice can't be used, or the universe is given twice or not at all.
    """
    from pathveil.core.budget import Budget
    from pathveil.core.parameters import Parameters
    from pathveil.core.preparations import DISCOVER
    from pathveil.errors import ParameterError
    from pathveil.times.time_grid import TimeGrid

    size: int | None
    zones = None
    if universe == DISCOVER:
        size = None
    elif universe is not None and universe_size is None:
        locations = read_universe(universe)
        size, zones = len(locations), zones_for(taxonomy, locations)
    elif universe is None and universe_size is not None:
        size = universe_size
    else:
        raise ParameterError("Give either --universe FILE or --universe-size N.")
    if taxonomy is not None and zones is None:
        raise ParameterError("A taxonomy is of a list of locations: give --universe FILE with it.")
    parameters = Parameters.choose(
        epsilon=Budget.choose(
            epsilon, epsilon_per_trip, max_trajectories_per_unit, rho=rho, delta=delta
        ),
        height=height,
        universe_size=size,
        threshold=threshold,
        method=method,
        max_trajectories_per_unit=max_trajectories_per_unit,
        max_nodes=max_nodes,
        time_grid=None if time_grid is None else TimeGrid.parse(time_grid),
        delta=delta,
        rho=rho,
        taxonomy=zones,
        purpose=purpose,
    )
    if size is None and universe_size is not None:
        return parameters.with_universe_size(universe_size)
    return parameters


def protect_words(parameters: "Parameters", protect: "Protect") -> list[str]:
    """Who is protected, and what a person who is there for a year has in total."""
    from pathveil.promise.over_time import Year
    from pathveil.promise.stability import unit_promise
    from pathveil.times.protected_units import UNITS

    promise = unit_promise(parameters)
    return [
        f"Protected as one is {UNITS[protect].one}, with ε = {parameters.budget}.",
        Year.of(promise, protect).sentence(promise),
    ]


def protect_as_json(parameters: "Parameters", protect: "Protect") -> dict[str, object]:
    """The same for scripts."""
    from pathveil.promise.over_time import Year
    from pathveil.promise.stability import unit_promise

    year = Year.of(unit_promise(parameters), protect)
    return {
        "protect": protect,
        "a_person_for_a_year": {
            "units": year.units,
            "epsilon_in_one_release": str(year.together),
            "epsilon_in_a_release_each": str(year.apart),
            "rho_in_one_release": str(year.rho) if year.rho else None,
        },
    }
