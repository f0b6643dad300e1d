"""Made-up people with many trips each, for `bench.people` and `bench.expansion`.

The towns and ways to move are those of `bench.regime_simulators`: what a person is (home and work,
class, part of town) is drawn once and kept for all of their trips. How many trips somebody makes
is log-normal: most make few, some make very many. Which were looked at while rules and constants
for people with many trips were chosen, and which only for the final score: `OPEN`, `KEPT_BACK`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench.regime_simulators import SIMULATORS, Town
from pathveil import TrajectoryDatabase
from pathveil.core.preparations import AUTO, MOST_TRIPS

SPREAD_OF_TRIPS = 1.2  # of the logarithm of how many trips people make


@dataclass(frozen=True, slots=True)
class Riders:
    """People who make trips in a town.

    Attributes:
        simulator: how they move, a name among those of `bench.regime_simulators`.
        people: how many there are.
        size: |L|.
        trips: about the mean number of trips of a person.
        by_activity: whether what people are goes by how many trips they make, so that frequent
            riders go elsewhere than rare ones.
    """

    simulator: str
    people: int
    size: int
    trips: float
    by_activity: bool = False

    def database(self, most: int | str) -> TrajectoryDatabase:
        """At most so many trips of each; "auto": as many as can be chosen."""
        draw = np.random.default_rng([list(SIMULATORS).index(self.simulator), self.people])
        town = Town(self.size, draw)
        centre = np.log(self.trips) - SPREAD_OF_TRIPS**2 / 2
        each = np.sort(1 + draw.lognormal(centre, SPREAD_OF_TRIPS, self.people).astype(np.int64))
        if not self.by_activity:
            draw.shuffle(each)
        unit = np.repeat(np.arange(self.people), each)
        place = np.arange(len(unit)) - np.repeat(np.cumsum(each) - each, each)
        lengths = 2 + draw.poisson(1.0, len(unit))
        codes, offsets = self._visits(town, unit, lengths)
        bound = MOST_TRIPS if most == AUTO else int(most)
        kept = np.flatnonzero(place < bound)
        told = np.where(place == 0, each[unit], -place)[kept].astype(np.int32)
        rows = np.repeat(place < bound, lengths)
        return TrajectoryDatabase(
            np.concatenate((np.zeros(1, np.int64), np.cumsum(np.diff(offsets)[kept]))),
            codes[rows],
            town.universe(with_map=True),
            bound,
            trips=told,
            trips_are_open=most == AUTO,
        )

    def _visits(
        self, town: Town, unit: NDArray[np.int64], lengths: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The visits of all trips; everybody's t-th at once, the longest trips first."""
        order = np.argsort(-lengths, kind="stable")
        movers = SIMULATORS[self.simulator](town, self.people)
        for name, value in vars(movers).items():
            if isinstance(value, np.ndarray) and value.shape[-1] == self.people:
                own = np.sort(value) if self.by_activity and value.ndim == 1 else value
                setattr(movers, name, own[..., unit[order]])
        offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
        codes = np.empty(offsets[-1], dtype=np.int32)
        begins = offsets[:-1][order]
        reach = np.cumsum(np.bincount(lengths)[::-1])[::-1]
        for turn in range(int(lengths.max())):
            active = int(reach[turn + 1])
            codes[begins[:active] + turn] = movers.visit(turn, active)
        return codes, offsets


OPEN = {
    "commuters-3000": Riders("commuters", 3_000, 300, 20),
    "commuters-20000": Riders("commuters", 20_000, 300, 8),
    "classes-500": Riders("classes", 500, 400, 150),
    "classes-5000": Riders("classes", 5_000, 200, 12, by_activity=True),
}
KEPT_BACK = {
    "parts-3000": Riders("parts", 3_000, 300, 20),
    "hubs-800": Riders("hubs", 800, 500, 60),
    "hubs-10000": Riders("hubs", 10_000, 300, 15),
    "milieus-5000": Riders("milieus", 5_000, 200, 12, by_activity=True),
}
RIDERS = OPEN | KEPT_BACK
