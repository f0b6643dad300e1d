"""The total: how many trajectories there are that are not empty. One cell."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from pathveil.statistics.statistic import FIRST_LOOK, OneCell, Rows, Scope, Visit


class Total(OneCell):
    """See above."""

    name = "total"
    words = "the number of trajectories"
    because = "it is one trajectory"
    stage = FIRST_LOOK
    repeats = True

    def size(self, scope: Scope) -> int:
        """One."""
        return 1

    def cell(self, rows: Rows, scope: Scope) -> NDArray[np.int64]:
        """Every row that is not empty counts."""
        return np.where(rows.not_empty, 0, -1)

    def oracle(self, visits: Sequence[Visit], scope: Scope, cap: int) -> Iterator[int]:
        """Every trajectory that is not empty counts."""
        return iter([0] if visits else [])


TOTAL = Total()
