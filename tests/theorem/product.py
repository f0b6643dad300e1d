"""The product of sources, universes, rules and engines, and what the theorem says of each of them.

*The trajectories of a unit are a function of that unit's rows and of public parameters.* So for
people's rows D and any rows of one more unit u, placed anywhere among them, the trajectories of
D ∪ u are those of D and at most c more. `check` says so of one combination, from the real source
to the trajectories that the engine counts. A combination that the product refuses must be one that
`refusal` expects, for the reason that it states.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import pytest
from tests.theorem import people
from tests.theorem.sources import SOURCES, Place, SourceKind, names_of
from tests.theorem.universes import UNIVERSES, Territory, territory

from pathveil.errors import PathveilError
from pathveil.raw.database import TrajectoryDatabase
from pathveil.raw.engines.batch_counter import BatchCounter
from pathveil.raw.engines.engine import Engine
from pathveil.raw.engines.run_files import sealed_pieces, unsealed
from pathveil.raw.reading_plan import Reading
from pathveil.raw.sources import arrow_table, csv_lines, excel_sheet, parquet_file
from pathveil.raw.sources.databases import duckdb_file, sqlite_file
from pathveil.times.time_grid import TimeGrid

# "unordered": no order column, the order of the source decides.
SPLITS = ("none", "unordered", "whole", "day", "week", "gap:30min")
KEEPS = ("first", "sample")
ENGINES = ("memory", "duckdb", "spark")
TIMED = (False, True)
CAPS = (1, 2)
HEIGHT = 12
_GRID = TimeGrid.parse("1h", "America/Montreal")
_SEED = 20_260_302
_PIECE_ROWS, _BLOCK = 16, 512
_DATABASES = ("postgresql", "sqlite", "duckdb", "delta", "iceberg")


class BreachError(AssertionError):
    """One unit changed what others contribute, or contributes more than c itself."""


@dataclass(frozen=True)
class Case:
    """One combination.

    Attributes:
        source: the kind of source.
        universe: the kind of universe.
        split: how visits are split.
        keep: which trajectories of a unit are kept.
        engine: what counts.
        timed: whether there is a time grid.
        cap: c.
        protect: whom a unit is (`protected` has those that are no persons).
        is_open: whether c was left open while the rows were read, and came out so.
    """

    source: SourceKind
    universe: str
    split: str
    keep: str
    engine: str
    timed: bool
    cap: int
    protect: str = "person"
    is_open: bool = False

    def __str__(self) -> str:
        times = "timed" if self.timed else "untimed"
        parts = (self.universe, self.split, self.keep, self.engine, times, f"c = {self.cap}")
        parts += () if self.protect == "person" else (self.protect,)
        parts += ("open",) if self.is_open else ()
        return f"{self.source.name} | {' | '.join(parts)}"

    @cached_property
    def refusal(self) -> str | None:
        """What the product says if it can't do that; a pattern. None if it can."""
        return next((why for why, holds in _REFUSALS.items() if holds(self)), None)

    def by(self, engines: Sequence[str]) -> "list[Case]":
        """The same for some other engines."""
        return [replace(self, engine=engine) for engine in engines]

    @property
    def is_void(self) -> bool:
        """Whether there is no such thing.

        Whole numbers are not the names of cells; and in a column of objects, if an order column
        says that a row is a visit, a list is not a location.
        """
        columns = self.source.columns
        if not columns.is_list:
            return False
        if self.source.is_object:
            return self.timed
        return columns.where.numbered and self.universe in ("grid", "h3")


_REFUSALS = {
    "engine 'spark' needs a cluster": (
        lambda case: case.engine == "spark" and case.source.family != "spark"
    ),
    "counted by the engine 'spark' only": (
        lambda case: case.engine != "spark" and case.source.family == "spark"
    ),
    "split by the times of an order column|which have an order of their own": (
        lambda case: case.source.columns.is_list
        and (case.timed or case.split not in ("none", "unordered"))
    ),
    "returns rows in no order of its own": (
        lambda case: case.source.family in _DATABASES and case.split == "unordered"
        and not case.timed
    ),
    "Rows of a Spark table have no order": (
        lambda case: case.source.family == "spark" and case.split == "unordered"
        and not case.timed and not case.source.columns.is_list
    ),
    "dtype object, which does not say whether a row is one visit or a list": (
        lambda case: case.source.is_object and (
            case.source.columns.is_list
            or (case.split == "unordered" and not case.timed
                and case.universe not in ("grid", "h3"))
        )
    ),
    "holds floats, which can't tell whole numbers": lambda case: "float ids" in case.source.name,
}  # fmt: skip


