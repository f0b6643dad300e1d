"""Pairs of neighbouring databases: the same people, without and with one unit more.

Each pair puts the extra unit where a different mistake would show: on a crowded path, where nobody
ever was, exactly at the threshold, deeper than anybody else, on top of longer trajectories, alone;
then the same with times, and with a taxonomy. The databases are made up here from public
parameters; none holds anybody's data.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from pathveil.core.budget import Budget
from pathveil.core.methods import FULL
from pathveil.core.parameters import Parameters
from pathveil.core.thresholds import ZONE_SHARE
from pathveil.raw.database import TrajectoryDatabase
from pathveil.times.time_grid import TimeGrid
from pathveil.universe.taxonomy import Taxonomy
from pathveil.universe.universe import Universe

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
        locations = self.labels or self.without.universe.labels
        grid = self.parameters.time_grid
        if grid is not None:
            return [f"{location} at {time}" for time in grid.labels for location in locations]
        return [*locations, *(self.parameters.taxonomy.labels if self.parameters.taxonomy else ())]

    @property
    def thresholds(self) -> list[int]:
        """θ of each node of the path."""
        sub_levels, least = self.parameters.sub_levels, self.parameters.threshold
        if sub_levels is None:
            return [least] * len(self.path)
        locations = len(self.without.universe)
        return [sub_levels.zone_threshold if code >= locations else least for code in self.path]


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
        method=FULL.name,
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


# Neighbouring databases with times (section IV-D): where a mistake about times would show.
#
# Three slots of the day, written 0, 1 and 2; "a0b1" is a in slot 0, then b in slot 1. The crowd
# ends before the last slot, and at "a1" nobody goes on within the slot: so the extra unit can be
# the only one at a later time, or the only one at the same time, below a node that is surely there.


GRID = TimeGrid.parse("8h")
Trip = list[int]


def timed_pairs(epsilon: object = "1", height: int = 1) -> tuple[NeighbouringPair, ...]:
    """Seven pairs: where many are, at a new time, at the threshold, long, alone, and two below.

    "same slot" and "later slot" add a unit below "a1", which many visit: at the same time, where
    nobody went on, or at the last time, which nobody reaches. Below level 1 they are like "bulk".
    """
    parameters = _parameters(epsilon, height)
    theta = parameters.threshold
    crowd = ["a0b1c1"] * (4 * theta) + ["c0"] * (2 * theta) + ["d1"] * (theta - 1)
    on_time = ["a1"] * (4 * theta)
    return (
        _timed_pair("bulk", crowd, "a0b1c1", "a0b1c1", parameters),
        _timed_pair("new time", crowd, "a2", "a2", parameters),
        _timed_pair("at the threshold", crowd, "d1", "d1", parameters),
        _timed_pair("long", crowd, "a0b1c1" + "c2" * height, "a0b1c1" + "c2" * height, parameters),
        _timed_pair("empty database", [], "a0b1c2", "a0b1c2", parameters),
        _timed_pair("same slot", on_time, "a1b1", "a1b1", parameters),
        _timed_pair("later slot", on_time, "a1b2", "a1b2", parameters),
    )


def _parameters(epsilon: object, height: int) -> Parameters:
    budget = Budget.parse(epsilon)  # type: ignore[arg-type]  # it checks
    return Parameters.choose(
        epsilon=budget,
        height=height,
        universe_size=len(UNIVERSE),
        threshold=max(2, ceil(2 * Fraction(height) / budget.epsilon)),
        time_grid=GRID,
        method=FULL.name,
    )


def _timed_pair(
    name: str, people: list[str], unit: str, watched: str, parameters: Parameters
) -> NeighbouringPair:
    path = codes_of_trip(watched)[: parameters.height]
    trips = [codes_of_trip(trip) for trip in people]
    return NeighbouringPair(
        name=name,
        without=_timed_database(trips),
        with_unit=_timed_database([*trips, codes_of_trip(unit)]),
        parameters=parameters,
        path=tuple(path),
        counts=tuple(
            sum(trip[: level + 1] == path[: level + 1] for trip in trips)
            for level in range(len(path))
        ),
    )


def codes_of_trip(trip: str) -> Trip:
    """The pair codes of a trip such as "a0b1"."""
    return [
        int(slot) * len(UNIVERSE) + UNIVERSE.code(location)
        for location, slot in zip(trip[::2], trip[1::2], strict=True)
    ]


def _timed_database(trips: list[Trip]) -> TrajectoryDatabase:
    offsets = [0]
    for trip in trips:
        offsets.append(offsets[-1] + len(trip))
    codes = [code for trip in trips for code in trip]
    return TrajectoryDatabase.from_arrays(offsets, codes, UNIVERSE, time_grid=GRID)


# Neighbouring databases with a taxonomy: where a mistake about zones would show.
#
# Six locations in three zones: "ab", "cd" and "ef", written A, C and E. A watched path such as
# "AaCc" goes through a zone and then a location of it; "ACE" goes on from the rest of a zone: the
# people whose location was not kept.


TAXONOMY = Taxonomy.of(UNIVERSE, list("AACCEE"))
MANY = 4  # thresholds: a crowd that is surely kept


def zoned_pairs(epsilon: object = "1", height: int = 1) -> tuple[NeighbouringPair, ...]:
    """Eight pairs: many, a new location, a new zone, thresholds, rests, and nobody else.

    Nobody visits "b", and nobody the zone E on level 1, but for a newcomer.
    """
    budget = Budget.parse(epsilon)  # type: ignore[arg-type]  # it checks
    # Two scales of the locations' noise: low enough that empty ones pass often and are seen.
    theta = max(2, ceil(2 * height / (budget.epsilon * (1 - ZONE_SHARE))))
    low = _zoned_parameters(budget, height, theta)
    zone_theta = _zone_threshold(low)
    many = MANY * max(theta, zone_theta)
    crowd = ["ace"] * many + ["c"] * many + ["d"] * (theta - 1)
    # Two crowds that are kept together, as a zone, and not one by one.
    high = _zoned_parameters(budget, height, 3 * zone_theta)
    rest = ["cea"] * (2 * zone_theta) + ["dea"] * (2 * zone_theta)
    return (
        _zoned_pair("bulk", crowd, "ace", "AaCcEe", low),
        _zoned_pair("new location", crowd, "b", "Ab", low),
        _zoned_pair("new zone", crowd, "f", "Ef", low),
        _zoned_pair("at the threshold", crowd, "d", "Cd", low),
        _zoned_pair("zone at the threshold", ["e"] * (zone_theta - 1), "e", "Ee", low),
        _zoned_pair("rest of a zone", rest, "cea", "CEA", high),
        _zoned_pair("rest at the threshold", ["cea"] * (zone_theta - 1), "cea", "CEA", high),
        _zoned_pair("empty database", [], "ace", "AaCcEe", low),
    )


def _zoned_parameters(budget: Budget, height: int, threshold: int) -> Parameters:
    return Parameters.choose(
        epsilon=budget,
        height=height,
        universe_size=len(UNIVERSE),
        threshold=threshold,
        taxonomy=TAXONOMY,
        method=FULL.name,
    )


def _zone_threshold(parameters: Parameters) -> int:
    sub_levels = parameters.sub_levels
    return sub_levels.zone_threshold if sub_levels else parameters.threshold


def _zoned_pair(
    name: str, people: list[str], unit: str, watched: str, parameters: Parameters
) -> NeighbouringPair:
    steps = _steps(watched)[: parameters.height]
    path = "".join(steps)
    return NeighbouringPair(
        name=name,
        without=TrajectoryDatabase.from_sequences(people, UNIVERSE),
        with_unit=TrajectoryDatabase.from_sequences([*people, unit], UNIVERSE),
        parameters=parameters,
        path=tuple(map(_code, path)),
        counts=tuple(
            sum(_passes(trip, _steps(path[: i + 1])) for trip in people) for i in range(len(path))
        ),
    )


def _steps(path: str) -> list[str]:
    """The visits of a path: "AaC" is "Aa", "C"."""
    return path.translate({ord(zone): f" {zone}" for zone in TAXONOMY.names}).split()


def _passes(trip: str, steps: list[str]) -> bool:
    """Whether a trip begins with these visits, as far as they are told."""
    zones = [TAXONOMY.names[TAXONOMY.zone_of[UNIVERSE.code(location)]] for location in trip]
    return len(trip) >= len(steps) and all(
        step in (zone, zone + location)
        for step, zone, location in zip(steps, zones, trip, strict=False)
    )


def _code(name: str) -> int:
    if name in UNIVERSE:
        return UNIVERSE.code(name)
    return len(UNIVERSE) + TAXONOMY.names.index(name)
