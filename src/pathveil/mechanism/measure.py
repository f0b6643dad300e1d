"""The measurements of the calibrated method: ten statistics (fourteen with times), one budget.

Why all of it is ε-differentially private. Adding or removing a unit adds or removes at most c
trajectories. Each statistic below caps what one trajectory adds to its table (the caps and shares
are public: `model.measurement_plan`), so the unit changes the table by at most cap·c in L1, and
noise of parameter share·ε/(cap·c) on every cell, empty ones included, costs share·ε. The tables
are measured one after another; their budgets add up to ε (sequential composition).

The second stage looks only at candidate locations, and at the popular ones among them, which were
chosen from the noisy first stage: given what the first stage published, they are the same for two
neighbouring databases. Dropping the cells of other locations only lowers what a trajectory adds.

| statistic | a trajectory adds at most | because |
|---|---|---|
| total | 1 | it is one trajectory |
| shapes | 1 | it has one shape |
| last locations | 1 | it ends once |
| visits | h | counting stops after h cells |
| actions | h | counting stops after h steps |
| moves | d − 1 | one for each of its first d distinct locations but the first |
| pairs | d(d − 1)/2 | one for each pair of its first d distinct locations |
| visited sets | 1 | it has one set of popular locations that it visits |
| reach | 1 | it visits one number of candidates, and of popular ones |
| prefix tree, each level | 1 | it has one prefix of each length, or has ended |
| first slots | 1 | it begins once |
| pauses | h − 1 | one for each of its first h visits but the first |
| slots | h | one for each of its first h visits |
| visit slots | h | one for each of its first h visits |
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pathveil.mechanism.grow_tree import Progress
from pathveil.mechanism.noisy_table import dense_table, sparse_table
from pathveil.mechanism.randomness import Randomness
from pathveil.model.measurement_plan import MOST_POPULAR, Measurement, MeasurementPlan
from pathveil.model.measurements import (
    Measurements,
    NoisyTable,
    Popularity,
    TimeTables,
    TreeLevel,
)
from pathveil.model.thresholds import smallest_threshold
from pathveil.raw.candidate_prefixes import candidate_prefixes
from pathveil.raw.counting.memory import MemoryCounter
from pathveil.raw.counting.protocol import ExactCounts, Survivors
from pathveil.raw.database import TrajectoryDatabase
from pathveil.raw.threads import in_threads
from pathveil.statistics.actions import action_counts
from pathveil.statistics.first_visits import first_visits, move_cells, pair_cells
from pathveil.statistics.reach import REACHES, reach_cells
from pathveil.statistics.shapes import SHAPES, shape_cells
from pathveil.statistics.slots import first_values, pauses, visit_slots
from pathveil.statistics.visited_sets import bits_of, visited_sets
from pathveil.statistics.visits import MULTIPLICITIES, visit_cells

COUNTED_AT_ONCE = 1 << 23  # cells that are counted in one array rather than by sorting
DENSE_CELLS = 4096  # a table of candidate pairs up to this size is measured cell by cell
INVENTED_MOVES = Fraction(3, 10)  # per candidate, at most
INVENTED_PAIRS = Fraction(20)  # in all
INVENTED_SETS = Fraction(20)  # in all
INVENTED_SLOTS = Fraction(20)  # in all, of a table of slots
INVENTED_CHILDREN = Fraction(1, 10)  # per node of the tree

ChooseCandidates = Callable[[Popularity], NDArray[np.int64]]
"""Post-processing: from the noisy first stage to sorted location codes."""


def measure(
    database: TrajectoryDatabase,
    plan: MeasurementPlan,
    choose_candidates: ChooseCandidates,
    randomness: Randomness,
    progress: Progress = lambda _done, _all: None,
) -> Measurements:
    """Measure everything that the calibrated method needs. Spends the plan's budget, all of it."""
    timed, database = database, database.without_times()
    popularity = measure_popularity(database, plan, randomness)
    progress(1, 3)
    candidates = choose_candidates(popularity)
    actions, moves, pairs = _measure_habits(database, plan, candidates, randomness)
    popular = _popular(popularity, candidates)
    sets, reach = _measure_whole(database, plan, candidates, popular, randomness)
    progress(2, 3)
    tree = _measure_tree(database, plan, candidates, randomness)
    times = _measure_times(timed, plan, candidates, randomness)
    progress(3, 3)
    return Measurements(
        popularity, candidates, actions, moves, pairs, popular, sets, reach, tree, times
    )


