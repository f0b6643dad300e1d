"""Simulated data of the size that somebody expects, and which of its nodes survive the noise."""

from dataclasses import dataclass

import numpy as np

from pathveil.core.noisy_tree import NoisyPrefixTree
from pathveil.core.paths import Paths
from pathveil.errors import ParameterError
from pathveil.raw.database import TrajectoryDatabase
from pathveil.simulation import MEAN_LENGTH, simulate_week

# What can be simulated and measured five times within a minute on two cores.
MOST_TRAJECTORIES = 300_000
MOST_VISITS = 3_000_000
MOST_LOCATIONS = 50_000
LONGEST_MEAN = 100.0
SEED = 0


# Which nodes of the prefix tree survive the noise, and which are invented by it.


@dataclass(frozen=True, slots=True)
class LevelSurvival:
    """One level of the tree.

    Attributes:
        level: from 1 to h.
        visited: distinct prefixes of that length that somebody's trajectory has.
        survived: those of them that the noisy tree keeps.
        invented: nodes of the noisy tree that nobody's trajectory begins with.
    """

    level: int
    visited: int
    survived: int
    invented: int


def survival(tree: NoisyPrefixTree, paths: Paths, universe_size: int) -> tuple[LevelSurvival, ...]:
    """Walk down the noisy tree and the trajectories together, one level a step.

    Args:
        tree: without zones.
        paths: the trajectories that it was grown from, simulated ones.
        universe_size: |L|.
    """
    lengths = np.diff(paths.offsets)
    alive = np.arange(len(lengths))
    prefix = np.zeros(len(alive), dtype=np.int64)  # which distinct prefix each trajectory has
    node = np.full(len(alive), -1, dtype=np.int64)  # which node of the tree that is
    on_tree = np.ones(len(alive), dtype=np.bool_)
    found = []
    for level, nodes in enumerate(tree.level_slices(), start=1):
        longer = lengths[alive] >= level
        alive, prefix = alive[longer], prefix[longer]
        node, on_tree = node[longer], on_tree[longer]
        code = paths.codes[paths.offsets[alive] + level - 1].astype(np.int64)
        distinct, prefix = np.unique(prefix * universe_size + code, return_inverse=True)
        # Nodes of a level are ordered by (parent, location), so their keys rise.
        keys = (tree.parent[nodes] + 1) * universe_size + tree.location[nodes]
        wanted = (node + 1) * universe_size + code
        position = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
        on_tree &= keys[position] == wanted
        node = np.where(on_tree, nodes.start + position, -1)
        survived = len(np.unique(node[on_tree]))
        found.append(LevelSurvival(level, len(distinct), survived, len(keys) - survived))
    return tuple(found)


# The size of the data that somebody expects, and simulated trajectories of that size.


@dataclass(frozen=True, slots=True)
class DataSize:
    """How much data there is.

    Attributes:
        trajectories: |D|, after bounding.
        mean_length: locations in a trajectory, on average.
        universe_size: |L|.
    """

    trajectories: int
    mean_length: float
    universe_size: int

    @classmethod
    def expected(
        cls, trajectories: int, mean_length: float | None, universe_size: int
    ) -> "DataSize":
        """What a publisher expects, checked.

        Raises:
            ParameterError: if nothing can have that size.
        """
        length = MEAN_LENGTH if mean_length is None else mean_length
        if not 1 <= trajectories <= 10**12:
            raise ParameterError(
                "The number of trajectories must be a whole number from 1 to 10¹²."
            )
        if not 1 <= length <= LONGEST_MEAN:
            raise ParameterError(f"The mean length must lie between 1 and {LONGEST_MEAN:.0f}.")
        return cls(trajectories, float(length), universe_size)

    def capped(self) -> "DataSize":
        """The same, or as much of it as is simulated."""
        most = min(MOST_TRAJECTORIES, max(1, int(MOST_VISITS / self.mean_length)))
        return DataSize(
            min(self.trajectories, most),
            self.mean_length,
            min(self.universe_size, MOST_LOCATIONS),
        )

    def cautions(self) -> list[str]:
        """What the caps mean for who reads the forecast; empty if nothing was capped."""
        simulated, said = self.capped(), []
        if simulated.trajectories < self.trajectories:
            said.append(
                f"Simulated with {simulated.trajectories:,} of {self.trajectories:,} trajectories. "
                "Noise does not grow with the data and counts do: with all of them more survives "
                "and relative errors are as shown or smaller."
            )
        if simulated.universe_size < self.universe_size:
            said.append(
                f"Simulated with {simulated.universe_size:,} of {self.universe_size:,} locations. "
                "With all of them every count is smaller and thresholds are a little higher: less "
                "survives and relative errors are larger than shown."
            )
        return said


def simulated(
    size: DataSize, max_trajectories_per_unit: int, seed: int = SEED
) -> TrajectoryDatabase:
    """Commuters who do not exist, of this size; always the same ones for a seed."""
    week = simulate_week(
        size.trajectories, size.universe_size, seed=seed, mean_length=size.mean_length
    )
    return TrajectoryDatabase.from_arrays(
        week.offsets,
        week.codes,
        week.universe,
        max_trajectories_per_unit=max_trajectories_per_unit,
    )


def size_of(database: TrajectoryDatabase) -> DataSize:
    """The size of data that exists."""
    lengths = np.diff(database.offsets)
    mean = float(lengths.mean()) if len(lengths) else 0.0
    return DataSize(len(lengths), mean, len(database.universe))
