"""The first measurements denoised: how many trajectories, of what shape, ending and going where.

The candidates for the second stage come from here too: they are the locations whose visits stand
out of the noise.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pathveil.model.measurements import NoisyTable, Popularity
from pathveil.statistics.shapes import DISTINCT_BINS, LENGTH_BINS, possible_shapes
from pathveil.statistics.visits import MULTIPLICITIES
from pathveil.synthesis.denoise import Estimates, sparse_estimates

# A count below this share of all trajectories is as good as any other so small: it is the sanity
# bound of the paper's relative error (section VI).
SANITY = 0.001
# How many standard deviations of its sum a table must miss before visits count as lost.
CERTAIN = 2.0
# So many bins of lengths are denoised together: 1 to 8 visits, 9 to 16, 17 to 64, 65 to 256, more.
LENGTHS_ALIKE = 8
# Noise alone passes for shapes of such lengths once in 140 times.
DOUBT_OF_LENGTHS = 5.0
# A floor above all counts: errors in a shape are absolute, so the median is the ordinary one.
PLAIN_MEDIAN = 1e18


@dataclass(frozen=True, slots=True, eq=False)
class PopularityEstimates:
    """The first stage, denoised.

    Attributes:
        total: the number of trajectories; 0 if nothing stands out of the noise.
        shapes: shape (LENGTH_BINS, DISTINCT_BINS); they sum to ``total``.
        last_locations: shape (|L|,).
        visits: shape (MULTIPLICITIES, |L|); m-th visits are never more than (m − 1)-th ones.
        unnamed_visits: first visits to locations that can't be told from unvisited ones.
    """

    total: float
    shapes: Estimates
    last_locations: Estimates
    visits: Estimates
    unnamed_visits: float

    @property
    def lengths(self) -> Estimates:
        """How many trajectories fall into each bin of lengths, shape (LENGTH_BINS,)."""
        return Estimates(self.shapes.value.sum(axis=1), self.shapes.variance.sum(axis=1))

    @property
    def sanity_bound(self) -> float:
        """The count below which relative errors are not told apart."""
        return SANITY * self.total

    def of(self, candidates: NDArray[np.int64]) -> "PopularityEstimates":
        """The same for the candidates only, whose columns become 0 … n − 1."""
        return PopularityEstimates(
            self.total,
            self.shapes,
            _columns(self.last_locations, candidates),
            _columns(self.visits, candidates),
            self.unnamed_visits,
        )


def choose_candidates(popularity: Popularity) -> NDArray[np.int64]:
    """The locations that the second stage looks at, sorted codes. Sees noisy counts only."""
    estimates = estimate_popularity(popularity)
    if estimates.total == 0:
        return np.zeros(0, dtype=np.int64)
    return np.flatnonzero(estimates.visits.value[0] > 0)


def estimate_popularity(popularity: Popularity) -> PopularityEstimates:
    """Denoise the first stage."""
    shapes = _estimate_shapes(popularity)
    # The noise on one count can be taken for any number of trajectories; the shapes tell whether
    # there are any.
    total = float(max(popularity.total.counts[0], 0)) if shapes.value.any() else 0.0
    scaling = total / max(shapes.value.sum(), 1.0)
    floor = SANITY * total
    visits, unnamed = _estimate_visits(popularity, floor)
    return PopularityEstimates(
        total,
        Estimates(shapes.value * scaling, shapes.variance),
        _estimate(popularity.last_locations, floor),
        visits,
        unnamed,
    )


def _estimate(table: NoisyTable, floor: float) -> Estimates:
    return sparse_estimates(table.counts, table.scale, floor=floor)


def _estimate_shapes(popularity: Popularity) -> Estimates:
    """Shapes that can occur; the others are known to be empty.

    Those of similar length are denoised by themselves. Most shapes of short trajectories occur and
    hardly any of very long ones: what is a count among the former is noise among the latter, and
    a trajectory of 300 visits that nobody made spoils more than fifty of 3. Lengths that noise
    alone explains nearly as well are taken not to occur.
    """
    table = popularity.shapes
    bins = (LENGTH_BINS, DISTINCT_BINS)
    counts, possible = table.counts.reshape(bins), possible_shapes(popularity.universe_size)
    value, variance = np.zeros(bins), np.ones(bins)
    for first in range(0, LENGTH_BINS, LENGTHS_ALIKE):
        rows = slice(first, first + LENGTHS_ALIKE)
        cells = possible[rows]
        known = sparse_estimates(
            counts[rows][cells], table.scale, floor=PLAIN_MEDIAN, doubt=DOUBT_OF_LENGTHS
        )
        value[rows][cells], variance[rows][cells] = known.value, known.variance
    return Estimates(value, variance)


def _estimate_visits(popularity: Popularity, floor: float) -> tuple[Estimates, float]:
    """Visits by multiplicity and location, and the first visits that stay unnamed."""
    size, scale = popularity.universe_size, popularity.visits.scale
    noisy = popularity.visits.counts.reshape(MULTIPLICITIES, size)
    value, variance = np.empty(noisy.shape), np.empty(noisy.shape)
    for times, counts in enumerate(noisy):
        known = sparse_estimates(counts, scale, floor=floor)
        value[times], variance[times] = known.value, known.variance
        if times > 0:
            value[times] = np.minimum(value[times], value[times - 1])
    # The sum of a table is known much better than its cells: what the estimates miss of it are
    # visits to locations that are each too rare to stand out.
    missing = noisy[0].sum() - value[0].sum() - CERTAIN * scale * np.sqrt(2.0 * size)
    return Estimates(value, variance), max(missing, 0.0)


def _columns(estimates: Estimates, chosen: NDArray[np.int64]) -> Estimates:
    return Estimates(estimates.value[..., chosen], estimates.variance[..., chosen])
