"""The error model: draws true counts that the measurements allow, and tabulates their quantiles.

What an answer about one location may be off by has three sources, each read from what was measured:

- **Noise** of the table of visits: its posterior (`popularity_prior`).
- **Misfit** of the movement model where nothing corrected it (`misfit`).
- **Caps**: visits beyond the cap of their table were never counted. Two extrapolations are at
  hand: the released one, and that everybody's visits go on like the measured ones. They differ, and
  by how much says how little is known.

Answers about several locations are compared with questions that nothing was fitted to
(`validated`), trips with the noisy table of all trips where that tells more (`measured`). Where too
few questions stand out of the noise, the table says nothing, and whoever asks is given a bound that
needs no model. **Long trajectories** that the noise on the shapes hides
visit nearly everything, which matters for many locations where the universe is small.
"""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pathveil.core.error_table import (
    ANY,
    KINDS,
    LENGTH,
    LEVELS,
    MOVE,
    ORDERED,
    PREFIX,
    SLOT,
    TRIP,
    WITH_UNNAMED,
    ErrorTable,
)
from pathveil.core.paths import Paths
from pathveil.methods.calibrated.synthesis.canonical import take_rows
from pathveil.methods.calibrated.uncertainty.measured import (
    HALF,
    move_draws,
    trip_residuals,
    worst_draws,
)
from pathveil.methods.calibrated.uncertainty.misfit import Misfit, deviation
from pathveil.methods.calibrated.uncertainty.popularity_prior import PopularityPrior, simulated
from pathveil.methods.calibrated.uncertainty.sample import (
    Evidence,
    most_beyond,
    predict_visits,
    visitors,
    visits_within,
)
from pathveil.methods.calibrated.uncertainty.validated import Validated, validated
from pathveil.statistics import validation
from pathveil.statistics.constants import (
    AS_GOOD_AS_NOBODY,
    CONJUNCTION_DRAWS,
    ENOUGH_MOVES,
    EVEN_SPREAD,
    LEAST_DRAWS,
    LENGTH_DRAWS,
    LOCATION_DRAWS,
    LOCATION_TAIL,
    MOST_DRAWS,
    MOVES_SAMPLE,
    NEGLIGIBLE,
    SANITY,
    STEPS_PER_DECADE,
    TOTAL_DRAWS,
    UNNAMED_DRAWS,
)
from pathveil.statistics.denoise import posterior
from pathveil.statistics.shapes import (
    DISTINCT_BINS,
    DISTINCT_VALUES,
    LENGTH_BINS,
    SHAPES,
    possible_shapes,
)
from pathveil.statistics.slots import SLOTS
from pathveil.statistics.total import TOTAL
from pathveil.statistics.trips import TRIPS
from pathveil.statistics.visits import VISITS

# Two guesses g, g' at a logarithm predict a third to within |g − g'|·√(1/2)·√(1 + 1/2).
THIRD_GUESS = float(np.sqrt(0.75))
HALF_DECADES = np.concatenate((np.array([0.0, 1.0]), 10.0 ** np.arange(0.5, 12.1, 0.5)))
MOST_TOGETHER = 12  # locations in one question that the table tells apart


