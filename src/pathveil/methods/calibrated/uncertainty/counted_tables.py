"""What noisy tables of two locations say of their cells, and what is guessed of each before."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pathveil.methods.calibrated.uncertainty.factor_prior import (
    FactorPrior,
    NoisyCells,
    cells_by_step,
    steps_of,
)
from pathveil.statistics.constants import FACTOR_STEP, LISTED_DRAWS, MOST_LISTED
from pathveil.statistics.measurements import Measurements
from pathveil.statistics.moves import MOVES
from pathveil.statistics.pairs import PAIRS
from pathveil.statistics.prefix_tree import LEVELS as TREE_LEVELS
from pathveil.statistics.statistic import Statistic
from pathveil.statistics.trips import TRIPS
from pathveil.statistics.visits import VISITS

SECOND = TREE_LEVELS[1]


class CountedTable(NamedTuple):
    """What a table of two locations says.

    Attributes:
        statistic: which one.
        keys: int64, ascending; cells of which the noisy counts are known.
        first, second: int64; their locations, as positions among the candidates.
        known: their noisy counts, and how many others there are.
        prior: of true counts.
    """

    statistic: Statistic
    keys: NDArray[np.int64]
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    known: NoisyCells
    prior: FactorPrior

    def largest(self, released: NDArray[np.float64], least: float) -> NDArray[np.int64]:
        """Where the cells stand that are listed, or that are released as so many; in order.

        The largest noisy counts, if there are too many.
        """
        some = np.flatnonzero(self.known.is_listed | (released >= least))
        order = np.argsort(-self.known.noisy[some], kind="stable")
        return np.sort(some[order[:MOST_LISTED]])

    def drawn(self, at: NDArray[np.int64], draw: np.random.Generator) -> NDArray[np.float64]:
        """True counts of some cells, shape (cells, draws)."""
        return self.prior.draw(self.known.noisy[at], self.known.steps[at], LISTED_DRAWS, draw)


class _Layout(NamedTuple):
    """Which locations the keys of a table stand for, and their guesses.

    Attributes:
        first, second: int64; positions among the candidates.
        possible: bool; whether the cell can be occupied, and is asked for.
        steps: int64; the guess of each, by steps of `FACTOR_STEP`.
        cells: how many such cells have each guess, in the table or not.
    """

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    possible: NDArray[np.bool_]
    steps: NDArray[np.int64]
    cells: dict[int, int]


def told_by(measurements: Measurements, statistic: Statistic) -> CountedTable | None:
    """What a table says of its cells; None if it was not measured, or lists nothing."""
    if statistic not in measurements or not measurements.scope.named:
        return None
    table = measurements[statistic]
    whole = measurements.whole.get(statistic, table)
    layout = _LAYOUTS[statistic](whole.keys, measurements)
    threshold = table.threshold
    if threshold is None:
        threshold = table.noise.threshold(table.cells, statistic.invented(measurements.scope))
    asked = layout.possible
    noisy = whole.counts[asked].astype(np.float64)
    known = NoisyCells(noisy, layout.steps[asked], noisy >= threshold, layout.cells, threshold)
    if not known.is_listed.any():
        return None
    prior = FactorPrior.fit(known, table.noise)
    return CountedTable(
        statistic, whole.keys[asked], layout.first[asked], layout.second[asked], known, prior
    )


def _places(measurements: Measurements) -> NDArray[np.int64]:
    """The share of each candidate in all visits, by the noisy table of visits; in steps."""
    visits = measurements[VISITS].counts[measurements.candidates].astype(np.float64)
    return steps_of(visits)


def _all_visits(places: NDArray[np.int64]) -> int:
    return int(steps_of(np.exp(FACTOR_STEP * places).sum(keepdims=True))[0])


def _two_different(keys: NDArray[np.int64], measurements: Measurements) -> _Layout:
    """Any two candidates, in this order."""
    places = _places(measurements)
    first, second = np.divmod(keys, len(places))
    cells, less = cells_by_step(places, places), _all_visits(places)
    for step in (2 * places).tolist():
        cells[step] -= 1  # who stays
    cells = {step - less: many for step, many in cells.items() if many}
    return _Layout(first, second, first != second, places[first] + places[second] - less, cells)


def _unordered(keys: NDArray[np.int64], measurements: Measurements) -> _Layout:
    """Any two candidates, the smaller first."""
    both = _two_different(keys, measurements)
    halves = {step: many // 2 for step, many in both.cells.items()}
    return both._replace(possible=both.first < both.second, cells=halves)


def _first_two(keys: NDArray[np.int64], measurements: Measurements) -> _Layout:
    """A node of the first level of the tree, and where it goes on to."""
    places, above = _places(measurements), measurements[TREE_LEVELS[0]]
    label = above.keys % (len(places) + 1)
    goes_on = label != len(places)
    begins = steps_of(above.counts[goes_on].astype(np.float64))
    node, second = np.divmod(keys, len(places) + 1)
    possible, less = second < len(places), _all_visits(places)
    cells = {step - less: many for step, many in cells_by_step(begins, places).items()}
    steps = begins[node] + np.append(places, 0)[second] - less
    return _Layout(label[goes_on][node], second, possible, steps, cells)


_LAYOUTS: dict[Statistic, Callable[[NDArray[np.int64], Measurements], _Layout]] = {
    MOVES: _two_different,
    TRIPS: _two_different,
    PAIRS: _unordered,
    SECOND: _first_two,
}
