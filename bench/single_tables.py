"""One noisy table for one question, with all of ε: the opponent that answers nothing else.

Of each measure that a table of counts can answer by itself, the table with the project's own noise:
cells that nobody is in get noise too, large tables list what passes a public threshold. A
trajectory is the unit. The caps are tried one after another, and the reader takes the best: no
curator could choose so well without looking.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from pathveil import TrajectoryDatabase
from pathveil.core.noise import Laplace
from pathveil.core.thresholds import smallest_threshold
from pathveil.gate.add_noise import dense_table, sparse_table
from pathveil.gate.randomness import Randomness
from pathveil.statistics.noisy_table import NoisyTable
from pathveil.statistics.pairs import pair_cells
from pathveil.statistics.statistic import Rows
from pathveil.trials.evaluation.compared import Figures
from pathveil.trials.evaluation.measures import HOTSPOTS
from pathveil.trials.evaluation.random_queries import Queries, single_location_queries
from pathveil.trials.evaluation.scores import (
    Histogram,
    average_relative_error,
    hotspot_ndcg,
    jensen_shannon,
    kendall_tau,
)

CAPS = (1, 2, 4, 8, 16)
DENSE_CELLS = 1 << 16  # a larger table lists what passes a threshold
INVENTED = Fraction(20)  # empty cells that may pass it


@dataclass(frozen=True, slots=True, eq=False)
class SingleTables:
    """Every table by itself, of one database.

    Attributes:
        raw: the raw side.
        database: the same.
        epsilon: all of it goes to each table.
        own: questions about 1 and 2 locations of a random trajectory, or None.
    """

    raw: Figures
    database: TrajectoryDatabase
    epsilon: Fraction
    own: tuple[Queries | None, Queries | None]

    def figures(self) -> Iterator[tuple[str, float]]:
        """(key of the measure, figure) for each of them; several with different caps."""
        size = len(self.database.universe)
        rows = Rows(self.database.offsets, self.database.codes, size)
        yield from self._of_trajectories(size)
        for cap in CAPS:
            visited = rows.first_visits(cap)
            yield from self._presence(visited, size, cap)
            if cap > 1 and self.own[1] is not None:
                pairs = self._table(pair_cells(visited, size)[1], size * size, cap * (cap - 1) // 2)
                yield "own2", self._error(self.own[1], _pair_answers(pairs, self.own[1], size))
            visits, steps = _first_visits_and_steps(self.database, cap)
            counted = self._table(visits, size, cap)
            yield "divergence_visits", jensen_shannon(self.raw.visits, _histogram(counted))
            counted = self._table(steps, size * size, cap)
            yield (
                "divergence_transitions",
                jensen_shannon(self.raw.transitions, _histogram(counted)),
            )

    def _of_trajectories(self, size: int) -> Iterator[tuple[str, float]]:
        """To what a trajectory adds 1 in one cell."""
        offsets, codes = self.database.offsets, self.database.codes.astype(np.int64)
        some = offsets[:-1] < offsets[1:]
        total = self._table(np.zeros(len(some), np.int64), 1, 1)
        yield "size_ratio", max(float(total.counts[0]), 0.0) / self.raw.size
        lengths = np.diff(offsets)
        longest = 1 << 12  # public: who is longer counts as such
        counted = self._table(np.minimum(lengths, longest - 1), longest, 1)
        yield "divergence_lengths", jensen_shannon(self.raw.lengths, _histogram(counted))
        trips = codes[offsets[:-1][some]] * size + codes[offsets[1:][some] - 1]
        counted = self._table(trips, size * size, 1)
        yield "divergence_trips", jensen_shannon(self.raw.trips, _histogram(counted))

    def _presence(
        self, visited: NDArray[np.int32], size: int, cap: int
    ) -> Iterator[tuple[str, float]]:
        """Who visits each location, for the first ``cap`` distinct ones of a trajectory."""
        table = self._table(visited[visited >= 0].astype(np.int64), size, cap)
        popularity = np.zeros(size, dtype=np.int64)
        popularity[table.keys] = np.maximum(table.counts, 0)
        raw, single = self.raw, single_location_queries(size)
        yield "query_error_single", self._error(single, popularity)
        if self.own[0] is not None:
            yield "own1", self._error(self.own[0], popularity[self.own[0].codes])
        yield "location_tau", kendall_tau(raw.popularity, popularity)
        yield "hotspot_ndcg", hotspot_ndcg(raw.popularity, popularity, HOTSPOTS)

    def _table(self, cells: NDArray[np.integer], size: int, sensitivity: int) -> NoisyTable:
        return noisy_table(cells, size, self.epsilon / sensitivity)

    def _error(self, queries: Queries, answers: NDArray[np.int64]) -> float:
        return average_relative_error(self.raw.answers(queries), answers, self.raw.size)


def noisy_table(cells: NDArray[np.integer], size: int, epsilon: Fraction) -> NoisyTable:
    """The counts of all cells, or if they are many of those that pass a threshold."""
    randomness = Randomness(None)
    if size <= DENSE_CELLS:
        return dense_table(np.bincount(cells, minlength=size), Laplace(epsilon), randomness)
    exact = np.unique(cells.astype(np.int64), return_counts=True)
    threshold = smallest_threshold(epsilon, size, INVENTED)
    return sparse_table([exact], size, Laplace(epsilon), threshold, randomness)


def _histogram(table: NoisyTable) -> Histogram:
    return Histogram(table.keys, np.maximum(table.counts, 0))


def _pair_answers(table: NoisyTable, queries: Queries, size: int) -> NDArray[np.int64]:
    pairs = np.sort(queries.codes.reshape(-1, 2).astype(np.int64), axis=1)
    keys = pairs[:, 0] * size + pairs[:, 1]
    at = np.searchsorted(table.keys, keys)
    listed = np.append(table.keys, -1)[at] == keys
    return np.where(listed, np.maximum(np.append(table.counts, 0)[at], 0), 0)


def _first_visits_and_steps(
    database: TrajectoryDatabase, cap: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first ``cap`` visits of each trajectory, and its first ``cap`` steps, as pairs."""
    offsets, codes = database.offsets, database.codes.astype(np.int64)
    lengths = np.diff(offsets)
    turn = np.arange(len(codes)) - np.repeat(offsets[:-1], lengths)
    going_on = (turn < cap) & (turn < np.repeat(lengths, lengths) - 1)
    here = np.flatnonzero(going_on)
    return codes[turn < cap], codes[here] * len(database.universe) + codes[here + 1]
