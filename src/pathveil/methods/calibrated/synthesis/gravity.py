"""What the public map says about moves that were too rare to be measured.

People rather go somewhere near. How much rather is read off the noisy tables: the moves from x to y
are taken to be

    a(x) × those who come to y × decay(distance from x to y),

where a(x) makes them sum to those who leave x, and the decay is a step function of the distance
that never rises. It is the one under which the measured moves, and what is known to be missing from
them, are likeliest (EM: what is missing is shared out by the decay so far, then the decay is read
off all of it). Where the map explains nothing the steps come out equal, and people mix freely, as
they do without a map. Only coordinates, which are public, and noisy tables are seen.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import njit
from pathveil.statistics.constants import (
    DECAY_ROUNDS,
    DECAY_SLACK,
    DECAY_STEP,
    LEAST_NEIGHBOURS,
    MOST_NEIGHBOUR_PAIRS,
)

_LEAST_PLACED = 3  # two locations are as far from each other as they are
_TINY = 1e-300


@dataclass(frozen=True, slots=True, eq=False)
class Neighbourhood:
    """The nearest candidates of each candidate, and how far they are, in steps of distance.

    Attributes:
        first: int64, ascending; whose neighbour it is.
        second: int64; the neighbour, ascending for each ``first``.
        step: int64; how far it is.
        count: n, the number of candidates.
    """

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    step: NDArray[np.int64]
    count: int

    @classmethod
    def of(cls, points: NDArray[np.float64]) -> "Neighbourhood | None":
        """None if there is no map to speak of.

        Args:
            points: float64, shape (n, 3); see `universe.coordinates.points_on_earth`.
        """
        placed = np.flatnonzero(~np.isnan(points[:, 0]))
        if len(placed) < _LEAST_PLACED:
            return None
        from_south = placed[np.argsort(points[placed, 2], kind="stable")]
        most = max(LEAST_NEIGHBOURS, MOST_NEIGHBOUR_PAIRS // len(placed))
        near, far = _nearest(points[from_south], min(most, len(placed) - 1))
        # Row by row: by whose neighbours they are, and in a row by who they are.
        rows = np.argsort(from_south)
        near, step = from_south[near[rows]], _steps(far[rows])
        order = np.argsort(near, axis=1)
        return cls(
            np.repeat(from_south[rows], near.shape[1]),
            np.take_along_axis(near, order, axis=1).ravel(),
            np.take_along_axis(step, order, axis=1).ravel(),
            len(points),
        )


def _steps(far: NDArray[np.float64]) -> NDArray[np.int64]:
    """Step 1 is the distance to the nearest neighbour that is usual; those below it are step 0."""
    nearest = far.min(axis=1)
    unit = np.median(nearest[nearest > 0]) if (nearest > 0).any() else 1.0
    steps = np.round(np.log(np.maximum(far, _TINY) / unit) / DECAY_STEP) + 1
    counted: NDArray[np.int64] = np.maximum(steps, 0).astype(np.int64)
    return counted


@dataclass(frozen=True, slots=True, eq=False)
class Unmeasured:
    """The moves between candidates that are not listed, as far as the map tells.

    Attributes:
        first, second: int64; from where to where, in the order of `Neighbourhood`.
        moves: float64; how many people make them, about.
        elsewhere: float64, shape (n,); moves from each candidate to who is no neighbour.
        decay: float64; how much likelier a move is at each step of distance than without a map.
    """

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    moves: NDArray[np.float64]
    elsewhere: NDArray[np.float64]
    decay: NDArray[np.float64]


def unmeasured_moves(
    near: Neighbourhood,
    keys: NDArray[np.int64],
    moves: NDArray[np.float64],
    leaving: NDArray[np.float64],
    coming: NDArray[np.float64],
    scale: float,
) -> Unmeasured:
    """Share out what the listed moves leave over.

    Args:
        near: the map.
        keys: int64, ascending; the listed moves, from·n + to.
        moves: float64; how many people make each.
        leaving: float64, shape (n,); who leaves each candidate for a new location.
        coming: float64, shape (n,); who comes to each for the first time; the same sum.
        scale: of the noise on one move.
    """
    # Whoever is no neighbour is one step further than all that are.
    count, steps = near.count, int(near.step.max()) + 2
    # The listed moves among neighbours, and the others.
    pair = near.first * count + near.second
    at = np.minimum(np.searchsorted(pair, keys), len(pair) - 1)
    is_near = pair[at] == keys
    hidden = np.ones(len(pair), dtype=np.bool_)
    hidden[at[is_near]] = False
    from_, to = np.divmod(keys, count)
    listed = _sums(near.step[at[is_near]], moves[is_near], steps)
    listed[-1] += moves[~is_near].sum()

    # Of each candidate, who comes at each step of distance: in all, and where nothing is listed.
    cell = near.first * steps + near.step
    offered = _sums(cell, coming[near.second], count * steps).reshape(count, steps)
    unlisted = _sums(cell[hidden], coming[near.second[hidden]], count * steps)
    unlisted = unlisted.reshape(count, steps)
    beyond = np.maximum(coming.sum() - coming - offered.sum(axis=1), 0.0)
    far_listed = _sums(from_[~is_near], coming[to[~is_near]], count)
    offered[:, -1] += beyond
    unlisted[:, -1] += np.maximum(beyond - far_listed, 0.0)

    missing = np.maximum(leaving - _sums(from_, moves, count), 0.0)
    decay = np.ones(steps)
    for _ in range(DECAY_ROUNDS):
        share = leaving / np.maximum(offered @ decay, _TINY)
        guessed = (missing / np.maximum(unlisted @ decay, _TINY)) @ unlisted * decay
        decay = _falling(listed + guessed, share @ offered, DECAY_SLACK * scale)
    share = leaving / np.maximum(offered @ decay, _TINY)
    weights = share[near.first] * coming[near.second] * decay[near.step] * hidden
    elsewhere = share * decay[-1] * np.maximum(beyond - far_listed, 0.0)
    scaling = missing.sum() / max(weights.sum() + elsewhere.sum(), _TINY)
    return Unmeasured(
        near.first[hidden],
        near.second[hidden],
        weights[hidden] * scaling,
        elsewhere * scaling,
        decay,
    )


def _sums(cells: NDArray[np.int64], weights: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """The weights of each cell, added up; of none, where NumPy would count, too."""
    return np.bincount(cells, weights, size).astype(np.float64)


def _falling(
    moves: NDArray[np.float64], expected: NDArray[np.float64], slack: float
) -> NDArray[np.float64]:
    """Moves over expected ones at each step of distance, never rising with it.

    From the step with most to go by to both sides; one with little takes after the one before it.
    """
    decay = np.ones(len(moves))
    surest = int(np.argmax(expected))
    decay[surest] = (moves[surest] + slack) / (expected[surest] + slack)
    for step in range(surest + 1, len(moves)):
        ratio = (moves[step] + slack * decay[step - 1]) / (expected[step] + slack)
        decay[step] = min(ratio, decay[step - 1])
    for step in range(surest - 1, -1, -1):
        ratio = (moves[step] + slack * decay[step + 1]) / (expected[step] + slack)
        decay[step] = max(ratio, decay[step + 1])
    return decay


@njit(cache=True, nogil=True)
def _nearest(
    points: NDArray[np.float64], most: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The ``most`` nearest of each point, and how far they are; the points ascend in column 2.

    Looks up and down that column until it is too far away in it alone.
    """
    count = len(points)
    near, far = np.empty((count, most), dtype=np.int64), np.empty((count, most))
    for here in range(count):
        found, below, above = 0, here - 1, here + 1
        while below >= 0 or above < count:
            down = points[here, 2] - points[below, 2] if below >= 0 else np.inf
            up = points[above, 2] - points[here, 2] if above < count else np.inf
            if found == most and min(down, up) >= far[here, 0]:
                break
            if down <= up:
                there = below
                below -= 1
            else:
                there = above
                above += 1
            distance = np.sqrt(((points[here] - points[there]) ** 2).sum())
            if found < most:
                near[here, found], far[here, found] = there, distance
                found += 1
                if found == most:
                    for i in range(most // 2 - 1, -1, -1):
                        _sink(near[here], far[here], i)
            elif distance < far[here, 0]:
                near[here, 0], far[here, 0] = there, distance
                _sink(near[here], far[here], 0)
    return near, far


@njit(cache=True, nogil=True)
def _sink(near: NDArray[np.int64], far: NDArray[np.float64], i: int) -> None:
    """Put the i-th into its place in a heap with the farthest on top."""
    child = 2 * i + 1
    while child < len(far):
        if child + 1 < len(far) and far[child + 1] > far[child]:
            child += 1
        if far[child] <= far[i]:
            break
        near[i], near[child] = near[child], near[i]
        far[i], far[child] = far[child], far[i]
        i, child = child, 2 * child + 1
