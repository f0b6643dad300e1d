"""The prefix tree: how do trajectories go on that begin like this?"""

import numpy as np
from pydantic import Field

from pathveil.analysis._visits import codes_of
from pathveil.errors import QueryError
from pathveil.explorer.asking import Asked
from pathveil.explorer.indexed_release import IndexedRelease
from pathveil.explorer.shapes import Place, Table

NOISY = Field(description="The noisy count that was published for it; null: none was.")


class Child(Place):
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
    labels, slots, limit = asked.texts("location"), asked.texts("slot"), asked.whole("limit")
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
