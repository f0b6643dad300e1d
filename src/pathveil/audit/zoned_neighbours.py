"""Neighbouring databases with a taxonomy: where a mistake about zones would show.

Six locations in three zones: "ab", "cd" and "ef", written A, C and E. A watched path such as
"AaCc" goes through a zone and then a location of it; "ACE" goes on from the rest of a zone: the
people whose location was not kept.
"""

from math import ceil

from pathveil.audit.neighbours import UNIVERSE, NeighbouringPair
from pathveil.model.budget import Budget
from pathveil.model.parameters import Parameters
from pathveil.model.sub_levels import ZONE_SHARE
from pathveil.model.taxonomy import Taxonomy
from pathveil.raw.database import TrajectoryDatabase

TAXONOMY = Taxonomy.of(UNIVERSE, list("AACCEE"))
MANY = 4  # thresholds: a crowd that is surely kept


def zoned_pairs(epsilon: object = "1", height: int = 1) -> tuple[NeighbouringPair, ...]:
    """Eight pairs: many, a new location, a new zone, thresholds, rests, and nobody else.

    Nobody visits "b", and nobody the zone E on level 1, but for a newcomer.
    """
    budget = Budget.parse(epsilon)  # type: ignore[arg-type]  # it checks
    # Two scales of the locations' noise: low enough that empty ones pass often and are seen.
    theta = max(2, ceil(2 * height / (budget.epsilon * (1 - ZONE_SHARE))))
    low = _parameters(budget, height, theta)
    zone_theta = _zone_threshold(low)
    many = MANY * max(theta, zone_theta)
    crowd = ["ace"] * many + ["c"] * many + ["d"] * (theta - 1)
    # Two crowds that are kept together, as a zone, and not one by one.
    high = _parameters(budget, height, 3 * zone_theta)
    rest = ["cea"] * (2 * zone_theta) + ["dea"] * (2 * zone_theta)
    return (
        _pair("bulk", crowd, "ace", "AaCcEe", low),
        _pair("new location", crowd, "b", "Ab", low),
        _pair("new zone", crowd, "f", "Ef", low),
        _pair("at the threshold", crowd, "d", "Cd", low),
        _pair("zone at the threshold", ["e"] * (zone_theta - 1), "e", "Ee", low),
        _pair("rest of a zone", rest, "cea", "CEA", high),
        _pair("rest at the threshold", ["cea"] * (zone_theta - 1), "cea", "CEA", high),
        _pair("empty database", [], "ace", "AaCcEe", low),
    )


def _parameters(budget: Budget, height: int, threshold: int) -> Parameters:
    return Parameters.choose(
        epsilon=budget,
        height=height,
        universe_size=len(UNIVERSE),
        threshold=threshold,
        taxonomy=TAXONOMY,
        method="full",
    )


def _zone_threshold(parameters: Parameters) -> int:
    both = parameters.sub_levels
    return both.zone_threshold if both else parameters.threshold


def _pair(
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
    zones = [TAXONOMY.names[TAXONOMY.zone_of[UNIVERSE.code(place)]] for place in trip]
    return len(trip) >= len(steps) and all(
        step in (zone, zone + place) for step, zone, place in zip(steps, zones, trip, strict=False)
    )


def _code(name: str) -> int:
    if name in UNIVERSE:
        return UNIVERSE.code(name)
    return len(UNIVERSE) + TAXONOMY.names.index(name)
