"""Settle, with noise, the parameters that are to be chosen from data: c, the universe, the height.

The rules, and why they are private, stand in `core.preparations`; here a share of ε is spent.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from pathveil.core.parameters import Parameters
from pathveil.core.preparations import (
    MOST,
    MOST_LABELS,
    TRIP_BINS,
    Preparation,
    bin_of_trips,
    discovery_threshold,
    height_for,
    trips_for,
)
from pathveil.errors import ParameterError
from pathveil.gate.add_noise import dense_table, discrete_laplace, gathered
from pathveil.gate.randomness import Randomness
from pathveil.raw.database import TrajectoryDatabase
from pathveil.raw.engines.batch_counter import BatchCounter
from pathveil.raw.engines.engine import Trajectories, table_counter
from pathveil.raw.engines.protocol import CellTables
from pathveil.raw.observed import is_observed, restrict
from pathveil.statistics.first_visits import first_visits
from pathveil.statistics.statistic import Rows
from pathveil.universe.universe import Universe, text_problem

# Spend a share of ε on the distribution of lengths: the gate's side of ``height="auto"``.
#
# A non-empty trajectory adds 1 to exactly one of the bins 1, 2 … MOST or more, so a unit with at
# most c trajectories changes the table by at most c in L1; noise of parameter share·ε/c on every
# bin, empty ones included, costs share·ε. The height is a function of the noisy bins
# (post-processing), and what is measured afterwards with it composes sequentially.


def choose_height(
    database: Trajectories,
    preparation: Preparation,
    randomness: Randomness,
) -> int:
    """A height chosen with privacy. Spends the preparation's budget."""
    (exact,) = table_counter(database).count_tables(LengthTable())
    counts = gathered(exact, MOST)
    return height_for(dense_table(counts, preparation.noise, randomness).counts)


@dataclass(frozen=True)
class LengthTable(CellTables):
    """How many trajectories have length 1, 2 … MOST or more, as engines count it."""

    @property
    def sizes(self) -> tuple[int]:
        """One table."""
        return (MOST,)

    def cells(self, rows: Rows, _table: int) -> NDArray[np.int64]:
        """One cell for each that is not empty."""
        return np.minimum(np.diff(rows.offsets)[rows.not_empty], MOST) - 1


# Spend a share of ε on how many trips units have: the gate's side of choosing c.
#
# The argument is in `core.preparations`. A unit is counted where its first trajectory is, once.


def choose_trips(
    database: Trajectories, preparation: Preparation, randomness: Randomness
) -> tuple[int, Fraction | None]:
    """c, and how many trips there are for each that is used. Spends the preparation's budget."""
    (exact,) = table_counter(database).count_tables(TripsTable())
    noisy = dense_table(gathered(exact, TRIP_BINS), preparation.noise, randomness).counts
    return trips_for(noisy, preparation.squared_scale)


@dataclass(frozen=True)
class TripsTable(CellTables):
    """How many units have so many trips, in bins, as engines count it."""

    @property
    def sizes(self) -> tuple[int]:
        """One table."""
        return (TRIP_BINS,)

    def cells(self, rows: Rows, _table: int) -> NDArray[np.int64]:
        """One cell for each unit, by what its first trajectory says."""
        if rows.trips is None:
            raise ValueError("how many trips units have was not kept")
        return bin_of_trips(rows.trips[rows.trips > 0])


# Name the labels of an unknown universe, (ε', δ)-differentially private.
#
# The argument is in `core.preparations`: what is counted here is exactly what it says, each
# trajectory's first k distinct labels once. The labels are listed in the order of their text, which
# says nothing about counts.