def measure_popularity(
    database: TrajectoryDatabase, plan: MeasurementPlan, randomness: Randomness
) -> Popularity:
    """The first stage: total, shapes, last locations, visits."""
    offsets, codes, size = database.offsets, database.codes, len(database.universe)
    some = np.diff(offsets) > 0
    # What is counted is found in threads; the noise is drawn in one order afterwards.
    shapes, (_, visits) = _together(
        lambda: shape_cells(offsets, codes, size)[some],
        lambda: visit_cells(offsets, codes, size, plan.visits_cap),
    )
    last = codes[offsets[1:][some] - 1]
    total = np.array([np.count_nonzero(some)])
    return Popularity(
        universe_size=size,
        total=dense_table(total, plan.total.epsilon, randomness),
        shapes=_dense(shapes, SHAPES, plan.shapes, randomness),
        last_locations=_dense(last, size, plan.last_locations, randomness),
        visits=_dense(visits, MULTIPLICITIES * size, plan.visits, randomness),
    )


def _measure_habits(
    database: TrajectoryDatabase,
    plan: MeasurementPlan,
    candidates: NDArray[np.int64],
    randomness: Randomness,
) -> tuple[NoisyTable, NoisyTable, NoisyTable]:
    """Actions, moves and pairs."""
    offsets, codes, size = database.offsets, database.codes, len(database.universe)
    actions, firsts = _together(
        lambda: action_counts(offsets, codes, size, plan.steps),
        lambda: first_visits(offsets, codes, size, plan.most_distinct),
    )
    # As positions among the candidates; the others become unnamed places, which have no cells.
    visited, reached_from = (_positions(candidates, size)[places] for places in firsts)
    count = len(candidates)
    moves = move_cells(visited, reached_from, count)
    _, pairs = pair_cells(visited, count)
    return (
        dense_table(actions.ravel(), plan.actions.epsilon, randomness),
        _table(moves, count * count, plan.moves, INVENTED_MOVES * count, randomness),
        _table(pairs, count * count, plan.pairs, INVENTED_PAIRS, randomness),
    )


def _popular(popularity: Popularity, candidates: NDArray[np.int64]) -> NDArray[np.int64]:
    """The most visited candidates, by noisy count: positions."""
    first_visits = popularity.visits.counts[candidates]
    return np.argsort(-first_visits, kind="stable")[:MOST_POPULAR]


def _measure_whole(
    database: TrajectoryDatabase,
    plan: MeasurementPlan,
    candidates: NDArray[np.int64],
    popular: NDArray[np.int64],
    randomness: Randomness,
) -> tuple[NoisyTable, NoisyTable]:
    """Visited sets and reach: two statistics that look at whole trajectories."""
    offsets = database.offsets
    places = _positions(candidates, len(database.universe))[database.codes]
    bit = bits_of(popular, len(candidates) + 1)
    some = np.diff(offsets) > 0
    sets, reach = _together(
        lambda: visited_sets(offsets, places, bit)[some],
        lambda: reach_cells(offsets, places, bit)[some],
    )
    return (
        _table(sets, 1 << len(popular), plan.visited_sets, INVENTED_SETS, randomness),
        _dense(reach, REACHES, plan.reach, randomness),
    )


