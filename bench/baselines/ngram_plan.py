"""The public parameters of the n-gram baseline, and the noise that follows from them."""

from dataclasses import dataclass
from fractions import Fraction

from bench.baselines.ngram_grams import EXTRA_SYMBOLS
from pathveil.core.parameters import Parameters
from pathveil.core.thresholds import smallest_threshold

LONGEST_GRAM = 5  # n_max
INVENTED_CHILDREN = Fraction(1, 100)  # per node, at most


@dataclass(frozen=True, slots=True)
class NGramPlan:
    """What is decided before any data is read.

    Attributes:
        epsilon: ε, the budget of every path from the root.
        height: h, at which trajectories are cut.
        universe_size: |L|.
        longest: n_max, the longest n-gram.
        sensitivity: (h + 1)·c, how many paths of the tree a unit touches at most.
    """

    epsilon: Fraction
    height: int
    universe_size: int
    longest: int
    sensitivity: int

    @classmethod
    def of(cls, parameters: Parameters) -> "NGramPlan":
        """The plan for these public parameters."""
        height = parameters.height
        return cls(
            epsilon=parameters.budget.epsilon,
            height=height,
            universe_size=parameters.universe_size,
            longest=min(LONGEST_GRAM, height + 2),  # no trajectory has more symbols
            sensitivity=(height + 1) * parameters.max_trajectories_per_unit,
        )

    @property
    def symbols(self) -> int:
        """|L| + 2: the children that a node can have."""
        return self.universe_size + EXTRA_SYMBOLS

    @property
    def boundary(self) -> int:
        """The symbol $."""
        return self.universe_size

    def noise(self, budget: Fraction) -> Fraction:
        """The noise parameter of one count below a node with this budget."""
        return budget / self.sensitivity

    def threshold(self, budget: Fraction) -> int:
        """θ at this budget: at most `INVENTED_CHILDREN` empty children of a node pass it."""
        return smallest_threshold(self.noise(budget), self.symbols, INVENTED_CHILDREN)
