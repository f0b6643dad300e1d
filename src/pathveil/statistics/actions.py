"""Actions: at each step one stays, goes back, returns to an older location, goes on, or ends.

A cell is (previous action, number of distinct locations so far, action). Only the first ``steps``
steps after the first location count, the end being one: a trajectory adds at most ``steps``.
No location is named, so a few hundred cells say how people come back.
"""

from collections.abc import Iterator, Sequence
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import compiled
from pathveil.statistics.constants import (
    CERTAIN_DEVIATIONS,
    DOUBT_OF_ACTIONS,
    RARE_ACTIONS,
    SUM_DEVIATIONS,
)
from pathveil.statistics.denoise import Estimates, posterior
from pathveil.statistics.noisy_table import NoisyTable
from pathveil.statistics.outlook import Outlook
from pathveil.statistics.statistic import (
    HABITS,
    Bound,
    Known,
    OfVisits,
    RowCells,
    Rows,
    Scope,
    Visit,
)

STAY, BACK, OLDER, NEW, END = 0, 1, 2, 3, 4
ACTION_KINDS = 5
DISTINCT_SO_FAR = 8
# Before the first step there is no previous action; END can't be one, so it stands for that.
SHAPE = (ACTION_KINDS, DISTINCT_SO_FAR, ACTION_KINDS)


class Actions(OfVisits):
    """See above."""

    name = "actions"
    words = "how people come back: stay, go back, return to an older place, go on, end"
    adds, because = "k", "counting stops after k steps"
    stage = HABITS
    repeats = True

    def bound(self, cap: int) -> Bound:
        """One a step; all of them may be the same, as of somebody who never leaves."""
        return Bound(cap, cap * cap)

    def size(self, scope: Scope) -> int:
        """The same for every universe."""
        return ACTION_KINDS * DISTINCT_SO_FAR * ACTION_KINDS

    def row_cells(self, rows: Rows, scope: Scope, cap: int) -> RowCells:
        """At most ``cap`` for each row."""
        return action_cells(rows.offsets, rows.codes, rows.size, cap)

    def oracle(self, visits: Sequence[Visit], scope: Scope, cap: int) -> Iterator[int]:
        """Step by step; the end is one."""
        locations, previous = [visit.location for visit in visits], END
        for step, there in enumerate([*locations, None][: cap + 1]):
            past = locations[:step]
            if past:
                here = past[-1]
                before = [location for location in past if location != here][-1:]
                if there is None:
                    action = END
                elif there == here:
                    action = STAY
                else:
                    action = BACK if [there] == before else OLDER if there in past else NEW
                distinct = min(len(set(past)), DISTINCT_SO_FAR)
                yield (previous * DISTINCT_SO_FAR + distinct - 1) * ACTION_KINDS + action
                previous = action

    def caps(self, outlook: Outlook) -> range:
        """At least one step and an end."""
        return range(2, max(outlook.height, 2) + 1)

    def typical(self, outlook: Outlook) -> float:
        """A few dozen cells matter."""
        return outlook.total / 20.0

    def denoise(self, table: NoisyTable, scope: Scope, known: Known) -> Estimates:
        """Posterior means of the cells that can occur, shape `SHAPE`.

        In some data nobody ever stays, or returns to an older location, and what noise makes of
        thirty such cells would be taken for a habit.
        """
        possible, noisy = possible_actions(), table.counts.reshape(SHAPE)
        value, variance = np.zeros(SHAPE), np.ones(SHAPE)
        found = posterior(noisy[possible], table.noise)
        value[possible], variance[possible] = found.mean, found.variance
        for kind in (STAY, BACK, OLDER):
            if _is_none(noisy[..., kind][possible[..., kind]], table, noisy[possible].sum()):
                value[..., kind] = 0.0
        return Estimates(value, variance)


def _is_none(noisy: NDArray[np.int64], table: NoisyTable, all_actions: int) -> bool:
    """Whether a kind of action does not occur: noise explains it, and it is rare at most.

    It has to explain the sum as well, which is known much better than the cells.
    """
    deviation = table.scale * sqrt(2.0 * len(noisy))
    most = noisy.sum() + CERTAIN_DEVIATIONS * deviation
    explained = not posterior(noisy, table.noise, doubt=DOUBT_OF_ACTIONS).median.any()
    explained &= noisy.sum() < SUM_DEVIATIONS * deviation
    return bool(explained and most < RARE_ACTIONS * all_actions)


def action_counts(
    offsets: NDArray[np.int64], codes: NDArray[np.int32], universe_size: int, steps: int
) -> NDArray[np.int64]:
    """The counts of the cells, int64, shape `SHAPE`."""
    _, cells = action_cells(offsets, codes, universe_size, steps)
    return np.bincount(cells, minlength=ACTION_KINDS * DISTINCT_SO_FAR * ACTION_KINDS).reshape(
        SHAPE
    )


@compiled
def action_cells(
    offsets: NDArray[np.int64], codes: NDArray[np.int32], universe_size: int, steps: int
) -> tuple[NDArray[np.int32], NDArray[np.int16]]:
    """The (row, cell) pairs; at most ``steps`` for each row."""
    rows = np.empty(len(codes), dtype=np.int32)
    cells = np.empty(len(codes), dtype=np.int16)
    seen_in = np.full(universe_size + 1, -1, dtype=np.int64)
    found = 0
    for row in range(len(offsets) - 1):
        start, length = offsets[row], offsets[row + 1] - offsets[row]
        if length == 0:
            continue
        here, before = codes[start], -1
        seen_in[here] = row
        distinct, previous = 1, END
        for step in range(1, min(steps, length) + 1):
            situation = previous * DISTINCT_SO_FAR + min(distinct, DISTINCT_SO_FAR) - 1
            action = END
            if step < length:
                there = codes[start + step]
                action = NEW
                if there < universe_size and seen_in[there] == row:
                    action = STAY if there == here else BACK if there == before else OLDER
                if action == NEW:
                    seen_in[there] = row
                    distinct += 1
                if action != STAY:
                    before, here = here, there
                previous = action
            rows[found], cells[found] = row, situation * ACTION_KINDS + action
            found += 1
    return rows[:found].copy(), cells[:found].copy()


def possible_actions() -> NDArray[np.bool_]:
    """Which cells can occur, shape `SHAPE`: nobody goes back before having been somewhere else."""
    possible = np.ones(SHAPE, dtype=np.bool_)
    possible[:, 0, BACK] = False
    possible[:, :2, OLDER] = False
    possible[END, 1:] = False
    possible[NEW, 0] = False
    possible[BACK, 0] = False
    possible[OLDER, :2] = False
    return possible


ACTIONS = Actions()
