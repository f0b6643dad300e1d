"""Pairs of neighbouring databases: the same people, without and with one unit more.

Each pair puts the extra unit where a different mistake would show: on a crowded path, where nobody
ever was, exactly at the threshold, deeper than anybody else, on top of longer trajectories, alone.
The databases are made up here from public parameters; none holds anybody's data.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from pathveil.model.budget import Budget
from pathveil.model.parameters import Parameters
from pathveil.model.universe import Universe
from pathveil.raw.database import TrajectoryDatabase

UNIVERSE = Universe("abcdef")
Trips = list[str]
"""Trajectories over one-letter locations: "abc" is a → b → c."""


@dataclass(frozen=True, slots=True)
class NeighbouringPair:
    """Two databases that differ in one unit, and where to look for the difference.

    Attributes:
        name: which of PRIVACY's pairs it is.
        without: the database without the unit.
        with_unit: the same and the unit's trajectories.
        parameters: public; the same for both.
        path: codes; the nodes along it are watched, at most as many as there are levels.
        counts: how many trajectories of ``without`` pass each node of the path.
        labels: what the auditor calls the locations, if their labels are to be discovered; None
            if they are those of the universe.
    """

    name: str
    without: TrajectoryDatabase
    with_unit: TrajectoryDatabase
    parameters: Parameters
    path: tuple[int, ...]
    counts: tuple[int, ...]
    labels: tuple[str, ...] | None = None

    @property
    def levels(self) -> int:
        """How many levels the tree can have: h, or 2h with a taxonomy."""
        return self.parameters.height * (1 if self.parameters.taxonomy is None else 2)

    @property
    def candidates(self) -> list[str]:
        """What every node can be, by code."""
        places = self.labels or self.without.universe.labels
        grid = self.parameters.time_grid
        if grid is not None:
            return [f"{place} at {time}" for time in grid.labels for place in places]
        return [*places, *(self.parameters.taxonomy.labels if self.parameters.taxonomy else ())]

    @property
    def thresholds(self) -> list[int]:
        """θ of each node of the path."""
        both, least = self.parameters.sub_levels, self.parameters.threshold
        if both is None:
            return [least] * len(self.path)
        places = len(self.without.universe)
        return [both.zone_threshold if code >= places else least for code in self.path]


def neighbouring_pairs(epsilon: object = "1", height: int = 1) -> tuple[NeighbouringPair, ...]:
    """The six pairs: bulk, new location, at the threshold, long, short-on-long, empty database.

    Nobody visits "e" and "f" except a newcomer, and θ − 1 people visit "d".
    """
    parameters = pair_parameters(epsilon, height, max_trajectories_per_unit=1)
    theta = parameters.threshold
    crowd = _crowd(theta)
    shallow = ["ab"] * (4 * theta) + ["c"] * (2 * theta)
    return (
        _pair("bulk", crowd, ["abc"], "abc", parameters),
        _pair("new location", crowd, ["f"], "f", parameters),
        _pair("at the threshold", crowd, ["d"], "d", parameters),
        _pair("long", shallow, ["abc" * height], "abc" * height, parameters),
        _pair("short-on-long", crowd, ["a"], "abc", parameters),
        _pair("empty database", [], ["abc"], "abc", parameters),
    )


def a_unit_with_three(epsilon: object = "1", height: int = 1) -> NeighbouringPair:
    """A seventh pair: the unit is a person with three trajectories, and c = 3 says so."""
    parameters = pair_parameters(epsilon, height, max_trajectories_per_unit=3)
    crowd = _crowd(parameters.threshold)
    return _pair("a unit with three", crowd, ["abc"] * 3, "abc", parameters)


def _crowd(theta: int) -> Trips:
    return ["abc"] * (4 * theta) + ["c"] * (2 * theta) + ["d"] * (theta - 1)


def pair_parameters(epsilon: object, height: int, max_trajectories_per_unit: int) -> Parameters:
    """Public parameters of a pair.

    θ is two noise scales: low enough that empty children pass often, so that they are seen.
    """
    budget = Budget.parse(epsilon)  # type: ignore[arg-type]  # it checks
    scale = Fraction(height * max_trajectories_per_unit) / budget.epsilon
    return Parameters.choose(
        epsilon=budget,
        height=height,
        universe_size=len(UNIVERSE),
        threshold=max(2, ceil(2 * scale)),
        max_trajectories_per_unit=max_trajectories_per_unit,
        method="full",
    )


def _pair(
    name: str, people: Trips, unit: Trips, watched: str, parameters: Parameters
) -> NeighbouringPair:
    watched = watched[: parameters.height]
    return NeighbouringPair(
        name=name,
        without=_database(people, parameters),
        with_unit=_database(people + unit, parameters),
        parameters=parameters,
        path=tuple(UNIVERSE.codes(watched)),
        counts=tuple(
            sum(trip.startswith(watched[: level + 1]) for trip in people)
            for level in range(len(watched))
        ),
    )


def _database(trips: Trips, parameters: Parameters) -> TrajectoryDatabase:
    offsets = [0]
    for trip in trips:
        offsets.append(offsets[-1] + len(trip))
    return TrajectoryDatabase.from_arrays(
        offsets,
        UNIVERSE.codes("".join(trips)),
        UNIVERSE,
        max_trajectories_per_unit=parameters.max_trajectories_per_unit,
    )