@dataclass(frozen=True, slots=True, eq=False)
class TableRows:
    """The rows of an error table for one kind of question and number of locations.

    Attributes:
        locations: see `ErrorTable`.
        estimates: int64, ascending.
        bounds: int64, shape (rows, levels, 2).
        best: int64; medians.
        kind: of `KINDS`.
    """

    locations: int
    estimates: NDArray[np.int64]
    bounds: NDArray[np.int64]
    best: NDArray[np.int64]
    kind: str = ANY

    @classmethod
    def of(
        cls,
        locations: int,
        draws: Sequence[tuple[int, NDArray[np.float64]]],
        *,
        kind: str = ANY,
        is_asked: bool = False,
        tail: float = 1.0,
        least: float = 0.0,
    ) -> "TableRows":
        """Quantiles of the true counts that were drawn for each estimate.

        Args:
            locations: how many are asked for.
            draws: estimates, each with true counts.
            kind: of question.
            is_asked: whether ``high`` is to hold for questions that people's own trajectories
                suggest, too: see `_bounds`.
            tail: so much of what a level allows lies outside.
            least: the sanity bound: see `_bounds`.
        """
        estimates, first = np.unique([estimate for estimate, _ in draws], return_index=True)
        bounds = np.array(
            [
                _bounds(
                    draws[i][1],
                    tail,
                    is_asked=is_asked or draws[i][0] < least,
                    least=least if draws[i][0] < least else 0.0,
                )
                for i in first
            ]
        )
        best = np.array([round(float(np.median(draws[i][1]))) for i in first])
        # Larger estimates have no lower bounds, and wider levels no narrower ones; draws are
        # finite, so this is not quite so by itself.
        at = min(int(np.searchsorted(estimates, least)), len(estimates) - 1) if least else 0
        bounds[at:] = _ascending(bounds[at:])
        if is_asked:
            # So much is not known then that nobody may do it.
            bounds[..., 0][bounds[..., 0] < AS_GOOD_AS_NOBODY * bounds[..., 1]] = 0
            # What is answered by less than the sanity bound may be as much as what is there.
            bounds[:at, :, 0] = np.minimum(bounds[:at, :, 0], bounds[at, :, 0])
            bounds[:at, :, 1] = np.maximum(bounds[:at, :, 1], bounds[at, :, 1])
        else:
            # And no more than that.
            most = np.maximum(bounds[at, :, 1], bounds[:at, :, 0])
            bounds[:at, :, 1] = np.minimum(bounds[:at, :, 1], most)
        bounds[..., 0] = np.minimum.accumulate(bounds[..., 0], axis=1)
        bounds[..., 1] = np.maximum.accumulate(bounds[..., 1], axis=1)
        return cls(locations, estimates, bounds, np.maximum.accumulate(best), kind)

    def below(self, size: int) -> "TableRows":
        """The rows of smaller estimates."""
        few = slice(np.searchsorted(self.estimates, size))
        columns = self.estimates[few], self.bounds[few], self.best[few]
        return TableRows(self.locations, *columns, self.kind)

    def at_most_as_many(self) -> "TableRows":
        """Of what is smaller than all rows: anything from nobody to what the first row allows."""
        sizes = np.unique([0, max(int(self.estimates[0]) - 1, 0)])
        bounds = np.repeat(self.bounds[:1], len(sizes), axis=0)
        bounds[..., 0] = 0
        return TableRows(self.locations, sizes, bounds, sizes, self.kind).below(self.estimates[0])

    def and_then(self, larger: "TableRows") -> "TableRows":
        """These rows and those of larger estimates."""
        return TableRows(
            self.locations,
            np.concatenate((self.estimates, larger.estimates)),
            np.concatenate((self.bounds, larger.bounds)),
            np.concatenate((self.best, larger.best)),
            self.kind,
        )


def _ascending(bounds: NDArray[np.int64]) -> NDArray[np.int64]:
    """Bounds that ascend with the estimate: between the next ones that do, above and below."""
    up = np.maximum.accumulate(bounds, axis=0)
    down = np.minimum.accumulate(bounds[::-1], axis=0)[::-1]
    return np.round(np.expm1((np.log1p(up) + np.log1p(down)) / 2)).astype(np.int64)


def tabulate(parts: Sequence[TableRows]) -> ErrorTable:
    """All rows in order."""
    ordered = sorted(parts, key=lambda part: (KINDS.index(part.kind), part.locations))
    return ErrorTable(
        np.concatenate([np.full(len(part.estimates), part.locations) for part in ordered]),
        np.concatenate([part.estimates for part in ordered]),
        np.concatenate([part.bounds for part in ordered]),
        np.concatenate([np.full(len(part.estimates), KINDS.index(part.kind)) for part in ordered]),
        np.concatenate([part.best for part in ordered]),
    )