def all_cases(families: Sequence[str] | None = None) -> Iterator[Case]:
    """The whole product, refused combinations included."""
    for choice in product(SOURCES, UNIVERSES, SPLITS, KEEPS, ENGINES, TIMED, CAPS):
        case = Case(*choice)
        if families is None or case.source.family in families:
            yield case


@dataclass(frozen=True)
class Setting:
    """A combination with its universe and its people."""

    case: Case
    place: Place
    land: Territory
    rows: list[people.Row]

    @classmethod
    def of(cls, case: Case, place: Place) -> "Setting":
        land = territory(case.universe, is_list=case.source.columns.is_list)
        rows = people.ordinary(case.source.columns, land.labels, points=land.points)
        return cls(case, place, land, rows)

    def trajectories(self, rows: list[people.Row]) -> Counter:
        """The trajectories that the engine counts, by labels (and slots)."""
        case = self.case
        source, reading = case.source.write(rows, names_of(rows), self.place)
        engine = Engine.choose(case.engine, source)
        universe = self.land.universe
        rules = Reading(**reading, **self._reading())
        with engine.open(source, universe, HEIGHT, rules) as opened:
            return labelled(opened.bounded_to(case.cap) if case.is_open else opened)

    def _reading(self) -> dict[str, Any]:
        case, reading = self.case, {"unit": "who", "location": "where"}
        if self.land.points is not None:
            reading = {"unit": "who", "latitude": "lat", "longitude": "lng"}
        if case.split in ("none", "unordered"):
            # Of lists the rows are trajectories in one of the two, and parts of them in the other.
            if case.split == "none" or not case.source.columns.is_list:
                reading["trajectory"] = "trip"
        else:
            reading |= {"split": case.split}
        if case.timed:
            reading |= {"time": "when", "time_grid": _GRID}
        elif case.split != "unordered" and not case.source.columns.is_list:
            reading["order"] = "when"
            if case.split != "none" or case.protect != "person":
                reading["time_zone"] = _GRID.time_zone
        return reading | {
            "protect": case.protect,
            "keep": case.keep,
            "keep_seed": _SEED if case.keep == "sample" else None,
            "max_trajectories_per_unit": "auto" if case.is_open else case.cap,
        }


def labelled(opened: Any) -> Counter:
    """The multiset of trajectories that an engine holds, by labels, with slots if there are any."""
    is_database = isinstance(opened, TrajectoryDatabase)
    parts = [(opened.offsets, opened.codes)] if is_database else held(opened)
    rows = []
    for offsets, codes in parts:
        bounds = zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)
        rows += [codes[start:stop].tolist() for start, stop in bounds]
    labels, size = opened.universe.labels, max(len(opened.universe), 1)
    return Counter(
        tuple((code // size, labels[code % size]) for code in row[:HEIGHT]) for row in rows
    )


def held(counter: BatchCounter) -> Iterator[tuple[Any, Any]]:
    """The trajectories that an engine counts, batch by batch, as it sees them."""
    if counter.engine == "duckdb":
        packs = map(unsealed, sealed_pieces(counter._batches))
    else:
        packs = (bytes(row.batch) for row in counter._kept.collect())
    for rows in map(counter._view.rows, packs):
        codes = rows.codes.astype(np.int64)
        yield rows.offsets, codes if rows.slots is None else rows.slots * rows.size + codes


def check(setting: Setting, before: Counter, hostile: list[people.Row], where: str) -> None:
    """One more unit's rows: everybody else's trajectories are the same, and at most c are new.

    Raises:
        BreachError: if not.
    """
    rows = people.placed(setting.rows, hostile, where)
    try:
        after = setting.trajectories(rows)
    except PathveilError as error:
        raise BreachError(f"{setting.case}: one unit stops the run: {error}") from error
    if lost := before - after:
        raise BreachError(f"{setting.case}: one unit changes others': {sorted(lost)[:2]}")
    if (after - before).total() > setting.case.cap:
        raise BreachError(f"{setting.case}: one unit has more than {setting.case.cap}")


def expect_refusal(setting: Setting) -> None:
    """A refusal is by the type of things: the same with and without the unit, and as stated."""
    columns, land = setting.case.source.columns, setting.land
    hostile = people.flood(columns, land.labels, points=land.points)
    messages = []
    for rows in (setting.rows, people.placed(setting.rows, hostile, "everywhere")):
        with pytest.raises(PathveilError, match=setting.case.refusal) as caught:
            setting.trajectories(rows)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


def small_pieces(patch: pytest.MonkeyPatch) -> None:
    """Sources in pieces of a few rows: what decides for a piece must not decide for others."""
    for module in (arrow_table, excel_sheet, parquet_file, duckdb_file, sqlite_file):
        patch.setattr(module, "PIECE_ROWS", _PIECE_ROWS)
    patch.setattr(csv_lines, "BLOCK", _BLOCK)
