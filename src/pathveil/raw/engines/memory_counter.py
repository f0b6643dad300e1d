"""Rows that go on to a location which died are counted at its zone, so that none is in two runs."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import njit
from pathveil.core.parameters import MAX_HEIGHT
from pathveil.progress_reports import report_progress
from pathveil.raw.database import TrajectoryDatabase
from pathveil.raw.engines.protocol import (
    COUNTED_AT_ONCE,
    SPARSELY,
    Cells,
    ExactCounts,
    Survivors,
    Tables,
)
from pathveil.raw.engines.sums import MergedSums, SmallSums
from pathveil.statistics.statistic import Rows
from pathveil.threads import in_threads
from pathveil.universe.taxonomy import Taxonomy
from pathveil.universe.universe import Universe


@njit(cache=True)
def relabel(
    column: NDArray[np.int32],
    runs: NDArray[np.int64],
    run: NDArray[np.int64],
    location: NDArray[np.int32],
    label: NDArray[np.int32],
    slot: NDArray[np.int64],
) -> None:
    """Replace, in place, what each row goes on to by its label; -1 (it ends) stays.

    Args:
        column: int32, shape (rows,); what each row goes on to.
        runs: int64; run r is the rows from ``runs[r]`` to ``runs[r + 1]``.
        run: int64, shape (m,), ascending; the run of each child.
        location: int32, shape (m,); what the rows of that child have in ``column``.
        label: int32, shape (m,); what they get.
        slot: int64; all 0 before and after.
    """
    first = 0
    while first < len(run):
        last = first
        while last < len(run) and run[last] == run[first]:
            slot[location[last]] = label[last]
            last += 1
        for i in range(runs[run[first]], runs[run[first] + 1]):
            if column[i] >= 0:
                column[i] = slot[column[i]]
        for j in range(first, last):
            slot[location[j]] = 0
        first = last


def coarser(
    run: NDArray[np.int64], names: tuple[NDArray[np.int32], ...], count: NDArray[np.int64]
) -> tuple[NDArray[np.int64], tuple[NDArray[np.int32], ...], NDArray[np.int64]]:
    """Children of one run and one name become one child; sorted by (run, name).

    Args:
        run: int64, shape (m,).
        names: int32 arrays, shape (m,), that agree on which children have one name.
        count: int64, shape (m,).
    """
    order = np.lexsort((names[0], run))
    run, count = run[order], count[order]
    names = tuple(name[order] for name in names)
    is_first = np.ones(len(run), dtype=np.bool_)
    is_first[1:] = (np.diff(run) != 0) | (np.diff(names[0]) != 0)
    first = np.flatnonzero(is_first)
    total = np.add.reduceat(count, first) if len(first) else count
    return run[first], tuple(name[first] for name in names), total


# The in-memory engine: a radix partition of the trajectories, one digit per level.
#
# Trajectories that share a prefix stand next to each other, so a node is a run of rows. Counting
# the children of a node is a histogram of the next location over its run; moving on to the children
# that survived is one stable scatter of the rows into shorter runs. Rows of nodes that died are
# left behind. Nothing is allocated per node and only locations that occur are touched, so |L| does
# not multiply the cost. Where there are more codes than fit a cache (with times |L|·|T| of them)
# the
# rows are counted by the ranks of the codes that occur; the counts that leave have the codes.
#
# With a taxonomy a survivor may be a zone. The rows that go on to a location which did not survive
# under their node are relabelled with its zone (`zones`) before they are moved, so that each row is
# in one run, as ever.


# A row is one integer: where its next location stands, and how many are left (height suffices).
LEFT_BITS = MAX_HEIGHT.bit_length()
LEFT_MASK = (1 << LEFT_BITS) - 1
ONE_STEP = (1 << LEFT_BITS) - 1  # next + 1, left − 1
# Above this many codes they are replaced by their ranks: a table of all would be slow and large.
MOST_CODES = 1 << 20
# So many visits, or a few more, are counted at a time in one thread.
VISITS_AT_ONCE = 1 << 18


class PrefixRuns:
    """Counts the children of surviving nodes over trajectories in memory, level by level.

    Args:
        offsets: int64; where each trajectory begins, and the end.
        codes: int32; locations, or pairs of a slot and a location.
        pairs: how many codes there are.
        taxonomy: the public zones, if survivors may be zones.
    """

    def __init__(
        self,
        offsets: NDArray[np.int64],
        codes: NDArray[np.int32],
        pairs: int,
        taxonomy: Taxonomy | None = None,
    ) -> None:
        self._taxonomy = taxonomy
        self._rows = _first_rows(offsets)
        self._runs = np.array([0, len(offsets) - 1], dtype=np.int64)
        self._run_node = np.zeros(1, dtype=np.int64)
        self._codes, self._code_of_rank = _ranked(codes, pairs)
        size = pairs if self._code_of_rank is None else len(self._code_of_rank)
        zones = 0 if taxonomy is None else len(taxonomy)
        self._slot = np.zeros(size + zones, dtype=np.int64)
        self._counted: _Counted | None = None

    def count_children(self, survivors: Survivors) -> Iterator[ExactCounts]:
        """The non-empty children of the survivors and their exact counts, in one block."""
        if self._counted is not None:
            self._descend(survivors)
        column = np.empty(len(self._rows), dtype=np.int32)
        run, location, count = _histograms(self._codes, self._rows, self._runs, self._slot, column)
        code = location if self._code_of_rank is None else self._code_of_rank[location]
        children = ExactCounts(self._run_node[run], code, count)
        self._counted = _Counted(run, location, children, column)
        return iter((children,))

    def _descend(self, survivors: Survivors) -> None:
        """Move the rows of the children that survived into runs of their own."""
        if self._counted is None:
            return
        last = self._counted
        if self._taxonomy is not None:
            last = self._with_zones(last, self._taxonomy, survivors)
        children = last.children
        self._counted = None
        kept = _matches(children.node, children.location, survivors.parent, survivors.location)
        self._rows, self._runs = _partition(
            self._rows,
            self._runs,
            last.column,
            last.run,
            last.location,
            children.count,
            kept,
            self._slot,
        )
        self._run_node = kept[kept >= 0]

    def _with_zones(self, last: "_Counted", taxonomy: Taxonomy, survivors: Survivors) -> "_Counted":
        """The level counted last, where what goes on to a location that died goes to its zone."""
        children, known = last.children, self._code_of_rank
        kept = _matches(children.node, children.location, survivors.parent, survivors.location)
        zone = taxonomy.zone_of[children.location]
        first_zone = taxonomy.locations if known is None else len(known)
        label = np.where(kept >= 0, last.location, first_zone + zone).astype(np.int32)
        code = np.where(kept >= 0, children.location, taxonomy.locations + zone).astype(np.int32)
        relabel(last.column, self._runs, last.run, last.location, label, self._slot)
        run, (label, code), count = coarser(last.run, (label, code), children.count)
        return _Counted(run, label, ExactCounts(self._run_node[run], code, count), last.column)


class MemoryCounter(PrefixRuns):
    """Counts a database that fits in memory. Satisfies `PrefixCounter`.

    Args:
        database: the private trajectories.
        taxonomy: the public zones, if survivors may be zones.
    """

    def __init__(self, database: TrajectoryDatabase, taxonomy: Taxonomy | None = None) -> None:
        super().__init__(database.offsets, database.codes, database.pairs, taxonomy)
        self._database = database

    @property
    def universe(self) -> Universe:
        """The public universe."""
        return self._database.universe

    @property
    def max_trajectories_per_unit(self) -> int:
        """The contribution bound c that the database was built with."""
        return self._database.max_trajectories_per_unit


class MemoryTables:
    """Counts tables of trajectories that fit in memory. Satisfies `TableCounter`.

    A pass goes through blocks of whole trajectories, some in threads at a time: what is found of a
    block stays in a core's own cache, and memory does not grow with the trajectories.

    Args:
        rows: the private trajectories.
    """

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        # Kernels remember every location, so a block is worth more visits than there are.
        bounds = _bounds(rows.offsets, max(VISITS_AT_ONCE, 4 * rows.size), rows.trips)
        self._blocks = list(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True))
        self._kept: list[dict[object, Any]] = [{} for _ in self._blocks]

    @classmethod
    def of(cls, database: TrajectoryDatabase) -> "MemoryTables":
        """All of a database."""
        is_timed = database.time_grid is not None
        size = len(database.universe)
        rows = rows_of(database.offsets, database.codes, size, is_timed=is_timed)
        return cls(rows if database.trips is None else replace(rows, trips=database.trips))

    def among(self, candidates: NDArray[np.int64]) -> "MemoryTables":
        """The same trajectories, seen from some candidates."""
        return MemoryTables(self._rows.among(candidates))

    def count_tables(self, tables: Tables) -> Iterator[Iterator[Cells]]:
        """Each table in one block."""
        # An array of all cells takes time, too: not for a handful of trajectories.
        small = SmallSums(tables, min(COUNTED_AT_ONCE, SPARSELY * (len(self._rows.codes) + 1)))
        large: dict[int, MergedSums] = defaultdict(MergedSums)
        counted = in_threads(lambda block: small.add(self._rows_of(block)), self._numbers)
        for number, parts in enumerate(counted, start=1):
            for table, cells in parts:
                large[table].add(cells)
            report_progress(number, len(self._blocks))
        for table in range(len(tables.sizes)):
            yield iter((small.cells(table) if table in small else large[table].cells(),))

    @property
    def _numbers(self) -> range:
        return range(len(self._blocks))

    def _rows_of(self, block: int) -> Rows:
        return self._rows.block(*self._blocks[block], self._kept[block])


def _bounds(
    offsets: NDArray[np.int64], visits: int, trips: NDArray[np.int32] | None
) -> NDArray[np.int64]:
    """Where blocks of so many visits begin, or a trajectory's more; and the end.

    Empty trajectories weigh something, too: a block has at most as many trajectories. If it is told
    which are of one unit, a block has whole units.
    """
    rows, begin = len(offsets) - 1, int(offsets[0])
    ends = np.searchsorted(offsets, np.arange(begin + visits, int(offsets[-1]), visits))
    cuts = np.concatenate((ends, np.arange(0, rows, visits)))
    if trips is not None:
        first = np.append(np.flatnonzero(trips > 0), rows)  # of each unit, and the end
        cuts = first[np.searchsorted(first, cuts)]
    return np.unique(np.append(cuts, rows))


def rows_of(
    offsets: NDArray[np.int64], codes: NDArray[np.integer], size: int, *, is_timed: bool
) -> Rows:
    """Trajectories as statistics see them; ``codes`` are slot · ``size`` + location if timed."""
    if not is_timed:
        return Rows(offsets, codes.astype(np.int32, copy=False), size)
    slots, locations = np.divmod(codes, codes.dtype.type(max(size, 1)))
    return Rows(
        offsets,
        locations.astype(np.int32, copy=False),
        size,
        slots.astype(np.int32, copy=False),
    )


@dataclass(frozen=True, slots=True, repr=False)
class _Counted:
    """The level that was counted last.

    Attributes:
        run: int64, shape (m,); the run of each child.
        location: int32, shape (m,); its code, or the rank of it.
        children: what was counted, with codes.
        column: int32, shape (rows,); what each row goes on to, as ``location``; -1 if it ends.
    """

    run: NDArray[np.int64]
    location: NDArray[np.int32]
    children: ExactCounts
    column: NDArray[np.int32]


def _ranked(
    codes: NDArray[np.int32], pairs: int
) -> tuple[NDArray[np.int32], NDArray[np.int32] | None]:
    """The visits' codes, and None; or their ranks among those that occur, and the code of each."""
    if pairs <= MOST_CODES:
        return codes, None
    occurring, ranks = np.unique(codes, return_inverse=True)
    return ranks.astype(np.int32), occurring


