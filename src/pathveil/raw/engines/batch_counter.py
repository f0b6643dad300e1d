"""Counting batch by batch: what the engine out of core and the one on a cluster have in common.

They hold bounded trajectories in batches (`batches`), and count any tables in one pass: each batch
goes through the compiled code that counts in memory, and the engine adds up. The children of a
level of the prefix tree are such a table, too: the trajectories of a batch are followed through the
levels above, and what they go on to is counted. Nothing is kept between two passes, so there is
nothing to lose: an engine may die and begin a pass anew.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from threading import Lock
from typing import Self

import numpy as np
from numpy.typing import NDArray

from pathveil.raw.engines.batches import View
from pathveil.raw.engines.memory_counter import PrefixRuns
from pathveil.raw.engines.protocol import Cells, ExactCounts, Survivors, Tables
from pathveil.raw.reading_plan import ReadingPlan
from pathveil.statistics.statistic import Rows
from pathveil.times.time_grid import TimeGrid
from pathveil.universe.taxonomy import Taxonomy
from pathveil.universe.universe import Universe


class BatchCounter(ABC):
    """Trajectories that an engine holds in batches. Satisfies `TableCounter`.

    Args:
        plan: how the source is read.
        height: after how many visits trajectories are cut, if nothing looks further; else None.
    """

    def __init__(self, plan: ReadingPlan, height: int | None) -> None:
        self._plan = plan
        self._height = height
        self._universe: Universe
        self._view: View

    def _over(self, universe: Universe) -> None:
        """Say over which universe the batches are coded."""
        self._universe = universe
        self._view = View(len(universe), self._plan.time_grid is not None)

    @property
    def universe(self) -> Universe:
        """The public universe; or all labels that occur, if it is yet to be discovered."""
        return self._universe

    @property
    def max_trajectories_per_unit(self) -> int:
        """The contribution bound c."""
        return self._plan.max_trajectories_per_unit

    @property
    def trips_are_open(self) -> bool:
        """Whether c is still to be chosen."""
        return self._plan.trips_are_open

    @property
    def tells_units(self) -> bool:
        """Whether it is told which trajectories are of one unit."""
        return self.trips_are_open or self.max_trajectories_per_unit > 1

    def bounded_to(self, most: int) -> Self:
        """From now on see at most so many trajectories of a unit: c was chosen with privacy."""
        self._plan = replace(self._plan, max_trajectories_per_unit=most, trips_are_open=False)
        self._view = replace(self._view, most=most)
        return self

    @property
    def time_grid(self) -> TimeGrid | None:
        """The public time grid; None if the visits have no times."""
        return self._plan.time_grid

    @property
    def rules(self) -> tuple[str, ...]:
        """The public rules by which rows became trajectories, in words."""
        return tuple(self._plan.rules.sentences())

    @property
    def height(self) -> int | None:
        """How many visits of a trajectory are there at most; None for all."""
        return self._height

    def __repr__(self) -> str:
        return f"{type(self).__name__}(<private>, {self._universe.summary})"

    def restrict(self, universe: Universe) -> None:
        """From now on see the visits to some of the labels only: a universe that was discovered."""
        codes = [self._universe.code(label) for label in universe.labels]
        self._view = replace(self._view, named=np.array(codes, dtype=np.int64))
        self._universe = universe

    def among(self, candidates: NDArray[np.int64]) -> Self:
        """The same trajectories, from now on seen from some candidates."""
        self._view = self._view.among(candidates)
        return self

    @property
    @abstractmethod
    def engine(self) -> str:
        """The engine's name."""

    @abstractmethod
    def close(self) -> None:
        """Give back what the engine holds. Safe to call twice."""

    @abstractmethod
    def count_tables(self, tables: Tables) -> Iterator[Iterator[Cells]]:
        """One pass; see `TableCounter`."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class BatchPrefixes:
    """Counts the levels of one prefix tree, a pass for each. Satisfies `PrefixCounter`.

    Args:
        counter: the trajectories.
        taxonomy: the public zones, if survivors may be zones.
    """

    def __init__(self, counter: BatchCounter, taxonomy: Taxonomy | None = None) -> None:
        self._counter = counter
        self._taxonomy = taxonomy
        self._levels: tuple[Survivors, ...] = ()

    @property
    def universe(self) -> Universe:
        """The public universe."""
        return self._counter.universe

    @property
    def max_trajectories_per_unit(self) -> int:
        """The contribution bound c."""
        return self._counter.max_trajectories_per_unit

    def count_children(self, survivors: Survivors) -> Iterator[ExactCounts]:
        """The non-empty children of the survivors and their exact counts, block by block."""
        height = self._counter.height
        if height is not None and len(self._levels) >= height:
            return iter(())
        self._levels += (survivors,)
        grid = self._counter.time_grid
        pairs = len(self.universe) * (1 if grid is None else len(grid))
        return self._counted(_Children(self._levels, pairs, self._taxonomy))

    def _counted(self, children: "_Children") -> Iterator[ExactCounts]:
        for blocks in self._counter.count_tables(children):
            for cells, counts in blocks:
                node, location = np.divmod(cells, children.pairs)
                yield ExactCounts(node, location.astype(np.int32), counts)


@dataclass(frozen=True, slots=True, eq=False)
class _Children:
    """The children of a level's survivors, as a table; cell = node · codes + code.

    Attributes:
        levels: the survivors of all levels so far, the root first: noisy, so public.
        pairs: how many codes there are.
        taxonomy: the public zones, if survivors may be zones.
    """

    levels: tuple[Survivors, ...]
    pairs: int
    taxonomy: Taxonomy | None

    @property
    def sizes(self) -> tuple[int]:
        """One table."""
        return (len(self.levels[-1]) * self.pairs,)

    def count(self, rows: Rows, _table: int) -> Cells:
        """From the root, one level after the other."""
        codes = rows.codes
        if rows.slots is not None:
            codes = rows.slots * np.int32(rows.size) + codes
        runs = PrefixRuns(rows.offsets, codes, self.pairs, self.taxonomy)
        for survivors in self.levels:
            (exact,) = runs.count_children(survivors)
        return exact.node * self.pairs + exact.location, exact.count

    def add(self, rows: Rows, table: int, sums: NDArray[np.int64], lock: Lock) -> None:
        """See `Tables`."""
        cells, counts = self.count(rows, table)
        with lock:
            sums[cells] += counts  # each cell is there once
