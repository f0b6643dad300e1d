"""Patterns: sequences of locations that many trajectories follow."""

from pydantic import Field

from pathveil.analysis._visits import codes_of
from pathveil.errors import QueryError
from pathveil.explorer.asking import Asked
from pathveil.explorer.indexed_release import IndexedRelease
from pathveil.explorer.shapes import Shape, Table, Waiting


class FoundPattern(Shape):
    """A pattern."""

    rank: int
    locations: list[str] = Field(description="Labels, in order.")
    names: list[str] = Field(description="Their display names.")
    length: int = Field(description="How many locations it has.")
    count: int = Field(description="Released trajectories that follow it.")


class PatternTable(Table):
    """The most frequent patterns that pass the filters."""

    rows: list[FoundPattern]
    complete_from: int = Field(
        description="Patterns with fewer trajectories than this may be missing; 0: none is."
    )


def patterns(indexed: IndexedRelease, asked: Asked) -> PatternTable | Waiting:
    """The answer of ``/api/patterns``."""
    tables, universe = indexed.patterns, indexed.release.universe
    least, most = asked.whole("min_length"), asked.whole("max_length")
    if most < least:
        raise QueryError("'max_length' must be at least 'min_length'.")
    wanted = asked.text("contains") or None
    found = tables.find(
        asked.whole("k"),
        min_length=least,
        max_length=min(most, tables.longest),
        contains=None if wanted is None else codes_of(universe, [wanted])[0],
        contiguous=asked.text("gaps") == "no",
    )
    if found is None:
        if tables.has_failed:
            raise QueryError(
                "The patterns could not be mined here, perhaps for lack of memory; try "
                "`pathveil patterns`."
            )
        return Waiting(waiting="Patterns are being mined.", progress=round(tables.progress, 3))
    return PatternTable(
        rows=[
            FoundPattern(
                rank=rank,
                locations=[universe.labels[code] for code in codes],
                names=[indexed.name_of(code) for code in codes],
                length=len(codes),
                count=support,
            )
            for rank, (codes, support) in enumerate(found.patterns, start=1)
        ],
        complete_from=found.complete_from,
    )
