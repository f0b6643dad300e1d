"""Moves that are too rare to be listed, told by their noise and the model together.

A threshold keeps the moves that stand out, one by one. Of the others the model has a guess, m: who
leaves here and comes there, and how far it is. Each of them has a noisy count x, too, which says
little of it alone. But there are thousands, and together they say how far guesses are off: true
counts are m·f, where the factors f of moves with about the same m have some distribution, and the
likeliest one is found by EM, as in `statistics.denoise`. Bayes' rule then gives the mean of f for
each x: 1, on average, where the guess is far below the noise, and where it is not, more for those
that have a large count and less for those that have none. So nobody is placed where the noise alone
is large, and nothing is lost if the table says nothing.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pathveil.core.noise import Noise
from pathveil.methods.calibrated.synthesis.estimates import Estimated
from pathveil.methods.calibrated.synthesis.move_kinds import corrected, kinds
from pathveil.statistics.constants import (
    FACTOR_GRID,
    FACTOR_ROUNDS,
    FACTOR_SPREAD,
    FACTOR_TAIL,
    GUESS_STEP,
    LARGEST_GUESS,
    LEAST_BACKGROUND,
    MOST_CAP,
    SMALLEST_GUESS,
)
from pathveil.statistics.denoise import Estimates
from pathveil.statistics.distances import DISTANCES
from pathveil.statistics.measurement_plan import MeasurementPlan
from pathveil.statistics.measurements import Measurements
from pathveil.statistics.moves import MOVES
from pathveil.statistics.noisy_table import NoisyTable
from pathveil.statistics.shapes import DISTINCT_VALUES, SHAPES
from pathveil.statistics.visits import VISITS

Floats = NDArray[np.float64]
COUNT_STEP, SEEN_SCALES = 1 / 2, (-12.0, 24.0)  # bins of noisy counts, in scales of the noise
_TINY = 1e-300
BOTH_ENDS = 2


@dataclass(frozen=True, slots=True, eq=False)
class SmallMoves:
    """The noisy counts of all moves.

    Attributes:
        table: all of them.
        left: how many moves are not listed, about.
    """

    table: NoisyTable
    left: float

    @classmethod
    def of(cls, seen: Measurements, known: Estimated, plan: MeasurementPlan) -> "SmallMoves | None":
        """None if no moves were measured, or only those above a threshold."""
        if MOVES not in seen:
            return None
        table = seen.whole.get(MOVES, seen[MOVES])
        if table.threshold is not None:
            return None
        in_all = moves_in_all(known, plan)
        left = in_all - float(known.listed(MOVES).value.sum())
        return cls(table, max(left, LEAST_BACKGROUND * in_all))

    def told(self, model: Floats, listed: Estimates, *, mapped: bool) -> Floats:
        """How many make each move, with the same sum.

        Args:
            model: in proportion to how many make each by the model; 0 for those that are listed,
                or can't be made.
            listed: the moves that are listed.
            mapped: whether the model has a map.
        """
        small, value = np.flatnonzero(model), model.copy()
        if self.left > 0 and len(small):
            in_all = model[small].sum()
            guess = model[small] * (self.left / in_all)
            counts, noise = self.table.counts[small], self.table.noise
            for kind in kinds(listed, round(len(model) ** 0.5), mapped=mapped):
                guess = corrected(guess, counts, noise, kind[small])
            value[small] = guess * factors(guess, counts, noise) * (in_all / self.left)
        return value


class _Bins(NamedTuple):
    """Moves with about the same guess and noisy count share one posterior.

    Attributes:
        group: which guesses are about as large, from 0.
        cells: how many moves.
        likelihood: shape (bins, factors).
        of: the bin of each move.
    """

    group: NDArray[np.int64]
    cells: Floats
    likelihood: Floats
    of: NDArray[np.int64]


def factors(guess: Floats, noisy: NDArray[np.integer], noise: Noise) -> Floats:
    """How many times its guess each move is, on average; the mean of all guesses stays.

    Args:
        guess: > 0; how many make each move, by the model, on the scale of the table.
        noisy: their noisy counts.
        noise: its law.
    """
    bins = _bins(guess, noisy, noise.at_least(1.0))  # counts are whole
    near_one = np.exp(
        -((np.log2(np.maximum(FACTOR_GRID, FACTOR_GRID[1])) / FACTOR_SPREAD) ** 2) / 2
    )
    prior = _likeliest(near_one + FACTOR_TAIL, bins.cells, bins.likelihood)
    means = np.empty(len(bins.cells))
    for group in range(int(bins.group.max(initial=-1)) + 1):
        inside = bins.group == group
        likelihood = bins.likelihood[inside]
        own = _likeliest(prior, bins.cells[inside], likelihood)
        means[inside] = _normalised(likelihood * own) @ FACTOR_GRID / (own @ FACTOR_GRID)
    found: Floats = means[bins.of]
    found *= guess.sum() / max(float(found @ guess), _TINY)
    return found


def _bins(guess: Floats, noisy: NDArray[np.integer], noise: Noise) -> _Bins:
    scale = noise.scale
    size = np.log2(np.clip(guess / scale, SMALLEST_GUESS, LARGEST_GUESS)) / GUESS_STEP
    size = np.round(size).astype(np.int64)
    seen = np.round(np.clip(noisy / scale, *SEEN_SCALES) / COUNT_STEP).astype(np.int64)
    least, lowest, width = size.min(initial=0), seen.min(initial=0), int(np.ptp(seen)) + 1
    keys = (size - least) * width + (seen - lowest)
    cells = np.bincount(keys)
    there = np.flatnonzero(cells)  # the keys are few: nothing is sorted
    of = np.searchsorted(there, np.arange(len(cells)))[keys]
    size, seen = np.divmod(there, width)
    size += least
    middle = scale * 2.0 ** (GUESS_STEP * size)
    gaps = scale * COUNT_STEP * (seen + lowest)[:, None] - middle[:, None] * FACTOR_GRID
    group = np.unique(size, return_inverse=True)[1]
    return _Bins(group, cells[there].astype(np.float64), noise.weight(gaps), of)


def _likeliest(prior: Floats, cells: Floats, likelihood: Floats) -> Floats:
    """EM, from a first guess on; not to its end: few moves must not learn their own noise."""
    prior = prior / prior.sum()
    for _ in range(FACTOR_ROUNDS):
        prior = cells @ _normalised(likelihood * prior) + _TINY
        prior /= prior.sum()
    return prior


def _normalised(weights: Floats) -> Floats:
    result: Floats = weights / np.maximum(weights.sum(axis=1, keepdims=True), _TINY)
    return result


def moves_in_all(known: Estimated, plan: MeasurementPlan, ends: int = BOTH_ENDS) -> float:
    """The sum of the table of moves, which the shapes tell far better than its cells.

    Candidates hold a share of the first visits: of all moves this part begins at one. If the others
    were anywhere, the same part of these would end at one, too; but who was at a location that has
    a name rather goes to another such one. At most all do, and between these bounds the sum of the
    noisy counts tells how many.

    Args:
        known: the denoised tables.
        plan: the public caps.
        ends: how many of its ends are candidates: 0, 1 or 2.
    """
    caps = [plan[table].cap for table in (MOVES, DISTANCES) if table in plan]
    distinct = np.minimum(DISTINCT_VALUES, caps[0] if caps else MOST_CAP)
    visits = known[VISITS].value.sum()
    named = visits / max(visits + known.unnamed_visits, 1.0)
    in_all = float((known[SHAPES].value @ (distinct - 1.0)).sum())
    if ends < BOTH_ENDS or known.moves_summed is None or known.unnamed_visits == 0:
        return float(in_all * named**ends)
    most, least = in_all * named, in_all * named**2
    summed, variance = known.moves_summed
    told = (most - least) ** 2 / ((most - least) ** 2 + variance)
    return float(least + told * (min(max(summed, least), most) - least))
