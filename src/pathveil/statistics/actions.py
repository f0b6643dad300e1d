"""Actions: at each step a trajectory stays, goes back, returns to an older place, goes on, or ends.

A cell is (previous action, number of distinct locations so far, action). Only the first ``steps``
steps after the first location count, the end being one: a trajectory adds at most ``steps``.
No location is named, so a few hundred cells say how people come back to places.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

STAY, BACK, OLDER, NEW, END = 0, 1, 2, 3, 4
ACTIONS = 5
DISTINCT_SO_FAR = 8
# Before the first step there is no previous action; END can't be one, so it stands for that.
SHAPE = (ACTIONS, DISTINCT_SO_FAR, ACTIONS)


@njit(cache=True, nogil=True)
def action_counts(
    offsets: NDArray[np.int64], codes: NDArray[np.int32], universe_size: int, steps: int
) -> NDArray[np.int64]:
    """The counts of the cells, int64, shape `SHAPE`."""
    counts = np.zeros((ACTIONS, DISTINCT_SO_FAR, ACTIONS), dtype=np.int64)
    seen = np.empty(steps + 1, dtype=np.int64)
    for row in range(len(offsets) - 1):
        start, length = offsets[row], offsets[row + 1] - offsets[row]
        if length == 0:
            continue
        here, before = codes[start], -1
        seen[0] = here
        distinct, previous = 1, END
        for step in range(1, steps + 1):
            if step >= length:
                counts[previous, min(distinct, DISTINCT_SO_FAR) - 1, END] += 1
                break
            there = codes[start + step]
            action = _action(there, here, before, seen[:distinct], universe_size)
            counts[previous, min(distinct, DISTINCT_SO_FAR) - 1, action] += 1
            if action == NEW:
                seen[distinct] = there
                distinct += 1
            if action != STAY:
                before, here = here, there
            previous = action
    return counts


@njit(cache=True, nogil=True)
def _action(there: int, here: int, before: int, seen: NDArray[np.int64], universe_size: int) -> int:
    if there == universe_size:
        return NEW
    if there == here:
        return STAY
    if there == before:
        return BACK
    for place in seen:
        if place == there:
            return OLDER
    return NEW


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