def _bounds(
    true: NDArray[np.float64], tail: float, *, is_asked: bool, least: float = 0.0
) -> NDArray[np.int64]:
    """Low and high for each level, shape (levels, 2): quantiles with as much on either side.

    People ask for what many do. Of questions that a random trajectory suggests, one with a true
    count of 300 is asked three times as often as one of 100 that was answered alike. So where
    several locations are asked for (``is_asked``), ``high`` is not below the quantile by
    trajectories, of which nearly all that lie outside lie above. Who asks for what was answered by
    less than the sanity bound does so because it is no less (``least``), or does not care.
    """
    ordered = np.sort(true)
    size, last = len(ordered), len(ordered) - 1
    by_trajectories = np.cumsum(ordered)
    by_trajectories -= np.append(0.0, by_trajectories)[np.searchsorted(ordered, least)]
    bounds = np.zeros((len(LEVELS), 2), dtype=np.int64)
    for row, per_cent in enumerate(LEVELS):
        outside = tail * (100 - per_cent) / 200
        low, high = ordered[int(outside * size)], ordered[last - int(outside * size)]
        if is_asked:
            inside = 1.0 - (100 - per_cent) / 200
            at = np.searchsorted(by_trajectories, inside * by_trajectories[-1])
            high = max(high, ordered[min(at, last)])
        bounds[row] = np.floor(low), np.ceil(high)
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
    rows = [
        TableRows.of(
            1,
            _by_size(np.repeat(estimates, times), true.ravel()),
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
    return TableRows.of(1, _by_size(released, true.ravel()), kind=SLOT)


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
_KINDS_OF_ROWS = {
    validation.PAIR: (ANY, 2),
    validation.TRIPLE: (ANY, 3),
    validation.ORDERED: (ORDERED, 2),
    validation.ORDERED_TRIPLE: (ORDERED, 3),
    validation.MOVE: (MOVE, 2),
    validation.TRIP: (TRIP, 2),
    validation.PREFIX: (PREFIX, 2),
}


def validated_rows(
    found: Validated, evidence: Evidence, released: Paths, draw: np.random.Generator
) -> list[TableRows]:
    """Two locations and more, as far as questions that nothing was fitted to tell their errors."""
    total = int(released.weights.sum())
    sizes = _sizes(total)
    rows = []
    seed = int(draw.integers(0, 2**63))
    hidden = [] if validation.TRIPLE not in found.told else _hidden_long(evidence)[1:]
    noise = draw.standard_normal(CONJUNCTION_DRAWS)
    more_or_less = np.exp(_repeated_moves(released, evidence.measurements.universe_size) * noise)
    for query in sorted(found.told):
        kind, locations = _KINDS_OF_ROWS[query]
        # The same luck for all estimates makes the table smooth.
        drawn: _Draws = [
            (size, found.draw(query, size, CONJUNCTION_DRAWS, _again(draw, seed))) for size in sizes
        ]
        if kind == MOVE:
            drawn = [(size, true * more_or_less) for size, true in drawn]
        rows.append(TableRows.of(locations, drawn, kind=kind, is_asked=True, least=SANITY * total))
        if query == validation.PREFIX:
            rows.append(TableRows.of(1, drawn, kind=PREFIX, is_asked=True))
        for more, spread in enumerate(hidden if query == validation.TRIPLE else (), start=4):
            if spread < NEGLIGIBLE:
                break
            moved = [(size, np.maximum(true + spread * noise, 0.0)) for size, true in drawn]
            rows.append(TableRows.of(more, moved, is_asked=True))
    return rows


def with_measured_trips(
    parts: list[TableRows], evidence: Evidence, released: Paths, draw: np.random.Generator
) -> list[TableRows]:
    """Trips by the table of all trips, if no questions tell them or its intervals are shorter.

    Shorter on average over the released flows: one choice for all, so that intervals are not short
    just where noise makes them so.
    """
    found = trip_residuals(evidence.measurements, released)
    if found is None:
        return parts
    draws = worst_draws(found, evidence.measurements[TRIPS], draw)
    measured = TableRows.of(2, draws, kind=TRIP, is_asked=True, tail=HALF)
    asked = found.released[found.released > 0].astype(np.int64)
    by_questions = [part for part in parts if part.kind == TRIP]
    if by_questions and _length(by_questions, asked) <= _length([measured], asked):
        return parts
    return [*(part for part in parts if part.kind != TRIP), measured]


def with_measured_moves(
    parts: list[TableRows], evidence: Evidence, released: Paths, draw: np.random.Generator
) -> list[TableRows]:
    """Large moves by the table of moves, if no questions tell any or its intervals are shorter.

    Shorter at all sizes that the table tells, together: one choice, as for trips.
    """
    draws = move_draws(evidence.measurements, evidence.plan, released, draw)
    if not draws:
        return parts
    measured = TableRows.of(2, draws, kind=MOVE, tail=HALF)
    by_questions = [part for part in parts if part.kind == MOVE]
    sizes = measured.estimates
    if by_questions and _length(by_questions, sizes) <= _length([measured], sizes):
        return parts
    below = by_questions[0].below(sizes[0]) if by_questions else measured.at_most_as_many()
    return [*(part for part in parts if part.kind != MOVE), below.and_then(measured)]


def _length(told: Sequence[TableRows], asked: NDArray[np.int64]) -> int:
    """Of the usual intervals of such answers, together."""
    two = np.full(len(asked), 2, dtype=np.int64)
    low, high = tabulate(told).intervals(two, asked, two > 0, kind=told[0].kind)
    return int((high - low).sum())


def _repeated_moves(released: Paths, size: int) -> float:
    """How far off it may be how often a move is made by who makes it at all; of its logarithm.

    Moves are counted as often as they are made, and the questions count who makes them. If the
    release knows nothing of which moves are made again more often than others, the true factors
    differ from the released ones by √2 of what either differ by among themselves.
    """
    rows = np.arange(0, len(released), max(1, len(released) // MOVES_SAMPLE))
    some = take_rows(released, rows, released.weights[rows])
    row = np.repeat(np.arange(len(rows)), some.lengths)
    codes = some.codes.astype(np.int64)
    goes_on = np.flatnonzero((row[1:] == row[:-1]) & (codes[1:] != codes[:-1]))
    move = codes[goes_on] * size + codes[goes_on + 1]
    weights = some.weights[row[goes_on]].astype(np.float64)
    first = np.unique(row[goes_on] * size**2 + move, return_index=True)[1]
    cells, cell = np.unique(move, return_inverse=True)
    made = np.bincount(cell, weights, len(cells))
    makers = np.bincount(cell[first], weights[first], len(cells))
    large = makers >= max(SANITY * float(some.weights.sum()), 1.0)
    factors = np.log(made[large] / makers[large])
    overall = float(np.log(max(made.sum(), 1.0) / max(makers.sum(), 1.0)))
    return float(np.sqrt(2.0) * factors.std()) if len(factors) >= ENOUGH_MOVES else overall


def _again(draw: np.random.Generator, seed: int) -> np.random.Generator:
    return type(draw)(type(draw.bit_generator)(seed))


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


@dataclass(frozen=True, slots=True, eq=False)
class ErrorModel:
    """What is needed to tabulate the errors of a release, when somebody asks.

    Attributes:
        evidence: noisy measurements, and a sample of what was synthesized from them.
        draw: randomness; it is copied, so the table is always the same.
        slots: when the released visits are; None without times.
    """

    evidence: Evidence
    draw: np.random.Generator
    slots: SlotCounts | None = None

    def table(self, released: Paths) -> ErrorTable:
        """The error table. Takes a fraction of a second; ask once.

        Args:
            released: the released trajectories, over location codes.
        """
        draw = deepcopy(self.draw)
        found = validated(self.evidence, released)
        parts = [
            self._all_trajectories(released, draw),
            *single_location_rows(self.evidence, released, draw),
            *([] if found is None else validated_rows(found, self.evidence, released, draw)),
            self._lengths(released, draw),
            *([] if self.slots is None else [slot_rows(self.evidence, self.slots, draw)]),
        ]
        for measured in (with_measured_trips, with_measured_moves):
            parts = measured(parts, self.evidence, released, draw)
        return tabulate(parts)

    def _lengths(self, released: Paths, draw: np.random.Generator) -> TableRows:
        """How many trajectories have a length: the sum of its shapes, each with its noise."""
        table = self.evidence.measurements[SHAPES]
        noise = simulated(table.noise, (LENGTH_DRAWS, DISTINCT_BINS), draw).sum(axis=1)
        sizes = _sizes(int(released.weights.sum()))
        draws = [(size, _rounded(size + noise)) for size in sizes]
        return TableRows.of(1, draws, kind=LENGTH)

    def _all_trajectories(self, released: Paths, draw: np.random.Generator) -> TableRows:
        """The empty query: how many trajectories there are."""
        total = self.evidence.measurements[TOTAL]
        true = np.round(total.counts[0] + simulated(total.noise, TOTAL_DRAWS, draw))
        return TableRows.of(0, [(int(released.weights.sum()), np.maximum(true, 0.0))])
