"""Returns: second to fourth and eighth visits to each location; staying apart from coming back.

A cell is (kind, location). A trajectory adds 1 for each of its visits that is a second, third or
fourth one to where it goes: to the cell of staying if the visit before was there as well, else to
that of coming back; and 1 for each that is an eighth, however it came there. It does so for ``cap``
of them at most: if there are more, for ``cap`` that are evenly spread. Whatever the kinds, a visit
is in one cell, so a trajectory adds at most ``cap``. With the visits they say how often people come
back to where they have been, where they rather stay, and where some do so for long: of a page that
many look at twice and one that few look at twenty times the first returns may be as many.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import compiled
from pathveil.core.noise import Noise
from pathveil.statistics.constants import CERTAIN_DEVIATIONS, RARE_ACTIONS
from pathveil.statistics.denoise import Estimates, named_estimates
from pathveil.statistics.first_visits import spread
from pathveil.statistics.noisy_table import NoisyTable
from pathveil.statistics.outlook import Outlook
from pathveil.statistics.statistic import (
    VISITED,
    Bound,
    Known,
    OfVisits,
    RowCells,
    Rows,
    Scope,
    Statistic,
    Visit,
)

MOST_RETURNS = 3  # to one location that count as coming back or staying
MANY_RETURNS = 7  # the one that makes the eighth visit counts, too
LEAST_TRUST = 0.5  # of the noise: a share that is taken from all is not known better
KINDS = COMING_BACK, STAYING, OFTEN = range(3)


class Returns(OfVisits):
    """See above."""

    name = "returns"
    words = (
        "second to fourth visits to each location, staying apart from coming back, and eighth ones"
    )
    adds, because = "k", "one for each of at most k such visits"
    stage = VISITED

    def bound(self, cap: int) -> Bound:
        """At most three to one cell, so the squares are largest if it is always three."""
        times, rest = divmod(cap, MOST_RETURNS)
        return Bound(cap, times * MOST_RETURNS**2 + rest**2)

    def size(self, scope: Scope) -> int:
        """One of each kind for each location."""
        return len(KINDS) * scope.universe_size

    def row_cells(self, rows: Rows, scope: Scope, cap: int) -> RowCells:
        """At most ``cap`` for each row."""
        return return_cells(rows.offsets, rows.codes, rows.size, cap)

    def oracle(self, visits: Sequence[Visit], scope: Scope, cap: int) -> Iterator[int]:
        """Nobody returns to an unnamed location: each is another one."""
        times, later, before = Counter[int](), list[int](), None
        for location, _ in visits:
            if isinstance(location, int):
                times[location] += 1
                kind = STAYING if location == before else COMING_BACK
                if 1 < times[location] <= 1 + MOST_RETURNS:
                    later.append(kind * scope.universe_size + location)
                elif times[location] == 1 + MANY_RETURNS:
                    later.append(OFTEN * scope.universe_size + location)
            before = location
        return iter(spread(later, cap))

    def denoise(self, table: NoisyTable, scope: Scope, known: Known) -> Estimates:
        """As visits; the share of staying takes after that everywhere, where noise hides it.

        In some data nobody ever stays: if noise explains a kind, and it is rare at most, there is
        none of it. Else both kinds together tell whether anybody returns to a location at all.
        """
        counts = table.counts.reshape(len(KINDS), -1)
        alone = [named_estimates(kind, table.noise, floor=known.floor) for kind in counts]
        value, variance = (
            np.array([kind.value for kind in alone]),
            np.array([kind.variance for kind in alone]),
        )
        sums, deviation = counts[:OFTEN].sum(axis=1), table.noise.deviation * sqrt(counts.shape[1])
        is_rare = sums + CERTAIN_DEVIATIONS * deviation < RARE_ACTIONS * sums.sum()
        if ((value[:OFTEN] > 0).any(axis=1) | ~is_rare).all():
            noise = table.noise.at_least(table.scale * sqrt(OFTEN))
            both = named_estimates(counts[:OFTEN].sum(axis=0), noise, floor=known.floor).value
            both = np.maximum(both, value[:OFTEN].sum(axis=0))
            value[:OFTEN], variance[:OFTEN] = shared_out(counts[:OFTEN], both, table.noise)
        return Estimates(value.ravel(), variance.ravel())

    def among(self, estimates: Estimates, candidates: NDArray[np.int64]) -> Estimates:
        """The columns of the candidates, kind by kind."""
        value, variance = (
            column.reshape(len(KINDS), -1)[:, candidates].ravel()
            for column in (estimates.value, estimates.variance)
        )
        return Estimates(value, variance)

    def compared(self) -> Sequence[Statistic]:
        """Cell by cell."""
        return (self,)

    def added(self, outlook: Outlook, cap: int) -> NDArray[np.float64]:
        """Visits beyond the distinct locations, as far as they count."""
        later = np.minimum(outlook.lengths - outlook.distinct, MOST_RETURNS * outlook.distinct)
        return np.clip(later, 0.0, cap)

    def typical(self, outlook: Outlook) -> float:
        """In proportion to the visits."""
        return outlook.typical_visits * self._per_visit(outlook)

    def worth(self, outlook: Outlook, usual: float) -> float:
        """The more visits are returns, the more they are worth."""
        return usual * outlook.mean(self.added(outlook, outlook.height)) / outlook.mean_length

    def _per_visit(self, outlook: Outlook) -> float:
        return outlook.mean(self.added(outlook, outlook.height)) / outlook.mean_distinct


def shared_out(
    counts: NDArray[np.int64], returns: NDArray[np.float64], noise: Noise
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How many of the returns to each location are of each kind, and the variance of that.

    Expected is the share that a kind has everywhere, m. How far locations differ from it, s·m, is
    told by the table: (x − m)² has the variance of the noise besides. So the estimate moves from m
    to x by s²m²/(s²m² + v) of the way: James and Stein, as in `synthesis.earlier`.
    """
    variance = noise.deviation**2
    sums = np.maximum(counts.sum(axis=1), 1.0)
    expected = np.outer(sums / sums.sum(), returns)
    differing = ((counts - expected) ** 2 - variance)[:, returns > 0].sum(axis=1)
    spread = np.clip(differing / np.maximum((expected**2).sum(axis=1), 1.0), 0.0, 1.0)
    own = spread[:, None] * expected**2
    trust = own / (own + variance)
    value = np.maximum(expected + trust * (counts - expected), 0.0)
    return np.where(returns > 0, value, 0.0), np.maximum(trust, LEAST_TRUST) * variance


