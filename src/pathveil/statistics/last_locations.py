"""Last locations: where trajectories end. A cell for each location of the universe."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from pathveil.statistics.denoise import Estimates, sparse_estimates
from pathveil.statistics.noisy_table import NoisyTable
from pathveil.statistics.statistic import FIRST_LOOK, Known, OneCell, Rows, Scope, Statistic, Visit


class LastLocations(OneCell):
    """See above."""

    name = "last locations"
    words = "where trajectories end"
    because = "it ends once"
    stage = FIRST_LOOK

    def size(self, scope: Scope) -> int:
        """One for each location."""
        return scope.universe_size

    def cell(self, rows: Rows, scope: Scope) -> NDArray[np.int32]:
        """The last location; an unnamed location has no cell."""
        cell = np.full(len(rows.not_empty), -1, dtype=np.int32)
        cell[rows.not_empty] = rows.codes[rows.offsets[1:][rows.not_empty] - 1]
        return np.where(cell < rows.size, cell, np.int32(-1))

    def oracle(self, visits: Sequence[Visit], scope: Scope, cap: int) -> Iterator[int]:
        """The last one."""
        return (visit.location for visit in visits[-1:] if isinstance(visit.location, int))

    def denoise(self, table: NoisyTable, scope: Scope, known: Known) -> Estimates:
        """A count that is lost in the noise is not known to be 0: other tables know better.

        So the variance is that of the noise, or more.
        """
        found = sparse_estimates(table.counts, table.noise, floor=known.floor)
        return Estimates(found.value, np.maximum(found.variance, 2.0 * table.scale**2))

    def among(self, estimates: Estimates, candidates: NDArray[np.int64]) -> Estimates:
        """The columns of the candidates."""
        return Estimates(estimates.value[..., candidates], estimates.variance[..., candidates])

    def compared(self) -> Sequence[Statistic]:
        """Cell by cell."""
        return (self,)


LAST_LOCATIONS = LastLocations()
