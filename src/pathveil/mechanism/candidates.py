"""The candidate children of a level, as one row of numbered cells that is never written out.

Without times every location of the universe is a candidate of every node. With a time grid
(section IV-D) a candidate is a pair (location, slot), numbered slot · |L| + location, and a node at
slot t has the pairs at slots ≥ t: all codes from t · |L| on, one range. The root has all pairs.

Why ≥ and not >. Section IV-D first defines a trajectory by t₁ ≤ t₂ ≤ … ≤ tₙ, and then expands a
node with the slots "greater than" its own, "because the timestamps in a trajectory are
non-decreasing". Only ≥ follows from that reason, and only ≥ can represent its trajectories: whoever
taps twice within an hour has two visits in one slot. With > the second visit would have no node to
be counted at, and the trajectory would be cut there.

Why this spends no more. For fixed survivors of the level above, which are noisy and so the same for
two neighbouring databases, the candidates are a function of survivors, universe and grid: public.
A node's slot comes from its own label, never from the visits below it. In every trajectory slots
never decrease (the database is built so), so a trajectory that reaches a node continues to exactly
one of its candidates or ends: the cells of a level hold disjoint sets of trajectories, and one
trajectory changes their counts by at most 1 in L1, as without times.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pathveil.model.parameters import Parameters
from pathveil.raw.counting.protocol import ExactCounts, Survivors


@dataclass(frozen=True, slots=True, repr=False)
class Candidates:
    """The candidates of n nodes, node by node; cell = start[node] + code − first_code[node].

    Attributes:
        first_code: int64, shape (n,); the smallest code that a child of the node can have.
        start: int64, shape (n,); the cell of that code.
        cells: number of all cells.
    """

    first_code: NDArray[np.int64]
    start: NDArray[np.int64]
    cells: int

    @classmethod
    def of(cls, survivors: Survivors, parameters: Parameters) -> "Candidates":
        """The candidates of the nodes that survived a level."""
        size = parameters.universe_size
        if parameters.time_grid is None:
            first_code = np.zeros(len(survivors), dtype=np.int64)
        else:
            # The root's code is -1: everything may follow it.
            slot = np.maximum(survivors.location, 0).astype(np.int64) // size
            first_code = slot * size
        ends = np.cumsum(parameters.candidates - first_code)
        start = np.concatenate((np.zeros(1, dtype=np.int64), ends))
        return cls(first_code, start[:-1], int(start[-1]))

    def cells_of(self, exact: ExactCounts) -> NDArray[np.int64]:
        """The cells of some children, int64; ascending, as the children are."""
        return self.start[exact.node] + exact.location - self.first_code[exact.node]

    def children(self, cells: NDArray[np.int64]) -> Survivors:
        """The nodes and codes of some ascending cells."""
        node = np.searchsorted(self.start, cells, side="right") - 1
        code = cells - self.start[node] + self.first_code[node]
        return Survivors(node, code.astype(np.int32))
