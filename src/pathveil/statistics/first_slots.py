"""First slots: when trajectories begin. T cells, one for each time slot."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from pathveil.statistics.denoise import Estimates, posterior_means
from pathveil.statistics.noisy_table import NoisyTable
from pathveil.statistics.statistic import TIMES, Known, OneCell, Rows, Scope, Visit


class FirstSlots(OneCell):
    """See above."""

    name = "first slots"
    words = "when a trajectory begins"
    because = "it begins once"
    stage = TIMES
    repeats = True
    counts_each = True

    def size(self, scope: Scope) -> int:
        """T."""
        return scope.slots

    def cell(self, rows: Rows, scope: Scope) -> NDArray[np.int32]:
        """The slot of the first visit."""
        cell = np.full(len(rows.not_empty), -1, dtype=np.int32)
        cell[rows.not_empty] = rows.timed[rows.offsets[:-1][rows.not_empty]]
        return cell

    def oracle(self, visits: Sequence[Visit], scope: Scope, cap: int) -> Iterator[int]:
        """The first one."""
        return (visit.slot for visit in visits[:1])

    def denoise(self, table: NoisyTable, scope: Scope, known: Known) -> Estimates:
        """Means, for hardly a slot is quite empty."""
        return posterior_means(table.counts, table.noise)


FIRST_SLOTS = FirstSlots()
