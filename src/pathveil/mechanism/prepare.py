"""Settle the parameters that are to be chosen from data, each with a share of ε of its own.

First the labels, then the height, then (in `publishing`) the main measurements: they are measured
one after another, each may depend on what the ones before published, and their budgets add up to
ε (sequential composition); the δ is the discovery's alone.
"""

from pathveil.errors import ParameterError
from pathveil.mechanism.choose_height import choose_height
from pathveil.mechanism.discover import discover
from pathveil.mechanism.randomness import Randomness
from pathveil.model.parameters import Parameters
from pathveil.raw.counting.sql_counter import SqlCounter
from pathveil.raw.database import TrajectoryDatabase
from pathveil.raw.engines import Trajectories, check_engine
from pathveil.raw.observed import is_observed, restrict


def prepare(
    database: Trajectories, parameters: Parameters, randomness: Randomness
) -> tuple[Trajectories, Parameters]:
    """The database over a public universe, and parameters in which nothing is open.

    Raises:
        ParameterError: if the parameters were chosen for other data.
    """
    size = None if parameters.universe_is_open else parameters.universe_size
    is_open = isinstance(database, TrajectoryDatabase) and is_observed(database)
    found = None if is_open else len(database.universe)
    if (size, parameters.max_trajectories_per_unit) != (found, database.max_trajectories_per_unit):
        raise ParameterError("The parameters were chosen for another universe or another bound.")
    if parameters.time_grid != database.time_grid:
        raise ParameterError("The parameters were chosen for another time grid.")
    if isinstance(database, SqlCounter):
        check_engine(database.engine, parameters)
        if database.height < parameters.height:
            raise ParameterError("The parameters were chosen for another height.")
        return database, parameters
    waiting = iter(parameters.preparations)
    if parameters.universe_is_open:
        universe = discover(database, next(waiting), randomness)
        database = restrict(database, universe)
        parameters = parameters.with_universe_size(len(universe))
    if parameters.height_is_open:
        rule = parameters.how.height_rule
        chosen = choose_height(database, next(waiting), rule, randomness)
        parameters = parameters.with_height(chosen)
    return database, parameters
