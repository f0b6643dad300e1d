"""Count queries with a time window per location: "A in the morning, then B".

A step of a query is a label, or a pair (label, window). Trajectories come as pair codes,
slot · |L| + location; every function is one pass over the visits for each step.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pathveil.analysis.visit_index import codes_of, rows_at
from pathveil.core.paths import Paths
from pathveil.errors import QueryError
from pathveil.times.time_grid import TimeGrid
from pathveil.times.time_windows import slots_in
from pathveil.universe.taxonomy import Taxonomy
from pathveil.universe.universe import Universe

Step = str | tuple[str, str]
"""A label; or a label and a window, such as ``("A", "07:00-10:00")``."""


@dataclass(frozen=True, slots=True, repr=False)
class TimedPaths:
    """Trajectories with times.

    Attributes:
        paths: the multiset, as pair codes (without a grid: location codes).
        universe: the public universe.
        grid: the public time grid; None if there are no times.
        taxonomy: the zones of the locations, if steps may name them: "zone:Z" is a visit to any
            location of Z.
    """

    paths: Paths
    universe: Universe
    grid: TimeGrid | None
    taxonomy: Taxonomy | None = None

    def count(self, steps: Collection[Step]) -> int:
        """How many trajectories make all these visits, in any order (one may serve two steps)."""
        matched = np.ones(len(self.paths), dtype=np.bool_)
        for step in self._parsed(steps):
            visited = np.zeros(len(self.paths), dtype=np.bool_)
            visited[rows_at(self.paths, self._positions(step))] = True
            matched &= visited
        return self._weight(np.flatnonzero(matched))

    def count_ordered(self, steps: Sequence[Step]) -> int:
        """How many trajectories make these visits in this order, others in between allowed."""
        rows = np.arange(len(self.paths), dtype=np.int64)
        reached = self.paths.offsets[:-1]
        for step in self._parsed(steps):
            positions = self._positions(step)
            # The earliest visit that fits leaves the most room for the steps to come.
            found = np.searchsorted(positions, reached)
            is_found = found < len(positions)
            rows, found = rows[is_found], found[is_found]
            inside = positions[found] < self.paths.offsets[rows + 1]
            rows, reached = rows[inside], positions[found[inside]] + 1
        return self._weight(rows)

    def count_prefix(self, steps: Sequence[Step]) -> int:
        """How many trajectories begin with exactly these visits."""
        rows = np.arange(len(self.paths), dtype=np.int64)
        for position, step in enumerate(self._parsed(steps)):
            rows = rows[self.paths.lengths[rows] > position]
            visit = self.paths.offsets[rows] + position
            rows = rows[np.isin(visit, self._positions(step))]
        return self._weight(rows)

    def locations(self) -> Paths:
        """The same trajectories as location codes, row by row."""
        if self.grid is None:
            return self.paths
        codes = self.paths.codes % np.int32(len(self.universe))
        return Paths(self.paths.offsets, codes, self.paths.weights)

    def during(self, window: NDArray[np.bool_]) -> "TimedPaths":
        """Only the visits at some slots; trajectories without one are left out.

        Args:
            window: bool, shape (|T|,).
        """
        inside = window[self.paths.codes // len(self.universe)]
        before = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(inside, dtype=np.int64)))
        offsets: NDArray[np.int64] = before[self.paths.offsets]
        not_empty = np.flatnonzero(np.diff(offsets))
        kept = np.concatenate((offsets[:-1][not_empty], offsets[-1:]))
        paths = Paths(kept, self.paths.codes[inside], self.paths.weights[not_empty])
        return TimedPaths(paths, self.universe, self.grid, self.taxonomy)

    def to_sequences(self) -> list[list[tuple[str, str]]]:
        """Every trajectory as a list of pairs (location label, slot label).

        Raises:
            QueryError: if there are no times.
        """
        if self.grid is None:
            raise QueryError("The release has no times; use to_sequences().")
        locations, times = self.universe.labels, self.grid.labels
        slot, location = np.divmod(self.paths.codes, np.int32(len(self.universe)))
        visits = [(locations[p], times[t]) for p, t in zip(location, slot, strict=True)]
        rows = zip(self.paths.offsets[:-1], self.paths.offsets[1:], strict=True)
        distinct = [visits[start:stop] for start, stop in rows]
        return [
            list(visits)
            for visits, weight in zip(distinct, self.paths.weights, strict=True)
            for _ in range(weight)
        ]

    def _parsed(self, steps: Collection[Step]) -> list[tuple[int, NDArray[np.bool_] | None]]:
        if isinstance(steps, str):
            raise QueryError("A query is several locations, not one text; write it as a list.")
        pairs = [(step, None) if isinstance(step, str) else _pair(step) for step in steps]
        askable = self.universe if self.taxonomy is None else self.taxonomy.extend(self.universe)
        codes = codes_of(askable, [label for label, _ in pairs])
        return [
            (code, None if window is None else slots_in(self.grid, window))
            for code, (_, window) in zip(codes, pairs, strict=True)
        ]

    def _positions(self, step: tuple[int, NDArray[np.bool_] | None]) -> NDArray[np.int64]:
        """Where visits fit a step: ascending positions in the codes."""
        code, window = step
        visited = self.paths.codes % np.int32(len(self.universe))
        if self.taxonomy is not None and code >= self.taxonomy.locations:
            visited = self.taxonomy.zone_of[visited] + np.int32(self.taxonomy.locations)
        positions = np.flatnonzero(visited == code)
        if window is None:
            return positions
        return positions[window[self.paths.codes[positions] // len(self.universe)]]

    def _weight(self, rows: NDArray[np.int64]) -> int:
        return int(self.paths.weights[rows].sum())


def has_windows(steps: Collection[Step]) -> bool:
    """Whether a query names a time window."""
    return any(isinstance(step, tuple) for step in steps)


def read_step(text: str, universe: Universe) -> Step:
    """A step as one types it: ``A`` or ``A@07:00-10:00``. A label may hold an ``@`` itself."""
    label, at, window = text.rpartition("@")
    is_known = label in universe or label in (universe.names or ())
    if text in universe or not at or not is_known:
        return text
    return label, window


def _pair(step: object) -> tuple[str, str]:
    match step:
        case (str(label), str(window)):
            return label, window
    raise QueryError("A step of a query is a label, or a label and a window such as 07:00-10:00.")
