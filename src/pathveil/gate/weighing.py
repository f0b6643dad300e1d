"""What a person's trips weigh: the counts of a unit as a whole, clipped to a norm that is public.

If all c trips of a unit may add to the same cells, a table changes by c times what one trip adds,
and noise has to be scaled to that. Hardly anybody's trips are all the same. So the lines of a stage
may say a norm C each (`Line.clip` is C²), and every unit has a weight: of q = 256 parts,

    w = min(q, the least over the lines of ⌊√(⌊q²·C² / N⌋)⌋),

N being the sum of the squares of what all its trips together add to the line's table. Each trip of
the unit then adds w to its cells in place of 1.

**Why a table changes by at most q·C in L2.** Let v be what the unit's trips add to the table, in
whole numbers, and N = ‖v‖². With the unit the table has w·v more than without it, and no other
unit's weight is another one, since a weight is a function of the unit's own trips and of what is
public. And w² ≤ ⌊q²C²/N⌋ ≤ q²C²/N, so ‖w·v‖² = w²·N ≤ q²·C². It is so for every line of the stage,
because w is the least of all; and for any number of trips. In L1 it changes by at most q·c times
what one trip adds, since w ≤ q. There is no float in it: a root is looked up among whole squares.

The weight is that of the trips that are counted: after every filter, with the cap of the line, in
the cells of the scope. It is found where the cells are, in a block or batch of whole units
(`Rows.unit` refuses a part of one), so that no step can come between the norm and the count.

One weight for all tables of a stage: they are tables of the same weighed trips, and agree with each
other as tables of trips would.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pathveil.raw.engines.protocol import Cells
from pathveil.statistics.measurement_plan import PARTS, Line
from pathveil.statistics.statistic import Rows, Scope

_SQUARES = np.arange(PARTS + 1, dtype=np.int64) ** 2


@dataclass(frozen=True, slots=True, repr=False)
class UnitCounts:
    """What whole units add to a table, before they are weighed. Private.

    Attributes:
        unit: int64, shape (m,), ascending.
        cell: int64, shape (m,); each pair of unit and cell once.
        count: int64, shape (m,); how many trips of the unit (or visits of them) are in the cell.
    """

    unit: NDArray[np.int64]
    cell: NDArray[np.int64]
    count: NDArray[np.int64]

    @classmethod
    def of(cls, line: Line, rows: Rows, scope: Scope) -> "UnitCounts":
        """Those of some rows, in the line's table under its cap."""
        row, cell = line.statistic.row_cells(rows, scope, line.cap)
        # The cells that occur, numbered, so that unit and cell fit into one number.
        occurring, number = np.unique(cell.astype(np.int64), return_inverse=True)
        size = max(len(occurring), 1)
        keys, count = np.unique(rows.unit[row] * size + number, return_counts=True)
        unit, number = np.divmod(keys, size)
        return cls(unit, occurring[number], count.astype(np.int64))

    def squared_norms(self, units: int) -> NDArray[np.int64]:
        """N of each unit."""
        norms = np.zeros(units, dtype=np.int64)
        np.add.at(norms, self.unit, self.count**2)
        return norms


def unit_weights(norms: NDArray[np.int64], clip: int) -> NDArray[np.int64]:
    """The weights that one line allows: the largest w with w²·N ≤ q²·C², and q at most."""
    allowed = np.full(len(norms), PARTS**2, dtype=np.int64)
    is_clipped = norms > clip
    allowed[is_clipped] = PARTS**2 * clip // norms[is_clipped]
    return np.searchsorted(_SQUARES, allowed, side="right") - 1


@dataclass(frozen=True, slots=True, repr=False)
class WeighedUnits:
    """The units of some rows, in all tables of a stage. Private.

    Attributes:
        counts: one for each line.
        weights: int64, shape (units,); of q parts.
    """

    counts: tuple[UnitCounts, ...]
    weights: NDArray[np.int64]

    @classmethod
    def of(cls, lines: tuple[Line, ...], rows: Rows, scope: Scope) -> "WeighedUnits":
        """Those of some rows: whole units."""
        units = int(rows.unit[-1]) + 1 if len(rows.unit) else 0
        weights = np.full(units, PARTS, dtype=np.int64)
        counts = tuple(UnitCounts.of(line, rows, scope) for line in lines)
        for line, added in zip(lines, counts, strict=True):
            if line.clip is None:
                raise ValueError(f"The line of {line.name} has no norm.")
            np.minimum(weights, unit_weights(added.squared_norms(units), line.clip), out=weights)
        return cls(counts, weights)

    def cells(self, table: int) -> Cells:
        """What the units add to a table: occupied cells, ascending, and weighed counts."""
        added = self.counts[table]
        weighed = added.count * self.weights[added.unit]
        is_there = weighed > 0
        cells, place = np.unique(added.cell[is_there], return_inverse=True)
        sums = np.zeros(len(cells), dtype=np.int64)
        np.add.at(sums, place, weighed[is_there])
        return cells, sums
