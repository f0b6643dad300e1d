"""The noisy measurements of the calibrated method: all that its synthesis ever sees."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class NoisyTable:
    """Noisy counts of the cells of one statistic.

    Attributes:
        keys: int64, sorted; which cells are listed. All of them if ``threshold`` is None, else
            those whose noisy count reached it.
        counts: int64; their noisy counts.
        cells: how many cells there are, listed or not.
        epsilon: the noise parameter: P[noise = x] ∝ e^(−epsilon·|x|).
        threshold: θ, or None if every cell is listed.
    """

    keys: NDArray[np.int64]
    counts: NDArray[np.int64]
    cells: int
    epsilon: Fraction
    threshold: int | None = None

    @property
    def scale(self) -> float:
        """1/epsilon: the noise is about this large."""
        return float(1 / self.epsilon)


@dataclass(frozen=True, slots=True, eq=False)
class Popularity:
    """The first measurements: how many, what shape, where they end, where they go.

    Attributes:
        universe_size: |L|.
        total: one cell, the number of trajectories that are not empty.
        shapes: see `statistics.shapes`.
        last_locations: |L| cells.
        visits: `MULTIPLICITIES`·|L| cells, see `statistics.visits`.
    """

    universe_size: int
    total: NoisyTable
    shapes: NoisyTable
    last_locations: NoisyTable
    visits: NoisyTable


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
class TimeTables:
    """When visits happen; see `statistics.slots`. T slots.

    Attributes:
        first_slots, pauses, slots: T cells each.
        visit_slots: n·T cells over n candidates.
    """

    first_slots: NoisyTable
    pauses: NoisyTable
    slots: NoisyTable
    visit_slots: NoisyTable


@dataclass(frozen=True, slots=True, eq=False)
class Measurements:
    """All of them.

    Attributes:
        popularity: the first stage.
        candidates: int64, sorted location codes that the second stage looks at; chosen from the
            first stage, so noisy.
        actions: see `statistics.actions`; cells in C order of its shape.
        moves: cells i·n + j over candidates i, j (n of them); see `statistics.first_visits`.
        pairs: cells i·n + j over candidates; only i < j can be occupied.
        popular: int64; positions among the candidates of the most visited ones, as far as the
            first stage can tell; most visited first.
        visited_sets: cells are sets of popular locations, see `statistics.visited_sets`.
        reach: see `statistics.reach`.
        tree: the levels of the prefix tree.
        times: when visits happen; None without a time grid.
    """

    popularity: Popularity
    candidates: NDArray[np.int64]
    actions: NoisyTable
    moves: NoisyTable
    pairs: NoisyTable
    popular: NDArray[np.int64]
    visited_sets: NoisyTable
    reach: NoisyTable
    tree: tuple[TreeLevel, ...]
    times: TimeTables | None = None
