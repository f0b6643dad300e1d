"""The noisy measurements of the calibrated method: all that its synthesis ever sees."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from pathveil.statistics.measurement_plan import MeasurementPlan
from pathveil.statistics.noisy_table import NoisyTable
from pathveil.statistics.prefix_tree import LEVELS
from pathveil.statistics.statistic import Scope, Statistic


@dataclass(frozen=True, slots=True, eq=False)
class TreeLevel:
    """A level of the prefix tree over the candidates, with an END child.

    Attributes:
        parent: int64; position of the parent among all nodes of the level above (0: the root).
        label: int64; position among the candidates, or ``len(candidates)`` for END.
        table: its noisy counts; the keys are (expanded node, label) pairs.
    """

    parent: NDArray[np.int64]
    label: NDArray[np.int64]
    table: NoisyTable


@dataclass(frozen=True, slots=True, eq=False)
class Measurements:
    """All of them, or those of the stages that are over.

    Attributes:
        scope: what they look at: the universe, and what was chosen from the first stage.
        tables: the noisy table of each statistic that was measured.
        plan: by which they were measured; what follows may still be planned anew.
        trips_per_weight: how many trips stand for each whole one that was counted in the last
            tables that were clipped (`weighed_tables`); noisy.
        whole: of some tables that list what reaches a threshold, all noisy counts (`gate.measure`).
    """

    scope: Scope
    tables: Mapping[Statistic, NoisyTable]
    plan: MeasurementPlan
    trips_per_weight: Fraction = Fraction(1)
    whole: Mapping[Statistic, NoisyTable] = field(default_factory=dict)

    def __getitem__(self, statistic: Statistic) -> NoisyTable:
        return self.tables[statistic]

    def __contains__(self, statistic: Statistic) -> bool:
        return statistic in self.tables

    @property
    def universe_size(self) -> int:
        """|L|."""
        return self.scope.universe_size

    @property
    def candidates(self) -> NDArray[np.int64]:
        """int64, sorted location codes that the second stage looks at; noisy."""
        return self.scope.candidates

    @property
    def tree(self) -> tuple[TreeLevel, ...]:
        """The levels of the prefix tree that were measured."""
        levels: list[TreeLevel] = []
        going_on = np.zeros(1, dtype=np.int64)
        for statistic in LEVELS:
            if statistic not in self.tables:
                break
            table = self.tables[statistic]
            node, label = np.divmod(table.keys, self.scope.named + 1)
            levels.append(TreeLevel(going_on[node], label, table))
            going_on = np.flatnonzero(label != self.scope.named)
        return tuple(levels)
