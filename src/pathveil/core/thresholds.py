"""Thresholds: public integers that decide which noisy counts are kept, in trees with zones too."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import isqrt

from pathveil.core.intervals import pass_probability
from pathveil.universe.taxonomy import Taxonomy

# Above 200 noise scales nothing is gained: an empty cell passes with probability e^(−200).
MOST_SCALES = 200
_BITS = 1024
# The share of a level's budget that its zones get; the locations get the rest. Chosen by
# `python -m bench.hierarchy --shares`: see docs/hierarchies.md.
ZONE_SHARE = Fraction(1, 2)
# A node is expected to invent at most this many zones. Fewer than locations (`INVENTED_PER_NODE` of
# the parameters): there are few zones, so what is invented weighs more on each of them.
INVENTED_ZONES = Fraction(1, 50)


def paper_threshold(epsilon: Fraction) -> int:
    """2√2/ε̄, two standard deviations of the noise, rounded up to an integer (section IV-A)."""
    numerator, denominator = epsilon.numerator, epsilon.denominator
    # The smallest t with (t·n)² ≥ 8·d², in integers.
    root = isqrt(8 * denominator * denominator)
    root += root * root < 8 * denominator * denominator
    return -(-root // numerator)


@lru_cache(maxsize=256)
def smallest_threshold(epsilon: Fraction, cells: int, invented: Fraction, least: int = 1) -> int:
    """The smallest θ ≥ ``least`` at which at most ``invented`` of ``cells`` empty cells pass."""
    return first_from(least, lambda theta: cells * pass_fraction(epsilon, theta) <= invented)


def first_from(least: int, holds: Callable[[int], bool]) -> int:
    """The first number from ``least`` ≥ 1 on for which something holds that then holds for all."""
    low = high = least
    if holds(low):
        return low
    while not holds(high):
        low, high = high, 2 * high
    while high - low > 1:  # it does not hold for low, and does for high
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle
    return high


@lru_cache(maxsize=256)
def pass_fraction(epsilon: Fraction, threshold: int) -> Fraction:
    """p_θ, rounded up in the 1024th binary place: the same number on every machine."""
    if epsilon * threshold > 4 * MOST_SCALES:
        return Fraction(0)
    return Fraction(pass_probability(epsilon, threshold, _BITS).high, 1 << _BITS)


# How a level of a tree with zones shares its budget, and what follows for its thresholds.
#
# With a taxonomy a level is measured twice: the zones of every node, then the locations of the
# zones that were kept. The shares are public constants, and so every figure here is a function of
# public parameters.


@dataclass(frozen=True, slots=True)
class SubLevels:
    """The two sub-levels of every level.

    Attributes:
        zone_share: the zones' share of the level's budget.
        zone_epsilon: the noise parameter of the count of a zone.
        location_epsilon: that of the count of a location.
        zone_threshold: θ of the zones; the threshold that the publisher chooses is that of the
            locations.
        zones: |Z|.
        largest: how many locations the largest zone has.
    """

    zone_share: Fraction
    zone_epsilon: Fraction
    location_epsilon: Fraction
    zone_threshold: int
    zones: int
    largest: int

    @classmethod
    def of(cls, taxonomy: Taxonomy, level_epsilon: Fraction) -> "SubLevels":
        """Share ε̄, the noise parameter of a level that would be measured once."""
        zone_epsilon = level_epsilon * ZONE_SHARE
        least = paper_threshold(zone_epsilon)
        return cls(
            ZONE_SHARE,
            zone_epsilon,
            level_epsilon - zone_epsilon,
            smallest_threshold(zone_epsilon, len(taxonomy), INVENTED_ZONES, least),
            len(taxonomy),
            int(taxonomy.sizes.max()),
        )

    def invented_per_node(self, threshold: int) -> float:
        """How many zones and locations that nobody visited a node is expected to have, at most.

        Args:
            threshold: θ of the locations.
        """
        zones = self.zones * float(pass_fraction(self.zone_epsilon, self.zone_threshold))
        locations = self.largest * float(pass_fraction(self.location_epsilon, threshold))
        return zones * (1 + locations)