@njit(cache=True)
def _first_rows(offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    rows = np.empty(len(offsets) - 1, dtype=np.int64)
    for i in range(len(rows)):
        rows[i] = offsets[i] << LEFT_BITS | min(offsets[i + 1] - offsets[i], LEFT_MASK)
    return rows


@njit(cache=True)
def _histograms(
    codes: NDArray[np.int32],
    rows: NDArray[np.int64],
    runs: NDArray[np.int64],
    slot: NDArray[np.int64],
    column: NDArray[np.int32],
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """The next locations of each run with their counts, sorted; ``slot`` is all 0 before and after.

    Also writes each row's next location to ``column`` (-1 if the trajectory has ended), which
    saves `_partition` from fetching it again out of order.
    """
    most = min(len(rows), (len(runs) - 1) * len(slot))
    run = np.empty(most, dtype=np.int64)
    location = np.empty(most, dtype=np.int32)
    count = np.empty(most, dtype=np.int64)
    found = 0
    for r in range(len(runs) - 1):
        first = found
        for i in range(runs[r], runs[r + 1]):
            row = rows[i]
            if row & LEFT_MASK == 0:
                column[i] = -1
                continue
            code = codes[row >> LEFT_BITS]
            column[i] = code
            if slot[code] == 0:
                location[found] = code
                found += 1
            slot[code] += 1
        if found - first > 1:
            location[first:found].sort()
        for j in range(first, found):
            run[j] = r
            count[j] = slot[location[j]]
            slot[location[j]] = 0
    return run[:found].copy(), location[:found].copy(), count[:found].copy()


@njit(cache=True)
def _matches(
    node: NDArray[np.int64],
    location: NDArray[np.int32],
    survivor_parent: NDArray[np.int64],
    survivor_location: NDArray[np.int32],
) -> NDArray[np.int64]:
    """For each child its position among the survivors, or -1; both are sorted: one merge."""
    kept = np.full(len(node), -1, dtype=np.int64)
    s = 0
    for i in range(len(node)):
        while s < len(survivor_parent) and (
            survivor_parent[s] < node[i]
            or (survivor_parent[s] == node[i] and survivor_location[s] < location[i])
        ):
            s += 1
        if (
            s < len(survivor_parent)
            and survivor_parent[s] == node[i]
            and survivor_location[s] == location[i]
        ):
            kept[i] = s
    return kept


@njit(cache=True)
def _partition(
    rows: NDArray[np.int64],
    runs: NDArray[np.int64],
    column: NDArray[np.int32],
    run: NDArray[np.int64],
    location: NDArray[np.int32],
    count: NDArray[np.int64],
    kept: NDArray[np.int64],
    slot: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rows of the kept children, one step further, child by child; and the new runs."""
    new_runs = np.zeros(np.sum(kept >= 0) + 1, dtype=np.int64)
    new_rows = np.empty(np.sum(count[kept >= 0]), dtype=np.int64)
    made = 0
    first = 0
    while first < len(run):
        last = first
        while last < len(run) and run[last] == run[first]:
            # 0 stands for "not kept", so positions are stored plus one.
            if kept[last] >= 0:
                slot[location[last]] = new_runs[made] + 1
                new_runs[made + 1] = new_runs[made] + count[last]
                made += 1
            last += 1
        for i in range(runs[run[first]], runs[run[first] + 1]):
            code = column[i]
            if code >= 0 and slot[code] > 0:
                new_rows[slot[code] - 1] = rows[i] + ONE_STEP
                slot[code] += 1
        for j in range(first, last):
            slot[location[j]] = 0
        first = last
    return new_rows, new_runs
