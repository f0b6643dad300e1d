"""Made-up people for `bench.regimes` and `bench.intervals`: eleven ways to move, over any town.

Three were looked at while the method's constants were chosen, three only for the final score:
`OPEN` and `KEPT_BACK`. Whoever changes a constant looks at the open ones alone. Three more were
written after the rules of intervals were frozen, and are for these alone, and one each time that
they were changed and frozen again: `AFTER_THE_FREEZE`.

Everybody's t-th visit is drawn at once, so a simulation is a loop over steps and not over people.
"""

from dataclasses import dataclass
from math import ceil, sqrt
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pathveil import TrajectoryDatabase, Universe

Codes = NDArray[np.int64]
ZIPF = 0.9  # the skew of popularity, as in `pathveil.simulate_week`
SPREAD = 0.8  # of the logarithm of lengths, likewise
CLASSES, PARTS, STOPS_PER_HUB = 12, 12, 25


class Town:
    """Locations on a square grid, some of them more popular than others.

    Args:
        size: |L|.
        draw: its randomness.
    """

    def __init__(self, size: int, draw: np.random.Generator) -> None:
        self.size, self.width = size, ceil(sqrt(size))
        self.row, self.column = np.divmod(np.arange(size), self.width)
        self.rows = int(self.row[-1]) + 1
        self.by_rank = draw.permutation(size)
        self.zipf = np.cumsum(np.arange(1.0, size + 1) ** -ZIPF)
        self.weight = np.empty(size)
        self.weight[self.by_rank] = np.diff(self.zipf, prepend=0.0)
        self.draw = draw

    def ranks(self, count: int, among: int | None = None) -> Codes:
        """Ranks of popularity, from 0, among so many."""
        zipf = self.zipf[:among]
        return np.searchsorted(zipf, self.draw.random(count) * zipf[-1], side="right")

    def anywhere(self, count: int) -> Codes:
        """Locations by popularity."""
        return self.by_rank[self.ranks(count)]

    def at(self, row: NDArray[np.int64], column: NDArray[np.int64]) -> Codes:
        """The location there, or −1 outside the town."""
        code = row * self.width + column
        inside = (row >= 0) & (column >= 0) & (column < self.width) & (code < self.size)
        return np.where(inside, code, -1)

    def universe(self, *, with_map: bool) -> Universe:
        """Its public list of locations, with or without coordinates."""
        labels = [f"L{code}" for code in range(self.size)]
        if not with_map:
            return Universe(labels)
        north, east = 45.0 + 0.004 * self.row, -73.0 + 0.006 * self.column
        return Universe(labels, latitude=north, longitude=east)


class People(Protocol):
    """A way to move. Made of a town and a number of people; then asked visit after visit."""

    def visit(self, turn: int, active: int) -> Codes:
        """The ``turn``-th visit, from 0, of the first ``active`` people."""
        ...


class HiddenClasses:
    """Everybody belongs to a class that nothing tells; each class has favourites of its own."""

    def __init__(self, town: Town, people: int) -> None:
        self._town = town
        self._class = town.draw.integers(0, CLASSES, people)
        self._favourites = np.stack([town.draw.permutation(town.size) for _ in range(CLASSES)])

    def visit(self, turn: int, active: int) -> Codes:  # noqa: ARG002
        """Each by itself: only who somebody is says where they go."""
        return self._favourites[self._class[:active], self._town.ranks(active)]


