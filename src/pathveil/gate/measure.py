"""The measurements of the calibrated method: some statistics, one after another, under one budget.

Why all of it is ε-differentially private. Adding or removing a unit adds or removes at most c
trajectories. Each statistic caps what one trajectory adds to its table (its bound and why it holds
stand in its own file, `pathveil.statistics`; caps and shares are public,
`statistics.measurement_plan`), so the unit changes the table by at most bound·c in L1, and noise
of parameter share·ε/(bound·c) on every cell, empty ones included, costs share·ε. The tables are
measured one after another; their budgets add up to ε (sequential composition).

Every stage but the first looks at a scope that was chosen from the noisy tables before it: the
candidate locations, the popular ones among them, the nodes of the prefix tree that passed. Given
what was published, the scope is the same for two neighbouring databases, and dropping the cells of
other locations only lowers what a trajectory adds. Nothing exact leaves `measure_stage`: the cells
are found, counted and given their noise there.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pathveil.core.thresholds import smallest_threshold
from pathveil.gate.add_noise import dense_table, sparse_table
from pathveil.gate.grow_tree import Progress
from pathveil.gate.randomness import Randomness
from pathveil.raw.database import TrajectoryDatabase
from pathveil.statistics.constants import MOST_POPULAR
from pathveil.statistics.measurement_plan import Line, MeasurementPlan
from pathveil.statistics.measurements import Measurements
from pathveil.statistics.noisy_table import NoisyTable
from pathveil.statistics.prefix_tree import LEVELS
from pathveil.statistics.statistic import POPULARITY, Rows, Scope, Statistic
from pathveil.statistics.visits import VISITS
from pathveil.threads import in_threads

COUNTED_AT_ONCE = 1 << 23  # cells that are counted in one array rather than by sorting

ChooseCandidates = Callable[[Measurements], NDArray[np.int64]]
"""Post-processing: from the noisy first stage to sorted location codes."""


def measure(
    database: TrajectoryDatabase,
    plan: MeasurementPlan,
    choose_candidates: ChooseCandidates,
    randomness: Randomness,
    progress: Progress = lambda _done, _all: None,
) -> Measurements:
    """Measure everything that the calibrated method needs. Spends the plan's budget, all of it."""
    rows, stages = _rows(database), list(plan.stages())
    seen = Measurements(_scope(database), {})
    for done, lines in enumerate(stages, start=1):
        seen = measure_stage(rows, lines, seen, randomness)
        if lines[0].statistic.stage == POPULARITY:
            seen = replace(seen, scope=_second_scope(seen, choose_candidates(seen)))
            rows = rows.among(seen.candidates)
        progress(done, len(stages))
    return seen


def measure_popularity(
    database: TrajectoryDatabase, plan: MeasurementPlan, randomness: Randomness
) -> Measurements:
    """The first stage alone: what candidates are chosen from."""
    lines = next(plan.stages())
    return measure_stage(_rows(database), lines, Measurements(_scope(database), {}), randomness)


def measure_stage(
    rows: Rows, lines: list[Line], seen: Measurements, randomness: Randomness
) -> Measurements:
    """Measure some tables, given what was published before. Spends their budgets."""
    scope = seen.scope
    lines = [line for line in lines if line.statistic.is_open(scope)]
    # What is counted is found in threads; the noise is drawn in one order afterwards.
    counted = in_threads(lambda line: _count(line, rows, scope), lines)
    found = {
        line.statistic: _noisy(line, exact, scope, randomness)
        for line, exact in zip(lines, counted, strict=True)
    }
    levels = tuple(table for statistic, table in found.items() if statistic in LEVELS)
    return Measurements(replace(scope, levels=scope.levels + levels), {**seen.tables, **found})


def _rows(database: TrajectoryDatabase) -> Rows:
    size = len(database.universe)
    if database.time_grid is None:
        return Rows(database.offsets, database.codes, size)
    slots, codes = np.divmod(database.codes, np.int32(size))
    return Rows(database.offsets, codes, size, slots)


def _scope(database: TrajectoryDatabase) -> Scope:
    grid = database.time_grid
    return Scope(len(database.universe), 0 if grid is None else len(grid))


def _second_scope(seen: Measurements, candidates: NDArray[np.int64]) -> Scope:
    """The candidates, and the most visited ones of them by noisy count."""
    first_visits = seen[VISITS].counts[candidates]
    popular = np.argsort(-first_visits, kind="stable")[:MOST_POPULAR]
    return replace(seen.scope, candidates=candidates, popular=popular)


Exact = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Occupied cells, ascending, and how often each occurs."""


def _count(line: Line, rows: Rows, scope: Scope) -> Exact:
    """The exact counts of a table: private."""
    size = line.statistic.size(scope)
    cells = line.statistic.cells(rows, scope, line.cap)
    if size > max(COUNTED_AT_ONCE, line.statistic.dense_up_to):
        return np.unique(cells, return_counts=True)
    counts = np.bincount(cells, minlength=size)
    if _is_dense(line.statistic, size):
        return np.arange(size), counts
    occupied = np.flatnonzero(counts)
    return occupied, counts[occupied]


def _noisy(line: Line, exact: Exact, scope: Scope, randomness: Randomness) -> NoisyTable:
    """Dense if the table is small, a fact about the scope only; else above a threshold."""
    statistic, size = line.statistic, line.statistic.size(scope)
    if _is_dense(statistic, size):
        return dense_table(exact[1], line.epsilon, randomness)
    theta = smallest_threshold(line.epsilon, size, statistic.invented(scope))
    return sparse_table([exact], size, line.epsilon, theta, randomness)


def _is_dense(statistic: Statistic, size: int) -> bool:
    return size <= statistic.dense_up_to
