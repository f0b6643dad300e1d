"""The twelve mutants of the tree: plausible mistakes, each one small change to the real gate.

A mutant is a function that patches the gate (pytest undoes it) and returns the mechanism to audit.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np
import pytest

from pathveil.audit import Mechanism, Observation, front_door
from pathveil.core.budget import Budget
from pathveil.core.intervals import Interval, exp_minus
from pathveil.core.parameters import Parameters
from pathveil.gate import add_noise
from pathveil.gate import grow_tree as gate
from pathveil.gate.add_noise import discrete_laplace
from pathveil.gate.geometric import Geometric
from pathveil.raw.database import TrajectoryDatabase
from pathveil.raw.engines.protocol import ExactCounts, Survivors
from pathveil.universe.universe import Universe


@dataclass(frozen=True)
class Mutant:
    """A mistake, and the pair of databases and height at which it is looked for."""

    name: str
    make: Callable[[pytest.MonkeyPatch], Mechanism]
    pair: str
    height: int
    runs: int


def budget_not_divided_by_h(patch: pytest.MonkeyPatch) -> Mechanism:
    """Every level spends all of ε."""
    whole = property(lambda self: self.budget.split(self.max_trajectories_per_unit))
    patch.setattr(Parameters, "level_epsilon", whole)
    return front_door


def universe_read_off_the_data(_patch: pytest.MonkeyPatch) -> Mechanism:
    """Only locations that somebody visited can be children."""

    def mechanism(database, parameters, randomness):
        visited, codes = np.unique(database.codes, return_inverse=True)
        if not len(visited):
            visited = np.array([0])
        universe = Universe(database.universe.labels[code] for code in visited)
        smaller = TrajectoryDatabase.from_arrays(database.offsets, codes, universe)
        parameters = replace(parameters, universe_size=len(universe))
        tree = front_door(smaller, parameters, randomness).tree
        return Observation(replace(tree, location=visited[tree.location].astype(np.int32)))

    return mechanism


def empties_never_sampled(patch: pytest.MonkeyPatch) -> Mechanism:
    """A child that nobody visited is never kept."""
    none = np.empty(0, dtype=np.int64)
    patch.setattr(add_noise, "passing_empty_nodes", lambda *_: (none, none))
    return front_door


def threshold_on_the_true_count(patch: pytest.MonkeyPatch) -> Mechanism:
    """θ is compared with |tr(u)|; what is published is noisy."""

    def grow_level(blocks, _nodes, parameters, randomness):
        exact = ExactCounts.gathered(blocks)
        noise = discrete_laplace(len(exact.count), parameters.level_epsilon, randomness)
        return _level_of_true_counts(exact, noise, parameters)

    patch.setattr(gate, "grow_level", grow_level)
    return front_door


def no_noise_at_one_level(patch: pytest.MonkeyPatch) -> Mechanism:
    """Level 2 is counted exactly; the others are right."""
    right = gate.grow_level
    grown = []

    def grow_level(blocks, nodes, parameters, randomness):
        grown.append(nodes)
        if len(grown) == 2:
            return _level_of_true_counts(ExactCounts.gathered(blocks), 0, parameters)
        return right(blocks, nodes, parameters, randomness)

    patch.setattr(gate, "grow_level", grow_level)
    return _forgetting(grown)


def noise_reused_across_levels(patch: pytest.MonkeyPatch) -> Mechanism:
    """One vector of noise serves every level."""
    drawn = []

    def reuse(size, level_epsilon, randomness):
        if not drawn:
            drawn.append(discrete_laplace(1000, level_epsilon, randomness))
        return drawn[0][:size]

    patch.setattr(add_noise, "discrete_laplace", reuse)
    return _forgetting(drawn)


def height_from_the_data(_patch: pytest.MonkeyPatch) -> Mechanism:
    """h is the longest trajectory (up to the public height)."""

    def mechanism(database, parameters, randomness):
        longest = int(np.diff(database.offsets).max(initial=1))
        height = min(parameters.height, longest)
        return front_door(database, replace(parameters, height=height), randomness)

    return mechanism


def empties_off_by_one_at_theta(patch: pytest.MonkeyPatch) -> Mechanism:
    """Empty children must exceed θ, the others only reach it."""
    right = add_noise.passing_empty_nodes

    def strict(occupied, pairs, level_epsilon, threshold, randomness):
        return right(occupied, pairs, level_epsilon, threshold + 1, randomness)

    patch.setattr(add_noise, "passing_empty_nodes", strict)
    return front_door


def exact_size_published(_patch: pytest.MonkeyPatch) -> Mechanism:
    """|D| stands beside the tree."""

    def mechanism(database, parameters, randomness):
        tree = front_door(database, parameters, randomness).tree
        return Observation(tree, published=len(database))

    return mechanism


def continuous_p_theta(patch: pytest.MonkeyPatch) -> Mechanism:
    """Theorem 4 as printed, e^(−ε̄θ)/2, with integer noise on the other children."""

    def skips(level_epsilon, threshold):
        def fail(bits):
            tail = exp_minus(level_epsilon * threshold, bits)
            return Interval(tail.low // 2, (tail.high + 1) // 2, bits).complement()

        return Geometric(fail)

    patch.setattr(add_noise, "skip_geometric", lru_cache(skips))
    return front_door


def scale_ten_percent_off(_patch: pytest.MonkeyPatch) -> Mechanism:
    """The noise is 10% narrower than it should be."""

    def mechanism(database, parameters, randomness):
        more = Budget(parameters.budget.epsilon / Fraction(9, 10))
        return front_door(database, replace(parameters, budget=more), randomness)

    return mechanism


def three_trajectories_counted_as_one(_patch: pytest.MonkeyPatch) -> Mechanism:
    """A person has three trajectories, and the noise hides one."""

    def mechanism(database, parameters, randomness):
        return front_door(database, replace(parameters, max_trajectories_per_unit=1), randomness)

    return mechanism


MUTANTS = (
    Mutant("budget not divided by h", budget_not_divided_by_h, "bulk", 3, 2048),
    Mutant("universe read off the data", universe_read_off_the_data, "new location", 1, 4096),
    Mutant("empties never sampled", empties_never_sampled, "new location", 1, 4096),
    Mutant("threshold on the true count", threshold_on_the_true_count, "at the threshold", 1, 512),
    Mutant("noise reused across levels", noise_reused_across_levels, "short-on-long", 3, 512),
    Mutant("height from the data", height_from_the_data, "long", 3, 1024),
    Mutant("empties off by one at θ", empties_off_by_one_at_theta, "new location", 1, 4096),
    Mutant("no noise at one level", no_noise_at_one_level, "bulk", 3, 512),
    Mutant("exact |D| published", exact_size_published, "bulk", 1, 512),
    Mutant("continuous p_θ", continuous_p_theta, "new location", 1, 16_384),
    Mutant("scale 10% off", scale_ten_percent_off, "bulk", 1, 32_768),
    Mutant(
        "a person with three trajectories counted as one",
        three_trajectories_counted_as_one,
        "a unit with three",
        1,
        1024,
    ),
)


def _forgetting(memory: list) -> Mechanism:
    """The front door with a memory that lasts for one tree."""

    def mechanism(database, parameters, randomness):
        memory.clear()
        return front_door(database, parameters, randomness)

    return mechanism


def _level_of_true_counts(exact, noise, parameters: Parameters) -> gate.NoisyLevel:
    passed = exact.count >= parameters.threshold
    survivors = Survivors(exact.node[passed], exact.location[passed])
    return gate.NoisyLevel(survivors, (exact.count + noise)[passed])
