"""Raw data, a release and an empty release, at the level at which they can be compared."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pathveil.analysis.count_queries import count_ordered_many
from pathveil.analysis.flows import (
    length_distribution,
    origin_destination,
    transitions,
    visit_counts,
    visits,
)
from pathveil.analysis.patterns import Pattern, top_patterns
from pathveil.analysis.visit_index import VisitIndex
from pathveil.core.paths import Paths, WeightedPaths
from pathveil.raw.database import TrajectoryDatabase
from pathveil.release.release import Release
from pathveil.release.views import ZoneView
from pathveil.trials.evaluation.random_queries import Queries
from pathveil.trials.evaluation.scores import Histogram
from pathveil.universe.universe import Universe

# Raw data and a release at the level at which they can be compared.


def at_one_level(
    database: TrajectoryDatabase, release: Release
) -> tuple[WeightedPaths, WeightedPaths]:
    """Both as they are; if the release is a tree with zones, both with every visit as its zone.

    Some visits of such a release are told by their zone only. Nothing but zones is common to all.
    """
    taxonomy = release.parameters.taxonomy
    if taxonomy is None or release.parameters.how.has_tables:
        return database, release
    return ZoneView.of(release.universe, database.paths(), taxonomy), release.at_zone_level()


class Expanded:
    """A release read as all trips: its weights times an estimate of how many more there are.

    Weights stay whole: they are rounded so that each sum of them, path after path, is right.

    Args:
        released: the release, at the level at which it is compared.
        expansion: how many trips there are for each that was used, by noisy counts.
    """

    def __init__(self, released: WeightedPaths, expansion: Fraction) -> None:
        self.universe = released.universe
        paths = released.paths()
        sums = np.cumsum(np.concatenate(([0], paths.weights))).tolist()
        whole = np.array([round(total * expansion) for total in sums], dtype=np.int64)
        self._paths = Paths(paths.offsets, paths.codes, np.diff(whole))

    def paths(self) -> Paths:
        """The expanded multiset."""
        return self._paths


# The null baseline: a release that says nothing, whose score every measure must beat.


@dataclass(frozen=True, slots=True)
class EmptyRelease:
    """No trajectories over a universe.

    Attributes:
        universe: the public universe.
    """

    universe: Universe

    def paths(self) -> Paths:
        """No paths."""
        return Paths(np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0, np.int64))


# One side of the comparison, and what the measures ask of it, each computed once.


class Figures:
    """The raw data, a release, or the empty release.

    Attributes:
        paths: the multiset of paths.
        size: the number of trajectories, |D| or |D̃|.
    """

    def __init__(self, paths: WeightedPaths) -> None:
        self.paths = paths
        self.size = int(paths.paths().weights.sum())
        self._patterns: dict[int, list[Pattern]] = {}

    @cached_property
    def _index(self) -> VisitIndex:
        return VisitIndex.build(self.paths)

    def answers(self, queries: Queries) -> NDArray[np.int64]:
        """The answers to count queries, int64, shape (len(queries),)."""
        return self._index.count_many_codes(queries.offsets, queries.codes)

    def patterns(self, k: int) -> list[Pattern]:
        """The top k sequential patterns."""
        if k not in self._patterns:
            self._patterns[k] = top_patterns(self.paths, k)
        return self._patterns[k]

    def supports(self, patterns: list[Pattern]) -> NDArray[np.int64]:
        """How many trajectories of this side follow each pattern, int64, shape (k,)."""
        return count_ordered_many(self.paths, [pattern.locations for pattern in patterns])

    @cached_property
    def popularity(self) -> NDArray[np.int64]:
        """Trajectories that visit each location, int64, shape (|L|,)."""
        return visits(self.paths).counts

    @cached_property
    def trips(self) -> Histogram:
        """Trajectories by (first location, last location)."""
        return Histogram.of_pairs(origin_destination(self.paths), len(self.paths.universe))

    @cached_property
    def lengths(self) -> Histogram:
        """Trajectories by length."""
        return Histogram.of_lengths(length_distribution(self.paths))

    @cached_property
    def visits(self) -> Histogram:
        """Visits by location, every visit counted."""
        return Histogram.of_locations(visit_counts(self.paths))

    @cached_property
    def transitions(self) -> Histogram:
        """Steps by (location, next location)."""
        return Histogram.of_pairs(transitions(self.paths), len(self.paths.universe))