class GridWalk:
    """From a popular location, block by block, mostly straight on."""

    STEPS = np.array([[1, 0], [0, 1], [-1, 0], [0, -1]])

    def __init__(self, town: Town, people: int) -> None:
        self._town, self._here = town, town.anywhere(people)
        self._heading = town.draw.integers(0, 4, people)

    def visit(self, turn: int, active: int) -> Codes:
        """The next block; at the edge of the town the other way round."""
        town, here = self._town, self._here[:active]
        if turn == 0:
            return here.copy()
        turned = town.draw.random(active) < 0.3
        heading = np.where(turned, town.draw.integers(0, 4, active), self._heading[:active])
        there = self._ahead(here, heading)
        heading = np.where(there < 0, (heading + 2) % 4, heading)
        there = np.where(there < 0, self._ahead(here, heading), there)
        self._heading[:active] = heading
        self._here[:active] = np.where(there < 0, here, there)
        return self._here[:active].copy()

    def _ahead(self, here: Codes, heading: Codes) -> Codes:
        step = self.STEPS[heading]
        town = self._town
        return town.at(town.row[here] + step[:, 0], town.column[here] + step[:, 1])


class Commuters:
    """Between a home and a work with detours; one in ten wanders."""

    def __init__(self, town: Town, people: int) -> None:
        self._town = town
        self._ends = np.stack([town.anywhere(people), town.anywhere(people)])
        self._wanders = town.draw.random(people) < 0.1
        self._first = town.draw.integers(0, 2, people)

    def visit(self, turn: int, active: int) -> Codes:
        """The other end, or a detour."""
        town = self._town
        usual = self._ends[(self._first[:active] + turn) % 2, np.arange(active)]
        detour = town.draw.random(active) < np.where(self._wanders[:active], 0.8, 0.15)
        return np.where(detour, town.anywhere(active), usual)


