"""Intervals for every answer of a release, from its error table and its counts of visits.

Two locations whose cell a noisy table lists have an interval of their own (`core.listed_cells`).
Where the table says nothing about a kind of question, the interval is a bound that needs no model:
from nobody to as many as may visit the rarest of the locations asked for (by its 95% interval). No
answer exceeds that bound in any case, and no count of trajectories exceeds as many as there may be.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pathveil.analysis.flows import PairCounts, visit_counts, visits
from pathveil.analysis.patterns import Pattern
from pathveil.core.error_table import (
    ANY,
    HOURS,
    LENGTH,
    MOVE,
    ORDERED,
    SLOT,
    TRIP,
    USUAL_LEVEL,
    Answers,
    ErrorTable,
    Estimate,
)
from pathveil.core.paths import WeightedPaths
from pathveil.universe.taxonomy import Taxonomy

Codes = Sequence[Sequence[int]]
FLOW_KINDS = {"transitions": MOVE, "origin-destination": TRIP}
OF_ZONES = -2  # so many locations: no table tells of such answers
BOUND_LEVEL = 0.95  # of the single counts that bound all others


@dataclass(frozen=True, slots=True)
class Flow:
    """From one location to another.

    Attributes:
        origin, destination: labels.
        count: how many, with an interval if the release tells any.
    """

    origin: str
    destination: str
    count: Estimate


@dataclass(frozen=True, eq=False, repr=False)
class Answering:
    """How far the answers of one release may be off.

    Attributes:
        table: its error table.
        paths: its trajectories.
        taxonomy: its zones, if there are any; a zone has the code |L| + z.
    """

    table: ErrorTable
    paths: WeightedPaths
    taxonomy: Taxonomy | None = None

    @cached_property
    def _visits(self) -> NDArray[np.int64]:
        return visits(self.paths).counts

    @cached_property
    def _most_trajectories(self) -> int:
        """As many trajectories may there be; a table that does not tell excludes nothing."""
        if not self.table.tells(ANY, 0):
            return len(self._visits) << 40
        none, released = np.zeros(1, dtype=np.int64), self.paths.paths().weights.sum(keepdims=True)
        return int(self.table.intervals(none, released, none == 0, BOUND_LEVEL)[1][0])

    @cached_property
    def _most_visitors(self) -> NDArray[np.int64]:
        """int64, shape (|L|,); as many trajectories may visit each location."""
        ones = np.ones(len(self._visits), dtype=np.int64)
        high = self.table.intervals(ones, self._visits, ones > 0, BOUND_LEVEL)[1]
        return np.minimum(high, self._most_trajectories)

    @cached_property
    def _most_askable(self) -> NDArray[np.int64]:
        """The same for locations, then zones, whose visitors visit one of their locations."""
        if self.taxonomy is None:
            return self._most_visitors
        number = len(self.taxonomy)
        zones = np.bincount(self.taxonomy.zone_of, self._most_visitors, number).astype(np.int64)
        return np.append(self._most_visitors, np.minimum(zones, self._most_trajectories))

    @cached_property
    def _least_of_zones(self) -> NDArray[np.int64]:
        """int64, one for each zone: who visits any one of its locations visits it."""
        ones = np.ones(len(self._visits), dtype=np.int64)
        low = self.table.intervals(ones, self._visits, ones > 0, BOUND_LEVEL)[0]
        zones = np.zeros(0 if self.taxonomy is None else len(self.taxonomy), dtype=np.int64)
        if self.taxonomy is not None:
            np.maximum.at(zones, self.taxonomy.zone_of, low)
        return zones

    @cached_property
    def _most_visits(self) -> NDArray[np.int64]:
        """The same for visits, of which a trajectory may make several to a location."""
        each = visit_counts(self.paths).counts / np.maximum(self._visits, 1)
        return np.ceil(self._most_visitors * np.maximum(each, 1.0)).astype(np.int64)

    def asked(
        self, kind: str, queries: Codes, counts: NDArray[np.int64], level: float = USUAL_LEVEL
    ) -> Answers:
        """Answers to questions of one kind about locations, by their codes.

        Of zones, codes |L| + z, nothing but bounds are known: they are sums of many, and not off
        as a single location of their size is.

        Args:
            kind: one of `core.error_table.KINDS`.
            queries: the codes that each asks for; in any order if the kind is `ANY`.
            counts: the released answers.
            level: of the intervals.
        """
        sets = [set(query) for query in queries]
        size, most_of = len(self._visits), self._most_askable
        many = [
            OF_ZONES if max(one, default=0) >= size else len(one)
            for one in (sets if kind == ANY else queries)
        ]
        named = [all(code >= size or self._visits[code] > 0 for code in one) for one in sets]
        most = [
            min((int(most_of[code]) for code in one), default=self._most_trajectories)
            for one in sets
        ]
        least = [
            int(self._least_of_zones[min(one) - size])
            if kind == ANY and len(one) == 1 and min(one) >= size
            else 0
            for one in sets
        ]
        columns = (np.array(many, np.int64), counts, np.array(named, np.bool_))
        asked_for = [sorted(one) for one in sets] if kind == ANY else queries
        two = [tuple(one) if len(one) == 2 else (-1, -1) for one in asked_for]  # noqa: PLR2004
        first, second = np.array(two, dtype=np.int64).reshape(-1, 2).T
        return self.table.answers(
            kind,
            *columns,
            np.array(most, np.int64),
            level,
            least=np.array(least, np.int64),
            cells=(first, second),
        )

    def pairs(self, kind: str, pairs: PairCounts, level: float = USUAL_LEVEL) -> Answers:
        """Answers to the cells of a table of flows; of moves every one counts.

        Who stays where they are is counted with the moves, but nothing tells how far that is off.
        Trips that end where they began are told by themselves, if the release tells them.
        """
        each = self._most_visits if kind == MOVE else self._most_visitors
        most = np.minimum(each[pairs.first], each[pairs.second])
        apart = kind == MOVE or self.table.tells(kind, 1)
        two = np.where((pairs.first == pairs.second) & apart, 1, 2).astype(np.int64)
        cells = pairs.first.astype(np.int64), pairs.second.astype(np.int64)
        return self.table.answers(kind, two, pairs.counts, two > 0, most, level, cells=cells)

    def lengths(self, counts: NDArray[np.int64], level: float = USUAL_LEVEL) -> Answers:
        """Answers to how many trajectories have some length."""
        ones = np.ones(len(counts), dtype=np.int64)
        most = ones * self._most_trajectories
        return self.table.answers(LENGTH, ones, counts, ones > 0, most, level)

    def slots(self, counts: NDArray[np.int64], level: float = USUAL_LEVEL) -> Answers:
        """Answers to how many visits there are in some slot of time."""
        ones = np.ones(len(counts), dtype=np.int64)
        total = int(self._most_visits.sum())
        return self.table.answers(SLOT, ones, counts, ones > 0, ones * total, level)

    def visits_at_hours(
        self, codes: NDArray[np.int64], counts: NDArray[np.int64], level: float = USUAL_LEVEL
    ) -> Answers:
        """Answers to how many visits a location has in some slot of time."""
        ones = np.ones(len(counts), dtype=np.int64)
        return self.table.answers(HOURS, ones, counts, ones > 0, self._most_visits[codes], level)

    def pairs_at_hours(self, pairs: PairCounts, level: float = USUAL_LEVEL) -> Answers:
        """Answers to the cells of a table of flows in some hours: nothing tells more than a bound.

        Each takes a visit to either end, so there are no more than the rarer one has.
        """
        two = np.full(len(pairs.counts), 2, dtype=np.int64)
        most = np.minimum(self._most_visits[pairs.first], self._most_visits[pairs.second])
        return self.table.answers(HOURS, two, pairs.counts, two > 0, most, level)

    def between_zones(
        self, flows: PairCounts, zone_of: NDArray[np.int64], level: float = USUAL_LEVEL
    ) -> Answers:
        """Answers to flows between zones: sums of many, of whose errors nothing more is known.

        They are not off as a single flow of their size is: what a table of flows leaves out or adds
        to each of them adds up. No sum exceeds the visits to either zone.

        Args:
            flows: between zones, by their numbers.
            zone_of: the zone of each location; −1 if it has none.
            level: of the intervals.
        """
        placed = zone_of >= 0
        of_zone = np.bincount(zone_of[placed], self._most_visits[placed]).astype(np.int64)
        most = np.minimum(of_zone[flows.first], of_zone[flows.second])
        two = np.full(len(flows.counts), 2, dtype=np.int64)
        return self.table.answers(HOURS, two, flows.counts, two > 0, most, level)

    def of_patterns(
        self, found: Sequence[Pattern], *, contiguous: bool, at_hours: bool = False
    ) -> list[Pattern]:
        """Patterns with intervals around their supports; of some hours, with bounds."""
        coded = [tuple(self.paths.universe.codes(pattern.locations)) for pattern in found]
        supports = np.array([pattern.support for pattern in found], dtype=np.int64)
        kinds = [
            HOURS if at_hours else _pattern_kind(len(codes), contiguous=contiguous)
            for codes in coded
        ]
        estimates: list[Estimate] = [Estimate(int(support)) for support in supports]
        for kind in sorted(set(kinds)):
            of_kind = [i for i, one in enumerate(kinds) if one == kind]
            answers = self.asked(kind, [coded[i] for i in of_kind], supports[of_kind])
            for i, estimate in zip(of_kind, answers.estimates(), strict=True):
                estimates[i] = estimate
        return [
            Pattern(pattern.locations, estimate)
            for pattern, estimate in zip(found, estimates, strict=True)
        ]


def _pattern_kind(length: int, *, contiguous: bool) -> str:
    """One straight after another is a move; of more than two nothing else was measured."""
    if length == 1:
        return ANY
    return MOVE if contiguous and length == 2 else ORDERED  # noqa: PLR2004
