"""What a run will do, from public parameters alone: the answer to `pathveil plan`."""

from dataclasses import dataclass
from fractions import Fraction

from pathveil.core.noise import Laplace
from pathveil.core.parameters import Parameters


def noise_deviation(epsilon: Fraction) -> float:
    """The standard deviation of the noise on one count."""
    return Laplace(epsilon).deviation


def smallest_survivor(threshold: int, epsilon: Fraction) -> int:
    """The smallest true count that passes the threshold with probability 95%."""
    return Laplace(epsilon).survivor(threshold)


@dataclass(frozen=True, slots=True)
class LevelForecast:
    """One level of the tree.

    Attributes:
        level: from 1 to h.
        budget: ε/h, exact.
        noise: standard deviation of the noise on one count.
        invented: expected number of nodes that nobody visited, at most (see
            `Parameters.expected_nodes`).
    """

    level: int
    budget: Fraction
    noise: float
    invented: float


@dataclass(frozen=True, slots=True)
class Forecast:
    """A whole run.

    Attributes:
        parameters: the public choices.
        levels: one line per level.
        survives: the smallest true count that passes the threshold with probability 95%.
        invented_per_node: expected children per node that nobody visited.
    """

    parameters: Parameters
    levels: tuple[LevelForecast, ...]
    survives: int
    invented_per_node: float

    @classmethod
    def of(cls, parameters: Parameters) -> "Forecast":
        """Forecast a run. Reads nothing, spends nothing."""
        # With zones, the counts of locations have a part of the level's budget only.
        zones = parameters.sub_levels
        epsilon = parameters.level_epsilon if zones is None else zones.location_epsilon
        noise = noise_deviation(epsilon)
        expected = parameters.expected_nodes()
        # On level 1 there is one node per location at most (and slot, with times); the first
        # invented ones come from the root.
        slots = 1 if parameters.time_grid is None else len(parameters.time_grid)
        invented = [parameters.invented_per_node, *(slots * nodes for nodes in expected[1:])]
        levels = tuple(
            LevelForecast(i, parameters.level_budget, noise, invented[i - 1])
            for i in range(1, parameters.height + 1)
        )
        survives = smallest_survivor(parameters.threshold, epsilon)
        return cls(parameters, levels, survives, parameters.invented_per_node)
