"""Moves: for every first visit of a trajectory but its very first, (location before it, it).

Only ``cap`` distinct locations count: the first, and others evenly spread. A cell is a·n + b over n
candidates. Every move ends at a location that was not visited before, so a trajectory adds at most
1 to a cell, and at most ``cap`` − 1 in all.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from pathveil.statistics.constants import INVENTED_MOVES, WHOLE_CELLS
from pathveil.statistics.denoise import Estimates
from pathveil.statistics.first_visits import spread_after_first
from pathveil.statistics.noisy_table import NoisyTable
from pathveil.statistics.outlook import Outlook
from pathveil.statistics.pairs import PairTable, denoise_pairs, pair_threshold
from pathveil.statistics.statistic import (
    Bound,
    Known,
    RowCells,
    Rows,
    Scope,
    Visit,
)


class Moves(PairTable):
    """See above."""

    name = "moves"
    words = "from a location to one that is visited for the first time"
    adds = "k − 1"
    because = "one for each of at most k of its distinct locations but the first"
    whole_up_to = learnt_up_to = WHOLE_CELLS

    def bound(self, cap: int) -> Bound:
        """Each move ends elsewhere: the cells differ."""
        return Bound(cap - 1, cap - 1)

    def row_cells(self, rows: Rows, scope: Scope, cap: int) -> RowCells:
        """Of at most ``cap`` distinct locations of each row."""
        return rows.first_moves(cap, scope.named)

    def oracle(self, visits: Sequence[Visit], scope: Scope, cap: int) -> Iterator[int]:
        """Moves from or to other locations have no cell."""
        locations = [visit.location for visit in visits]
        distinct = dict.fromkeys(locations)
        for location in spread_after_first(list(distinct), cap)[1:]:
            before = scope.position_of(locations[locations.index(location) - 1])
            there = scope.position_of(location)
            if before is not None and there is not None:
                yield before * scope.named + there

    def invented(self, scope: Scope) -> Fraction:
        """Few against the moves from each candidate."""
        return INVENTED_MOVES * scope.named

    def denoise(self, table: NoisyTable, scope: Scope, known: Known) -> Estimates:
        """Nobody moves from a location to itself for the first time."""
        first, second = np.divmod(table.keys, max(scope.named, 1))
        possible = scope.named * (scope.named - 1)
        return denoise_pairs(table, first, second, first != second, possible, known)

    def added(self, outlook: Outlook, cap: int) -> NDArray[np.float64]:
        """Distinct locations but the first."""
        return np.minimum(outlook.distinct, cap) - 1.0

    def typical(self, outlook: Outlook) -> float:
        """That of an ordered pair; a threshold hides smaller ones."""
        one_way = outlook.typical_pair(2.0 * (outlook.few_distinct - 1.0))
        return one_way / pair_threshold(outlook, float(INVENTED_MOVES) * outlook.named)


MOVES = Moves()
