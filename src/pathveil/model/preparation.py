"""What is measured before the main measurements, to choose a parameter that is not given.

Whatever is chosen from data is paid for: such a choice has its own share of ε, its own line on the
certificate, and a rule that is a function of its noisy table only.
"""

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Preparation:
    """A noisy choice, and what it cost.

    Attributes:
        name: what was measured.
        budget: what it spent.
        sensitivity: what one unit adds at most, in L1.
        rule: how the choice followed from the noisy table, in words; public.
        delta: the probability that the choice betrays that a unit is there; 0 for most.
    """

    name: str
    budget: Fraction
    sensitivity: int
    rule: str
    delta: Fraction = Fraction(0)

    @property
    def epsilon(self) -> Fraction:
        """The noise parameter of one count."""
        return self.budget / self.sensitivity
