"""Run one cell: make a release, measure it, forget it.

The noise is seeded, so that the same command prints the same figures: such a release protects
nobody (it is stamped NOT PRIVATE) and is never written. The timed releases draw from the secure
generator, as real ones do.
"""

from dataclasses import dataclass
from time import process_time

import numpy as np

from pathveil.evaluation.pattern_match import match_patterns
from pathveil.evaluation.reproduction.plan import (
    BASE_EPSILON,
    RUNTIME_HEIGHT,
    TOP,
    AccuracyCell,
    RuntimeCell,
)
from pathveil.evaluation.reproduction.samples import draw_test_set
from pathveil.evaluation.reproduction.truth import Truth
from pathveil.evaluation.side import Side
from pathveil.model.methods import Method, MethodName
from pathveil.publishing import publish
from pathveil.raw.database import TrajectoryDatabase

TIMINGS = 3


@dataclass(frozen=True, slots=True)
class AccuracyResult:
    """The figures of one release.

    Attributes:
        subset_errors: average relative error in the four subsets of Fig. 5.
        fixed_error: average relative error of queries of exactly 6 locations (Fig. 6).
        true_positives: for each k of `TOP`, if mined.
        false_positives: likewise.
        false_drops: likewise.
    """

    subset_errors: tuple[float, ...]
    fixed_error: float
    true_positives: tuple[int, ...]
    false_positives: tuple[int, ...]
    false_drops: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RuntimeResult:
    """One timed release.

    Attributes:
        trajectories: |D| of the test set.
        locations: |L| of the test set.
        seconds: CPU time from the database in memory to the release in memory, the best of
            `TIMINGS`.
    """

    trajectories: int
    locations: int
    seconds: float


@dataclass(frozen=True, slots=True, repr=False)
class Bench:
    """What a worker holds: the data, its answers and the settings that all cells share.

    Attributes:
        database: the raw trajectories.
        truth: their answers.
        threshold: "auto", "paper" or a number.
        max_nodes: the largest tree.
        seed: of queries, noise and samples.
        database_steps: how many sizes of the database are timed.
        universe_steps: how many sizes of the universe are timed.
    """

    database: TrajectoryDatabase
    truth: Truth
    threshold: str
    max_nodes: int
    seed: int
    database_steps: int
    universe_steps: int

    def accuracy(self, cell: AccuracyCell) -> AccuracyResult:
        """Release with fresh noise and measure."""
        noise = np.random.default_rng(
            [self.seed, *cell.epsilon.encode(), cell.height, *cell.method.encode(), cell.run]
        )
        release = publish(
            self.database,
            epsilon=cell.epsilon,
            height=cell.height,
            method=cell.method,
            threshold=self._threshold(cell.method),
            max_nodes=self.max_nodes,
            generator=noise,
        )
        side = Side(release)
        matches = [
            match_patterns(self.truth.patterns[:k], side.patterns(max(TOP))[:k])
            for k in (TOP if cell.mines else ())
        ]
        return AccuracyResult(
            tuple(workload.error(side) for workload in self.truth.subsets),
            self.truth.fixed.error(side),
            tuple(match.true_positives for match in matches),
            tuple(match.false_positives for match in matches),
            tuple(match.false_drops for match in matches),
        )

    def runtime(self, cell: RuntimeCell) -> RuntimeResult:
        """Time one release of a test set (Fig. 7: ε = 1.0, h = 20)."""
        steps = self.database_steps if cell.panel == "database" else self.universe_steps
        sample = draw_test_set(self.database, cell.panel, cell.step, steps, [self.seed, cell.run])
        self._publish(sample, cell.method)  # compiles, and warms the caches
        # The best of a few, because whatever else the machine does can only add time.
        seconds = min(self._publish(sample, cell.method) for _ in range(TIMINGS))
        return RuntimeResult(len(sample), len(sample.universe), seconds)

    def _threshold(self, method: MethodName) -> str:
        """The calibrated method chooses its own."""
        return "auto" if Method.named(method).has_tables else self.threshold

    def _publish(self, database: TrajectoryDatabase, method: MethodName) -> float:
        """Release once; the seconds of CPU time it took."""
        start = process_time()
        publish(
            database,
            epsilon=BASE_EPSILON,
            height=RUNTIME_HEIGHT,
            method=method,
            threshold=self._threshold(method),
            max_nodes=self.max_nodes,
        )
        return process_time() - start
