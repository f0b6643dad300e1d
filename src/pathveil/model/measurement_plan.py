"""What the calibrated method measures, with which share of ε and which sensitivity.

All of it follows from public parameters. A trajectory's contribution to a statistic is bounded by
a cap; a unit has at most c trajectories; so a unit changes the table by at most cap·c in L1, and
noise of parameter share·ε/(cap·c) on every cell costs share·ε. The shares sum to 1.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from pathveil.model.parameters import Parameters

MOST_DISTINCT = 8
MOST_TREE_LEVELS = 6
MOST_POPULAR = 20  # locations whose joint visits are counted: 2^20 sets
TREE_RATIO = Fraction(17, 20)  # a level of the tree gets this much of the budget of the one above

SHARES = {
    "total": Fraction(1, 100),
    "shapes": Fraction(5, 100),
    "last locations": Fraction(3, 100),
    "visits": Fraction(30, 100),
    "actions": Fraction(6, 100),
    "moves": Fraction(17, 100),
    "pairs": Fraction(14, 100),
    "visited sets": Fraction(6, 100),
    "reach": Fraction(2, 100),
    "prefix tree": Fraction(16, 100),
}

# Trajectories with times: so much of the budget goes to when, the rest to where as above.
TIME_SHARES = {
    "first slots": Fraction(4, 100),
    "pauses": Fraction(6, 100),
    "slots": Fraction(5, 100),
    "visit slots": Fraction(10, 100),
}


@dataclass(frozen=True, slots=True)
class Measurement:
    """One noisy table.

    Attributes:
        name: what is measured.
        budget: its share of ε.
        sensitivity: what one unit adds at most, in L1: the trajectory's cap times c.
    """

    name: str
    budget: Fraction
    sensitivity: int

    @property
    def epsilon(self) -> Fraction:
        """The noise parameter of one count, α = e^(−epsilon)."""
        return self.budget / self.sensitivity


@dataclass(frozen=True, slots=True)
class TimePlan:
    """The measurements of when visits happen.

    Attributes:
        count: T, the number of slots.
        first_slots, pauses, slots, visit_slots: the tables, see `statistics.slots`.
    """

    count: int
    first_slots: Measurement
    pauses: Measurement
    slots: Measurement
    visit_slots: Measurement

    def lines(self) -> list[Measurement]:
        """Every measurement, in the order in which the budget is spent."""
        return [self.first_slots, self.pauses, self.slots, self.visit_slots]


@dataclass(frozen=True, slots=True)
class MeasurementPlan:
    """The measurements of a calibrated release.

    Attributes:
        visits_cap: how many (visit, multiplicity) cells of a trajectory count: the height h.
        steps: how many actions of a trajectory count: h.
        most_distinct: how many distinct locations of a trajectory enter moves and pairs.
        total, shapes, last_locations, visits, actions, moves, pairs, visited_sets, reach: the
            tables.
        tree: one measurement per level of the prefix tree.
        times: when visits happen; None without a time grid.
    """

    visits_cap: int
    steps: int
    most_distinct: int
    total: Measurement
    shapes: Measurement
    last_locations: Measurement
    visits: Measurement
    actions: Measurement
    moves: Measurement
    pairs: Measurement
    visited_sets: Measurement
    reach: Measurement
    tree: tuple[Measurement, ...]
    times: TimePlan | None = None

    @classmethod
    def of(cls, parameters: Parameters) -> "MeasurementPlan":
        """The plan for these public parameters."""
        height, distinct = parameters.height, max(2, min(MOST_DISTINCT, parameters.height))
        grid = parameters.time_grid
        shares = SHARES if grid is None else _with_times()

        def measurement(name: str, cap: int) -> Measurement:
            return Measurement(
                name,
                parameters.main_budget * shares[name],
                cap * parameters.max_trajectories_per_unit,
            )

        return cls(
            visits_cap=height,
            steps=height,
            most_distinct=distinct,
            total=measurement("total", 1),
            shapes=measurement("shapes", 1),
            last_locations=measurement("last locations", 1),
            visits=measurement("visits", height),
            actions=measurement("actions", height),
            moves=measurement("moves", distinct - 1),
            pairs=measurement("pairs", distinct * (distinct - 1) // 2),
            visited_sets=measurement("visited sets", 1),
            reach=measurement("reach", 1),
            tree=tuple(_tree_levels(measurement("prefix tree", 1), height)),
            times=None
            if grid is None
            else TimePlan(
                len(grid),
                first_slots=measurement("first slots", 1),
                pauses=measurement("pauses", max(height - 1, 1)),
                slots=measurement("slots", height),
                visit_slots=measurement("visit slots", height),
            ),
        )

    def lines(self) -> list[Measurement]:
        """Every measurement, in the order in which the budget is spent."""
        return [
            self.total,
            self.shapes,
            self.last_locations,
            self.visits,
            self.actions,
            self.moves,
            self.pairs,
            self.visited_sets,
            self.reach,
            *self.tree,
            *([] if self.times is None else self.times.lines()),
        ]


def _with_times() -> dict[str, Fraction]:
    rest = 1 - sum(TIME_SHARES.values())
    return {name: share * rest for name, share in SHARES.items()} | TIME_SHARES


def _tree_levels(whole: Measurement, height: int) -> Iterator[Measurement]:
    levels = min(MOST_TREE_LEVELS, height)
    weights = [TREE_RATIO**i for i in range(levels)]
    for level, weight in enumerate(weights, start=1):
        yield Measurement(
            f"prefix tree, level {level}", whole.budget * weight / sum(weights), whole.sensitivity
        )
