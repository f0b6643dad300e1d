"""The raw data's answers, computed once and sent to every worker."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pathveil.analysis.patterns import Pattern
from pathveil.errors import InputError
from pathveil.evaluation.query_error import average_relative_error
from pathveil.evaluation.random_queries import (
    SUBSETS,
    Queries,
    fixed_length_queries,
    paper_queries,
)
from pathveil.evaluation.reproduction.plan import BASE_HEIGHT, FIXED_LENGTH, TOP
from pathveil.evaluation.side import Side
from pathveil.model.paths import WeightedPaths


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

    def error(self, released: Side) -> float:
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
        side = Side(raw)
        if not side.size:
            raise InputError("The raw data holds no trajectory: there is nothing to reproduce.")
        size = len(raw.universe)

        def workload(asked: Queries) -> Workload:
            return Workload(asked, side.answers(asked), side.size)

        subsets = paper_queries(size, BASE_HEIGHT, queries=queries, seed=seed)
        fixed = fixed_length_queries(size, FIXED_LENGTH, queries=-(-queries // SUBSETS), seed=seed)
        return cls(tuple(map(workload, subsets)), workload(fixed), side.patterns(max(TOP)))
