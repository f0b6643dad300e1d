"""What a release says about a part of its time grid: the same questions, fewer visits."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from pathveil.analysis.timed_queries import Step, TimedPaths
from pathveil.model.paths import Paths
from pathveil.model.universe import Universe
from pathveil.release.mining import Mining


@dataclass(frozen=True, slots=True, repr=False)
class TimeView(Mining):
    """The visits of a release in a time window; trajectories without one are left out.

    It is a `WeightedPaths`, so flows and everything else of `pathveil.analysis` take it.

    Attributes:
        universe: the public universe.
        window: the window in words.
    """

    universe: Universe
    window: str
    _timed: TimedPaths

    def __repr__(self) -> str:
        return f"TimeView({len(self):,} trajectories in {self.window})"

    def paths(self) -> Paths:
        """The visits in the window, one row for each released trajectory that has one."""
        return self._timed.locations()

    def __len__(self) -> int:
        return int(self._timed.paths.weights.sum())

    def count(self, locations: Collection[Step]) -> int:
        """How many trajectories visit all of these locations in the window, in any order."""
        return self._timed.count(locations)

    def count_ordered(self, locations: Sequence[Step]) -> int:
        """How many trajectories visit these locations in this order, all in the window."""
        return self._timed.count_ordered(locations)

    def count_prefix(self, locations: Sequence[Step]) -> int:
        """How many trajectories visit exactly these locations first in the window."""
        return self._timed.count_prefix(locations)
