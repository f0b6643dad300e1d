"""What a release says in part: in a time window, or at the level of zones."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from pathveil.analysis import patterns
from pathveil.analysis.count_queries import count_ordered, count_prefix
from pathveil.analysis.timed_queries import Step, TimedPaths
from pathveil.analysis.visit_index import VisitIndex, codes_of
from pathveil.core.paths import Paths, WeightedPaths
from pathveil.errors import QueryError
from pathveil.universe.taxonomy import Taxonomy
from pathveil.universe.universe import Universe


@dataclass(frozen=True, slots=True, repr=False)
class TimeView:
    """The visits of a release in a time window; trajectories without one are left out.

    It is a `WeightedPaths`, so flows and everything else of `pathveil.analysis` take it.

    Attributes:
        universe: the public universe.
        window: the window in words.
    """

    universe: Universe
    window: str
    _timed: TimedPaths

    top_patterns = patterns.top_patterns

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


# What a release with a taxonomy says at the level of zones, and questions of two granularities.


@dataclass(frozen=True, repr=False)
class ZoneView:
    """A release in which every visit is told by its zone.

    It is a `WeightedPaths` over the zones, so flows and everything else of `pathveil.analysis`
    take it. Visits are neither dropped nor merged: two visits in one zone stay two.

    Attributes:
        universe: the zones.
    """

    universe: Universe
    _paths: Paths

    top_patterns = patterns.top_patterns

    @classmethod
    def of(cls, extended: Universe, paths: Paths, taxonomy: Taxonomy | None) -> "ZoneView":
        """The view of paths over an extended universe.

        Raises:
            QueryError: if there is no taxonomy.
        """
        if taxonomy is None:
            raise QueryError("The release has no zones: it was published without a taxonomy.")
        zones = taxonomy.zones_at(paths.codes)
        return cls(taxonomy.universe_of_zones(extended), Paths(paths.offsets, zones, paths.weights))

    def __repr__(self) -> str:
        return f"ZoneView({len(self):,} trajectories over {len(self.universe):,} zones)"

    def __len__(self) -> int:
        return int(self._paths.weights.sum())

    def paths(self) -> Paths:
        """The released trajectories as zones, one row for each distinct one of the release."""
        return self._paths

    @cached_property
    def _index(self) -> VisitIndex:
        return VisitIndex.build(self)

    def count(self, zones: Collection[str]) -> int:
        """How many trajectories visit all of these zones, in any order."""
        return self._index.count(zones)

    def count_ordered(self, zones: Sequence[str]) -> int:
        """How many trajectories visit these zones in this order, gaps allowed."""
        return count_ordered(self, zones)

    def count_prefix(self, zones: Sequence[str]) -> int:
        """How many trajectories start with exactly these zones."""
        return count_prefix(self, zones)


@dataclass(frozen=True, slots=True, repr=False)
class WithZones:
    """Paths in which every visit to a location is one to its zone, too: for questions about sets.

    Attributes:
        universe: the locations, then the zones.
    """

    universe: Universe
    _paths: Paths
    _taxonomy: Taxonomy

    def paths(self) -> Paths:
        """The paths with the zone of every location before it."""
        return self._taxonomy.with_zones(self._paths)


def one_granularity(
    release: WeightedPaths, askable: Universe, labels: Sequence[str], taxonomy: Taxonomy | None
) -> WeightedPaths:
    """What a question about an order is asked of: the visits as they are, or as zones.

    Args:
        release: the released trajectories.
        askable: the locations, and with a taxonomy the zones.
        labels: what is asked for.
        taxonomy: the zones, if there are any.

    Raises:
        QueryError: if the question names locations and zones. One visit would be both.
    """
    if taxonomy is None:
        return release
    is_zone = [code >= taxonomy.locations for code in codes_of(askable, labels)]
    if not any(is_zone):
        return release
    if not all(is_zone):
        raise QueryError("A question about an order is about locations or about zones, not both.")
    return ZoneView.of(askable, release.paths(), taxonomy)
