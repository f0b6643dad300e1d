"""True counts of conjunctions: two locations and more, of which pairs at most were measured."""

import numpy as np
from numpy.typing import NDArray

from pathveil.model.paths import Paths
from pathveil.statistics.denoise import posterior
from pathveil.statistics.registry import PAIRS, SHAPES, VISITS
from pathveil.statistics.shapes import (
    DISTINCT_VALUES,
    LENGTH_BINS,
    distinct_locations,
    possible_shapes,
)
from pathveil.uncertainty.misfit import Misfit, deviation
from pathveil.uncertainty.quantiles import TableRows
from pathveil.uncertainty.sample import Evidence, predict_pairs, predict_sets

DRAWS = 4000
STEPS_PER_DECADE = 8
JEFFREYS = 0.5  # a count of a says that its mean is Gamma(a + 1/2)
LARGE = 100  # from here on that is a normal distribution
LARGEST_MEAN = 1e15
NEGLIGIBLE = 0.5  # trajectories: hidden long ones below that change no interval

_Draws = list[tuple[int, NDArray[np.float64]]]


def conjunction_rows(
    evidence: Evidence, released: Paths, draw: np.random.Generator
) -> list[TableRows]:
    """Two locations; three and more, up to where more of them change nothing."""
    sample, measurements, plan = evidence.sample, evidence.measurements, evidence.plan
    tables = [predict_pairs(sample, measurements, plan), predict_sets(sample, measurements)]
    floors, spreads = Misfit.fit(tables, sample.thinning).draw(DRAWS, draw)
    # The same luck for all estimates makes the table smooth.
    luck, noise, chance = (draw.standard_normal(DRAWS) for _ in range(3))
    beyond, scale = _pairs_beyond(evidence), max(measurements[PAIRS].scale, 1.0)
    pairs: _Draws = []
    more: _Draws = []
    for estimate in _sizes(int(released.weights.sum())):
        mean = _mean_given_count(estimate, chance, draw)
        spread = deviation(floors, spreads, float(estimate))
        unmeasured = draw.poisson(np.minimum(mean * _factor(spread, luck), LARGEST_MEAN))
        more.append((estimate, unmeasured.astype(np.float64)))
        within, rest = (1.0 - beyond) * estimate, beyond * estimate
        if within <= (measurements[PAIRS].threshold or 0):
            pairs.append(more[-1])
            continue
        # The pair was measured: what the noise and the misfit leave uncertain together.
        deviations = 1.0 / np.sqrt(1.0 / (spread * within) ** 2 + 1.0 / (2.0 * scale**2))
        uncounted = rest * _factor(deviation(floors, spreads, rest), luck)
        pairs.append((estimate, _whole(within + deviations * noise + uncounted)))
    rows = [TableRows.of(2, pairs)]
    for locations, hidden in enumerate(_hidden_long(evidence), start=3):
        if len(rows) > 1 and hidden < NEGLIGIBLE:
            break
        moved: _Draws = [(size, _whole(true + hidden * noise)) for size, true in more]
        rows.append(TableRows.of(locations, moved))
    return rows


def _pairs_beyond(evidence: Evidence) -> float:
    """The share of all pairs in which one location comes after the first d."""
    sample, paths = evidence.sample, evidence.sample.paths
    distinct = distinct_locations(
        paths.offsets, paths.codes, len(evidence.measurements.candidates)
    ).astype(np.float64)
    early = np.minimum(distinct, evidence.plan[PAIRS].cap)
    pairs = float(sample.after @ (distinct * (distinct - 1.0)))
    return 1.0 - float(sample.after @ (early * (early - 1.0))) / pairs if pairs > 0 else 0.0


def _hidden_long(evidence: Evidence) -> list[float]:
    """The deviations that the noise on the shapes leaves in conjunctions of 3, 4 … h locations.

    A trajectory over d of |L| locations visits all of k with probability
    d(d − 1)⋯ / |L|(|L| − 1)⋯, were all equally popular.
    """
    table, size = evidence.measurements[SHAPES], evidence.measurements.universe_size
    possible = possible_shapes(size).ravel()
    variance = posterior(table.counts[possible], table.scale).variance
    distinct = np.tile(np.minimum(DISTINCT_VALUES, size), LENGTH_BINS)[possible]
    most = max(evidence.plan[VISITS].cap, 3)
    taken = np.arange(most)[:, None]
    chances = np.cumprod(np.maximum(distinct - taken, 0.0) / np.maximum(size - taken, 1), axis=0)
    deviations: list[float] = np.sqrt(chances[2:] ** 2 @ variance).tolist()
    return deviations


def _whole(true: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.round(np.maximum(true, 0.0)).astype(np.float64)


def _sizes(largest: int) -> list[int]:
    """The estimates of the table: 0 to 9, and then some of each decade."""
    decades = np.log10(max(largest, 10)) - 1.0
    steps = np.arange(np.ceil(STEPS_PER_DECADE * decades) + 1) / STEPS_PER_DECADE
    return [*range(10), *np.round(10.0 * 10.0**steps).astype(np.int64).tolist()]


def _mean_given_count(
    count: int, normal: NDArray[np.float64], draw: np.random.Generator
) -> NDArray[np.float64]:
    """Draws of the mean of which a Poisson count was drawn."""
    mean: NDArray[np.float64]
    if count < LARGE:
        mean = draw.gamma(count + JEFFREYS, size=len(normal))
    else:
        mean = np.maximum(count + np.sqrt(count) * normal, 0.0)
    return mean


def _factor(spread: NDArray[np.float64], luck: NDArray[np.float64]) -> NDArray[np.float64]:
    """W: log-normal with mean 1."""
    result: NDArray[np.float64] = np.exp(spread * luck - spread**2 / 2)
    return result
