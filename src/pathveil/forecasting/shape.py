"""The shape of the data that somebody expects, and simulated trajectories of that shape."""

from dataclasses import dataclass

import numpy as np

from pathveil.errors import ParameterError
from pathveil.raw.database import TrajectoryDatabase
from pathveil.simulation import MEAN_LENGTH, simulate_week

# What can be simulated and measured five times within a minute on two cores.
MOST_TRAJECTORIES = 300_000
MOST_VISITS = 3_000_000
MOST_LOCATIONS = 50_000
LONGEST_MEAN = 100.0
SEED = 0


@dataclass(frozen=True, slots=True)
class Shape:
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
    def expected(cls, trajectories: int, mean_length: float | None, universe_size: int) -> "Shape":
        """What a publisher expects, checked.

        Raises:
            ParameterError: if nothing can have that shape.
        """
        length = MEAN_LENGTH if mean_length is None else mean_length
        if not 1 <= trajectories <= 10**12:
            raise ParameterError(
                "The number of trajectories must be a whole number from 1 to 10¹²."
            )
        if not 1 <= length <= LONGEST_MEAN:
            raise ParameterError(f"The mean length must lie between 1 and {LONGEST_MEAN:.0f}.")
        return cls(trajectories, float(length), universe_size)

    def capped(self) -> "Shape":
        """The same, or as much of it as is simulated."""
        most = min(MOST_TRAJECTORIES, max(1, int(MOST_VISITS / self.mean_length)))
        return Shape(
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


def simulated(shape: Shape, max_trajectories_per_unit: int, seed: int = SEED) -> TrajectoryDatabase:
    """Commuters who do not exist, of this shape; always the same ones for a seed."""
    week = simulate_week(
        shape.trajectories, shape.universe_size, seed=seed, mean_length=shape.mean_length
    )
    return TrajectoryDatabase.from_arrays(
        week.offsets,
        week.codes,
        week.universe,
        max_trajectories_per_unit=max_trajectories_per_unit,
    )


def shape_of(database: TrajectoryDatabase) -> Shape:
    """The shape of trajectories that exist."""
    lengths = np.diff(database.offsets)
    mean = float(lengths.mean()) if len(lengths) else 0.0
    return Shape(len(lengths), mean, len(database.universe))
