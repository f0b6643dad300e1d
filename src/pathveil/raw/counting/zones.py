"""Rows that go on to a location which died are counted at its zone, so that none is in two runs."""

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import njit


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
