"""How far answers about one location may be off, and about one slot of time.

Three things make them so, each read from what was measured:

- **Noise** of the table of visits: its posterior (`popularity_prior`).
- **Misfit** of the movement model where nothing corrected it (`misfit`).
- **Caps**: visits beyond the cap of their table were never counted. Two extrapolations are at
  hand: the released one, and that everybody's visits go on like the measured ones. They differ, and
  by how much says how little is known.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pathveil.core.error_table import SLOT, WITH_UNNAMED
from pathveil.core.paths import Paths
from pathveil.methods.calibrated.uncertainty.misfit import Misfit, deviation
from pathveil.methods.calibrated.uncertainty.popularity_prior import PopularityPrior, simulated
from pathveil.methods.calibrated.uncertainty.sample import (
    Evidence,
    most_beyond,
    predict_visits,
    visitors,
    visits_within,
)
from pathveil.methods.calibrated.uncertainty.table_rows import TableRows, by_size
from pathveil.statistics.constants import (
    EVEN_SPREAD,
    LEAST_DRAWS,
    LOCATION_DRAWS,
    LOCATION_TAIL,
    MOST_DRAWS,
    SANITY,
    UNNAMED_DRAWS,
)
from pathveil.statistics.slots import SLOTS
from pathveil.statistics.visits import VISITS

# Two guesses g, g' at a logarithm predict a third to within |g − g'|·√(1/2)·√(1 + 1/2).
THIRD_GUESS = float(np.sqrt(0.75))


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
    rows = [
        TableRows.of(
            1,
            by_size(np.repeat(estimates, times), true.ravel()),
            tail=LOCATION_TAIL,
            least=SANITY * float(released.weights.sum()),
        )
    ]
    unnamed = within[estimates == 0].ravel()
    share = float(estimates.sum()) / max(float(released.weights.sum()) * size, 1.0)
    if np.any(unnamed >= 1):
        together = _with_unnamed(unnamed[unnamed >= 1], min(max(share, 1e-9), 1.0), draw)
        # Mostly nobody does.
        often_nobody = np.concatenate((np.zeros(len(together)), together))
        rows.append(TableRows.of(WITH_UNNAMED, [(0, often_nobody)], is_asked=True))
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
    # What is known to itself and better is as far off above as below, so that estimates lie in
    # the middle of their intervals.
    logs = spread * draw.standard_normal(within.shape)
    near = np.maximum(1.0 + logs, 0.0)
    drawn = beyond * np.where(spread < EVEN_SPREAD, near, np.exp(logs))
    result: NDArray[np.float64] = np.minimum(
        drawn, most_beyond(sample, measurements, plan[VISITS].cap)
    )
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


# Visits in slots of time: noisy within the cap, and two guesses beyond it, too.


@dataclass(frozen=True, slots=True, eq=False)
class SlotCounts:
    """How many released visits there are in each slot of time.

    Attributes:
        whole: float64, shape (T,); all of them.
        within: float64, shape (T,); those that the cap of `SLOTS` lets through.
    """

    whole: NDArray[np.float64]
    within: NDArray[np.float64]

    @classmethod
    def of(cls, timed: Paths, universe_size: int, slots: int, cap: int) -> "SlotCounts":
        """Of trajectories as pair codes."""
        weights = np.repeat(timed.weights, timed.lengths).astype(np.float64)
        turn = np.arange(len(timed.codes)) - np.repeat(timed.offsets[:-1], timed.lengths)
        slot = timed.codes // universe_size
        whole, within = (
            np.bincount(slot, each, slots).astype(np.float64)
            for each in (weights, weights * (turn < cap))
        )
        return cls(whole, within)


def slot_rows(evidence: Evidence, slots: SlotCounts, draw: np.random.Generator) -> TableRows:
    """Visits in a slot of time: noise on the first visits of each, and two guesses at the rest.

    The true count behind a noisy one is that less the noise, whatever the synthesis made of it.
    """
    table = evidence.measurements[SLOTS]
    times = int(np.clip(LOCATION_DRAWS // max(len(slots.whole), 1), LEAST_DRAWS, MOST_DRAWS))
    size = (len(slots.whole), times)
    noisy = table.counts.astype(np.float64)[:, None]
    within = np.maximum(noisy + simulated(table.noise, size, draw), 0.0)
    beyond = slots.whole - slots.within
    share = beyond.sum() / max(slots.within.sum(), 1.0)
    guess, other = np.log1p(beyond)[:, None], np.log1p(within * share)
    spread = THIRD_GUESS * (guess - other) * draw.standard_normal(size)
    true = within + np.expm1((guess + other) / 2) * np.exp(spread)
    released = np.repeat(slots.whole, times)
    return TableRows.of(1, by_size(released, true.ravel()), kind=SLOT)
