"""Neighbouring databases with times (section IV-D): where a mistake about times would show.

Three slots of the day, written 0, 1 and 2; "a0b1" is a in slot 0, then b in slot 1. The crowd ends
before the last slot, and at "a1" nobody goes on within the slot: so the extra unit can be the only
one at a later time, or the only one at the same time, below a node that is surely there.
"""

from fractions import Fraction
from math import ceil

from pathveil.audit.neighbours import UNIVERSE, NeighbouringPair
from pathveil.model.budget import Budget
from pathveil.model.parameters import Parameters
from pathveil.model.time_grid import TimeGrid
from pathveil.raw.database import TrajectoryDatabase

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
        _pair("bulk", crowd, "a0b1c1", "a0b1c1", parameters),
        _pair("new time", crowd, "a2", "a2", parameters),
        _pair("at the threshold", crowd, "d1", "d1", parameters),
        _pair("long", crowd, "a0b1c1" + "c2" * height, "a0b1c1" + "c2" * height, parameters),
        _pair("empty database", [], "a0b1c2", "a0b1c2", parameters),
        _pair("same slot", on_time, "a1b1", "a1b1", parameters),
        _pair("later slot", on_time, "a1b2", "a1b2", parameters),
    )


def _parameters(epsilon: object, height: int) -> Parameters:
    budget = Budget.parse(epsilon)  # type: ignore[arg-type]  # it checks
    return Parameters.choose(
        epsilon=budget,
        height=height,
        universe_size=len(UNIVERSE),
        threshold=max(2, ceil(2 * Fraction(height) / budget.epsilon)),
        time_grid=GRID,
        method="full",
    )


def _pair(
    name: str, people: list[str], unit: str, watched: str, parameters: Parameters
) -> NeighbouringPair:
    path = codes_of_trip(watched)[: parameters.height]
    trips = [codes_of_trip(trip) for trip in people]
    return NeighbouringPair(
        name=name,
        without=_database(trips),
        with_unit=_database([*trips, codes_of_trip(unit)]),
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
        int(slot) * len(UNIVERSE) + UNIVERSE.code(place)
        for place, slot in zip(trip[::2], trip[1::2], strict=True)
    ]


def _database(trips: list[Trip]) -> TrajectoryDatabase:
    offsets = [0]
    for trip in trips:
        offsets.append(offsets[-1] + len(trip))
    codes = [code for trip in trips for code in trip]
    return TrajectoryDatabase.from_arrays(offsets, codes, UNIVERSE, time_grid=GRID)
