"""First visits: the distinct locations of a trajectory under a cap, and the moves that lead there.

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
def distinct_visits(
    offsets: NDArray[np.int64], codes: NDArray[np.int32], universe_size: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Which visits are the first to their location, row after row; and where each row's begin.

    Args:
        offsets: int64; where each row begins, and the end.
        codes: int32; ``universe_size`` stands for an unnamed location: each is another one.
        universe_size: |L|.
    """
    starts = np.zeros(len(offsets), dtype=np.int64)
    at = np.empty(len(codes), dtype=np.int32)
    last_seen = np.full(universe_size + 1, -1, dtype=np.int64)
    found = 0
    for row in range(len(offsets) - 1):
        for i in range(offsets[row], offsets[row + 1]):
            code = codes[i]
            at[found] = i  # no branch: nobody could foresee it
            found += (last_seen[code] != row) | (code == universe_size)
            last_seen[code] = row
        starts[row + 1] = found
    return starts, at[:found]


def first_visits(
    offsets: NDArray[np.int64],
    codes: NDArray[np.int32],
    universe_size: int,
    most: int,
    evenly: bool,
) -> NDArray[np.int32]:
    """Distinct locations of each row, int32, shape (rows, most); -1: none.

    Args:
        offsets: int64; where each row begins, and the end.
        codes: int32; ``universe_size`` stands for an unnamed location: each is another one.
        universe_size: |L|.
        most: how many distinct locations count.
        evenly: if there are more: the first one and others evenly spread, or just the first ones.
    """
    return some_visits(codes, *distinct_visits(offsets, codes, universe_size), most, evenly)


@compiled
def some_visits(
    codes: NDArray[np.int32],
    starts: NDArray[np.int64],
    at: NDArray[np.int32],
    most: int,
    evenly: bool,
) -> NDArray[np.int32]:
    """`first_visits` of those that `distinct_visits` found."""
    rows = len(starts) - 1
    visited = np.full((rows, most), -1, dtype=np.int32)
    for row in range(rows):
        begin, found = starts[row], starts[row + 1] - starts[row]
        for j in range(min(found, most)):
            place = j
            if evenly and found > most and j > 0:
                place = 1 + (2 * j - 1) * (found - 1) // (2 * (most - 1))
            visited[row, j] = codes[at[begin + place]]
    return visited


@compiled
def first_moves(
    codes: NDArray[np.int32],
    starts: NDArray[np.int64],
    at: NDArray[np.int32],
    most: int,
    size: int,
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Which rows make which moves to those of `some_visits`, evenly, but the first: from·size + to.

    Args:
        codes: int32; the locations of all rows; a move from or to one that is not below ``size``
            is left out.
        starts: as `distinct_visits` gives them.
        at: likewise.
        most: how many distinct locations count.
        size: how many locations have a number of their own.
    """
    rows = np.empty(len(at), dtype=np.int32)
    moves = np.empty(len(at), dtype=np.int64)
    made = 0
    for row in range(len(starts) - 1):
        begin, found = starts[row], starts[row + 1] - starts[row]
        for j in range(1, min(found, most)):
            place = j if found <= most else 1 + (2 * j - 1) * (found - 1) // (2 * (most - 1))
            i = at[begin + place]
            here, there = codes[i - 1], codes[i]
            rows[made] = row
            moves[made] = np.int64(here) * size + there
            made += (here < size) & (there < size)
    return rows[:made], moves[:made]


@compiled
def to_positions(codes: NDArray[np.int32], position: NDArray[np.int32]) -> None:
    """Write a location's position in place of its code; −1 is the last of them, and stays."""
    for row in range(codes.shape[0]):
        for i in range(codes.shape[1]):
            codes[row, i] = position[codes[row, i]]
