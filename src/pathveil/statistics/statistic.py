"""What a statistic is: a table of counts, with a bound on what one trajectory adds to it.

The gate applies a statistic to people's trajectories and adds noise in proportion to its bound; the
synthesis applies the same statistic, with the same cap, to its own trajectories and compares. All
that anybody has to know about a table is in the statistic's own file: its cells (compiled, and as
an oracle of a few lines), how many there are, the bound and why it holds, how the noisy table is
denoised, and whether the synthesis is calibrated to it. Caps and shares of ε are the plan's
(`statistics.measurement_plan`), their order that of the shares
(`statistics.constants`).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from pathveil.statistics.denoise import Estimates, sparse_estimates
from pathveil.statistics.first_visits import distinct_visits, first_moves, some_visits, to_positions
from pathveil.statistics.noisy_table import NoisyTable
from pathveil.statistics.outlook import Outlook

if TYPE_CHECKING:
    from pathveil.statistics.validation import Queries
    from pathveil.universe.lines import Lines
    from pathveil.universe.taxonomy import Taxonomy

ALWAYS_DENSE = 1 << 62
NONE_INVENTED = Fraction(0)
LOOKED_UP = 64  # times as many cells as are looked for
LEAST_PLACED = 3  # two locations are as far from each other as they are
Found = TypeVar("Found")
# In what order tables are measured: those of one stage look at the same public scope.
FIRST_LOOK, VISITED, HABITS, VALIDATED, TIMES = (
    "first look",
    "visited",
    "habits",
    "validated",
    "times",
)


class Bound(NamedTuple):
    """What one trajectory adds to a table at most.

    Attributes:
        l1: the sum of what it adds to all cells.
        squared_l2: the sum of the squares; whole, so that nothing is rounded.
    """

    l1: int
    squared_l2: int


class Visit(NamedTuple):
    """One visit, for oracles: a location's code, or a name of its own for an unnamed location."""

    location: int | str
    slot: int = 0


@dataclass(frozen=True, eq=False)
class Scope:
    """What a table looks at: public, or noisy and published before it is measured.

    Attributes:
        universe_size: |L|.
        slots: T, the number of time slots; 0 without times.
        candidates: int64, sorted location codes; empty before they are chosen.
        popular: int64; positions among the candidates of the most visited ones.
        levels: the levels of the prefix tree that are measured already.
        points: float64, shape (|L|, 3); where each location lies (public), if there is a map.
        queries: the questions that validate answers; None before they are chosen.
        lines: which locations one line serves (public), if a timetable tells.
        follows: whether an earlier release of the series (public) says what to expect of counts
            that no threshold would pass.
        taxonomy: the zone of each location (public), if somebody names them.
    """

    universe_size: int
    slots: int = 0
    candidates: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    popular: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    levels: tuple[NoisyTable, ...] = ()
    points: NDArray[np.float64] | None = None
    queries: "Queries | None" = None
    lines: "Lines | None" = None
    follows: bool = False
    taxonomy: "Taxonomy | None" = None

    @property
    def named(self) -> int:
        """How many candidates there are: n."""
        return len(self.candidates)

    @property
    def has_map(self) -> bool:
        """Whether enough locations are placed."""
        placed = 0 if self.points is None else np.count_nonzero(~np.isnan(self.points[:, 0]))
        return bool(placed >= LEAST_PLACED)

    @cached_property
    def bit(self) -> NDArray[np.int8]:
        """int8, shape (n + 1,); which popular location each candidate is, −1 if none."""
        bit = np.full(self.named + 1, -1, dtype=np.int8)
        bit[self.popular] = np.arange(len(self.popular), dtype=np.int8)
        return bit

    @cached_property
    def numbered(self) -> dict[object, Any]:
        """What `prefix_tree` finds out once for each level, and others once, whoever asks."""
        return {}

    def position_of(self, location: int | str) -> int | None:
        """For oracles: the position of a location among the candidates."""
        positions = {code: position for position, code in enumerate(self.candidates.tolist())}
        return positions.get(location) if isinstance(location, int) else None

    def of_candidates(self) -> "Scope":
        """The scope of synthetic trajectories, whose locations are positions of candidates."""
        return replace(
            self,
            universe_size=self.named,
            candidates=np.arange(self.named),
            points=None if self.points is None else self.points[self.candidates],
            lines=self.lines_among,
            taxonomy=None,  # unnamed visits, of which zones tell, are over
        )

    @cached_property
    def lines_among(self) -> "Lines | None":
        """The lines as seen from the candidates."""
        if self.lines is None:
            return None
        return self.lines.among(self.candidates, self.universe_size)