def discover(database: Trajectories, preparation: Preparation, randomness: Randomness) -> Universe:
    """The labels whose noisy counts stand out. Spends the preparation's ε and δ.

    Args:
        database: trajectories over all labels that occur, a private universe.
        preparation: what may be spent.
        randomness: where the noise comes from.

    Raises:
        ParameterError: if no label stands out: a universe has at least one location. That it
            happened is a noisy fact, and may be said.
    """
    size, contribution = len(database.universe), database.max_trajectories_per_unit
    (exact,) = table_counter(database).count_tables(LabelTable(size))
    counts = gathered(exact, size)
    occurring = np.flatnonzero(counts)
    noisy = counts[occurring] + discrete_laplace(len(occurring), preparation.epsilon, randomness)
    threshold = discovery_threshold(preparation.epsilon, contribution, preparation.delta)
    labels = database.universe.labels
    passed = [labels[code] for code in occurring[noisy >= threshold]]
    # A label that no universe may hold (blank, too long, a control character) is never named.
    named = sorted(label for label in passed if label.strip() and not text_problem(label))
    if not named:
        raise ParameterError(
            f"No label's noisy count reached {threshold}: there is nothing to publish. The budget "
            "is spent. Give a public list of locations, or a larger epsilon for other data."
        )
    return Universe(named, origin="discovered from the data, at a cost")


@dataclass(frozen=True)
class LabelTable(CellTables):
    """How many trajectories have each label among their first k, as engines count it.

    Attributes:
        labels: how many there are.
    """

    labels: int

    @property
    def sizes(self) -> tuple[int]:
        """One table."""
        return (self.labels,)

    def cells(self, rows: Rows, _table: int) -> NDArray[np.int32]:
        """At most k cells for each."""
        visited = first_visits(rows.offsets, rows.codes, rows.size, MOST_LABELS, False)
        return visited[visited >= 0]


# Settle the parameters that are to be chosen from data, each with a share of ε of its own.
#
# First c, which all others are bounded by, then the labels, then the height, then (in `publishing`)
# the main measurements: they are measured one after another, each may depend on what the ones
# before published, and their budgets add up to ε (sequential composition); the δ is the
# discovery's alone.


def prepare(
    database: Trajectories, parameters: Parameters, randomness: Randomness
) -> tuple[Trajectories, Parameters]:
    """The database over a public universe, and parameters in which nothing is open.

    Raises:
        ParameterError: if the parameters were chosen for other data.
    """
    size = None if parameters.universe_is_open else parameters.universe_size
    found = None if is_observed(database.universe) else len(database.universe)
    if (size, parameters.max_trajectories_per_unit) != (found, database.max_trajectories_per_unit):
        raise ParameterError("The parameters were chosen for another universe or another bound.")
    if parameters.time_grid != database.time_grid:
        raise ParameterError("The parameters were chosen for another time grid.")
    if isinstance(database, BatchCounter) and not _is_long_enough(database, parameters):
        raise ParameterError("The parameters were chosen for another height.")
    if parameters.trips_are_open != database.trips_are_open:
        raise ParameterError("The parameters were chosen for another universe or another bound.")
    waiting = iter(parameters.preparations)
    if parameters.trips_are_open:
        chosen, expansion = choose_trips(database, next(waiting), randomness)
        database = database.bounded_to(chosen)
        parameters = parameters.with_trips(chosen, expansion)
        waiting = iter(parameters.preparations[1:])
    if parameters.universe_is_open:
        universe = discover(database, next(waiting), randomness)
        database = _restricted(database, universe)
        parameters = parameters.with_universe_size(len(universe))
    if parameters.height_is_open:
        parameters = parameters.with_height(choose_height(database, next(waiting), randomness))
    return database, parameters


def _is_long_enough(counter: BatchCounter, parameters: Parameters) -> bool:
    """Whether it holds as much of a trajectory as is looked at."""
    if counter.height is None:
        return True
    return not parameters.how.has_tables and parameters.height <= counter.height


def _restricted(database: Trajectories, universe: Universe) -> Trajectories:
    if isinstance(database, TrajectoryDatabase):
        return restrict(database, universe)
    database.restrict(universe)
    return database
