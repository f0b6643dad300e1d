"""The measurements of the calibrated method: some statistics, one after another, under one budget.

Why all of it is ε-differentially private. Adding or removing a unit adds or removes at most c
trajectories. Each statistic caps what one trajectory adds to its table (its bound and why it holds
stand in its own file, `pathveil.statistics`; caps and shares are the plan's,
`statistics.measurement_plan`), so the unit changes the table by at most bound·c in L1, and noise
of parameter share·ε/(bound·c) on every cell, empty ones included, costs share·ε. The tables are
measured one after another; their budgets add up to ε (sequential composition).

Every stage but the first has a plan and a scope that were chosen from the noisy tables before it:
caps, shares and which tables there are; the candidate locations, the popular ones among them, the
nodes of the prefix tree that passed. Who chooses is given noisy tables and nothing else. Given what
was published, plan and scope are the same for two neighbouring databases; dropping the cells of
other locations only lowers what a trajectory adds; and `MeasurementPlan.adapted` refuses a plan
that touches what was spent or spends another total (there is the argument). Nothing exact leaves
`measure_stage`: the cells are found, counted and given their noise there.
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from pathveil.gate.add_noise import dense_table, sparse_table
from pathveil.gate.grow_tree import Progress
from pathveil.gate.randomness import Randomness
from pathveil.raw.database import TrajectoryDatabase
from pathveil.statistics.constants import MOST_POPULAR
from pathveil.statistics.measurement_plan import Line, MeasurementPlan
from pathveil.statistics.measurements import Measurements
from pathveil.statistics.noisy_table import NoisyTable
from pathveil.statistics.prefix_tree import LEVELS
from pathveil.statistics.statistic import VISITED, Rows, Scope, Statistic
from pathveil.statistics.visits import VISITS
from pathveil.threads import in_threads

COUNTED_AT_ONCE = 1 << 23  # cells that are counted in one array rather than by sorting

ChooseCandidates = Callable[[Measurements], NDArray[np.int64]]
"""Post-processing: from the noisy visits to sorted location codes."""
Adapt = Callable[[MeasurementPlan, Measurements], MeasurementPlan]
"""Post-processing: from a plan, and the noisy tables so far, to the plan to go on with."""


def as_planned(plan: MeasurementPlan, _seen: Measurements) -> MeasurementPlan:
    """Go on as it was planned at first."""
    return plan


def measure(
    database: TrajectoryDatabase,
    plan: MeasurementPlan,
    choose_candidates: ChooseCandidates,
    randomness: Randomness,
    progress: Progress = lambda _done, _all: None,
    adapt: Adapt = as_planned,
) -> Measurements:
    """Measure everything that the calibrated method needs. Spends the plan's budget, all of it."""
    rows, spent, done = _rows(database), list[Line](), 0
    seen = Measurements(_scope(database), {}, plan)
    while lines := seen.plan.next_stage(spent):
        seen = measure_stage(rows, lines, seen, randomness)
        spent += lines
        if lines[0].statistic.stage == VISITED:
            seen = replace(seen, scope=_second_scope(seen, choose_candidates(seen)))
            rows = rows.among(seen.candidates)
        seen = replace(seen, plan=seen.plan.adapted(adapt(seen.plan, seen), spent))
        done += 1
        progress(done, max(done, len(list(seen.plan.stages()))))
    return seen


def measure_visits(
    database: TrajectoryDatabase, plan: MeasurementPlan, randomness: Randomness
) -> Measurements:
    """The first two stages alone: what candidates are chosen from."""
    seen = Measurements(_scope(database), {}, plan)
    for lines in islice(plan.stages(), 2):
        seen = measure_stage(_rows(database), lines, seen, randomness)
    return seen


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
    return replace(
        seen,
        scope=replace(scope, levels=scope.levels + levels),
        tables={**seen.tables, **found},
    )


def _rows(database: TrajectoryDatabase) -> Rows:
    size = len(database.universe)
    if database.time_grid is None:
        return Rows(database.offsets, database.codes, size)
    slots, codes = np.divmod(database.codes, np.int32(size))
    return Rows(database.offsets, codes, size, slots)


def _scope(database: TrajectoryDatabase) -> Scope:
    grid = database.time_grid
    universe = database.universe
    return Scope(len(universe), 0 if grid is None else len(grid), points=universe.points)


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
        return dense_table(exact[1], line.noise, randomness)
    theta = line.noise.threshold(size, statistic.invented(scope))
    return sparse_table([exact], size, line.noise, theta, randomness)


def _is_dense(statistic: Statistic, size: int) -> bool:
    return size <= statistic.dense_up_to