@dataclass(frozen=True, eq=False, repr=False)
class Rows:
    """Trajectories, as statistics see them. People's or synthetic ones.

    Attributes:
        offsets: int64; where each row begins, and the end.
        codes: int32; the locations of all rows. In synthetic trajectories ``size`` stands for an
            unnamed location: somewhere too rare to be named. Every visit to it is to a new one.
        size: the number of locations.
        slots: int32; the time slot of each visit, never decreasing in a row; None without times.
        position: int32, shape (size + 2,); location code → position among the candidates, or how
            many there are; −1 stays −1. None if the codes are such positions.
        kept: what `latest` found last; whoever makes the same rows again may hand it on.
        trips: int32, shape (rows,); positive where a unit's rows begin, how many it has
            (`raw.bounding`); None if units have one row each, or if that is not told.
    """

    offsets: NDArray[np.int64]
    codes: NDArray[np.int32]
    size: int
    slots: NDArray[np.int32] | None = None
    position: NDArray[np.int32] | None = None
    kept: dict[object, Any] = field(default_factory=dict)
    trips: NDArray[np.int32] | None = None
    _known: dict[object, Any] = field(default_factory=dict)
    _locks: dict[object, Any] = field(default_factory=dict)
    _lock: Any = field(default_factory=RLock)

    def among(self, candidates: NDArray[np.int64]) -> "Rows":
        """The same rows, seen from some candidates."""
        if len(candidates) == self.size:  # all of them, so each is its own position
            return Rows(self.offsets, self.codes, self.size, self.slots, trips=self.trips)
        position = np.full(self.size + 2, len(candidates), dtype=np.int32)
        position[candidates] = np.arange(len(candidates), dtype=np.int32)
        position[-1] = -1
        return Rows(self.offsets, self.codes, self.size, self.slots, position, trips=self.trips)

    def block(self, first: int, last: int, kept: dict[object, Any]) -> "Rows":
        """The rows from ``first`` to before ``last``."""
        begin, end = int(self.offsets[first]), int(self.offsets[last])
        return Rows(
            self.offsets[first : last + 1] - begin,
            self.codes[begin:end],
            self.size,
            None if self.slots is None else self.slots[begin:end],
            self.position,
            kept,
            None if self.trips is None else self.trips[first:last],
        )

    @cached_property
    def not_empty(self) -> NDArray[np.bool_]:
        """Which rows are not empty."""
        return np.diff(self.offsets) > 0

    @cached_property
    def unit(self) -> NDArray[np.int64]:
        """int64, shape (rows,); which unit each row is of: 0, 1, 2 ….

        Raises:
            ValueError: if that is not told, or the first unit's rows began before these: a part of
                a unit must not be taken for a whole one.
        """
        if self.trips is None or (len(self.trips) and self.trips[0] <= 0):
            raise ValueError("which trajectories are of one unit is not told")
        return np.cumsum(self.trips > 0) - 1

    @property
    def timed(self) -> NDArray[np.int32]:
        """The slots of trajectories that have times."""
        if self.slots is None:
            raise ValueError("These trajectories have no times.")
        return self.slots

    @property
    def positions(self) -> NDArray[np.int32]:
        """int32; positions among the candidates, or their number for any other location."""
        if self.position is None:
            return self.codes
        position = self.position
        return self.once("positions", lambda: position[self.codes])

    @property
    def distinct(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """`distinct_visits`: where those of each row begin, and which visits they are."""
        return self.once("distinct", lambda: distinct_visits(self.offsets, self.codes, self.size))

    def first_visits(self, most: int) -> NDArray[np.int32]:
        """`first_visits`, evenly spread, as positions among the candidates."""

        def find() -> NDArray[np.int32]:
            found = some_visits(self.codes, *self.distinct, most, True)
            if self.position is not None:
                to_positions(found, self.position)
            return found

        return self.once(("first visits", most), find)

    def first_moves(self, most: int, named: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """`first_moves` between ``named`` candidates."""
        return self.once(
            ("first moves", most, named),
            lambda: first_moves(self.positions, *self.distinct, most, named),
        )

    def once(self, key: object, find: Callable[[], Found]) -> Found:
        """What several statistics need is found once, also when they are counted in threads.

        Whoever needs something else does not wait for it.
        """
        with self._lock:
            only_one = self._locks.setdefault(key, RLock())
        with only_one:
            if key not in self._known:
                self._known[key] = find()
            found: Found = self._known[key]
            return found

    def latest(self, key: object, find: Callable[[], Found]) -> Found:
        """Like `once`, of what the next table is made of: what was found before it is forgotten."""
        with self._lock:
            if key not in self.kept:
                found = find()
                self.kept.clear()
                self.kept[key] = found
            kept: Found = self.kept[key]
            return kept


RowCells = tuple[NDArray[np.integer], NDArray[np.integer]]
"""Pairs (row, cell): the row adds 1 to the count of the cell."""


@dataclass(frozen=True, eq=False)
class Known:
    """What is known before a table is denoised.

    Attributes:
        floor: counts below it are all the same to a relative error.
        visitors: float64, shape (n,); how many trajectories visit each candidate.
        has_trajectories: whether there are trajectories for sure.
    """

    floor: float = 1.0
    visitors: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    has_trajectories: bool = False


class Statistic(ABC):
    """One table. Its instance is the value that everything else is keyed by.

    Attributes:
        name: of its line in the plan and on the certificate.
        words: what it counts, in plain words.
        adds: what one trajectory adds at most, as a formula of k, the table's own cap.
        because: why, in words.
        stage: with which other tables it is measured.
        of_candidates: whether it has cells of candidates only.
        dense_up_to: a table of so many cells is published cell by cell, a larger one above a
            threshold.
        whole_up_to: and one of so many with all its noisy counts beside.
        learnt_up_to: likewise, in a release that follows another (`Scope.follows`).
        repeats: whether most trips of most people add to the same few cells, wherever they go: then
            nothing is won by clipping what a person adds.
        counts_each: whether every trajectory that is not empty adds 1 in exactly one cell.
    """

    name: str
    words: str
    adds: str = "1"
    because: str
    stage: str
    of_candidates: bool = False
    dense_up_to: int = ALWAYS_DENSE
    whole_up_to: int = 0
    learnt_up_to: int = 0
    repeats: bool = False
    counts_each: bool = False

    def __repr__(self) -> str:
        return f"<{self.name}>"

    def cap(self, height: int, distinct: int) -> int:
        """How much of a trajectory is looked at, by the usual plan: of h visits, d locations."""
        return 1

    @abstractmethod
    def bound(self, cap: int) -> Bound:
        """What one trajectory adds at most under a cap."""

    @abstractmethod
    def size(self, scope: Scope) -> int:
        """The number of cells."""

    @abstractmethod
    def row_cells(self, rows: Rows, scope: Scope, cap: int) -> RowCells:
        """The (row, cell) pairs of all rows."""

    @abstractmethod
    def oracle(self, visits: Sequence[Visit], scope: Scope, cap: int) -> Iterable[int]:
        """The cells of one trajectory, slowly and in a few lines."""

    def cells(self, rows: Rows, scope: Scope, cap: int) -> NDArray[np.integer]:
        """The cells of all rows: what the gate counts."""
        return self.row_cells(rows, scope, cap)[1]

    def is_open(self, scope: Scope) -> bool:
        """Whether there is anything to measure, a fact about the scope only."""
        return True

    def invented(self, scope: Scope) -> Fraction:
        """How many empty cells may pass the threshold, on average."""
        return NONE_INVENTED

    # What the planner asks (`statistics.planner`): forecasts, which decide nothing private.

    def caps(self, outlook: Outlook) -> range:
        """The caps to choose from."""
        return range(1, 2)

    def added(self, outlook: Outlook, cap: int) -> NDArray[np.float64]:
        """What a trajectory of each shape adds under a cap; float64, by shape."""
        return np.ones(len(outlook.shares))

    def typical(self, outlook: Outlook) -> float:
        """The size of the counts that matter, over how many noise scales one must be to show."""
        return max(outlook.total / outlook.universe_size, outlook.least)

    def worth(self, outlook: Outlook, usual: float) -> float:
        """What it is worth to measure it, beside the other tables; ``usual``: for most data."""
        return usual

    def denoise(self, table: NoisyTable, scope: Scope, known: Known) -> Estimates:
        """What the noisy table says about the true counts."""
        estimates = sparse_estimates(
            table.counts,
            table.noise,
            hidden=table.hidden,
            threshold=table.threshold,
            floor=known.floor,
        )
        is_dense = self.dense_up_to == ALWAYS_DENSE
        return estimates if is_dense else estimates.listed(table.keys)

    def among(self, estimates: Estimates, candidates: NDArray[np.int64]) -> Estimates:
        """The estimates as seen from some candidates, if the table is over the universe."""
        return estimates

    def compared(self) -> "Sequence[Statistic]":
        """The statistics by which synthetic trajectories are calibrated to this table."""
        return ()

    def listed(
        self, rows: Rows, scope: Scope, cap: int, keys: NDArray[np.int64] | None
    ) -> RowCells:
        """Those of `row_cells` that have an estimate: (row, which of the listed cells).

        Args:
            rows: synthetic trajectories.
            scope: theirs.
            cap: as in the measurement.
            keys: the listed cells, ascending; None if all are.
        """
        found, cells = self.row_cells(rows, scope, cap)
        if keys is None:
            return found, cells
        table = self.places(scope, keys, len(cells))
        at = _searched(keys, cells) if table is None else table[cells]
        is_listed = at >= 0
        return found[is_listed], at[is_listed]

    def places(self, scope: Scope, keys: NDArray[np.int64], cells: int) -> NDArray[np.int32] | None:
        """The place of every cell among the listed ones, −1 if it has none: kept for the next rows.

        None if there are so few cells to look up that it is quicker to search for them.
        """
        size = max(self.size(scope), int(keys.max(initial=-1)) + 1)
        if size > LOOKED_UP * cells:
            return None
        # One look for both: another thread may put those of other keys there meanwhile.
        kept: tuple[NDArray[np.int64], NDArray[np.int32]] | None = scope.numbered.get(self)
        if kept is None or kept[0] is not keys:
            kept = keys, _table_of(keys, size)
            scope.numbered[self] = kept
        return kept[1]


def places_among(
    keys: NDArray[np.int64], cells: NDArray[np.integer], size: int
) -> NDArray[np.integer]:
    """The place of each cell among ascending keys; −1 if it is none of them."""
    # A table of all cells is quicker than to search.
    is_many = size <= LOOKED_UP * len(cells)
    return _table_of(keys, size)[cells] if is_many else _searched(keys, cells)


def _table_of(keys: NDArray[np.int64], size: int) -> NDArray[np.int32]:
    """The place of each cell among the keys; −1 if it is none of them."""
    table = np.full(size, -1, dtype=np.int32)
    table[keys] = np.arange(len(keys), dtype=np.int32)
    return table


def _searched(keys: NDArray[np.int64], cells: NDArray[np.integer]) -> NDArray[np.integer]:
    """The same for some cells."""
    at = np.searchsorted(keys, cells)
    return np.where(np.append(keys, -1)[at] == cells, at, -1)


class OfVisits(Statistic):
    """A statistic that looks at some visits of a trajectory."""

    def cap(self, height: int, distinct: int) -> int:
        """The visits that are looked at: h."""
        return height

    def caps(self, outlook: Outlook) -> range:
        """Any number of visits."""
        return range(1, outlook.height + 1)

    def added(self, outlook: Outlook, cap: int) -> NDArray[np.float64]:
        """One a visit."""
        return np.minimum(outlook.lengths, cap)


class OneCell(Statistic):
    """A statistic to which a trajectory adds 1 in one cell, or nothing."""

    def bound(self, cap: int) -> Bound:
        """One cell."""
        return Bound(1, 1)

    @abstractmethod
    def cell(self, rows: Rows, scope: Scope) -> NDArray[np.integer]:
        """The cell of each row; −1 if it has none."""

    def row_cells(self, rows: Rows, scope: Scope, cap: int) -> RowCells:
        """One pair at most for each row."""
        cell = self.cell(rows, scope)
        found = np.flatnonzero(cell >= 0).astype(np.int32)
        return found, (cell if len(found) == len(cell) else cell[found])

    def cells(self, rows: Rows, scope: Scope, cap: int) -> NDArray[np.integer]:
        """The cells alone, without finding out whose they are."""
        cell = self.cell(rows, scope)
        has_one = cell >= 0
        return cell if has_one.all() else cell[has_one]
