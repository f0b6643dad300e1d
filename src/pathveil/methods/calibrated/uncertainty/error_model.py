"""The error model: draws true counts that the measurements allow, and tabulates their quantiles.

What an answer may be off by has four sources, and each is read from what was measured:

- **Noise** of the measured tables: their posteriors (`popularity_prior`, pairs by Bayes' rule).
- **Misfit** of the movement model where nothing corrected it (`misfit`).
- **Caps**: visits and pairs beyond the caps of their tables were never counted.
  For single locations two extrapolations are at hand: the released one, and that everybody's
  visits go on like the measured ones. They differ, and by how much says how little is known.
- **Long trajectories** that the noise on the shapes hides: they visit nearly everything, which
  matters where the universe is small.

Released counts are themselves drawn, so small ones are uncertain by their square root.
"""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pathveil.core.error_table import LEVELS, WITH_UNNAMED, ErrorTable
from pathveil.core.paths import Paths
from pathveil.methods.calibrated.uncertainty.misfit import Misfit, deviation
from pathveil.methods.calibrated.uncertainty.popularity_prior import PopularityPrior
from pathveil.methods.calibrated.uncertainty.sample import (
    Evidence,
    predict_pairs,
    predict_sets,
    predict_visits,
    visitors,
    visits_within,
)
from pathveil.statistics.constants import (
    CONJUNCTION_DRAWS,
    LEAST_DRAWS,
    LOCATION_DRAWS,
    MOST_DRAWS,
    NEGLIGIBLE,
    NORMAL_FROM,
    STEPS_PER_DECADE,
    TOTAL_DRAWS,
    UNNAMED_DRAWS,
)
from pathveil.statistics.denoise import posterior
from pathveil.statistics.pairs import PAIRS
from pathveil.statistics.shapes import (
    DISTINCT_VALUES,
    LENGTH_BINS,
    SHAPES,
    distinct_locations,
    possible_shapes,
)
from pathveil.statistics.total import TOTAL
from pathveil.statistics.visited_sets import VISITED_SETS
from pathveil.statistics.visits import VISITS

# Two guesses g, g' at a logarithm predict a third to within |g − g'|·√(1/2)·√(1 + 1/2).
THIRD_GUESS = float(np.sqrt(0.75))
HALF_DECADES = np.concatenate((np.array([0.0, 1.0]), 10.0 ** np.arange(0.5, 12.1, 0.5)))
JEFFREYS = 0.5  # a count of a says that its mean is Gamma(a + 1/2)
LARGEST_MEAN = 1e15
MOST_TOGETHER = 12  # locations in one question that the table tells apart


@dataclass(frozen=True, slots=True, eq=False)
class TableRows:
    """The rows of an error table for one number of locations.

    Attributes:
        locations: see `ErrorTable`.
        estimates: int64, ascending.
        bounds: int64, shape (rows, levels, 2).
    """

    locations: int
    estimates: NDArray[np.int64]
    bounds: NDArray[np.int64]

    @classmethod
    def of(cls, locations: int, draws: Sequence[tuple[int, NDArray[np.float64]]]) -> "TableRows":
        """Quantiles of the true counts that were drawn for each estimate."""
        estimates, first = np.unique([estimate for estimate, _ in draws], return_index=True)
        bounds = np.array([_bounds(draws[i][1]) for i in first])
        # Larger estimates have no lower bounds, and wider levels no narrower ones; draws are
        # finite, so this is not quite so by itself.
        bounds = np.maximum.accumulate(bounds, axis=0)
        bounds[..., 0] = np.minimum.accumulate(bounds[..., 0], axis=1)
        bounds[..., 1] = np.maximum.accumulate(bounds[..., 1], axis=1)
        return cls(locations, estimates, bounds)


def tabulate(parts: Sequence[TableRows]) -> ErrorTable:
    """All rows in order."""
    ordered = sorted(parts, key=lambda part: part.locations)
    return ErrorTable(
        np.concatenate([np.full(len(part.estimates), part.locations) for part in ordered]),
        np.concatenate([part.estimates for part in ordered]),
        np.concatenate([part.bounds for part in ordered]),
    )


