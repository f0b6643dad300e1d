"""Pairs: every unordered pair of ``cap`` distinct locations of a trajectory.

If it has more, the first one and others evenly spread count. A cell is a·n + b over n candidates;
only those with a < b can be occupied. A trajectory adds at most 1 to a cell, and at most
``cap``·(``cap`` − 1)/2 in all.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import compiled
from pathveil.statistics.constants import DENSE_CELLS, INVENTED_PAIRS, MOST_DISTINCT
from pathveil.statistics.denoise import Estimates, sparse_estimates
from pathveil.statistics.first_visits import spread_after_first
from pathveil.statistics.noisy_table import NoisyTable
from pathveil.statistics.outlook import Outlook, log_threshold
from pathveil.statistics.statistic import (
    HABITS,
    Bound,
    Known,
    RowCells,
    Rows,
    Scope,
    Statistic,
    Visit,
)

# All noisy counts are kept up to so many cells, of 362 candidates. Time: each is then calibrated.
WHOLE_PAIRS = 1 << 17
TABLED = 1 << 22  # pairs, of which the place of each is held while rows are looked at
LEAST_MEAN_DISTINCT = 1.0005  # distinct locations on average from which on anybody goes anywhere


class PairTable(Statistic):
    """A table with a cell for every two candidates, of some distinct locations."""

    stage = HABITS
    of_candidates = True
    dense_up_to = DENSE_CELLS

    def cap(self, height: int, distinct: int) -> int:
        """The distinct locations that are looked at: d."""
        return distinct

    def size(self, scope: Scope) -> int:
        """All ordered pairs of candidates."""
        return scope.named * scope.named

    def caps(self, outlook: Outlook) -> range:
        """Few: later locations add little that is new, and much noise."""
        return range(2, max(min(MOST_DISTINCT, outlook.height), 2) + 1)

    def worth(self, outlook: Outlook, usual: float) -> float:
        """Nothing if nobody goes anywhere."""
        return usual if outlook.mean_distinct > LEAST_MEAN_DISTINCT else 0.0


class Pairs(PairTable):
    """See above."""

    name = "pairs"
    words = "of locations that one trajectory visits"
    adds = "k(k − 1)/2"
    because = "one for each pair of at most k of its distinct locations"
    learnt_up_to = WHOLE_PAIRS

    def bound(self, cap: int) -> Bound:
        """A pair of distinct locations is there once: the cells differ."""
        return Bound(cap * (cap - 1) // 2, cap * (cap - 1) // 2)

    def row_cells(self, rows: Rows, scope: Scope, cap: int) -> RowCells:
        """Of at most ``cap`` distinct locations of each row."""
        return pair_cells(rows.first_visits(cap), scope.named)

    def oracle(self, visits: Sequence[Visit], scope: Scope, cap: int) -> Iterator[int]:
        """Pairs with other locations have no cell."""
        distinct = list(dict.fromkeys(visit.location for visit in visits))
        kept = spread_after_first(distinct, cap)
        positions = sorted(p for p in map(scope.position_of, kept) if p is not None)
        return (low * scope.named + high for low, high in combinations(positions, 2))

    def invented(self, scope: Scope) -> Fraction:
        """Few against the pairs that occur."""
        return INVENTED_PAIRS

    def denoise(self, table: NoisyTable, scope: Scope, known: Known) -> Estimates:
        """The smaller one is named first."""
        first, second = np.divmod(table.keys, max(scope.named, 1))
        possible = scope.named * (scope.named - 1) // 2
        return denoise_pairs(table, first, second, first < second, possible, known)

    def compared(self) -> Sequence[Statistic]:
        """The pairs with an estimate."""
        return (self,)

    def listed(
        self, rows: Rows, scope: Scope, cap: int, keys: NDArray[np.int64] | None
    ) -> RowCells:
        """As for every statistic; a search among the partners of one location is a short one."""
        if keys is None:
            return self.row_cells(rows, scope, cap)
        size = scope.named
        table = self.places(scope, keys, len(rows.codes)) if size**2 <= TABLED else None
        places = np.zeros(0, dtype=np.int32) if table is None else table
        starts = np.searchsorted(keys, np.arange(size + 1) * size)
        ends = keys % max(size, 1)
        return _listed_pairs(rows.first_visits(cap), size, starts, ends, places)

    def added(self, outlook: Outlook, cap: int) -> NDArray[np.float64]:
        """Pairs of distinct locations."""
        distinct = np.minimum(outlook.distinct, cap)
        return distinct * (distinct - 1.0) / 2.0

    def typical(self, outlook: Outlook) -> float:
        """A threshold hides smaller ones."""
        few = outlook.few_distinct
        invented = 2.0 * float(INVENTED_PAIRS)
        return outlook.typical_pair(few * (few - 1.0)) / pair_threshold(outlook, invented)


def pair_threshold(outlook: Outlook, invented: float) -> float:
    """How many noise scales a pair must be to show: one, if all pairs are listed."""
    cells = float(outlook.named) ** 2
    return 1.0 if cells <= DENSE_CELLS else log_threshold(cells, invented)


def denoise_pairs(
    table: NoisyTable,
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    possible: NDArray[np.bool_],
    cells: int,
    known: Known,
) -> Estimates:
    """Denoise the cells that can be occupied, ``cells`` of them, listed or not."""
    first, second, noisy = first[possible], second[possible], table.counts[possible]
    found = sparse_estimates(
        noisy,
        table.noise,
        hidden=cells - len(noisy),
        threshold=table.threshold,
        floor=known.floor,
    )
    # A pair is not more frequent than either of its ends.
    most = np.minimum(known.visitors[first], known.visitors[second])
    return Estimates(np.minimum(found.value, most), found.variance).listed(table.keys[possible])


@compiled
def pair_cells(
    visited: NDArray[np.int32], universe_size: int
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The (row, cell) pairs, smaller code first: min·|L| + max."""
    most = 0
    for row in range(visited.shape[0]):
        count = 0
        while count < visited.shape[1] and visited[row, count] >= 0:
            count += 1
        most += count * (count - 1) // 2
    rows = np.empty(most, dtype=np.int32)
    cells = np.empty(most, dtype=np.int64)
    found = 0
    for row in range(visited.shape[0]):
        for i in range(visited.shape[1]):
            if visited[row, i] < 0:
                break
            for j in range(i):
                low = np.int64(min(visited[row, i], visited[row, j]))
                high = np.int64(max(visited[row, i], visited[row, j]))
                if high < universe_size:
                    rows[found] = row
                    cells[found] = low * universe_size + high
                    found += 1
    return rows[:found], cells[:found]


