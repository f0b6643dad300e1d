"""What is run: the paper's grid of budgets, heights, sizes and methods, as a list of cells."""

from dataclasses import dataclass
from typing import Literal

from pathveil.core.methods import BASIC, CALIBRATED, FULL, Method, MethodName
from pathveil.errors import ParameterError
from pathveil.trials.evaluation.random_queries import PAPER_QUERIES

Panel = Literal["database", "universe"]

PAPER_METHODS = (BASIC, FULL)
# What can be asked for, and what is run: the calibrated method always beside Full.
CHOICES: dict[str, tuple[Method, ...]] = {
    BASIC.name: (BASIC,),
    FULL.name: (FULL,),
    "both": PAPER_METHODS,
    CALIBRATED.name: (FULL, CALIBRATED),
    "all": (*PAPER_METHODS, CALIBRATED),
}
BASE_EPSILON, BASE_HEIGHT, BASE_TOP = "1.0", 12, 200
# Fig. 6 has a "query length fixed to 6", which may also mean the subset of up to 6 locations.
FIXED_LENGTH, FIXED_SUBSET = 6, 1
RUNTIME_HEIGHT = 20
TOP = (50, 100, 150, 200, 250)
QUICK_QUERIES = 4_000


@dataclass(frozen=True, slots=True)
class AccuracyTrial:
    """One release whose accuracy is measured.

    Attributes:
        epsilon: the total budget, as the paper writes it.
        height: h.
        method: its name.
        run: from 1.
    """

    epsilon: str
    height: int
    method: MethodName
    run: int

    @property
    def mines(self) -> bool:
        """Whether a table of patterns needs it."""
        return self.epsilon == BASE_EPSILON or self.height == BASE_HEIGHT


@dataclass(frozen=True, slots=True)
class RuntimeTrial:
    """One release whose making is timed (Fig. 7).

    Attributes:
        panel: what is varied: the size of the database or of the universe.
        step: which of the panel's sizes, from 1.
        method: its name.
        run: from 1.
    """

    panel: Panel
    step: int
    method: MethodName
    run: int


@dataclass(frozen=True, slots=True)
class Plan:
    """The experiment.

    Attributes:
        epsilons: budgets of Fig. 5 and table IV, at h = 12.
        heights: heights of Fig. 6 and table V.
        height_epsilons: budgets of Fig. 6.
        database_steps: Fig. 7a times 1/n, 2/n … n/n of the trajectories.
        universe_steps: Fig. 7b likewise with the locations.
        methods: which of Basic, Full and calibrated.
        runs: how often each release is repeated with new noise.
        queries: random count queries, in four subsets together.
    """

    epsilons: tuple[str, ...]
    heights: tuple[int, ...]
    height_epsilons: tuple[str, ...]
    database_steps: int
    universe_steps: int
    methods: tuple[Method, ...]
    runs: int
    queries: int

    @classmethod
    def of(cls, *, method: str, runs: int, queries: int | None, quick: bool) -> "Plan":
        """The paper's grid, or a quick look at a few of its points.

        Raises:
            ParameterError: if the method or the number of runs can't be used.
        """
        if method not in CHOICES:
            raise ParameterError(f"The method must be one of {', '.join(CHOICES)}.")
        if not 1 <= runs <= 1000:  # noqa: PLR2004
            raise ParameterError("The number of runs must lie between 1 and 1,000.")
        methods = CHOICES[method]
        if quick:
            return cls(
                epsilons=("0.5", "1.0", "1.5"),
                heights=(6, 12, 20),
                height_epsilons=("1.0",),
                database_steps=2,
                universe_steps=2,
                methods=methods,
                runs=runs,
                queries=QUICK_QUERIES if queries is None else queries,
            )
        return cls(
            epsilons=("0.5", "0.75", "1.0", "1.25", "1.5"),
            heights=(6, 8, 10, 12, 14, 16, 18, 20),
            height_epsilons=("0.5", "0.75", "1.0", "1.25"),
            database_steps=6,
            universe_steps=5,
            methods=methods,
            runs=runs,
            queries=PAPER_QUERIES if queries is None else queries,
        )

    @property
    def paper_methods(self) -> tuple[Method, ...]:
        """Those about which the paper makes claims; Full comes last."""
        return tuple(method for method in self.methods if method in PAPER_METHODS)

    @property
    def compares_paper_methods(self) -> bool:
        """Whether Basic and Full can be compared."""
        return self.paper_methods == PAPER_METHODS

    def settings(self) -> list[tuple[str, int]]:
        """Every (ε, h) that is released, each once."""
        by_budget = [(epsilon, BASE_HEIGHT) for epsilon in self.epsilons]
        by_height = [(e, height) for e in self.height_epsilons for height in self.heights]
        return list(dict.fromkeys(by_budget + by_height))

    def accuracy_trials(self) -> list[AccuracyTrial]:
        """All releases, the first run of each before the second of any."""
        return [
            AccuracyTrial(epsilon, height, method.name, run)
            for run in range(1, self.runs + 1)
            for epsilon, height in self.settings()
            for method in self.methods
        ]

    def runtime_trials(self) -> list[RuntimeTrial]:
        """All timed releases."""
        panels: dict[Panel, int] = {
            "database": self.database_steps,
            "universe": self.universe_steps,
        }
        return [
            RuntimeTrial(panel, step, method.name, run)
            for run in range(1, self.runs + 1)
            for panel, steps in panels.items()
            for step in range(1, steps + 1)
            for method in self.methods
        ]
