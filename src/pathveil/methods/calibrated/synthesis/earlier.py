"""What an earlier release of the same series says about this one's tables.

An earlier release is public, and has its own noise: of each cell of a table it gives a guess y, by
counting its trajectories as people's are counted, in proportion to how many there are now. The new
noisy count x has the truth plus noise of a known variance v. How far y is from the truth, t², is
told by the table itself: x − y has the variance v + t², whatever t² is made of (the earlier noise,
the earlier synthesis, what has changed since). So for cells that y makes of one size

    t² = mean of (x − y)² − v, and the estimate moves towards y by v/(v + t²) of the way.

What moves is the noisy count as it is, where a table has all its cells and leaning promises less
error than denoising does, v·t²/(v + t²) ≤ the posterior variance: a denoised count has been drawn
towards the sizes that are usual in its table already, and y tells more of this cell. Elsewhere, and
where a cell can't be told from an empty one or was listed because it passed a threshold, it is the
denoised count: there a noisy one is too large by selection.

That is James and Stein's estimator, which shrinks towards a point that was fixed before the noise
was drawn: for three cells or more of Gaussian noise its mean squared error is never above that of x
alone, wherever the truth is. Where the earlier release is as wrong as noise it moves nothing. No
cell is moved by more than one deviation (Efron and Morris's limited translation), so that a stop
that opened last week is not shrunk to what it was before it opened.

Why it costs no privacy: it sees noisy tables that were paid for, and a release that everybody has.
Both are outputs of mechanisms whose budgets add up (`ledger.series`); the rest is post-processing.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pathveil.core.paths import Paths
from pathveil.statistics.denoise import Estimates
from pathveil.statistics.last_locations import LAST_LOCATIONS
from pathveil.statistics.measurements import Measurements
from pathveil.statistics.moves import MOVES
from pathveil.statistics.noisy_table import NoisyTable
from pathveil.statistics.pairs import PAIRS
from pathveil.statistics.returns import RETURNS
from pathveil.statistics.statistic import Rows, Statistic
from pathveil.statistics.trips import TRIPS
from pathveil.statistics.visits import VISITS

Floats = NDArray[np.float64]
LEARNING: tuple[Statistic, ...] = (VISITS, RETURNS, LAST_LOCATIONS, PAIRS, MOVES, TRIPS)
"""The tables of plain counts of locations: those whose cells are the same from month to month."""
FEWEST = 16  # cells of one size; with fewer their t² is hardly known
LARGEST_MOVE = 1.0  # deviations
SMALLEST = 0.5  # scales: what is guessed to be smaller is of one size


@dataclass(frozen=True, slots=True, eq=False)
class Earlier:
    """An earlier release, as a guess at this one's tables.

    Attributes:
        paths: its trajectories, over the codes of this universe.
    """

    paths: Paths

    def improve(
        self, estimates: Estimates, statistic: Statistic, seen: Measurements, total: float
    ) -> Estimates:
        """Estimates that lean on the earlier release as far as the table says that it is right.

        Args:
            estimates: of the table alone.
            statistic: whose table it is.
            seen: the noisy tables.
            total: how many trajectories there are now, about.
        """
        before = float(self.paths.weights.sum())
        if statistic not in LEARNING or before <= 0 or total <= 0:
            return estimates
        table = seen[statistic]
        guess = self.counted(statistic, table, seen) * (total / before)
        off = squared_errors(table, guess)
        if estimates.keys is not None:
            at = np.searchsorted(table.keys, estimates.keys)
            return leaning(estimates, guess[at], off[at])
        return leaning(as_measured(estimates, table, off), guess, off)

    def counted(self, statistic: Statistic, table: NoisyTable, seen: Measurements) -> Floats:
        """The earlier release's counts of the listed cells, under this release's cap."""
        scope, cap = seen.scope, seen.plan[statistic].cap
        rows = Rows(self.paths.offsets, self.paths.codes, scope.universe_size)
        if statistic.of_candidates:
            rows = rows.among(scope.candidates)
        found, cells = statistic.listed(rows, scope, cap, table.keys)
        weights = self.paths.weights[found].astype(np.float64)
        counted: Floats = np.bincount(cells, weights, len(table.keys)).astype(np.float64)
        return counted


def as_measured(estimates: Estimates, table: NoisyTable, off: Floats) -> Estimates:
    """The noisy counts, where to lean from them is forecast to be no worse than to denoise them."""
    noise = max(table.noise.deviation**2, 1.0)
    with np.errstate(invalid="ignore"):
        leant = np.where(np.isinf(off), np.inf, noise * off / (noise + off))
    plain = (estimates.value > 0) & (leant <= estimates.variance)
    return Estimates(
        np.where(plain, table.counts, estimates.value),
        np.where(plain, noise, estimates.variance),
    )


def squared_errors(table: NoisyTable, guess: Floats, smallest: float = SMALLEST) -> Floats:
    """t² for each listed cell: that of the cells which the guess makes about as large."""
    noise = 2.0 * table.scale**2
    gaps = (table.counts - guess) ** 2 - noise
    group = of_one_size(guess, table.scale, smallest)
    cells = np.bincount(group)
    # James and Stein divide by two cells less: t² is a little larger for it.
    mean = np.bincount(group, gaps) / np.maximum(cells - 2, 1)
    result: Floats = np.maximum(mean, 0.0)[group]
    result[cells[group] < FEWEST] = np.inf
    return result


def of_one_size(guess: Floats, scale: float, smallest: float) -> NDArray[np.int64]:
    """Which cells the guess makes about as large: a number for each, from the smallest on."""
    size = np.floor(np.log2(np.maximum(guess / max(scale, 1.0), smallest))).astype(np.int64)
    sizes, group = np.unique(size, return_inverse=True)
    counts = np.bincount(group, minlength=len(sizes))
    # A size with few cells is taken together with the smaller ones below it.
    last = np.zeros(len(sizes), dtype=np.int64)
    joined = held = 0
    for i, count in enumerate(counts):
        held += count
        last[i] = joined
        if held >= FEWEST:
            joined, held = joined + 1, 0
    if held and joined:
        last[last == joined] = joined - 1
    return last[group]


def leaning(estimates: Estimates, guess: Floats, off: Floats) -> Estimates:
    """Estimates and guess, each by its precision; no cell moves by more than one deviation."""
    variance = estimates.variance
    with np.errstate(invalid="ignore"):
        weight = np.where(np.isinf(off), 0.0, variance / (variance + off))
    most = LARGEST_MOVE * np.sqrt(variance)
    moved = np.clip(weight * (guess - estimates.value), -most, most)
    value = np.maximum(estimates.value + moved, 0.0)
    return Estimates(value, np.maximum(variance * (1.0 - weight), 1.0), estimates.keys)
