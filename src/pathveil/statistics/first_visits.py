"""First visits: the distinct locations of a trajectory under a cap, and how they were reached.

Visits, moves and pairs are made of them, and the discovery of labels. If a trajectory has more than
the cap lets through, those that count are spread evenly over it: the first ones alone would say
nothing about where long trajectories get to.
"""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import compiled

Thing = TypeVar("Thing")


def spread(things: Sequence[Thing], cap: int) -> list[Thing]:
    """At most ``cap`` of them, evenly spread: the middles of ``cap`` equal parts. For oracles."""
    if len(things) <= cap:
        return list(things)
    return [things[(2 * i + 1) * len(things) // (2 * cap)] for i in range(cap)]


def spread_after_first(things: Sequence[Thing], cap: int) -> list[Thing]:
    """The first one, and at most ``cap`` − 1 others, evenly spread. For oracles."""
    return [*things[:1], *spread(things[1:], cap - 1)]


@compiled
def first_visits(
    offsets: NDArray[np.int64],
    codes: NDArray[np.int32],
    universe_size: int,
    most: int,
    evenly: bool,
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Distinct locations of each row, and the location before the first visit to each; -1: none.

    Both int32, shape (rows, most).

    Args:
        offsets: int64; where each row begins, and the end.
        codes: int32; ``universe_size`` stands for an unnamed location: each is another one.
        universe_size: |L|.
        most: how many distinct locations count.
        evenly: if there are more: the first one and others evenly spread, or just the first ones.
    """
    rows = len(offsets) - 1
    visited = np.full((rows, most), -1, dtype=np.int32)
    reached_from = np.full((rows, most), -1, dtype=np.int32)
    longest = 0
    for row in range(rows):
        longest = max(longest, offsets[row + 1] - offsets[row])
    first_at = np.empty(longest, dtype=np.int64)
    last_seen = np.full(universe_size, -1, dtype=np.int64)
    for row in range(rows):
        found = 0
        for i in range(offsets[row], offsets[row + 1]):
            if found == most and not evenly:
                break
            code = codes[i]
            if code < universe_size:
                if last_seen[code] == row:
                    continue
                last_seen[code] = row
            first_at[found] = i
            found += 1
        for j in range(min(found, most)):
            i = first_at[j]
            if found > most and j > 0:
                i = first_at[1 + (2 * j - 1) * (found - 1) // (2 * (most - 1))]
            visited[row, j] = codes[i]
            if j > 0:
                reached_from[row, j] = codes[i - 1]
    return visited, reached_from


@compiled
def to_positions(codes: NDArray[np.int32], position: NDArray[np.int32]) -> None:
    """Write a location's position in place of its code; −1 is the last of them, and stays."""
    for row in range(codes.shape[0]):
        for i in range(codes.shape[1]):
            codes[row, i] = position[codes[row, i]]
