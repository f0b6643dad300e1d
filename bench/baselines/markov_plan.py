"""What the Markov baseline measures, with which share of ε and which sensitivity.

| statistic | cells | a trajectory adds at most | because |
|---|---|---|---|
| lengths | h | 1 | it has one length |
| transitions | L² | h − 1 | so many steps lie between its first h locations |
| trips | L² | 1 | it has one first and one last location |
| visits | L | h | one for each of its first h locations |
| first locations | L | 1 | it begins once |
| last locations | L | 1 | it ends once |

"Last" is the last of the first h locations. A unit has at most c trajectories, so it changes a
table by at most c times as much in L1. The budgets sum to ε (sequential composition).

A small universe measures all L² pairs cell by cell and needs no more. In a large one most pairs
drown in noise and only those above a threshold are listed; the last three tables, of single
locations, then say what happens in the rest.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from pathveil.core.parameters import Parameters
from pathveil.statistics.measurement_plan import Measurement

DENSE_CELLS = 4096  # a table up to this size is measured cell by cell
INVENTED_CELLS = Fraction(
    10
)  # at most, in a table of which only cells above a threshold are listed

SMALL_SHARES = {
    "lengths": Fraction(1, 8),
    "transitions": Fraction(4, 8),
    "trips": Fraction(3, 8),
}
LARGE_SHARES = {
    "lengths": Fraction(1, 8),
    "transitions": Fraction(3, 8),
    "trips": Fraction(1, 8),
    "visits": Fraction(1, 8),
    "first locations": Fraction(1, 8),
    "last locations": Fraction(1, 8),
}


@dataclass(frozen=True, slots=True)
class MarkovPlan:
    """Public parameters of the Markov baseline.

    Attributes:
        height: h, at which trajectories are cut.
        universe_size: |L|.
        measurements: by name, in the order in which the budget is spent.
    """

    height: int
    universe_size: int
    measurements: Mapping[str, Measurement]

    @classmethod
    def of(cls, parameters: Parameters) -> "MarkovPlan":
        """The plan for these public parameters."""
        height, size = parameters.height, parameters.universe_size
        caps = {"transitions": max(height - 1, 1), "visits": height}
        shares = SMALL_SHARES if size * size <= DENSE_CELLS else LARGE_SHARES
        return cls(
            height,
            size,
            {
                name: Measurement(
                    name,
                    parameters.budget.epsilon * share,
                    caps.get(name, 1) * parameters.max_trajectories_per_unit,
                )
                for name, share in shares.items()
            },
        )

    @property
    def is_small(self) -> bool:
        """Whether pairs of locations are measured cell by cell."""
        return self.universe_size**2 <= DENSE_CELLS
