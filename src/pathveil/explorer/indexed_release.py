"""A release with everything that makes its answers quick: completion, and where each visit is."""

import unicodedata
from collections.abc import Sequence
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
from pathveil.core.error_table import USUAL_LEVEL
from pathveil.core.paths import Paths
from pathveil.explorer.mining_beside import MiningBeside
from pathveil.explorer.pattern_tables import PatternTables, longest_pattern
from pathveil.explorer.prefix_walk import PrefixWalk
from pathveil.freed import give_back
from pathveil.promise.explanation import Explanation, explain
from pathveil.release.release import Release
from pathveil.universe.universe import Universe

# Neither can be part of a label or a name: control characters are refused.
_LABEL, _NAME = "\n", "\x1f"
MOST_ROWS = 1000


# Completion: which locations does a half-typed text mean?
#
# All labels and names stand in one long text, so a search is a few passes of the C library over it
# and takes milliseconds for a million locations. Case and accents do not matter.


@dataclass(frozen=True, slots=True, repr=False)
class LocationSearch:
    """The labels and names of a universe, ready to be searched.

    Attributes:
        text: for each location a line feed, its label, a unit separator and its name, folded.
        starts: int64, shape (|L|,); where each location begins in the text.
    """

    text: str
    starts: NDArray[np.int64]

    @classmethod
    def build(cls, universe: Universe) -> "LocationSearch":
        """Fold all labels and names."""
        names = universe.names or ("",) * len(universe)
        entries = [
            f"{_LABEL}{folded(label)}{_NAME}{folded(name)}"
            for label, name in zip(universe.labels, names, strict=True)
        ]
        lengths = np.fromiter(map(len, entries), np.int64, len(entries))
        return cls("".join(entries) + _LABEL, np.cumsum(lengths) - lengths)

    def find(self, typed: str, limit: int) -> list[int]:
        """The codes of up to ``limit`` locations, best first.

        A label that is the text comes first; then labels and names that begin with it, words
        that do, and texts that hold it anywhere; within each the universe's order.
        """
        wanted = folded(typed).strip()
        if not wanted:
            return list(range(min(limit, len(self.starts))))
        found: dict[int, None] = {}
        for needle in (
            f"{_LABEL}{wanted}{_NAME}",
            f"{_LABEL}{wanted}",
            f"{_NAME}{wanted}",
            f" {wanted}",
            wanted,
        ):
            self._add(needle, found, limit)
        return list(found)

    def _add(self, needle: str, found: dict[int, None], limit: int) -> None:
        at = self.text.find(needle)
        while at >= 0 and len(found) < limit:
            code = int(np.searchsorted(self.starts, at, side="right")) - 1
            found.setdefault(code)
            # On to the next location: a text may occur many times in one.
            after = self.starts[code + 1] if code + 1 < len(self.starts) else len(self.text)
            at = self.text.find(needle, max(int(after), at + 1))


def folded(text: str) -> str:
    """A text without case and accents: ``Crémazie`` is found by ``cremazie``."""
    if text.isascii():
        return text.lower()
    parts = unicodedata.normalize("NFKD", text.casefold())
    return "".join(part for part in parts if not unicodedata.combining(part))


# The index behind questions about an order or about hours: where each location is visited.


