"""How accurate answers are: by size of the question, by size of the count, and of top patterns."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pathveil.trials.evaluation.compared import Figures
from pathveil.trials.evaluation.random_queries import (
    Queries,
    fixed_length_queries,
    queries_from_trajectories,
)
from pathveil.trials.evaluation.scores import average_relative_error

QUESTIONS = 20_000
LONGEST_QUESTION = 6
TOP = (10, 20, 50, 100)
SEED = 0


@dataclass(frozen=True, slots=True)
class QuestionError:
    """The average relative error of questions "how many visited all of these?" of one size.

    The paper's measure: the sanity bound is 0.1% of |D|. "Empty" is who publishes nothing.

    Attributes:
        locations: how many locations the question names.
        journeys: the error if some trajectory visits all of them; None if none is that long.
        journeys_empty: the same of an empty release.
        random: the error if they are drawn uniformly from the universe.
        random_empty: the same of an empty release.
    """

    locations: int
    journeys: float | None
    journeys_empty: float | None
    random: float
    random_empty: float


@dataclass(frozen=True, slots=True)
class CountError:
    """The error of answers whose true count lies in a range.

    Attributes:
        least, below: the range, ``least <= count < below``.
        questions: how many were asked.
        absolute: the median error, in trajectories.
        relative: the median error as a share of the count.
        relative_90: nine in ten answers have a smaller relative error.
    """

    least: int
    below: int
    questions: int
    absolute: float
    relative: float
    relative_90: float


@dataclass(frozen=True, slots=True)
class PatternHits:
    """How many of the top k sequential patterns are among the release's top k.

    Attributes:
        k: how many were asked for, or as many as there are.
        found: how many are right.
    """

    k: int
    found: int


class Asked:
    """Questions about one dataset, with their true answers; asked of every release of it."""

    def __init__(self, truth: Figures, *, questions: int = QUESTIONS, seed: int = SEED) -> None:
        self._truth = truth
        paths = truth.paths
        self._journeys = queries_from_trajectories(
            paths, longest=LONGEST_QUESTION, queries=questions, seed=seed
        )
        self._random = [
            fixed_length_queries(len(paths.universe), length, queries=questions // 4, seed=seed)
            for length in range(1, LONGEST_QUESTION + 1)
        ]
        self._answers = truth.answers(self._journeys)

    def by_locations(self, released: Figures) -> Iterator[QuestionError]:
        """The error by size of the question."""
        sizes = np.diff(self._journeys.offsets)
        answers = released.answers(self._journeys)
        for queries in self._random:
            of_size = sizes == queries.longest
            has_any = bool(of_size.any())
            yield QuestionError(
                queries.longest,
                self._error(answers, of_size) if has_any else None,
                self._error(np.zeros_like(answers), of_size) if has_any else None,
                *self._random_errors(queries, released),
            )

    def _error(self, answers: NDArray[np.int64], chosen: NDArray[np.bool_]) -> float:
        return average_relative_error(self._answers[chosen], answers[chosen], self._truth.size)

    def _random_errors(self, queries: Queries, released: Figures) -> tuple[float, float]:
        truth, size = self._truth.answers(queries), self._truth.size
        return (
            average_relative_error(truth, released.answers(queries), size),
            average_relative_error(truth, np.zeros_like(truth), size),
        )

    def by_count(self, released: Figures) -> Iterator[CountError]:
        """The error by size of the true count, a power of ten at a time."""
        errors = np.abs(released.answers(self._journeys) - self._answers)
        least = 1
        while least <= int(self._answers.max()):
            within = (self._answers >= least) & (self._answers < 10 * least)
            if within.any():
                relative = errors[within] / self._answers[within]
                yield CountError(
                    least,
                    10 * least,
                    int(within.sum()),
                    float(np.quantile(errors[within], 0.5)),
                    float(np.quantile(relative, 0.5)),
                    float(np.quantile(relative, 0.9)),
                )
            least *= 10

    def top_patterns(self, released: Figures) -> Iterator[PatternHits]:
        """The right ones among the top k."""
        right, ours = (figures.patterns(TOP[-1]) for figures in (self._truth, released))
        for k in TOP:
            known = {pattern.locations for pattern in right[:k]}
            found = sum(pattern.locations in known for pattern in ours[:k])
            if known:
                yield PatternHits(len(known), found)
