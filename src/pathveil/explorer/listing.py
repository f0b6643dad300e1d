"""Lists that the explorer answers with: flows, patterns, and how trajectories go on."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from pathveil.analysis.flows import PairCounts
from pathveil.analysis.patterns import Pattern, top_patterns
from pathveil.analysis.visit_index import codes_of
from pathveil.core.error_table import RULE, as_estimate
from pathveil.errors import QueryError
from pathveil.explorer.answers import (
    MARK,
    RULE_FIELD,
    Answer,
    Figure,
    Location,
    Record,
    Table,
    Waiting,
    figure,
)
from pathveil.explorer.asking import Asked
from pathveil.explorer.by_hours import asked_pairs, estimates, within
from pathveil.explorer.indexed_release import IndexedRelease

MOST_VISITS_BY_HOUR, LONGEST_BY_HOUR = 5_000_000, 4
NOISY = Field(description="The noisy count that was published for it; null: none was.")


# Flows: from where to where, as a matrix of the busiest locations and as a list of pairs.


class Matrix(Answer):
    """Flows between the busiest locations."""

    locations: list[Location] = Field(description="The busiest, by what leaves and arrives.")
    counts: list[list[int]] = Field(description="counts[i][j] lead from location i to j.")
    marks: list[list[str | None]] = Field(description=f"Of counts[i][j]: {MARK.description}")
    inside: int = Field(description="The sum of the matrix.")
    total: int = Field(description="All flows of the release.")

    def csv_rows(self) -> "Iterable[LocationPair]":
        """A row for each pair: labels as column names could be taken for formulas."""
        for origin, row in zip(self.locations, self.counts, strict=True):
            for destination, count in zip(self.locations, row, strict=True):
                yield LocationPair(
                    origin=origin.label,
                    origin_name=origin.name,
                    destination=destination.label,
                    destination_name=destination.name,
                    count=count,
                )


class LocationPair(Record):
    """A pair of locations."""

    origin: str = Field(description="Label.")
    origin_name: str
    destination: str = Field(description="Label.")
    destination_name: str
    count: int = Field(description="How many lead from one to the other.")


class Flow(LocationPair, Figure):
    """A pair of locations in a list."""

    rank: int


class Flows(Table):
    """The largest flows."""

    rows: list[Flow]
    pairs: int = Field(description="How many pairs occur.")
    rule: str = RULE_FIELD


def matrix(indexed: IndexedRelease, asked: Asked) -> Matrix:
    """The answer of ``/api/flows/matrix``."""
    pairs, size = asked_pairs(indexed, asked), len(indexed.release.universe)
    busy = np.bincount(pairs.first, pairs.counts, size) + np.bincount(
        pairs.second, pairs.counts, size
    )
    codes = np.argsort(-busy, kind="stable")[: asked.integer("n")]
    codes = codes[busy[codes] > 0]
    position = np.full(size, -1, dtype=np.int64)
    position[codes] = np.arange(len(codes))
    inside = np.flatnonzero((position[pairs.first] >= 0) & (position[pairs.second] >= 0))
    counts = np.zeros((len(codes), len(codes)), dtype=np.int64)
    counts[position[pairs.first[inside]], position[pairs.second[inside]]] = pairs.counts[inside]
    return Matrix(
        locations=[Location.at(indexed, code) for code in codes.tolist()],
        counts=counts.tolist(),
        marks=_marks(indexed, asked, codes, counts),
        inside=int(counts.sum()),
        total=int(pairs.counts.sum()),
    )


def _marks(
    indexed: IndexedRelease, asked: Asked, codes: NDArray[np.intp], counts: NDArray[np.int64]
) -> list[list[str | None]]:
    """The marks of a matrix, row by row."""
    many = len(codes)
    rows = codes.astype(np.int32)
    cells = PairCounts(np.repeat(rows, many), np.tile(rows, many), counts.ravel())
    marks = [as_estimate(count).mark for count in estimates(indexed, asked, cells)]
    return [marks[row * many : (row + 1) * many] for row in range(many)]


def flows(indexed: IndexedRelease, asked: Asked) -> Flows:
    """The answer of ``/api/flows``."""
    pairs, labels = asked_pairs(indexed, asked), indexed.release.universe.labels
    shown = slice(asked.integer("limit"))
    if asked.text("staying") == "no":
        leaving = np.flatnonzero(pairs.first != pairs.second)
        pairs = PairCounts(pairs.first[leaving], pairs.second[leaving], pairs.counts[leaving])
    pairs_shown = PairCounts(pairs.first[shown], pairs.second[shown], pairs.counts[shown])
    rows = zip(
        pairs_shown.first.tolist(),
        pairs_shown.second.tolist(),
        estimates(indexed, asked, pairs_shown),
        strict=True,
    )
    return Flows(
        rows=[
            Flow(
                rank=rank,
                origin=labels[first],
                origin_name=indexed.name_of(first),
                destination=labels[second],
                destination_name=indexed.name_of(second),
                **figure(count),
            )
            for rank, (first, second, count) in enumerate(rows, start=1)
        ],
        pairs=len(pairs.counts),
        rule=RULE,
    )


# Patterns: sequences of locations that many trajectories follow.


class FoundPattern(Figure):
    """A pattern."""

    rank: int
    locations: list[str] = Field(description="Labels, in order.")
    names: list[str] = Field(description="Their display names.")
    length: int = Field(description="How many locations it has.")


class PatternTable(Table):
    """The most frequent patterns that pass the filters."""

    rows: list[FoundPattern]
    complete_from: int = Field(
        description="Patterns with fewer trajectories than this may be missing; 0: none is."
    )
    rule: str = RULE_FIELD


def patterns(indexed: IndexedRelease, asked: Asked) -> PatternTable | Waiting:
    """The answer of ``/api/patterns``."""
    tables, universe = indexed.patterns, indexed.release.universe
    least, most = asked.integer("min_length"), asked.integer("max_length")
    if most < least:
        raise QueryError("'max_length' must be at least 'min_length'.")
    wanted = asked.text("contains") or None
    if asked.text("during"):
        return _listed(indexed, _mined_within(indexed, asked, wanted), 0)
    found = tables.find(
        asked.integer("k"),
        min_length=least,
        max_length=min(most, tables.longest),
        contains=None if wanted is None else codes_of(universe, [wanted])[0],
        contiguous=asked.text("gaps") == "no",
        different=asked.text("repeats") == "no",
    )
    if found is None:
        if tables.has_failed:
            raise QueryError(
                "The patterns could not be mined here, perhaps for lack of memory; try "
                "`pathveil patterns`."
            )
        return Waiting(waiting="Patterns are being mined.", progress=round(tables.progress, 3))
    patterns = [
        Pattern(tuple(universe.labels[code] for code in codes), support)
        for codes, support in found.patterns
    ]
    answering = indexed.release.answering
    if answering is not None:
        patterns = answering.of_patterns(patterns, contiguous=asked.text("gaps") == "no")
    return _listed(indexed, patterns, found.complete_from)


def _mined_within(indexed: IndexedRelease, asked: Asked, wanted: str | None) -> list[Pattern]:
    """The patterns of some hours: mined when they are asked for, so short ones only.

    Their intervals are bounds: nothing that was measured tells how far a part of a day is off.
    """
    release = indexed.release
    if wanted is not None:
        raise QueryError("Patterns of some hours can't be filtered by a location; leave one out.")
    if len(release.paths().codes) > MOST_VISITS_BY_HOUR:
        raise QueryError("This release is too large to be mined by the hour here.")
    least = asked.integer("min_length")
    found = top_patterns(
        within(release, asked.text("during") or ""),
        asked.integer("k"),
        min_length=least,
        max_length=max(least, min(asked.integer("max_length"), LONGEST_BY_HOUR)),
        contiguous=asked.text("gaps") == "no",
        different=asked.text("repeats") == "no",
    )
    if release.answering is None:
        return found
    return release.answering.of_patterns(found, contiguous=False, at_hours=True)


def _listed(
    indexed: IndexedRelease, patterns: Sequence[Pattern], complete_from: int
) -> PatternTable:
    codes = indexed.release.universe.codes
    return PatternTable(
        rows=[
            FoundPattern(
                rank=rank,
                locations=list(pattern.locations),
                names=[indexed.name_of(code) for code in codes(pattern.locations)],
                length=len(pattern.locations),
                **figure(pattern.support),
            )
            for rank, pattern in enumerate(patterns, start=1)
        ],
        complete_from=complete_from,
        rule=RULE,
    )


# The prefix tree: how do trajectories go on that begin like this?


class Child(Location):
    """A location that comes next."""

    slot: str | None = Field(description="In which time slot; null without times.")
    count: int = Field(description="Released trajectories with the longer prefix.")
    noisy_count: int | None = NOISY


class Node(Table):
    """A node of the prefix tree and its children, the most frequent first."""

    locations: list[str] = Field(description="The prefix.")
    slots: list[str] = Field(description="Its time slots; empty without times.")
    count: int = Field(description="Released trajectories that begin with the prefix.")
    ended: int = Field(description="How many of them end there.")
    noisy_count: int | None = NOISY
    children: int = Field(description="How many children it has; not all may be in the rows.")
    rows: list[Child]


def node(indexed: IndexedRelease, asked: Asked) -> Node:
    """The answer of ``/api/tree``."""
    labels, slots, limit = asked.texts("location"), asked.texts("slot"), asked.integer("limit")
    found = indexed.walk.children(_steps(indexed, labels, slots))
    order = np.argsort(-found.counts, kind="stable")[:limit].tolist()
    size, grid = len(indexed.release.universe), indexed.release.time_grid
    return Node(
        locations=labels,
        slots=slots,
        count=found.count,
        ended=found.ended,
        noisy_count=found.own_noisy,
        children=len(found.codes),
        rows=[
            Child.at(
                indexed,
                int(found.codes[i]) % size,
                slot=grid.labels[int(found.codes[i]) // size] if grid else None,
                count=int(found.counts[i]),
                noisy_count=found.noisy[i],
            )
            for i in order
        ],
    )


def _steps(indexed: IndexedRelease, labels: list[str], slots: list[str]) -> list[int]:
    """The codes of a prefix: pairs, if there are times."""
    codes = codes_of(indexed.release.universe, labels)
    grid = indexed.release.time_grid
    if grid is None:
        if slots:
            raise QueryError("The release has no times; leave 'slot' out.")
        return list(codes)
    if len(slots) != len(labels):
        raise QueryError("With times every 'location' of a prefix needs its 'slot'.")
    number = {label: slot for slot, label in enumerate(grid.labels)}
    if not all(slot in number for slot in slots):
        raise QueryError("A 'slot' is not the start of a slot of the release's time grid.")
    size = len(indexed.release.universe)
    return [number[slot] * size + code for slot, code in zip(slots, codes, strict=True)]
