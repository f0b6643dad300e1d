"""True counts of single locations: within the cap from noisy visits, beyond it from two guesses."""

import numpy as np
from numpy.typing import NDArray

from pathveil.model.paths import Paths
from pathveil.statistics.registry import VISITS
from pathveil.uncertainty.error_table import SOME_UNNAMED
from pathveil.uncertainty.misfit import Misfit, deviation
from pathveil.uncertainty.popularity_prior import PopularityPrior
from pathveil.uncertainty.quantiles import TableRows
from pathveil.uncertainty.sample import Evidence, predict_visits, visitors, visits_within

DRAWS, LEAST_DRAWS, MOST_DRAWS = 200_000, 20, 1000  # in all, and per location
UNNAMED_DRAWS = 4000
# Two guesses g, g' at a logarithm predict a third to within |g − g'|·√(1/2)·√(1 + 1/2).
THIRD_GUESS = float(np.sqrt(0.75))
HALF_DECADES = np.concatenate((np.array([0.0, 1.0]), 10.0 ** np.arange(0.5, 12.1, 0.5)))


def single_location_rows(
    evidence: Evidence, released: Paths, draw: np.random.Generator
) -> list[TableRows]:
    """One location; and several, of which one is visited by no released trajectory."""
    visits, size = evidence.measurements[VISITS], evidence.measurements.universe_size
    estimates = visitors(
        released.offsets, released.codes, released.weights.astype(np.float64), size
    )
    noisy = visits.counts[:size].astype(np.float64)
    times = int(np.clip(DRAWS // max(size, 1), LEAST_DRAWS, MOST_DRAWS))
    prior = PopularityPrior.fit(noisy, visits.scale)
    within = np.maximum(prior.draw(noisy, times, draw), 0.0)
    true = within + _beyond_the_cap(evidence, within, draw)
    rows = [TableRows.of(1, _by_size(np.repeat(estimates, times), true.ravel()))]
    unnamed = within[estimates == 0].ravel()
    share = float(estimates.sum()) / max(float(released.weights.sum()) * size, 1.0)
    if np.any(unnamed >= 1):
        together = _with_unnamed(unnamed[unnamed >= 1], min(max(share, 1e-9), 1.0), draw)
        rows.append(TableRows.of(SOME_UNNAMED, [(0, together)]))
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
    # Of all visits to named places; unnamed ones are not told apart.
    share = (everywhere.sum() - capped.sum()) / max(capped.sum(), 1.0)
    named, modelled = measurements.candidates, np.maximum(everywhere - capped, 0.0)
    beyond = within * share
    guess, other = np.log1p(modelled)[:, None], np.log1p(beyond[named])
    middle = np.expm1((guess + other) / 2)
    misfit = Misfit.fit([predict_visits(sample, measurements, plan)], sample.thinning)
    floors, spreads = misfit.draw(within.shape[1], draw)
    # Of a place that is not a candidate the model knows nothing: there is only one guess, and
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

    Somebody visits all of them; who visits the rare place is likelier to be such a one the
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
    place = np.searchsorted(HALF_DECADES, estimates, side="right")
    for group in np.unique(place):
        inside = place == group
        middle = int(np.round(np.expm1(np.log1p(estimates[inside]).mean())))
        groups.append((middle, np.maximum(np.round(middle + true - estimates)[inside], 0.0)))
    return groups
