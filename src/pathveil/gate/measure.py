"""The measurements of the calibrated method: some statistics, one after another, under one budget.

Why all of it is ε-differentially private. Adding or removing a unit adds or removes at most c
trajectories. Each statistic caps what one trajectory adds to its table (its bound and why it holds
stand in its own file, `pathveil.statistics`; caps and shares are the plan's,
`statistics.measurement_plan`), so the unit changes the table by at most bound·c in L1, and noise
of parameter share·ε/(bound·c) on every cell, empty ones included, costs share·ε. The tables are
measured one after another; their budgets add up to ε (sequential composition).

Every stage but the first has a plan and a scope that were chosen from the noisy tables before it:
caps, shares and which tables there are; the candidate locations, the popular ones among them, the
questions of the validation, the nodes of the prefix tree that passed. Who chooses is given noisy
tables and nothing else. Given what was published, plan and scope are the same for two neighbouring
databases; dropping the cells of other locations only lowers what a trajectory adds; and
`MeasurementPlan.adapted` refuses a plan that touches what was spent or spends another total (there
is the argument). Nothing exact leaves `measure_stage`: the cells are found, counted and given their
noise there.

Who counts is an engine (`raw.engines`): in memory, out of core, on a cluster. A stage is one pass
over its trajectories. The cells of a trajectory are found by the same function everywhere
(`Stage.cells`), some whole trajectories at a time; the counts of a table are the sum over all of
them, so they are the same whatever the engine, and so is the argument above. They come in ascending
order, and noise is drawn table by table in the order of the plan, so that the same random words
give the same tables.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import islice
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from pathveil.gate.add_noise import dense_table, gathered, sparse_table
from pathveil.gate.grow_tree import Progress
from pathveil.gate.randomness import Randomness
from pathveil.gate.weighing import WeighedUnits
from pathveil.raw.engines.engine import Trajectories, table_counter
from pathveil.raw.engines.protocol import Cells, CellTables, TableCounter
from pathveil.statistics.all_statistics import STATISTICS, TIME_STATISTICS
from pathveil.statistics.constants import MOST_POPULAR
from pathveil.statistics.measurement_plan import Line, MeasurementPlan
from pathveil.statistics.measurements import Measurements
from pathveil.statistics.noisy_table import NoisyTable
from pathveil.statistics.prefix_tree import LEVELS, passed
from pathveil.statistics.statistic import HABITS, VISITED, Rows, Scope, Statistic
from pathveil.statistics.validation import Queries, public_queries
from pathveil.statistics.visits import VISITS
from pathveil.statistics.weighed_tables import in_trips
from pathveil.universe.taxonomy import Taxonomy

ChooseCandidates = Callable[[Measurements], NDArray[np.int64]]
"""Post-processing: from the noisy visits to sorted location codes."""
ChooseQueries = Callable[[Measurements], Queries]
"""Post-processing: from the noisy tables so far to the questions that validate answers."""
Adapt = Callable[[MeasurementPlan, Measurements], MeasurementPlan]
"""Post-processing: from a plan, and the noisy tables so far, to the plan to go on with."""


def as_planned(plan: MeasurementPlan, _seen: Measurements) -> MeasurementPlan:
    """Go on as it was planned at first."""
    return plan


def about_anything(seen: Measurements) -> Queries:
    """Questions that follow from how many candidates there are."""
    return public_queries(seen.scope.named)


def measure(
    database: Trajectories,
    plan: MeasurementPlan,
    choose_candidates: ChooseCandidates,
    randomness: Randomness,
    progress: Progress = lambda _done, _all: None,
    adapt: Adapt = as_planned,
    choose_queries: ChooseQueries = about_anything,
    *,
    follows: bool = False,
    taxonomy: Taxonomy | None = None,
) -> Measurements:
    """Measure everything that the calibrated method needs. Spends the plan's budget, all of it.

    ``follows``: an earlier release of the series says what to expect of small counts; public.
    ``taxonomy``: the zone of each location; public.
    """
    counter, spent, done = table_counter(database), list[Line](), 0
    scope = replace(_scope(database, taxonomy), follows=follows)
    seen = Measurements(scope, {}, plan)
    while lines := seen.plan.next_stage(spent):
        seen = measure_stage(counter, lines, seen, randomness)
        spent += lines
        if lines[0].statistic.stage == VISITED:
            seen = replace(seen, scope=_second_scope(seen, choose_candidates(seen)))
            counter = counter.among(seen.candidates)
        if lines[0].statistic.stage == HABITS:
            seen = replace(seen, scope=replace(seen.scope, queries=choose_queries(seen)))
        seen = replace(seen, plan=seen.plan.adapted(adapt(seen.plan, seen), spent))
        done += 1
        progress(done, max(done, len(list(seen.plan.stages()))))
    return seen


def compile_cells(*, is_timed: bool) -> None:
    """Find the cells of one made-up trajectory in every table there is: for a rehearsal.

    Made-up people lead to a plan of their own, which may leave out tables that the run will
    measure; what finds their cells would then be compiled when ε is charged already.
    """
    size, slots = 3, 2 if is_timed else 0
    codes = np.arange(size, dtype=np.int32)
    times = np.zeros(size, dtype=np.int32) if is_timed else None
    candidates = np.arange(size - 1)
    rows = Rows(np.array([0, size]), codes, size, times).among(candidates)
    scope = Scope(size, slots, candidates, candidates)
    for statistic in (*STATISTICS, *(TIME_STATISTICS if is_timed else ())):
        if statistic.is_open(scope):
            statistic.cells(rows, scope, 2)
    passed(candidates, candidates, candidates, candidates, size)


def measure_visits(
    database: Trajectories, plan: MeasurementPlan, randomness: Randomness
) -> Measurements:
    """The first two stages alone: what candidates are chosen from."""
    counter, seen = table_counter(database), Measurements(_scope(database), {}, plan)
    for lines in islice(plan.stages(), 2):
        seen = measure_stage(counter, lines, seen, randomness)
    return seen


def measure_stage(
    counter: TableCounter, lines: list[Line], seen: Measurements, randomness: Randomness
) -> Measurements:
    """Measure some tables, given what was published before. Spends their budgets."""
    scope = seen.scope
    lines = [line for line in lines if line.statistic.is_open(scope)]
    stage = Stage(tuple(lines), scope)
    found = {
        line.statistic: _noisy(line, exact, scope, randomness)
        for line, exact in zip(lines, counter.count_tables(stage), strict=True)
    }
    found, per_weight = in_trips(seen, lines, found)  # post-processing
    whole = {
        one: table
        for one, table in found.items()
        if table.threshold is None and table.cells > one.dense_up_to
    }
    found |= {one: table.above(_threshold(one, table, scope)) for one, table in whole.items()}
    levels = tuple(table for statistic, table in found.items() if statistic in LEVELS)
    return replace(
        seen,
        trips_per_weight=per_weight,
        scope=replace(scope, levels=scope.levels + levels),
        tables={**seen.tables, **found},
        whole={**seen.whole, **whole},
    )


def _scope(database: Trajectories, taxonomy: Taxonomy | None = None) -> Scope:
    """What the first tables look at. Without coordinates the zones are the map; both are public."""
    grid = database.time_grid
    universe = database.universe
    slots = 0 if grid is None else len(grid)
    points = universe.points
    if points is None and taxonomy is not None:
        points = taxonomy.points
    return Scope(len(universe), slots, points=points, lines=universe.lines, taxonomy=taxonomy)


def _second_scope(seen: Measurements, candidates: NDArray[np.int64]) -> Scope:
    """The candidates, and the most visited ones of them by noisy count."""
    first_visits = seen[VISITS].counts[candidates]
    popular = np.argsort(-first_visits, kind="stable")[:MOST_POPULAR]
    return replace(seen.scope, candidates=candidates, popular=popular)


@dataclass(frozen=True, eq=False)
class Stage(CellTables):
    """The tables of a stage, as engines count them. Public; sent to a cluster's workers.

    Attributes:
        lines: what is counted, with which caps.
        scope: what the tables look at.
    """

    lines: tuple[Line, ...]
    scope: Scope

    @property
    def sizes(self) -> list[int]:
        """The numbers of cells."""
        return [line.statistic.size(self.scope) for line in self.lines]

    @property
    def is_clipped(self) -> bool:
        """Whether units are weighed."""
        return any(line.clip is not None for line in self.lines)

    def cells(self, rows: Rows, table: int) -> NDArray[np.integer]:
        """Those of the statistic, under its cap."""
        line = self.lines[table]
        return line.statistic.cells(rows, self.scope, line.cap)

    def count(self, rows: Rows, table: int) -> Cells:
        """See `Tables`; in parts of trips, if units are weighed."""
        return self._weighed(rows).cells(table) if self.is_clipped else super().count(rows, table)

    def add(self, rows: Rows, table: int, sums: NDArray[np.int64], lock: Lock) -> None:
        """See `Tables`."""
        if not self.is_clipped:
            super().add(rows, table, sums, lock)
            return
        cells, counts = self._weighed(rows).cells(table)
        with lock:
            sums[cells] += counts  # each cell is there once

    def _weighed(self, rows: Rows) -> WeighedUnits:
        return rows.once(self, lambda: WeighedUnits.of(self.lines, rows, self.scope))


def _noisy(line: Line, exact: Iterable[Cells], scope: Scope, randomness: Randomness) -> NoisyTable:
    """Dense if the table is small, a fact about the scope only; else above a threshold.

    Of some tables all noisy counts are kept up to a larger size. What their threshold hides
    otherwise is then seen, with the noise that it has anyway: a sparse table has the law of a dense
    one of which what is below θ is left out (Theorem 4), so it costs the same; and how many cells
    there are, and whether an earlier release is followed, is public.
    """
    statistic, size = line.statistic, line.statistic.size(scope)
    learnt_up_to = statistic.learnt_up_to if scope.follows else 0
    if size <= max(statistic.dense_up_to, statistic.whole_up_to, learnt_up_to):
        return dense_table(gathered(exact, size), line.noise, randomness)
    theta = line.noise.threshold(size, statistic.invented(scope))
    return sparse_table(exact, size, line.noise, theta, randomness)


def _threshold(statistic: Statistic, table: NoisyTable, scope: Scope) -> int:
    return table.noise.threshold(table.cells, statistic.invented(scope))