class OwnPart:
    """The town has parts, and people stay in theirs for all but every sixth visit."""

    def __init__(self, town: Town, people: int) -> None:
        self._town = town
        parts = min(PARTS, max(1, town.size // 5))
        self._size = town.size // parts
        self._part = town.draw.integers(0, parts, people)

    def visit(self, turn: int, active: int) -> Codes:  # noqa: ARG002
        """Parts are stripes of the grid; within one the first locations are the popular ones."""
        town = self._town
        own = self._part[:active] * self._size + town.ranks(active, self._size)
        return np.where(town.draw.random(active) < 5 / 6, own, town.anywhere(active))


class HubCommuters:
    """From home by a hub to work and back by it: always the same hub."""

    def __init__(self, town: Town, people: int) -> None:
        self._town = town
        hubs = town.by_rank[: max(1, town.size // STOPS_PER_HUB)]
        home, work = town.anywhere(people), town.anywhere(people)
        # One of three hubs at random, the one nearest to home: a habit that no pair of stops tells.
        offered = hubs[town.draw.integers(0, len(hubs), (3, people))]
        far = np.abs(town.row[offered] - town.row[home])
        far += np.abs(town.column[offered] - town.column[home])
        hub = offered[np.argmin(far, axis=0), np.arange(people)]
        self._round = np.stack([home, hub, work, hub])

    def visit(self, turn: int, active: int) -> Codes:
        """The next stop of the round, or once in ten elsewhere."""
        town, usual = self._town, self._round[turn % 4, :active]
        return np.where(town.draw.random(active) < 0.1, town.anywhere(active), usual)


class Gravity:
    """Somewhere near, rarely far (a power law), of two offers rather the more popular one."""

    def __init__(self, town: Town, people: int) -> None:
        self._town, self._here = town, town.anywhere(people)

    def visit(self, turn: int, active: int) -> Codes:
        """From where somebody is."""
        if turn > 0:
            one, other = self._offer(active), self._offer(active)
            weight = self._town.weight
            chosen = self._town.draw.random(active) * (weight[one] + weight[other]) < weight[one]
            self._here[:active] = np.where(chosen, one, other)
        return self._here[:active].copy()

    def _offer(self, active: int) -> Codes:
        town, here = self._town, self._here[:active]
        far = 0.7 * town.draw.pareto(1.5, active) + 0.7
        angle = town.draw.random(active) * 2 * np.pi
        row = town.row[here] + np.round(far * np.sin(angle)).astype(np.int64)
        column = town.column[here] + np.round(far * np.cos(angle)).astype(np.int64)
        there = town.at(row, column)
        return np.where(there < 0, here, there)


class Milieus:
    """Hidden classes that share the centre, differ elsewhere, and return to where they were."""

    OTHERS = 8
    RETURNS, CENTRE = 0.35, 0.25

    def __init__(self, town: Town, people: int) -> None:
        self._town = town
        self._class = town.draw.integers(0, self.OTHERS, people)
        # Each class knows a third of the town, in an order of its own.
        known = max(2, town.size // 3)
        self._known = np.stack(
            [town.draw.permutation(town.size)[:known] for _ in range(self.OTHERS)]
        )
        self._first = town.anywhere(people)

    def visit(self, turn: int, active: int) -> Codes:
        """The first location again, the centre of all, or one of the class."""
        town, draw = self._town, self._town.draw
        own = self._known[self._class[:active], town.ranks(active, self._known.shape[1])]
        there = np.where(draw.random(active) < self.CENTRE, town.anywhere(active), own)
        if turn == 0:
            self._first[:active] = there
        again = (draw.random(active) < self.RETURNS) & (turn > 1)
        return np.where(again, self._first[:active], there)


class SecondOrder:
    """Where people go next follows from the last two locations, by a rule, seven times in ten."""

    WAYS, FOLLOWED = 3, 0.7

    def __init__(self, town: Town, people: int) -> None:
        self._town = town
        self._last = np.stack([town.anywhere(people), town.anywhere(people)])

    def visit(self, turn: int, active: int) -> Codes:  # noqa: ARG002
        """One of three successors of the last two, the more popular rather; else anywhere."""
        town, last = self._town, self._last
        way = town.draw.integers(0, self.WAYS, active)
        mixed = (last[0, :active] * 31 + last[1, :active]) * 7919 + way * 104_729
        rank = np.searchsorted(town.zipf, (mixed % 10_007) / 10_007 * town.zipf[-1], side="right")
        follows = town.draw.random(active) < self.FOLLOWED
        there = np.where(follows, town.by_rank[rank], town.anywhere(active))
        last[0, :active], last[1, :active] = last[1, :active], there.copy()
        return there


class UsualHub:
    """Commuters who change at a usual hub of their side of town, with errands around it."""

    ERRANDS = 0.2

    def __init__(self, town: Town, people: int) -> None:
        self._town = town
        hubs = np.sort(town.by_rank[: max(2, town.size // 40)])
        home, work = town.anywhere(people), town.anywhere(people)
        side = np.searchsorted(hubs, home) % len(hubs)
        stray = town.draw.random(people) < 0.15  # whose usual hub is not that of their side
        hub = hubs[np.where(stray, town.draw.integers(0, len(hubs), people), side)]
        self._round = np.stack([home, hub, work, work, hub, home])

    def visit(self, turn: int, active: int) -> Codes:
        """The next stop of the day, or an errand next to it."""
        town, usual = self._town, self._round[turn % 6, :active]
        near = (usual + town.draw.integers(1, 6, active)) % town.size
        return np.where(town.draw.random(active) < self.ERRANDS, near, usual)


class Tours:
    """Residents go to and fro between two places; guests walk a ring of sights, and skip some."""

    GUESTS, SIGHTS, SKIPS, ELSEWHERE = 0.4, 30, 0.3, 0.1

    def __init__(self, town: Town, people: int) -> None:
        self._town = town
        self._is_guest = town.draw.random(people) < self.GUESTS
        self._ring = town.draw.permutation(town.by_rank[: min(self.SIGHTS, town.size)])
        self._at = town.draw.integers(0, len(self._ring), people)
        self._round = np.stack([town.anywhere(people), town.draw.integers(0, town.size, people)])

    def visit(self, turn: int, active: int) -> Codes:
        """The other of the two places, or the next sight or the one after it; or anywhere."""
        town, draw = self._town, self._town.draw
        self._at[:active] += 1 + (draw.random(active) < self.SKIPS)
        sight = self._ring[self._at[:active] % len(self._ring)]
        there = np.where(self._is_guest[:active], sight, self._round[turn % 2, :active])
        return np.where(draw.random(active) < self.ELSEWHERE, town.anywhere(active), there)


class Deliveries:
    """Vans load at a depot, serve a few customers of the day's sector, and load again."""

    DEPOTS, SECTORS, LOAD, ASTRAY = 6, 14, 4, 0.08

    def __init__(self, town: Town, people: int) -> None:
        self._town = town
        depots = town.by_rank[: min(self.DEPOTS, town.size)]
        self._depot = depots[town.ranks(people, len(depots))]
        # A depot serves some sectors more than others; a sector is every so many-th location.
        self._sector = (self._depot * 5 + town.draw.geometric(0.3, people)) % self.SECTORS
        self._each = max(1, town.size // self.SECTORS)

    def visit(self, turn: int, active: int) -> Codes:
        """The depot, then customers by popularity within the sector; rarely anywhere."""
        town, draw = self._town, self._town.draw
        customer = self._sector[:active] + self.SECTORS * town.ranks(active, self._each)
        usual = customer if turn % self.LOAD else self._depot[:active]
        astray = draw.random(active) < self.ASTRAY
        return np.where(astray, town.anywhere(active), usual % town.size)


OPEN: dict[str, type[People]] = {
    "classes": HiddenClasses,
    "grid": GridWalk,
    "commuters": Commuters,
}
KEPT_BACK: dict[str, type[People]] = {
    "parts": OwnPart,
    "hubs": HubCommuters,
    "gravity": Gravity,
}
AFTER_THE_FREEZE: dict[str, type[People]] = {
    "milieus": Milieus,
    "second-order": SecondOrder,
    "usual-hub": UsualHub,
    "tours": Tours,
    "deliveries": Deliveries,
}
SIMULATORS = OPEN | KEPT_BACK | AFTER_THE_FREEZE


@dataclass(frozen=True, slots=True)
class World:
    """People who move in a town.

    Attributes:
        simulator: how they move, a name among `SIMULATORS`.
        people: N, each with one trajectory.
        size: |L|.
        length: "2" for exactly two visits, else about the mean number of visits.
    """

    simulator: str
    people: int
    size: int
    length: str

    def database(self, *, with_map: bool, seed: int = 0) -> TrajectoryDatabase:
        """The same people in every call, with and without the town's map."""
        simulator = list(SIMULATORS).index(self.simulator)
        draw = np.random.default_rng([seed, simulator, self.people, self.size])
        town = Town(self.size, draw)
        lengths = _lengths(draw, self.people, self.length)
        order = np.argsort(-lengths, kind="stable")
        offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
        codes = np.empty(offsets[-1], dtype=np.int32)
        movers = SIMULATORS[self.simulator](town, self.people)
        longest_first = offsets[:-1][order]
        reach = np.cumsum(np.bincount(lengths)[::-1])[::-1]  # how many have so many visits or more
        for turn in range(int(lengths.max())):
            active = int(reach[turn + 1])
            codes[longest_first[:active] + turn] = movers.visit(turn, active)
        universe = town.universe(with_map=with_map)
        return TrajectoryDatabase.from_arrays(offsets, codes, universe)


def _lengths(draw: np.random.Generator, people: int, length: str) -> NDArray[np.int64]:
    """Exactly 2, or log-normal with about this mean: at least 1, at most 20 times the mean."""
    if length == "2":
        return np.full(people, 2, dtype=np.int64)
    mean = float(length)
    centre = np.log(mean - 0.5) - SPREAD**2 / 2
    drawn = 1 + draw.lognormal(centre, SPREAD, people).astype(np.int64)
    return np.minimum(drawn, int(20 * mean))