Window = NDArray[np.bool_] | None
"""The slots that fit a step, bool, shape (|T|,); None if every time does."""
Numbers = NDArray[np.int32] | NDArray[np.int64]
"""Whole numbers of as many bytes as they need."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class VisitPositions:
    """Every visit of the released trajectories, location by location.

    The same answers as `Release.count_ordered` and `TimeView.count`, without a pass over all visits
    for each question. Build it once per release.

    Attributes:
        paths: the released trajectories, as pair codes if there are times.
        size: |L| of the release's universe.
        rows: whole numbers, shape (visits,); the path of each visit.
        offsets: int64, shape (|L| + 1,); location c is visited at
            ``positions[offsets[c]:offsets[c + 1]]``.
        positions: likewise; positions in the codes, ascending for each location.
    """

    paths: Paths
    size: int
    rows: Numbers
    offsets: NDArray[np.int64]
    positions: Numbers

    @classmethod
    def build(cls, paths: Paths, size: int) -> "VisitPositions":
        """Sort the visits by location; in half of the bytes, unless there are billions."""
        from pathveil.analysis._merging import positions_by_code

        visits = len(paths.codes)
        kind = np.dtype(np.int32 if visits <= np.iinfo(np.int32).max else np.int64)
        offsets, positions = positions_by_code(paths.codes, size, np.empty(visits, kind))
        rows = np.repeat(np.arange(len(paths), dtype=kind), paths.lengths)
        return cls(paths, size, rows, offsets, positions)

    def count(self, steps: Sequence[tuple[int, Window]]) -> int:
        """How many trajectories make all these visits, in any order.

        Args:
            steps: location codes, each with the slots that count. One visit may serve two steps.
        """
        visitors = sorted((self._visitors(self._at(*step)) for step in steps), key=len)
        if not visitors:
            return int(self.paths.weights.sum())
        rows = visitors[0]
        for others in visitors[1:]:
            rows = np.intersect1d(rows, others, assume_unique=True)
        return int(self.paths.weights[rows].sum())

    def count_ordered(self, steps: Sequence[tuple[int, Window]]) -> int:
        """How many trajectories make these visits in this order, others in between allowed."""
        if not steps:
            return int(self.paths.weights.sum())
        positions = self._at(*steps[0])
        reached = positions[_first_of_each(self.rows[positions])]
        for step in steps[1:]:
            positions = self._at(*step)
            # The earliest later visit that fits leaves the most room for the steps to come.
            found = np.searchsorted(positions, reached, side="right")
            is_found = found < len(positions)
            reached, found = reached[is_found], found[is_found]
            reached = positions[found][self.rows[positions[found]] == self.rows[reached]]
        return int(self.paths.weights[self.rows[reached]].sum())

    def _at(self, code: int, window: Window) -> Numbers:
        positions = self.positions[self.offsets[code] : self.offsets[code + 1]]
        if window is None:
            return positions
        return positions[window[self.paths.codes[positions] // self.size]]

    def _visitors(self, positions: Numbers) -> Numbers:
        rows = self.rows[positions]
        return rows[_first_of_each(rows)]


def _first_of_each(rows: Numbers) -> NDArray[np.bool_]:
    """Which of ascending rows differ from the one before."""
    return np.diff(rows, prepend=-1) > 0


# A release with everything that makes its answers quick: built once, when the explorer starts.


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
        mean_length: visits of a trajectory, on average.
        lengths: how many trajectories have each length.
        ends: from the first location to the last.
        steps: from each location to the next.
        search: finds locations by what one types.
        askable_search: finds zones, too.
        visit_positions: answers questions about an order or about hours.
        walk: walks the prefix tree.
        patterns: the tables of patterns, which fill while one looks at other things.
        mining: fills them.
    """

    release: Release
    explanation: Explanation
    name: str
    visits: NDArray[np.int64]
    by_visits: NDArray[np.int64]
    mean_length: float
    lengths: LengthCounts
    ends: PairCounts
    steps: PairCounts
    search: LocationSearch
    askable_search: LocationSearch
    visit_positions: VisitPositions
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
        universe, has_zones = release.universe, release.parameters.sub_levels is not None
        tables = PatternTables(longest_pattern(release))
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
            mean_length=float(paths.weights @ paths.lengths) / max(len(release), 1),
            lengths=length_distribution(release),
            ends=most_frequent_first(origin_destination(release)),
            steps=most_frequent_first(transitions(release)),
            search=(search := LocationSearch.build(universe)),
            askable_search=search
            if release.askable is universe
            else LocationSearch.build(release.askable),
            visit_positions=VisitPositions.build(release.timed_paths(), len(universe)),
            walk=PrefixWalk(release.timed_paths(), None if has_zones else release.tree),
            patterns=tables,
            mining=_mining(tables, release, directory),  # last, when the others need least memory
        )

    def name_of(self, code: int) -> str:
        """The display name of a location, or "" if it has none."""
        names = self.release.askable.names
        return names[code] if names else ""


def _mining(tables: PatternTables, release: Release, directory: Path | None) -> MiningBeside:
    give_back()
    return MiningBeside(tables, release, directory)


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
    if release.parameters.sub_levels is None:
        return visits(release).counts
    # Who visits a location visits its zone, too.
    return release.count_many([[label] for label in release.universe.labels])


def most_frequent_first(pairs: PairCounts) -> PairCounts:
    """The same pairs in another order."""
    order = np.argsort(-pairs.counts, kind="stable")
    return PairCounts(pairs.first[order], pairs.second[order], pairs.counts[order])
