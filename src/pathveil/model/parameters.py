"""The public parameters of a release, and all that follows from them before any data is read."""

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Literal, get_args

from pathveil.errors import ParameterError, TreeTooLargeError
from pathveil.model.budget import Budget
from pathveil.model.intervals import pass_probability

Method = Literal["basic", "full"]
METHODS: tuple[str, ...] = get_args(Method)
MAX_HEIGHT = 1000
DEFAULT_MAX_NODES = 20_000_000

# The default threshold invents at most this many children per node (DESIGN, decision 1).
INVENTED_PER_NODE = Fraction(1, 10)
# Above 200 noise scales nothing is gained: an empty child passes with probability e^(−200).
MOST_SCALES = 200
_BITS = 1024


@dataclass(frozen=True, slots=True)
class Parameters:
    """What the publisher chose; all of it is public and printed on the certificate.

    Attributes:
        budget: the total ε.
        height: h, the number of levels of the prefix tree.
        universe_size: |L|.
        threshold: θ, an integer count.
        method: "basic" (noisy counts as they are) or "full" (constrained inference).
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
            method: "basic" or "full".
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
        if method not in METHODS:
            raise ParameterError(f"The method must be one of {', '.join(METHODS)}.")
        level_epsilon = budget.split(height * contribution)
        parameters = cls(
            budget,
            height,
            universe_size,
            _choose_threshold(threshold, level_epsilon, universe_size),
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
        return self.universe_size * float(_pass_fraction(self.level_epsilon, self.threshold))

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


def paper_threshold(level_epsilon: Fraction) -> int:
    """2√2/ε̄, two standard deviations of the noise, rounded up to an integer (section IV-A)."""
    numerator, denominator = level_epsilon.numerator, level_epsilon.denominator
    # The smallest t with (t·n)² ≥ 8·d², in integers.
    root = isqrt(8 * denominator * denominator)
    root += root * root < 8 * denominator * denominator
    return -(-root // numerator)


def _automatic_threshold(level_epsilon: Fraction, universe_size: int) -> int:
    """The smallest θ, not below the paper's, that invents at most 1/10 child per node."""
    low = paper_threshold(level_epsilon)
    if _invents_little(level_epsilon, low, universe_size):
        return low
    high = 2 * low
    while not _invents_little(level_epsilon, high, universe_size):
        high *= 2
    while high - low > 1:  # low invents too many, high does not
        middle = (low + high) // 2
        if _invents_little(level_epsilon, middle, universe_size):
            high = middle
        else:
            low = middle
    return high


def _invents_little(level_epsilon: Fraction, threshold: int, universe_size: int) -> bool:
    return universe_size * _pass_fraction(level_epsilon, threshold) <= INVENTED_PER_NODE


def _pass_fraction(level_epsilon: Fraction, threshold: int) -> Fraction:
    """p_θ, rounded up in the 1024th binary place: the same number on every machine."""
    if level_epsilon * threshold > 4 * MOST_SCALES:
        return Fraction(0)
    return Fraction(pass_probability(level_epsilon, threshold, _BITS).high, 1 << _BITS)


def _choose_threshold(choice: object, level_epsilon: Fraction, universe_size: int) -> int:
    if isinstance(choice, str) and choice.strip().lstrip("+").isdecimal():
        choice = int(choice) if len(choice) < 20 else 10**20  # noqa: PLR2004
    if choice == "auto":
        return _automatic_threshold(level_epsilon, universe_size)
    if choice == "paper":
        return paper_threshold(level_epsilon)
    if isinstance(choice, bool) or not isinstance(choice, int) or choice < 1:
        raise ParameterError(
            "The threshold must be 'auto', 'paper' or a whole number of trajectories, 1 or more."
        )
    most = MOST_SCALES * level_epsilon.denominator // level_epsilon.numerator
    if choice > max(most, 1):
        raise ParameterError(
            f"A threshold of {choice} is more than {MOST_SCALES} times the noise: nothing is "
            f"gained above {most}."
        )
    return choice


def _whole(what: str, value: object, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ParameterError(f"{what} must be a whole number from {least} to {most:,}.")
    return value