@compiled
def return_cells(
    offsets: NDArray[np.int64], codes: NDArray[np.int32], universe_size: int, cap: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The (row, cell) pairs; at most ``cap`` per row."""
    most = longest = 0
    for row in range(len(offsets) - 1):
        length = offsets[row + 1] - offsets[row]
        most += min(cap, length)
        longest = max(longest, length)
    rows = np.empty(most, dtype=np.int32)
    cells = np.empty(most, dtype=np.int32)
    later = np.empty(longest + 1, dtype=np.int32)
    # The last row that visited a location, and how often it returned there: row · 8 + times.
    seen = np.full(universe_size + 1, -1, dtype=np.int64)
    found = 0
    for row in range(len(offsets) - 1):
        count, never, before = 0, row * (MANY_RETURNS + 1), -1
        for i in range(offsets[row], offsets[row + 1]):
            code = codes[i]
            last = seen[code]
            is_eighth = last == never + MANY_RETURNS - 1
            kind = OFTEN if is_eighth else int(code == before)
            before = code
            later[count] = code + universe_size * kind  # no branch: nobody could foresee it
            counts = is_eighth | ((never <= last) & (last < never + MOST_RETURNS))
            count += counts & (code < universe_size)
            seen[code] = min(max(last, never - 1) + 1, never + MANY_RETURNS)
        for j in range(min(count, cap)):
            rows[found] = row
            cells[found] = later[j] if count <= cap else later[(2 * j + 1) * count // (2 * cap)]
            found += 1
    return rows[:found], cells[:found]


RETURNS = Returns()
