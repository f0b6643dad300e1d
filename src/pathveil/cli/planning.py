"""Public parameters from the command line, for the commands that read no data."""

from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

if TYPE_CHECKING:
    from pathveil.model.parameters import Parameters

UniverseFile: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--universe",
        "-u",
        metavar="UNIVERSE",
        help="The public list of locations: a file, or a description such as gtfs:feed.zip.",
    ),
]
UniverseSize: TypeAlias = Annotated[
    int | None,
    typer.Option("--universe-size", help="Or just how many locations it has."),
]


def planned_parameters(
    *,
    epsilon: str,
    height: int | str,
    universe: str | None,
    universe_size: int | None,
    max_trajectories_per_unit: int,
    method: str,
    threshold: str,
    max_nodes: int,
    time_grid: str | None = None,
) -> "Parameters":
    """The parameters that a run with these choices would have.

    Raises:
        ParameterError: if a choice can't be used, or the universe is given twice or not at all.
    """
    from pathveil.errors import ParameterError
    from pathveil.model.parameters import Parameters
    from pathveil.model.time_grid import TimeGrid
    from pathveil.model.universe import Universe

    if universe is not None and universe_size is None:
        size = len(Universe.read(universe))
    elif universe is None and universe_size is not None:
        size = universe_size
    else:
        raise ParameterError("Give either --universe FILE or --universe-size N.")
    return Parameters.choose(
        epsilon=epsilon,
        height=height,
        universe_size=size,
        threshold=threshold,
        method=method,
        max_trajectories_per_unit=max_trajectories_per_unit,
        max_nodes=max_nodes,
        time_grid=None if time_grid is None else TimeGrid.parse(time_grid),
    )
