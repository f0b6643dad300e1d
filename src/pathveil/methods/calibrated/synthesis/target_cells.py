"""Which measured cells each synthetic trajectory adds to, and what those cells should come to.

The calibration compares synthetic trajectories with every table that asks for it
(`Statistic.compared`). Their cells are numbered one table after another. The cells of a trajectory
are found by the same functions, with the same caps, that the gate applies to people's
trajectories, so a cap biases nothing: both sides are cut alike.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pathveil.core.paths import Paths
from pathveil.methods.calibrated.synthesis.estimates import Estimated
from pathveil.statistics.constants import MODEL_ERROR, SMALLEST_VARIANCE, TRUST_IN_MODEL
from pathveil.statistics.denoise import Estimates
from pathveil.statistics.last_locations import LAST_LOCATIONS
from pathveil.statistics.measurement_plan import MeasurementPlan
from pathveil.statistics.prefix_tree import LEVELS
from pathveil.statistics.reach import REACH
from pathveil.statistics.returns import RETURNS
from pathveil.statistics.shapes import LENGTHS, SHAPES
from pathveil.statistics.statistic import Rows, Scope, Statistic
from pathveil.statistics.visits import VISITS

# In which order the cells of a row are added up; other statistics follow in the plan's order. Sums
# of floats depend on it in the last bit, and so does a seeded release.
ADDED_FIRST: tuple[Statistic, ...] = (
    LENGTHS,
    SHAPES,
    REACH,
    LAST_LOCATIONS,
    LEVELS[0],
    VISITS,
    RETURNS,
)

# Single locations, on which every answer rests; and how far people get, of which small cells tell
# much together.
AS_COUNTED = (VISITS, RETURNS, LAST_LOCATIONS, REACH)


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """The cells of one statistic.

    Attributes:
        statistic: whose cells they are.
        cap: with which its table was measured.
        estimates: what is known about their counts.
        start: the number of the first of them.
    """

    statistic: Statistic
    cap: int
    estimates: Estimates
    start: int


@dataclass(frozen=True, slots=True, eq=False)
class Targets:
    """Cells of all tables, and what is known about their counts.

    Attributes:
        scope: of the synthetic trajectories.
        parts: one for each statistic.
        counts: float64, shape (cells,), ≥ 0.
        variances: float64, shape (cells,), ≥ 1.
        trust: float64, shape (cells,); κ: how much the model is trusted beside the noisy count.
    """

    scope: Scope
    parts: Sequence[Target]
    counts: NDArray[np.float64]
    variances: NDArray[np.float64]
    trust: NDArray[np.float64]

    @classmethod
    def of(cls, known: Estimated, plan: MeasurementPlan) -> "Targets":
        """Collect them."""
        parts: list[Target] = []
        start = 0
        for line in plan.lines():
            for statistic in line.statistic.compared():
                if statistic in known.tables:
                    estimates = known[statistic]
                    parts.append(Target(statistic, line.cap, estimates, start))
                    start += estimates.value.size
        values, variances, trust = (
            np.concatenate([np.zeros(0), *(column.ravel() for column in columns)])
            for columns in (
                [part.estimates.value for part in parts],
                [part.estimates.variance for part in parts],
                [_trust(part) for part in parts],
            )
        )
        return cls(
            known.scope,
            parts,
            np.maximum(values, 0.0),
            np.maximum(variances, SMALLEST_VARIANCE),
            trust,
        )


def _trust(part: Target) -> NDArray[np.float64]:
    """κ of each cell: 1 over the variance of its true count by the model, in multiples of it.

    If people were drawn by the model, a cell of t of them would vary by t. The model is wrong, too,
    by MODEL_ERROR of the count: in all by t + (MODEL_ERROR·t)². So a small cell is rather what the
    model says, and a large one what was counted. Some tables are always rather what was counted.
    """
    counts = np.maximum(part.estimates.value, 0.0)
    if part.statistic in AS_COUNTED:
        return np.full_like(counts, TRUST_IN_MODEL)
    trust: NDArray[np.float64] = 1.0 / (1.0 + MODEL_ERROR**2 * counts)
    return np.maximum(trust, TRUST_IN_MODEL)


def find_cells(chunk: Paths, targets: Targets) -> tuple[NDArray[np.int32], NDArray[np.uint32]]:
    """All (row, cell) pairs of a chunk of trajectories, none of them empty."""
    rows = Rows(chunk.offsets, chunk.codes, targets.scope.named)
    turn = {statistic: turn for turn, statistic in enumerate(ADDED_FIRST)}
    parts = sorted(targets.parts, key=lambda part: turn.get(part.statistic, len(turn)))
    found = [
        (part.start, *part.statistic.listed(rows, targets.scope, part.cap, part.estimates.keys))
        for part in parts
    ]
    ends = np.cumsum([len(row) for _, row, _ in found])
    all_rows, all_cells = np.empty(ends[-1], np.int32), np.empty(ends[-1], np.uint32)
    for end, (start, row, cell) in zip(ends.tolist(), found, strict=True):
        all_rows[end - len(row) : end] = row
        np.add(cell, start, out=all_cells[end - len(row) : end], casting="unsafe")
    return all_rows, all_cells
