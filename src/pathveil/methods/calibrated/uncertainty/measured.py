"""How far answers are off, read from the tables that count the same.

Of every cell that a table lists both the noisy count y and the released one e are known, and
y = T + z with noise z of known law. So

    T − e = (y − e) − z

for every cell, however wrong the model is, and though the release was fitted to y. Say the release
follows a part a of the noise, from none to all, and is off by u for reasons of its own:
e = T + a·z + u. Then (y − e) varies by (1 − a)²·Z + U and T − e by a²·Z + U, which is at most the
sum of what y − e and z vary by: the worst is a = 1, that all noise was followed. So a residual and
noise are drawn independently of each other, and added. Of a cell that a table does not list y is
between nobody and the threshold: both ends are taken.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pathveil.core.paths import Paths
from pathveil.methods.calibrated.uncertainty.popularity_prior import simulated
from pathveil.methods.calibrated.uncertainty.table_rows import HALF_DECADES
from pathveil.statistics.constants import (
    CONJUNCTION_DRAWS,
    ENOUGH_MOVES,
    OFFERED_ERRORS,
    STANDS_OUT,
    STEEPNESS,
)
from pathveil.statistics.measurements import Measurements
from pathveil.statistics.noisy_table import NoisyTable
from pathveil.statistics.statistic import Rows
from pathveil.statistics.trips import TRIPS
from pathveil.statistics.visited_sets import VISITED_SETS

Draws = list[tuple[int, NDArray[np.float64]]]
"""Released counts, each with true ones."""


class Residuals(NamedTuple):
    """What a table says of released counts: its noisy ones less these, at least and at most.

    Attributes:
        released: float64; counts of cells.
        least, most: float64; the same if the table lists the cell. Of one that it does not list the
            noisy count is below the threshold, and not known.
    """

    released: NDArray[np.float64]
    least: NDArray[np.float64]
    most: NDArray[np.float64]

    def at(self, cells: NDArray[np.bool_]) -> "Residuals":
        """Of some cells."""
        return Residuals(*(column[cells] for column in self))


class TripResiduals(NamedTuple):
    """Of trips that end where they began, and of all others: two kinds of answers.

    Who stays is mostly counted well, and who goes elsewhere may be made up: together, the many of
    the one kind would hide the few of the other.
    """

    round_trips: Residuals
    others: Residuals


def trip_residuals(measurements: Measurements, released: Paths) -> TripResiduals | None:
    """Of every trip that is released or listed; None if the table of trips does not tell any.

    It does if it was counted as it is (not clipped, and scaled again). Trips from or to a location
    that it does not name are left out: few visit such a location at all.

    Args:
        measurements: the noisy tables.
        released: the released trajectories, over location codes.
    """
    if TRIPS not in measurements or measurements.trips_per_weight != 1 or not len(released):
        return None
    table, scope = measurements[TRIPS], measurements.scope
    rows = Rows(released.offsets, released.codes, scope.universe_size)
    cell = TRIPS.cell(rows.among(measurements.candidates), scope)[rows.not_empty]
    weights = released.weights[rows.not_empty][cell >= 0]
    cell = cell[cell >= 0]
    if table.threshold is None:
        counts = np.bincount(cell, weights, table.cells).astype(np.float64)
        left = table.counts - counts
        return _by_ends(np.arange(table.cells), Residuals(counts, left, left), scope.named)
    keys, at = np.unique(np.concatenate((cell, table.keys)), return_inverse=True)
    counts = np.bincount(at[: len(cell)], weights, len(keys)).astype(np.float64)
    noisy = np.full((2, len(keys)), [[0.0], [float(table.threshold)]])
    noisy[:, np.searchsorted(keys, table.keys)] = table.counts
    # A trip that is neither released nor listed may be as frequent as the threshold lets it be.
    least, most = np.append(noisy - counts, [[0.0], [float(table.threshold)]], axis=1)
    # The cell that stands for these leads from the first candidate to the second.
    return _by_ends(np.append(keys, 1), Residuals(np.append(counts, 0.0), least, most), scope.named)


def _by_ends(keys: NDArray[np.integer], found: Residuals, named: int) -> TripResiduals:
    first, last = np.divmod(keys, max(named, 1))
    return TripResiduals(found.at(first == last), found.at(first != last))


class Tail(NamedTuple):
    """How many cells have how large true counts: f(T) ∝ T^−(a + 1) from some count on, none below.

    Most cells of a table of two locations are small and few are large. So of two cells whose noisy
    counts stand at the top of a list the noise has made more too large than too small: Bayes' rule
    with this prior says by how much. a is told by the cells that stand out of the noise (Hill), and
    where the counts begin by all cells having to be somewhere.

    Attributes:
        steepness: a.
        least: the smallest count.
    """

    steepness: float
    least: float

    @classmethod
    def of(cls, table: NoisyTable) -> "Tail":
        """Of the counts of a table."""
        from_here = float(table.threshold or STANDS_OUT * table.noise.deviation)
        out = table.counts[table.counts >= from_here].astype(np.float64)
        if len(out) < ENOUGH_MOVES:
            return cls(0.0, 0.0)  # nothing tells: all counts are alike
        steepness = len(out) / float(np.log((out + 1.0) / from_here).sum())
        steepness = min(max(steepness, STEEPNESS[0]), STEEPNESS[1])
        return cls(steepness, from_here * (len(out) / table.cells) ** (1.0 / steepness))

    def errors(
        self, noisy: NDArray[np.float64], noise: NDArray[np.float64], draw: np.random.Generator
    ) -> NDArray[np.float64]:
        """What true counts are more than noisy ones, an error for each of these.

        Args:
            noisy: the noisy counts.
            noise: simulated.
            draw: randomness.
        """
        if not self.steepness:
            return noise[: len(noisy)]
        offered = np.quantile(noise, (np.arange(OFFERED_ERRORS) + 0.5) / OFFERED_ERRORS)
        true = noisy[:, None] + offered
        chances = np.maximum(true, max(self.least, 1.0)) ** -(self.steepness + 1.0)
        # None of them, where all would be less than there is: then it is as small as can be.
        chances[(true < self.least) & (true.max(axis=1) >= self.least)[:, None]] = 0.0
        reached = np.cumsum(chances, axis=1)
        place = draw.random(len(noisy)) * reached[:, -1]
        result: NDArray[np.float64] = offered[
            np.minimum((reached < place[:, None]).sum(axis=1), OFFERED_ERRORS - 1)
        ]
        return result


def residual_draws(
    found: Residuals,
    noise: NDArray[np.float64],
    draw: np.random.Generator,
    tail: Tail | None = None,
) -> Draws:
    """True counts of cells by their size: at the smallest and the largest cell of each group.

    Args:
        found: of every cell.
        noise: simulated.
        draw: randomness.
        tail: how large the counts of the table are, if cells are picked for being large.
    """
    place = draw.permutation((np.arange(len(noise)) + 0.5) / len(noise))
    group_of = np.searchsorted(HALF_DECADES, found.released, side="right")
    draws: Draws = []
    for group in np.unique(group_of):
        inside = group_of == group
        either = np.concatenate((found.least[inside], found.most[inside]))
        which = (place * len(either)).astype(np.int64)
        error = either[which] + noise
        sizes = found.released[inside]
        if tail is not None:
            listed = (found.least == found.most)[inside]
            told = np.tile(listed, 2)[which]
            noisy = (np.tile(sizes, 2) + either)[which]
            error[told] = either[which][told] + tail.errors(noisy[told], noise, draw)
        ends = {int(sizes.min()), int(sizes.max())}
        draws.extend((end, np.maximum(np.round(end + error), 0.0)) for end in sorted(ends))
    return draws


# Some locations in any order: all visited sets that hold them.


def set_draws(
    measurements: Measurements, released: Paths, draw: np.random.Generator
) -> list[Draws]:
    """Of 1, 2, 3 … locations in any order, if every visited set is counted; else nothing.

    How many visit all of some locations is the sum of the sets that hold them, and so is its noise.
    """
    scope = measurements.scope
    if VISITED_SETS not in measurements or measurements.trips_per_weight != 1 or not len(released):
        return []
    table, many = measurements[VISITED_SETS], len(scope.popular)
    if table.threshold is not None or many < scope.named:
        return []
    rows = Rows(released.offsets, released.codes, scope.universe_size)
    cell = VISITED_SETS.cell(rows.among(measurements.candidates), scope)
    counts = np.bincount(cell[cell >= 0], released.weights[cell >= 0], 1 << many)
    noisy, plain = (_holding(each.astype(np.float64), many) for each in (table.counts, counts))
    size = np.array([int(each).bit_count() for each in range(1 << many)])
    result = []
    for locations in range(1, many + 1):
        noise = _summed_noise(table, 1 << (many - locations), draw)
        e, y = plain[size == locations], noisy[size == locations]
        result.append(residual_draws(Residuals(e, y - e, y - e), noise, draw))
    return result


def _holding(by_set: NDArray[np.float64], many: int) -> NDArray[np.float64]:
    """Of each set, the sum over all that hold it."""
    table = by_set.reshape((2,) * many).copy()
    for axis in range(many):
        without, having = (tuple(np.s_[:] if i != axis else b for i in range(many)) for b in (0, 1))
        table[without] += table[having]
    return table.ravel()


def _summed_noise(table: NoisyTable, cells: int, draw: np.random.Generator) -> NDArray[np.float64]:
    """Of the sum of so many cells."""
    noise = np.zeros(CONJUNCTION_DRAWS)
    for _ in range(cells):
        noise += simulated(table.noise, CONJUNCTION_DRAWS, draw)
    return noise
