"""Counting in SQL: one plain text for every database, one scan per level.

A trajectory is a row with a column per level. To count a level, the trajectories are joined to the
survivors of the level above, by the locations that lead to them, grouped by node and next location,
and counted. Nothing is written between two levels, so there is nothing to lose: an engine may die
and begin the level anew. Only the counts leave the database, in blocks, sorted by it: a level can
have more non-empty children than this process should hold.

The text has no hints, no positional GROUP BY and no functions that databases name differently.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from pathveil.errors import ParameterError
from pathveil.raw.engines.protocol import ExactCounts, Survivors
from pathveil.raw.reading_plan import ReadingPlan
from pathveil.times.time_grid import TimeGrid
from pathveil.universe.universe import Universe

ORDER: Final = ("node", "location")  # of the protocol


def count_text(table: str, survivors: str, level: int) -> str:
    """The non-empty children at a level, in no order: node, location, trajectories.

    Args:
        table: the trajectories: l1, l2 … with -1 where a trajectory has ended.
        survivors: the nodes of the level above: node, l1 … l⟨level − 1⟩. Not read for level 1.
        level: which level, from 1.
    """
    if level == 1:  # the root is the one survivor above it
        return (
            "SELECT CAST(0 AS BIGINT) AS node, l1 AS location, count(*) AS trajectories "  # noqa: S608
            f"FROM {table} GROUP BY l1"
        )
    path = " AND ".join(f"t.l{above} = s.l{above}" for above in range(1, level))
    return (
        f"SELECT s.node AS node, t.l{level} AS location, count(*) AS trajectories "  # noqa: S608
        f"FROM {table} t JOIN {survivors} s ON {path} WHERE t.l{level} >= 0 "
        f"GROUP BY s.node, t.l{level}"
    )


class SqlCounter(ABC):
    """Counts trajectories that a database holds. Satisfies `PrefixCounter`; used for one tree.

    Args:
        plan: how the source was read.
        height: h; trajectories are cut after h locations, so no level below is counted.
    """

    def __init__(self, plan: ReadingPlan, height: int) -> None:
        if not isinstance(plan.universe, Universe):
            raise ParameterError("A universe can be discovered by the memory engine only.")
        self._universe = plan.universe
        self._plan = plan
        self._height = height
        self._level = 0
        self._paths = np.empty((0, 1), dtype=np.int32)  # the root, reached by no location

    @property
    def universe(self) -> Universe:
        """The public universe."""
        return self._universe

    @property
    def max_trajectories_per_unit(self) -> int:
        """The contribution bound c."""
        return self._plan.max_trajectories_per_unit

    @property
    def time_grid(self) -> TimeGrid | None:
        """The public time grid; None if the visits have no times."""
        return self._plan.time_grid

    @property
    def rules(self) -> tuple[str, ...]:
        """The public rules by which rows became trajectories, in words."""
        return tuple(self._plan.rules.sentences())

    @property
    def height(self) -> int:
        """The number of levels that can be counted."""
        return self._height

    def __repr__(self) -> str:
        return f"{type(self).__name__}(<private>, {self._universe.summary})"

    def count_children(self, survivors: Survivors) -> Iterator[ExactCounts]:
        """The non-empty children of the survivors and their exact counts, block by block."""
        if self._level >= self._height:
            return iter(())
        self._level += 1
        if self._level > 1:
            leading = self._paths[:, survivors.parent]
            self._paths = np.concatenate((leading, survivors.location[np.newaxis]))
        return self._count(self._level, self._paths)

    @property
    @abstractmethod
    def engine(self) -> str:
        """The engine's name."""

    @abstractmethod
    def close(self) -> None:
        """Give back what the database holds. Safe to call twice."""

    @abstractmethod
    def _count(self, level: int, paths: NDArray[np.int32]) -> Iterator[ExactCounts]:
        """Run `count_text`, sorted by `ORDER`.

        Args:
            level: which level, from 1.
            paths: int32, shape (level − 1, n); column i leads to survivor i of the level above.
        """

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def survivors_table(paths: NDArray[np.int32]) -> Any:
    """The survivors of a level as an Arrow table with the columns node, l1, l2 and so on."""
    import pyarrow as pa

    columns = {f"l{level}": path for level, path in enumerate(paths, start=1)}
    return pa.table({"node": np.arange(paths.shape[1], dtype=np.int64), **columns})


def exact_counts(
    node: NDArray[np.integer], location: NDArray[np.integer], count: NDArray[np.integer]
) -> ExactCounts:
    """A block of what `count_text` found, in the types of the protocol."""
    return ExactCounts(
        node.astype(np.int64, copy=False),
        location.astype(np.int32, copy=False),
        count.astype(np.int64, copy=False),
    )