def _measure_tree(
    database: TrajectoryDatabase,
    plan: MeasurementPlan,
    candidates: NDArray[np.int64],
    randomness: Randomness,
) -> tuple[TreeLevel, ...]:
    """The prefix tree over the candidates, where ending is one more child of every node."""
    counter = MemoryCounter(candidate_prefixes(database, candidates, len(plan.tree)))
    labels = len(candidates) + 1
    end = len(candidates)
    levels: list[TreeLevel] = []
    survivors, expanded = Survivors.root(), np.zeros(1, dtype=np.int64)
    for measurement in plan.tree:
        exact = ExactCounts.gathered(counter.count_children(survivors))
        theta = smallest_threshold(measurement.epsilon, labels, INVENTED_CHILDREN)
        table = sparse_table(
            [(exact.node * labels + exact.location, exact.count)],
            len(expanded) * labels,
            measurement.epsilon,
            theta,
            randomness,
        )
        node, label = table.keys // labels, table.keys % labels
        levels.append(TreeLevel(expanded[node], label, table))
        # Nobody goes on after the end.
        expanded = np.flatnonzero(label != end)
        survivors = Survivors(node[expanded], label[expanded].astype(np.int32))
        if not len(expanded):
            break
    return tuple(levels)


def _measure_times(
    database: TrajectoryDatabase,
    plan: MeasurementPlan,
    candidates: NDArray[np.int64],
    randomness: Randomness,
) -> TimeTables | None:
    """When visits happen: first slots, pauses, slots and visit slots."""
    times = plan.times
    if times is None:
        return None
    offsets, size, most = database.offsets, len(database.universe), plan.visits_cap
    count, named = times.count, len(candidates)
    slots, locations = np.divmod(database.codes, np.int32(size))
    places = _positions(candidates, size)[locations]
    first = slots[offsets[:-1][np.diff(offsets) > 0]].astype(np.int64)
    visits = visit_slots(offsets, places, slots, named, count, most)
    return TimeTables(
        _dense(first, count, times.first_slots, randomness),
        _dense(pauses(offsets, slots, most), count, times.pauses, randomness),
        _dense(first_values(offsets, slots, most), count, times.slots, randomness),
        _table(visits, named * count, times.visit_slots, INVENTED_SLOTS, randomness),
    )


def _together(*tasks: Callable[[], Any]) -> list[Any]:
    """The results of some calls of compiled code, side by side."""
    return list(in_threads(lambda task: task(), tasks))


def _dense(
    cells: NDArray[np.integer], size: int, measurement: Measurement, randomness: Randomness
) -> NoisyTable:
    return dense_table(np.bincount(cells, minlength=size), measurement.epsilon, randomness)


def _table(
    cells: NDArray[np.int64],
    size: int,
    measurement: Measurement,
    invented: Fraction,
    randomness: Randomness,
) -> NoisyTable:
    """Dense if the table is small, a fact about candidates only; else above a threshold."""
    if size <= DENSE_CELLS:
        return _dense(cells, size, measurement, randomness)
    occupied, counts = _occupied(cells, size)
    theta = smallest_threshold(measurement.epsilon, size, invented)
    return sparse_table([(occupied, counts)], size, measurement.epsilon, theta, randomness)


def _occupied(cells: NDArray[np.int64], size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The cells that occur, sorted, and how often."""
    if size > COUNTED_AT_ONCE:
        return np.unique(cells, return_counts=True)
    counts = np.bincount(cells, minlength=size)
    occupied = np.flatnonzero(counts)
    return occupied, counts[occupied]


def _positions(candidates: NDArray[np.int64], universe_size: int) -> NDArray[np.int32]:
    """Location code → position among the candidates, or how many there are; -1 stays -1."""
    position = np.full(universe_size + 1, len(candidates), dtype=np.int32)
    position[candidates] = np.arange(len(candidates), dtype=np.int32)
    position[-1] = -1
    return position
