"""The public parameters of a release, and all that follows from them before any data is read."""

import re
from dataclasses import dataclass
from fractions import Fraction
from operator import index
from typing import Literal, get_args

from pathveil.errors import ParameterError, TreeTooLargeError
from pathveil.model.budget import Budget
from pathveil.model.thresholds import (
    MOST_SCALES,
    paper_threshold,
    pass_fraction,
    smallest_threshold,
)
from pathveil.model.universe import MAX_SIZE

Method = Literal["basic", "full", "calibrated"]
METHODS: tuple[str, ...] = get_args(Method)
MAX_HEIGHT = 1000
DEFAULT_MAX_NODES = 20_000_000

# The default threshold invents at most this many children per node (DESIGN, decision 1).
INVENTED_PER_NODE = Fraction(1, 10)
# The largest scale of the noise. Beyond it no count survives, and sums of counts leave int64.
LARGEST_SCALE = 10**12


@dataclass(frozen=True, slots=True)
class Parameters:
    """What the publisher chose; all of it is public and printed on the certificate.

    Attributes:
        budget: the total ε.
        height: h, the number of levels of the prefix tree; for "calibrated", how much of a
            trajectory its measurements look at.
        universe_size: |L|.
        threshold: θ, an integer count. Each table of "calibrated" has its own, above this 1.
        method: "basic" (noisy counts as they are), "full" (constrained inference) or
            "calibrated" (more measurements, and trajectories calibrated to them).
        max_trajectories_per_unit: c; adding or removing one unit changes the counts of one
            level by at most c in total, so every level's noise is scaled by it.
        max_nodes: the largest tree that the publisher is ready to hold.
    """

    budget: Budget
    height: int
    universe_size: int
    threshold: int
    method: Method
    max_trajectories_per_unit: int = 1
    max_nodes: int = DEFAULT_MAX_NODES

    @classmethod
    def choose(
        cls,
        *,
        epsilon: object,
        height: int,
        universe_size: int,
        threshold: object = "auto",
        method: str = "full",
        max_trajectories_per_unit: int = 1,
        max_nodes: int = DEFAULT_MAX_NODES,
    ) -> "Parameters":
        """Validate the publisher's choices and fix θ. Looks at no data.

        Args:
            epsilon: the total budget, as text or an exact number.
            height: h ≥ 1.
            universe_size: |L| ≥ 1.
            threshold: "auto", "paper" or a whole number of trajectories.
            method: "basic", "full" or "calibrated".
            max_trajectories_per_unit: c ≥ 1.
            max_nodes: refuse a run whose expected tree is larger.

        Raises:
            ParameterError: if a choice is malformed or out of range.
            TreeTooLargeError: if the expected tree exceeds ``max_nodes``.
        """
        budget = Budget.parse(epsilon)  # type: ignore[arg-type]  # it checks
        height = _whole("The height", height, 1, MAX_HEIGHT)
        contribution = _whole(
            "The number of trajectories per unit", max_trajectories_per_unit, 1, 10**6
        )
        max_nodes = _whole("max_nodes", max_nodes, 1, 10**12)
        universe_size = _whole("The size of the universe", universe_size, 1, MAX_SIZE)
        if method not in METHODS:
            raise ParameterError(f"The method must be one of {', '.join(METHODS)}.")
        level_epsilon = budget.split(height * contribution)
        if level_epsilon * LARGEST_SCALE < 1:
            raise ParameterError(
                f"The noise would hide counts of {LARGEST_SCALE:,}: nothing could survive. Use a "
                "larger epsilon, a smaller height or fewer trajectories per unit."
            )
        parameters = cls(
            budget,
            height,
            universe_size,
            _own_thresholds(threshold)
            if method == "calibrated"
            else _choose_threshold(threshold, level_epsilon, universe_size),
            method,  # type: ignore[arg-type]  # checked above
            contribution,
            max_nodes,
        )
        parameters._check_size()
        return parameters

    @property
    def level_budget(self) -> Fraction:
        """ε/h: what one level of the tree spends."""
        return self.budget.split(self.height)

    @property
    def level_epsilon(self) -> Fraction:
        """ε̄ = ε/(h·c): the noise parameter of one count, α = e^(−ε̄)."""
        return self.budget.split(self.height * self.max_trajectories_per_unit)

    @property
    def invented_per_node(self) -> float:
        """|L|·p_θ: how many empty children of one node are expected to pass θ."""
        if self.method == "calibrated":  # the thresholds of its tree are chosen for that
            return float(INVENTED_PER_NODE)
        return self.universe_size * float(pass_fraction(self.level_epsilon, self.threshold))

    def expected_nodes(self) -> list[float]:
        """The expected number of nodes on each level, 1 to h, if no trajectory went deeper than 1.

        A branching process of public parameters only: every location is granted one node on
        level 1 (the most there can be), and each node of a level invents |L|·p_θ children on
        the next. Nodes that people's data keeps alive deeper down come on top.
        """
        growth = self.invented_per_node
        levels = [float(self.universe_size)]
        for _ in range(1, self.height):
            levels.append(min(levels[-1] * growth, 1e300))
        return levels

    def _check_size(self) -> None:
        expected = sum(self.expected_nodes())
        if expected > self.max_nodes:
            smallest = _automatic_threshold(self.level_epsilon, self.universe_size)
            raise TreeTooLargeError(
                f"The tree is expected to have about {expected:.3g} nodes, more than max_nodes = "
                f"{self.max_nodes:,}: with threshold {self.threshold} every node invents "
                f"{self.invented_per_node:.3g} children that nobody visited. Use threshold 'auto' "
                f"(here {smallest}), a smaller height, or a larger epsilon. Nothing was read or "
                "spent."
            )


def _automatic_threshold(level_epsilon: Fraction, universe_size: int) -> int:
    """The smallest θ, not below the paper's, that invents at most 1/10 child per node."""
    least = paper_threshold(level_epsilon)
    return smallest_threshold(level_epsilon, universe_size, INVENTED_PER_NODE, least)


def _own_thresholds(choice: object) -> int:
    if choice not in ("auto", 1, "1"):
        raise ParameterError(
            "The calibrated method chooses a threshold for each of its tables; leave it at 'auto'."
        )
    return 1


def _choose_threshold(choice: object, level_epsilon: Fraction, universe_size: int) -> int:
    text = choice.strip() if isinstance(choice, str) else ""
    if text == "auto":
        return _automatic_threshold(level_epsilon, universe_size)
    if text == "paper":
        return paper_threshold(level_epsilon)
    threshold = int(text) if re.fullmatch(r"\+?\d{1,20}", text) else _integer(choice)
    if threshold is None or threshold < 1:
        raise ParameterError(
            "The threshold must be 'auto', 'paper' or a whole number of trajectories, 1 or more."
        )
    most = MOST_SCALES * level_epsilon.denominator // level_epsilon.numerator
    if threshold > max(most, 1):
        raise ParameterError(
            f"The threshold is more than {MOST_SCALES} times the noise: nothing is gained above "
            f"{most:,}."
        )
    return threshold


def _whole(what: str, value: object, least: int, most: int) -> int:
    number = _integer(value)
    if number is None or not least <= number <= most:
        raise ParameterError(f"{what} must be a whole number from {least} to {most:,}.")
    return number


def _integer(value: object) -> int | None:
    """A whole number of any type (NumPy's too) as an int; None for anything else."""
    try:
        return None if isinstance(value, bool) else index(value)  # type: ignore[arg-type]
    except TypeError:
        return None
