"""A release with everything that makes its answers quick: built once, when the explorer starts."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pathveil.analysis.flows import (
    LengthCounts,
    PairCounts,
    length_distribution,
    origin_destination,
    transitions,
    visits,
)
from pathveil.explorer.location_search import LocationSearch
from pathveil.explorer.mining_beside import MiningBeside
from pathveil.explorer.pattern_tables import PatternTables, longest_pattern
from pathveil.explorer.prefix_walk import PrefixWalk
from pathveil.explorer.visit_places import VisitPlaces
from pathveil.release.release import Release
from pathveil.report.explanation import Explanation, explain
from pathveil.uncertainty.error_table import USUAL_LEVEL

MOST_ROWS = 1000
Intervals = tuple[list[int | None], list[int | None]]
"""Low and high of several counts; None where the release has no intervals."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class IndexedRelease:
    """One release that is being explored.

    Attributes:
        release: the release.
        explanation: its promise in plain words.
        name: what to call it: the name of its folder.
        visits: int64, shape (|L|,); how many trajectories visit each location.
        by_visits: int64, shape (|L|,); the locations' codes, the most visited first.
        intervals: low and high of the visits to the first `MOST_ROWS` of them.
        mean_length: visits of a trajectory, on average.
        lengths: how many trajectories have each length.
        ends: from the first location to the last.
        steps: from each location to the next.
        search: finds locations by what one types.
        places: answers questions about an order or about hours.
        walk: walks the prefix tree.
        patterns: the tables of patterns, which fill while one looks at other things.
        mining: fills them.
    """

    release: Release
    explanation: Explanation
    name: str
    visits: NDArray[np.int64]
    by_visits: NDArray[np.int64]
    intervals: Intervals
    mean_length: float
    lengths: LengthCounts
    ends: PairCounts
    steps: PairCounts
    search: LocationSearch
    places: VisitPlaces
    walk: PrefixWalk
    patterns: PatternTables
    mining: MiningBeside

    @classmethod
    def build(cls, release: Release, name: str, directory: Path | None = None) -> "IndexedRelease":
        """Index a release and start mining it.

        Args:
            release: the release.
            name: what to call it.
            directory: its bundle, from which a large release is mined in another process.
        """
        universe, has_zones = release.universe, release.parameters.taxonomy is not None
        tables = PatternTables(longest_pattern(release))
        mining = MiningBeside(tables, release, directory)
        visited = _visits(release)
        by_visits = np.argsort(-visited, kind="stable")
        paths = release.paths()
        release.count(universe.labels[:2])  # the first question builds the index and compiles
        return cls(
            release=release,
            explanation=explain(release.certificate),
            name=name,
            visits=visited,
            by_visits=by_visits,
            intervals=single_intervals(release, by_visits[:MOST_ROWS]),
            mean_length=float(paths.weights @ paths.lengths) / max(len(release), 1),
            lengths=length_distribution(release),
            ends=_most_frequent_first(origin_destination(release)),
            steps=_most_frequent_first(transitions(release)),
            search=LocationSearch.build(universe),
            places=VisitPlaces.build(release.timed_paths(), len(universe)),
            walk=PrefixWalk(release.timed_paths(), None if has_zones else release.tree),
            patterns=tables,
            mining=mining,
        )

    def name_of(self, code: int) -> str:
        """The display name of a location, or "" if it has none."""
        names = self.release.universe.names
        return names[code] if names else ""


def single_intervals(
    release: Release, codes: NDArray[np.int64], level: float = USUAL_LEVEL
) -> Intervals:
    """The intervals of the visits to single locations."""
    if release.error_table is None:
        return [None] * len(codes), [None] * len(codes)
    queries = [[release.universe.labels[code]] for code in codes]
    low, high = release.intervals_many(queries, level=level)
    return list(low.tolist()), list(high.tolist())


def _visits(release: Release) -> NDArray[np.int64]:
    if release.parameters.taxonomy is None:
        return visits(release).counts
    # Who visits a location visits its zone, too.
    return release.count_many([[label] for label in release.universe.labels])


def _most_frequent_first(pairs: PairCounts) -> PairCounts:
    order = np.argsort(-pairs.counts, kind="stable")
    return PairCounts(pairs.first[order], pairs.second[order], pairs.counts[order])