@compiled
def _listed_pairs(
    visited: NDArray[np.int32],
    size: int,
    pair_starts: NDArray[np.int64],
    pair_ends: NDArray[np.int64],
    places: NDArray[np.int32],
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Those of `pair_cells` that are listed: (row, which one).

    By ``places`` (see `Statistic.places`), or by search if that is empty. One function for both, so
    that either is compiled in a rehearsal.
    """
    count, most = visited.shape
    rows = np.empty(count * most * (most - 1) // 2 + 1, dtype=np.int32)
    pairs = np.empty(len(rows), dtype=np.int64)
    found = 0
    for row in range(count):
        for i in range(most):
            there = visited[row, i]
            if there < 0:
                break
            for j in range(i):
                low, high = min(visited[row, j], there), max(visited[row, j], there)
                if high >= size:  # an unnamed location
                    continue
                if len(places):
                    at = places[np.int64(low) * size + high]
                    rows[found], pairs[found] = row, at  # no branch: nobody could foresee it
                    found += at >= 0
                    continue
                start, stop = pair_starts[low], pair_starts[low + 1]
                while start < stop:
                    middle = (start + stop) >> 1
                    if pair_ends[middle] >= high:
                        stop = middle
                    else:
                        start = middle + 1
                if start < pair_starts[low + 1] and pair_ends[start] == high:
                    rows[found], pairs[found] = row, start
                    found += 1
    return rows[:found].copy(), pairs[:found].copy()


PAIRS = Pairs()
