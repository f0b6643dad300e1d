"""Flows: from where to where, as a matrix of the busiest locations and as a list of pairs."""

from collections.abc import Iterable

import numpy as np
from pydantic import Field

from pathveil.analysis.flows import PairCounts
from pathveil.explorer.asking import Asked
from pathveil.explorer.indexed_release import IndexedRelease
from pathveil.explorer.shapes import Answer, Place, Shape, Table


class Matrix(Answer):
    """Flows between the busiest locations."""

    locations: list[Place] = Field(description="The busiest, by what leaves and arrives.")
    counts: list[list[int]] = Field(description="counts[i][j] lead from location i to j.")
    inside: int = Field(description="The sum of the matrix.")
    total: int = Field(description="All flows of the release.")

    def csv_rows(self) -> "Iterable[Cell]":
        """A row for each cell: labels as column names could be taken for formulas."""
        for origin, row in zip(self.locations, self.counts, strict=True):
            for destination, count in zip(self.locations, row, strict=True):
                yield Cell(
                    origin=origin.label,
                    origin_name=origin.name,
                    destination=destination.label,
                    destination_name=destination.name,
                    count=count,
                )


class Cell(Shape):
    """A pair of locations."""

    origin: str = Field(description="Label.")
    origin_name: str
    destination: str = Field(description="Label.")
    destination_name: str
    count: int = Field(description="How many lead from one to the other.")


class Flow(Cell):
    """A pair of locations in a list."""

    rank: int


class Flows(Table):
    """The largest flows."""

    rows: list[Flow]
    pairs: int = Field(description="How many pairs occur.")


def _asked_pairs(indexed: IndexedRelease, asked: Asked) -> PairCounts:
    return indexed.steps if asked.text("kind") == "steps" else indexed.ends


def matrix(indexed: IndexedRelease, asked: Asked) -> Matrix:
    """The answer of ``/api/flows/matrix``."""
    pairs, size = _asked_pairs(indexed, asked), len(indexed.release.universe)
    busy = np.bincount(pairs.first, pairs.counts, size) + np.bincount(
        pairs.second, pairs.counts, size
    )
    codes = np.argsort(-busy, kind="stable")[: asked.whole("n")]
    codes = codes[busy[codes] > 0]
    position = np.full(size, -1, dtype=np.int64)
    position[codes] = np.arange(len(codes))
    inside = np.flatnonzero((position[pairs.first] >= 0) & (position[pairs.second] >= 0))
    counts = np.zeros((len(codes), len(codes)), dtype=np.int64)
    counts[position[pairs.first[inside]], position[pairs.second[inside]]] = pairs.counts[inside]
    return Matrix(
        locations=[Place.at(indexed, code) for code in codes.tolist()],
        counts=counts.tolist(),
        inside=int(counts.sum()),
        total=int(pairs.counts.sum()),
    )


def flows(indexed: IndexedRelease, asked: Asked) -> Flows:
    """The answer of ``/api/flows``."""
    pairs, labels = _asked_pairs(indexed, asked), indexed.release.universe.labels
    shown = slice(asked.whole("limit"))
    if asked.text("staying") == "no":
        leaving = np.flatnonzero(pairs.first != pairs.second)
        pairs = PairCounts(pairs.first[leaving], pairs.second[leaving], pairs.counts[leaving])
    rows = zip(
        pairs.first[shown].tolist(),
        pairs.second[shown].tolist(),
        pairs.counts[shown].tolist(),
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
                count=count,
            )
            for rank, (first, second, count) in enumerate(rows, start=1)
        ],
        pairs=len(pairs.counts),
    )