def _bounds(true: NDArray[np.float64]) -> NDArray[np.int64]:
    """Low and high for each level, shape (levels, 2).

    Most answers to random queries are 0, and an interval that is right about them says little.
    So ``high`` is chosen given that somebody did it: of the draws that are not 0, the level's
    share lies between low and high. ``low`` is the ordinary quantile, 0 included.
    """
    ordered = np.sort(true)
    positive = ordered[ordered > 0]
    bounds = np.zeros((len(LEVELS), 2), dtype=np.int64)
    if not len(positive):
        return bounds
    for row, per_cent in enumerate(LEVELS):
        low = ordered[(100 - per_cent) * len(ordered) // 200]
        missed = int(np.searchsorted(positive, low))
        last = missed - (-per_cent * len(positive) // 100) - 1
        bounds[row] = low, positive[min(last, len(positive) - 1)]
    return bounds


# True counts of single locations: within the cap from noisy visits, beyond it from two guesses.


def single_location_rows(
    evidence: Evidence, released: Paths, draw: np.random.Generator
) -> list[TableRows]:
    """One location; and several, of which one is visited by no released trajectory."""
    visits, size = evidence.measurements[VISITS], evidence.measurements.universe_size
    estimates = visitors(
        released.offsets, released.codes, released.weights.astype(np.float64), size
    )
    noisy = visits.counts.astype(np.float64)
    times = int(np.clip(LOCATION_DRAWS // max(size, 1), LEAST_DRAWS, MOST_DRAWS))
    prior = PopularityPrior.fit(noisy, visits.noise)
    within = np.maximum(prior.draw(noisy, times, draw), 0.0)
    true = within + _beyond_the_cap(evidence, within, draw)
    rows = [TableRows.of(1, _by_size(np.repeat(estimates, times), true.ravel()))]
    unnamed = within[estimates == 0].ravel()
    share = float(estimates.sum()) / max(float(released.weights.sum()) * size, 1.0)
    if np.any(unnamed >= 1):
        together = _with_unnamed(unnamed[unnamed >= 1], min(max(share, 1e-9), 1.0), draw)
        rows.append(TableRows.of(WITH_UNNAMED, [(0, together)]))
    return rows


def _beyond_the_cap(
    evidence: Evidence, within: NDArray[np.float64], draw: np.random.Generator
) -> NDArray[np.float64]:
    """First visits after the cap: of the shape of ``within``, (locations, draws)."""
    sample, measurements, plan = evidence.sample, evidence.measurements, evidence.plan
    count = len(measurements.candidates)
    paths = sample.paths
    capped = visits_within(sample, sample.after, count, plan)
    everywhere = visitors(paths.offsets, paths.codes, sample.after, count)
    # Of all visits to named locations; unnamed ones are not told apart.
    share = (everywhere.sum() - capped.sum()) / max(capped.sum(), 1.0)
    named, modelled = measurements.candidates, np.maximum(everywhere - capped, 0.0)
    beyond = within * share
    guess, other = np.log1p(modelled)[:, None], np.log1p(beyond[named])
    middle = np.expm1((guess + other) / 2)
    misfit = Misfit.fit([predict_visits(sample, measurements, plan)], sample.thinning)
    floors, spreads = misfit.draw(within.shape[1], draw)
    # Of a location that is not a candidate the model knows nothing: there is only one guess, and
    # it is as far off as the two are from one another elsewhere.
    apart = float(np.sqrt(((guess - other) ** 2).mean())) if count else 0.0
    spread = np.full(within.shape, apart)
    spread[named] = np.hypot(deviation(floors, spreads, middle), THIRD_GUESS * (guess - other))
    beyond[named] = middle
    result: NDArray[np.float64] = beyond * np.exp(spread * draw.standard_normal(within.shape))
    return result


def _with_unnamed(
    visits: NDArray[np.float64], share: float, draw: np.random.Generator
) -> NDArray[np.float64]:
    """True answers ≥ 1 where one of several locations is too rare to be named.

    Somebody visits all of them; who visits the rare location is likelier to be such a one the
    more visitors it has. How many of its other visitors do the same lies between mere chance
    and all; nothing was measured, so every order of magnitude is as good.
    """
    upto = np.cumsum(visits)
    chosen = np.searchsorted(upto, draw.random(UNNAMED_DRAWS) * upto[-1])
    others = visits[np.minimum(chosen, len(visits) - 1)].astype(np.int64) - 1
    together = share ** draw.random(UNNAMED_DRAWS)
    return 1.0 + draw.binomial(np.maximum(others, 0), together).astype(np.float64)


def _by_size(
    estimates: NDArray[np.float64], true: NDArray[np.float64]
) -> list[tuple[int, NDArray[np.float64]]]:
    """Draws grouped by half-decades of the estimate, moved to the middle of the group."""
    groups = []
    group_of = np.searchsorted(HALF_DECADES, estimates, side="right")
    for group in np.unique(group_of):
        inside = group_of == group
        middle = int(np.round(np.expm1(np.log1p(estimates[inside]).mean())))
        groups.append((middle, np.maximum(np.round(middle + true - estimates)[inside], 0.0)))
    return groups


# True counts of conjunctions: two locations and more, of which pairs at most were measured.


_Draws = list[tuple[int, NDArray[np.float64]]]


def conjunction_rows(
    evidence: Evidence, released: Paths, draw: np.random.Generator
) -> list[TableRows]:
    """Two locations; three and more, up to where more of them change nothing."""
    sample, measurements, plan = evidence.sample, evidence.measurements, evidence.plan
    tables = []
    if PAIRS in measurements:
        tables.append(predict_pairs(sample, measurements, plan))
    if VISITED_SETS in measurements:
        tables.append(predict_sets(sample, measurements))
    floors, spreads = Misfit.fit(tables, sample.thinning).draw(CONJUNCTION_DRAWS, draw)
    # The same luck for all estimates makes the table smooth.
    luck, noise, chance = (draw.standard_normal(CONJUNCTION_DRAWS) for _ in range(3))
    threshold: int | None = None
    beyond, scale = 1.0, 1.0
    if PAIRS in measurements:
        table = measurements[PAIRS]
        beyond, scale, threshold = _pairs_beyond(evidence), max(table.scale, 1.0), table.threshold
    pairs: _Draws = []
    more: _Draws = []
    for estimate in _sizes(int(released.weights.sum())):
        mean = _mean_given_count(estimate, chance, draw)
        spread = deviation(floors, spreads, float(estimate))
        unmeasured = draw.poisson(np.minimum(mean * _factor(spread, luck), LARGEST_MEAN))
        more.append((estimate, unmeasured.astype(np.float64)))
        within, rest = (1.0 - beyond) * estimate, beyond * estimate
        if within <= (threshold or 0):
            pairs.append(more[-1])
            continue
        # The pair was measured: what the noise and the misfit leave uncertain together.
        deviations = 1.0 / np.sqrt(1.0 / (spread * within) ** 2 + 1.0 / (2.0 * scale**2))
        uncounted = rest * _factor(deviation(floors, spreads, rest), luck)
        pairs.append((estimate, _rounded(within + deviations * noise + uncounted)))
    rows = [TableRows.of(2, pairs)]
    for locations, hidden in enumerate(_hidden_long(evidence), start=3):
        if len(rows) > 1 and hidden < NEGLIGIBLE:
            break
        moved: _Draws = [(size, _rounded(true + hidden * noise)) for size, true in more]
        rows.append(TableRows.of(locations, moved))
    return rows


def _pairs_beyond(evidence: Evidence) -> float:
    """The share of all pairs that the cap cuts."""
    sample, paths = evidence.sample, evidence.sample.paths
    distinct = distinct_locations(
        paths.offsets, paths.codes, len(evidence.measurements.candidates)
    ).astype(np.float64)
    early = np.minimum(distinct, evidence.plan[PAIRS].cap)
    pairs = float(sample.after @ (distinct * (distinct - 1.0)))
    return 1.0 - float(sample.after @ (early * (early - 1.0))) / pairs if pairs > 0 else 0.0


def _hidden_long(evidence: Evidence) -> list[float]:
    """The deviations that the noise on the shapes leaves in conjunctions of 3, 4 … locations.

    A trajectory over d of |L| locations visits all of k with probability
    d(d − 1)⋯ / |L|(|L| − 1)⋯, were all equally popular.
    """
    table, size = evidence.measurements[SHAPES], evidence.measurements.universe_size
    possible = possible_shapes(size).ravel()
    variance = posterior(table.counts[possible], table.noise).variance
    distinct = np.tile(np.minimum(DISTINCT_VALUES, size), LENGTH_BINS)[possible]
    most = MOST_TOGETHER
    taken = np.arange(most)[:, None]
    chances = np.cumprod(np.maximum(distinct - taken, 0.0) / np.maximum(size - taken, 1), axis=0)
    deviations: list[float] = np.sqrt(chances[2:] ** 2 @ variance).tolist()
    return deviations


def _rounded(true: NDArray[np.float64]) -> NDArray[np.float64]:
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
    if count < NORMAL_FROM:
        mean = draw.gamma(count + JEFFREYS, size=len(normal))
    else:
        mean = np.maximum(count + np.sqrt(count) * normal, 0.0)
    return mean


def _factor(spread: NDArray[np.float64], luck: NDArray[np.float64]) -> NDArray[np.float64]:
    """W: log-normal with mean 1."""
    result: NDArray[np.float64] = np.exp(spread * luck - spread**2 / 2)
    return result


@dataclass(frozen=True, slots=True, eq=False)
class ErrorModel:
    """What is needed to tabulate the errors of a release, when somebody asks.

    Attributes:
        evidence: noisy measurements, and a sample of what was synthesized from them.
        draw: randomness; it is copied, so the table is always the same.
    """

    evidence: Evidence
    draw: np.random.Generator

    def table(self, released: Paths) -> ErrorTable:
        """The error table. Takes a fraction of a second; ask once.

        Args:
            released: the released trajectories, over location codes.
        """
        draw = deepcopy(self.draw)
        return tabulate(
            [
                self._all_trajectories(released, draw),
                *single_location_rows(self.evidence, released, draw),
                *conjunction_rows(self.evidence, released, draw),
            ]
        )

    def _all_trajectories(self, released: Paths, draw: np.random.Generator) -> TableRows:
        """The empty query: how many trajectories there are."""
        total = self.evidence.measurements[TOTAL]
        true = np.round(total.counts[0] + total.noise.draw(draw, TOTAL_DRAWS))
        return TableRows.of(0, [(int(released.weights.sum()), np.maximum(true, 0.0))])
