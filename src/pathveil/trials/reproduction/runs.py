"""Run one cell of the reproduction: the raw data's answers, a release, and what it is worth."""

from dataclasses import dataclass
from time import process_time

import numpy as np
from numpy.typing import NDArray

from pathveil.analysis.patterns import Pattern
from pathveil.core.methods import Method, MethodName
from pathveil.core.paths import WeightedPaths
from pathveil.errors import InputError
from pathveil.publishing import publish
from pathveil.raw.database import TrajectoryDatabase
from pathveil.trials.evaluation.compared import Figures
from pathveil.trials.evaluation.random_queries import (
    SUBSETS,
    Queries,
    fixed_length_queries,
    paper_queries,
)
from pathveil.trials.evaluation.scores import average_relative_error, match_patterns
from pathveil.trials.reproduction.plan import (
    BASE_EPSILON,
    BASE_HEIGHT,
    FIXED_LENGTH,
    RUNTIME_HEIGHT,
    TOP,
    AccuracyTrial,
    RuntimeTrial,
)
from pathveil.trials.reproduction.samples import draw_test_set

TIMINGS = 3


# The raw data's answers, computed once and sent to every worker.


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Workload:
    """Queries and their true answers.

    Attributes:
        queries: the queries.
        answers: Q(D), int64, shape (len(queries),).
        database_size: |D|.
    """

    queries: Queries
    answers: NDArray[np.int64]
    database_size: int

    def error(self, released: Figures) -> float:
        """The average relative error of a release."""
        return average_relative_error(
            self.answers, released.answers(self.queries), self.database_size
        )

    def empty_error(self) -> float:
        """The same of the empty release."""
        return average_relative_error(self.answers, np.zeros_like(self.answers), self.database_size)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Truth:
    """What the raw data says. Private.

    Attributes:
        subsets: the four query subsets of Fig. 5, drawn for h = 12 and asked of every release.
        fixed: the queries of exactly 6 locations of Fig. 6.
        patterns: the top 250 patterns.
    """

    subsets: tuple[Workload, ...]
    fixed: Workload
    patterns: list[Pattern]

    @classmethod
    def of(cls, raw: WeightedPaths, *, queries: int, seed: int) -> "Truth":
        """Ask the raw data once.

        Raises:
            InputError: if it is empty.
        """
        figures = Figures(raw)
        if not figures.size:
            raise InputError("The raw data holds no trajectory: there is nothing to reproduce.")
        size = len(raw.universe)

        def workload(asked: Queries) -> Workload:
            return Workload(asked, figures.answers(asked), figures.size)

        subsets = paper_queries(size, BASE_HEIGHT, queries=queries, seed=seed)
        fixed = fixed_length_queries(size, FIXED_LENGTH, queries=-(-queries // SUBSETS), seed=seed)
        return cls(tuple(map(workload, subsets)), workload(fixed), figures.patterns(max(TOP)))


# Run one cell: make a release, measure it, forget it.
#
# The noise is seeded, so that the same command prints the same figures: such a release protects
# nobody (it is stamped NOT PRIVATE) and is never written. The timed releases draw from the secure
# generator, as real ones do.


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

    def accuracy(self, trial: AccuracyTrial) -> AccuracyResult:
        """Release with fresh noise and measure."""
        noise = np.random.default_rng(
            [self.seed, *trial.epsilon.encode(), trial.height, *trial.method.encode(), trial.run]
        )
        release = publish(
            self.database,
            epsilon=trial.epsilon,
            height=trial.height,
            method=trial.method,
            threshold=self._threshold(trial.method),
            max_nodes=self.max_nodes,
            generator=noise,
        )
        figures = Figures(release)
        matches = [
            match_patterns(self.truth.patterns[:k], figures.patterns(max(TOP))[:k])
            for k in (TOP if trial.mines else ())
        ]
        return AccuracyResult(
            tuple(workload.error(figures) for workload in self.truth.subsets),
            self.truth.fixed.error(figures),
            tuple(match.true_positives for match in matches),
            tuple(match.false_positives for match in matches),
            tuple(match.false_drops for match in matches),
        )

    def runtime(self, trial: RuntimeTrial) -> RuntimeResult:
        """Time one release of a test set (Fig. 7: ε = 1.0, h = 20)."""
        steps = self.database_steps if trial.panel == "database" else self.universe_steps
        sample = draw_test_set(
            self.database, trial.panel, trial.step, steps, [self.seed, trial.run]
        )
        self._publish(sample, trial.method)  # compiles, and warms the caches
        # The best of a few, because whatever else the machine does can only add time.
        seconds = min(self._publish(sample, trial.method) for _ in range(TIMINGS))
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
