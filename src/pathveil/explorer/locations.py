"""Locations: completion, the map, the most visited, and how long trajectories are."""

from typing import TYPE_CHECKING

import numpy as np
from pydantic import Field

from pathveil.core.error_table import ANY
from pathveil.explorer.answers import Answer, Figure, Location, Table, figure
from pathveil.explorer.asking import Asked
from pathveil.explorer.by_hours import counts_during
from pathveil.explorer.indexed_release import IndexedRelease

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

MOST_SPOTS = 20_000


class Match(Location):
    """A location that fits what was typed."""

    count: int = Field(description="Released trajectories that visit it.")


class Matches(Table):
    """Locations that fit what was typed, best first."""

    rows: list[Match]


class Map(Answer):
    """The locations that can be placed on a map, the most visited last; columns of one length."""

    labels: list[str]
    names: list[str]
    latitude: list[float] = Field(description="Degrees north.")
    longitude: list[float] = Field(description="Degrees east.")
    counts: list[int] = Field(description="Released trajectories that visit it.")
    left_out: int = Field(description="Locations with coordinates that are too many to draw.")
    background: list[list[tuple[float, float]]] = Field(
        description="Public lines underneath: points in degrees east and north."
    )


class Visited(Location, Figure):
    """A location and how many visit it."""

    rank: int


class VisitedTable(Table):
    """The most visited locations."""

    rows: list[Visited]


class Length(Figure):
    """A length and how many trajectories have it."""

    length: int = Field(description="Visits of a trajectory.")


class Lengths(Table):
    """How long the released trajectories are."""

    rows: list[Length]


def matches(indexed: IndexedRelease, asked: Asked) -> Matches:
    """The answer of ``/api/locations``."""
    typed, limit = asked.text("q") or "", asked.integer("limit")
    search = indexed.askable_search if asked.text("zones") == "yes" else indexed.search
    codes = search.find(typed, limit) if typed else indexed.by_visits[:limit].tolist()
    labels = indexed.release.askable.labels
    counts = indexed.release.count_many([[labels[code]] for code in codes]).tolist()
    found = zip(codes, counts, strict=True)
    return Matches(rows=[Match.at(indexed, code, count=count) for code, count in found])


def drawn(indexed: IndexedRelease, asked: Asked) -> Map:
    """The answer of ``/api/map``."""
    universe, lines = indexed.release.universe, indexed.release.background.lines
    counts = counts_during(indexed, asked.text("during"))
    if universe.latitude is None or universe.longitude is None:
        return Map(
            labels=[], names=[], latitude=[], longitude=[], counts=[], left_out=0, background=[]
        )
    placed = indexed.by_visits[~np.isnan(universe.latitude[indexed.by_visits])]
    codes: NDArray[np.int64] = placed[:MOST_SPOTS][::-1]
    return Map(
        labels=[universe.labels[code] for code in codes],
        names=[indexed.name_of(code) for code in codes],
        latitude=universe.latitude[codes].round(6).tolist(),
        longitude=universe.longitude[codes].round(6).tolist(),
        counts=counts[codes].tolist(),
        left_out=len(placed) - len(codes),
        background=[list(line) for line in lines],
    )


def visited(indexed: IndexedRelease, asked: Asked) -> VisitedTable:
    """The answer of ``/api/visits``."""
    codes = indexed.by_visits[: asked.integer("limit")]
    codes = codes[indexed.visits[codes] > 0]
    counts: Iterable[int] = indexed.visits[codes].tolist()
    answering = indexed.release.answering
    if answering is not None:
        asked_for = [(code,) for code in codes.tolist()]
        counts = answering.asked(ANY, asked_for, indexed.visits[codes]).estimates()
    return VisitedTable(
        rows=[
            Visited.at(indexed, code, rank=rank, **figure(count))
            for rank, (code, count) in enumerate(zip(codes.tolist(), counts, strict=True), 1)
        ]
    )


def lengths(indexed: IndexedRelease, _asked: Asked) -> Lengths:
    """The answer of ``/api/lengths``."""
    counts: Iterable[int] = indexed.lengths.counts.tolist()
    answering = indexed.release.answering
    if answering is not None:
        counts = answering.lengths(indexed.lengths.counts).estimates()
    rows = zip(indexed.lengths.lengths.tolist(), counts, strict=True)
    return Lengths(rows=[Length(length=length, **figure(count)) for length, count in rows])
