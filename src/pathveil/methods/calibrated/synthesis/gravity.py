"""What the public map says about moves that were too rare to be measured.

People rather go somewhere near. How much rather is measured: the table of distances
(`statistics.distances`) tells how many moves there are at each step of distance. What the listed
moves leave over is shared out: from x to y

    a(x) × those who come to y × decay(distance from x to y),

where a(x) makes them sum to those who leave x for a move that is not listed, and the decay makes
them sum, at each step of distance, to what the table has and the listed moves do not. Both are
found in turns (iterative proportional fitting). Where the map explains nothing the steps come out
equal, and people mix freely, as they do without a map. With the timetable of a GTFS feed
(`universe.lines`) pairs of stops that one line serves have steps of their own, by how many stops
they are apart: so moves that a line serves come first, as far as the noisy table says so. Only
coordinates and timetables, which are public, and noisy tables are seen.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import njit
from pathveil.statistics.constants import (
    DECAY_ROUNDS,
    DECAY_SLACK,
    LEAST_NEIGHBOURS,
    MOST_NEIGHBOUR_PAIRS,
)
from pathveil.statistics.denoise import Estimates
from pathveil.statistics.distances import STEP_ENDS, UNKNOWN
from pathveil.statistics.statistic import LEAST_PLACED
from pathveil.universe.lines import Lines

_TINY = 1e-300


@dataclass(frozen=True, slots=True, eq=False)
class Neighbourhood:
    """The nearest candidates of each candidate, and how far they are, in steps of distance.

    Attributes:
        first: int64, ascending; whose neighbour it is.
        second: int64; the neighbour, ascending for each ``first``.
        step: int64; how far it is.
        beyond: the step of whoever is no neighbour, and of all that are as far. The steps after it
            are those of a line: how many stops apart.
        count: n, the number of candidates.
    """

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    step: NDArray[np.int64]
    beyond: int
    count: int

    @classmethod
    def of(cls, points: NDArray[np.float64], lines: Lines | None = None) -> "Neighbourhood | None":
        """None if there is no map to speak of.

        Args:
            points: float64, shape (n, 3); see `universe.coordinates.points_on_earth`.
            lines: the pairs of candidates that one line serves; they are neighbours, too.
        """
        placed = np.flatnonzero(~np.isnan(points[:, 0]))
        if len(placed) < LEAST_PLACED:
            return None
        from_south = placed[np.argsort(points[placed, 2], kind="stable")]
        most = max(LEAST_NEIGHBOURS, MOST_NEIGHBOUR_PAIRS // len(placed))
        near, far = _nearest(points[from_south], min(most, len(placed) - 1))
        # Row by row: by whose neighbours they are, and in a row by who they are.
        rows = np.argsort(from_south)
        near, step = from_south[near[rows]], np.searchsorted(STEP_ENDS, far[rows] ** 2, "right")
        farthest = step.max(axis=1)
        is_all = near.shape[1] == len(placed) - 1
        beyond = 1 + int(farthest.max() if is_all else np.median(farthest))
        order = np.argsort(near, axis=1)
        found = cls(
            np.repeat(from_south[rows], near.shape[1]),
            np.take_along_axis(near, order, axis=1).ravel(),
            np.minimum(np.take_along_axis(step, order, axis=1).ravel(), beyond),
            beyond,
            len(points),
        )
        return found if lines is None else found._served(lines)

    def _served(self, lines: Lines) -> "Neighbourhood":
        """With the pairs that a line serves: how many stops apart counts, and not how far."""
        count = self.count
        keys = np.concatenate(
            (lines.first.astype(np.int64) * count + lines.second, self.first * count + self.second)
        )
        step = np.concatenate((self.beyond + 1 + lines.step.astype(np.int64), self.step))
        keys, at = np.unique(keys, return_index=True)  # of two the first: that of the line
        first, second = np.divmod(keys, count)
        return replace(self, first=first, second=second, step=step[at])


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
    distances: Estimates,
) -> Unmeasured:
    """Share out what the listed moves leave over.

    Args:
        near: the map.
        keys: int64, ascending; the listed moves, from·n + to.
        moves: float64; how many people make each.
        leaving: float64, shape (n,); who leaves each candidate for a new location.
        coming: float64, shape (n,); who comes to each for the first time; the same sum.
        distances: how many moves there are at each step of distance; any sum.
    """
    count, farthest = near.count, near.beyond
    by_stops = distances.value[UNKNOWN + 1 :]  # none without a timetable
    steps = farthest + 1 + len(by_stops)
    # The listed moves among neighbours, and the others.
    pair = near.first * count + near.second
    at = np.minimum(np.searchsorted(pair, keys), len(pair) - 1)
    is_near = pair[at] == keys
    hidden = np.ones(len(pair), dtype=np.bool_)
    hidden[at[is_near]] = False
    from_, to = np.divmod(keys, count)
    listed = _sums(near.step[at[is_near]], moves[is_near], steps)
    listed[farthest] += moves[~is_near].sum()

    # Of each candidate, who comes at each step of distance where nothing is listed.
    cell = near.first * steps + near.step
    offered = _sums(cell, coming[near.second], count * steps).reshape(count, steps)
    unlisted = _sums(cell[hidden], coming[near.second[hidden]], count * steps)
    unlisted = unlisted.reshape(count, steps)
    beyond = np.maximum(coming.sum() - coming - offered.sum(axis=1), 0.0)
    beyond = np.maximum(beyond - _sums(from_[~is_near], coming[to[~is_near]], count), 0.0)
    unlisted[:, farthest] += beyond

    missing = np.maximum(leaving - _sums(from_, moves, count), 0.0)
    scaling = leaving.sum() / max(distances.value.sum(), _TINY)
    told = np.append(_folded(distances.value[: UNKNOWN + 1], farthest + 1), by_stops) * scaling
    noise = scaling * float(np.sqrt(distances.variance.max()))
    left = np.maximum(told - listed, 0.0)
    left *= missing.sum() / max(left.sum(), _TINY)
    decay = np.ones(steps)
    for _ in range(DECAY_ROUNDS):
        share = _shared_out(missing, unlisted @ decay)
        expected, slack = share @ unlisted, DECAY_SLACK * noise
        decay = np.append(
            _smoothed(left[: farthest + 1], expected[: farthest + 1], slack),
            _smoothed(left[farthest + 1 :], expected[farthest + 1 :], slack),
        )
    share = _shared_out(missing, unlisted @ decay)
    return Unmeasured(
        near.first[hidden],
        near.second[hidden],
        (share[near.first] * coming[near.second] * decay[near.step])[hidden],
        share * decay[farthest] * beyond,
        decay,
    )


def _shared_out(missing: NDArray[np.float64], among: NDArray[np.float64]) -> NDArray[np.float64]:
    """How many there are for each who can be met; none where nobody can."""
    return np.divide(missing, among, out=np.zeros_like(missing), where=among > 0)


def _sums(cells: NDArray[np.int64], weights: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """The weights of each cell, added up; of none, where NumPy would count, too."""
    return np.bincount(cells, weights, size).astype(np.float64)


def _smoothed(
    moves: NDArray[np.float64], expected: NDArray[np.float64], slack: float
) -> NDArray[np.float64]:
    """Moves over expected ones at each step of distance.

    From the step with most to go by to both sides; one with little takes after the one before it.
    """
    decay = np.ones(len(moves))
    if not len(moves):
        return decay
    surest = int(np.argmax(expected))
    decay[surest] = (moves[surest] + slack) / (expected[surest] + slack)
    for step in range(surest + 1, len(moves)):
        decay[step] = (moves[step] + slack * decay[step - 1]) / (expected[step] + slack)
    for step in range(surest - 1, -1, -1):
        decay[step] = (moves[step] + slack * decay[step + 1]) / (expected[step] + slack)
    return decay


def _folded(values: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """The first ones; all others are added to the last of them."""
    return np.append(values[: size - 1], values[size - 1 :].sum())


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
