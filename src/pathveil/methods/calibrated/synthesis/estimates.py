"""All noisy tables denoised: what is known about the trajectories, table by table.

How a table is denoised is the statistic's own affair. Here they are taken in order, because the
later ones lean on the earlier: on how many trajectories there are, and who visits each candidate.
The candidates for the second stage come from here too: they are the locations whose visits stand
out of the noise.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from pathveil.methods.calibrated.synthesis.earlier import Earlier
from pathveil.methods.calibrated.synthesis.rare_pairs import pairs_over_time
from pathveil.methods.calibrated.synthesis.rare_trips import trips_over_time
from pathveil.methods.calibrated.synthesis.returns_per_visit import by_visits
from pathveil.statistics.all_statistics import TIME_STATISTICS
from pathveil.statistics.constants import CERTAIN_DEVIATIONS, SANITY
from pathveil.statistics.denoise import Estimates
from pathveil.statistics.last_locations import LAST_LOCATIONS
from pathveil.statistics.measurements import Measurements
from pathveil.statistics.moves import MOVES
from pathveil.statistics.pairs import PAIRS
from pathveil.statistics.returns import KINDS, MOST_RETURNS, RETURNS
from pathveil.statistics.shapes import DISTINCT_VALUES, LENGTHS, SHAPES, count_shapes
from pathveil.statistics.statistic import FIRST_LOOK, VISITED, Known, Scope, Statistic
from pathveil.statistics.total import TOTAL
from pathveil.statistics.trips import TRIPS
from pathveil.statistics.visits import VISITS
from pathveil.statistics.zones import ZONES

OF_THE_UNIVERSE = (FIRST_LOOK, VISITED)  # stages whose tables look at all locations


@dataclass(frozen=True, slots=True, eq=False)
class Estimated:
    """Denoised tables.

    Attributes:
        scope: what they look at.
        total: the number of trajectories; 0 if nothing stands out of the noise.
        unnamed_visits: first visits to locations that can't be told from unvisited ones.
        tables: of each statistic, the true counts as far as the noise lets them be known. Shapes
            and lengths sum to ``total``.
        moves_summed: the sum of all noisy counts of moves among the candidates, and its variance;
            None if only those above a threshold are known.
    """

    scope: Scope
    total: float
    unnamed_visits: float
    tables: Mapping[Statistic, Estimates]
    moves_summed: tuple[float, float] | None = None

    def __getitem__(self, statistic: Statistic) -> Estimates:
        return self.tables[statistic]

    def listed(self, statistic: Statistic) -> Estimates:
        """The estimates of a table that lists cells; none if it was not measured."""
        nothing = np.zeros(0)
        return self.tables.get(statistic, Estimates(nothing, nothing, nothing.astype(np.int64)))

    @property
    def returns(self) -> NDArray[np.float64] | None:
        """Returns to each candidate, shape (3, n), as `returns.KINDS`; None if not measured."""
        if RETURNS not in self.tables:
            return None
        return self.tables[RETURNS].value.reshape(len(KINDS), -1)


def choose_candidates(seen: Measurements, earlier: Earlier | None = None) -> NDArray[np.int64]:
    """The locations that the second stage looks at, sorted codes.

    Sees noisy counts only, and an earlier release of the series, which is public.
    """
    known = estimate_popularity(seen, earlier)
    if known.total == 0:
        return np.zeros(0, dtype=np.int64)
    return np.flatnonzero(known[VISITS].value > 0)


def estimate_popularity(seen: Measurements, earlier: Earlier | None = None) -> Estimated:
    """Denoise the tables of the first two stages, over the whole universe."""
    scope = seen.scope
    total, shapes = count_shapes(seen[TOTAL], seen[SHAPES], scope)
    lengths = Estimates(shapes.value.sum(axis=1), shapes.variance.sum(axis=1))
    known = Known(floor=SANITY * total)
    others = {
        statistic: _leaning(statistic.denoise(table, scope, known), statistic, seen, total, earlier)
        for statistic, table in seen.tables.items()
        if statistic.stage in OF_THE_UNIVERSE and statistic not in (TOTAL, SHAPES)
    }
    tables = {SHAPES: shapes, LENGTHS: lengths, **others}
    if RETURNS in tables:
        most = np.tile(MOST_RETURNS * tables[VISITS].value, len(KINDS))
        returns = tables[RETURNS]
        tables[RETURNS] = Estimates(np.minimum(returns.value, most), returns.variance)
    return Estimated(scope, total, _unnamed_visits(seen, tables), tables)


def estimate(seen: Measurements, earlier: Earlier | None = None) -> Estimated:
    """Denoise all tables but those of times, as seen from the candidates."""
    first = estimate_popularity(seen, earlier)
    scope = seen.scope
    tables = {
        statistic: statistic.among(estimates, scope.candidates)
        for statistic, estimates in first.tables.items()
    }
    known = Known(SANITY * first.total, tables[VISITS].value)
    for statistic, table in seen.tables.items():
        if statistic.stage not in OF_THE_UNIVERSE and statistic not in TIME_STATISTICS:
            found = statistic.denoise(table, scope, known)
            tables[statistic] = _leaning(found, statistic, seen, first.total, earlier)
    if earlier is None and RETURNS in tables:
        tables[RETURNS] = by_visits(
            seen[RETURNS], tables[RETURNS], tables[VISITS].value, scope.candidates
        )
    learnt = pairs_over_time(earlier, seen, tables[VISITS].value, first.total)
    if learnt is not None:
        tables[PAIRS] = learnt
    learnt = trips_over_time(earlier, seen, tables[LAST_LOCATIONS].value, first.total)
    if learnt is not None:
        tables[TRIPS] = learnt
    elif TRIPS in seen and seen[TRIPS].scale < seen[LAST_LOCATIONS].scale:
        tables[LAST_LOCATIONS] = _with_ends(tables[LAST_LOCATIONS], tables[TRIPS], scope.named)
    return Estimated(
        scope.of_candidates(), first.total, first.unnamed_visits, tables, _summed(seen)
    )


def _summed(seen: Measurements) -> tuple[float, float] | None:
    if MOVES not in seen:
        return None
    table = seen.whole.get(MOVES, seen[MOVES])
    if table.threshold is not None:
        return None
    return float(table.counts.sum()), len(table.counts) * table.noise.deviation**2


def _leaning(
    found: Estimates,
    statistic: Statistic,
    seen: Measurements,
    total: float,
    earlier: Earlier | None,
) -> Estimates:
    return found if earlier is None else earlier.improve(found, statistic, seen, total)


def _with_ends(last: Estimates, trips: Estimates, named: int) -> Estimates:
    """At least so many end at a location as make the measured trips to it.

    Both tables say it, and where the noise hid it from one the other may know. Without that the
    calibration would pull at a trajectory from two sides.
    """
    ends = np.bincount(trips.listed_keys % max(named, 1), trips.value, named)
    return Estimates(np.maximum(last.value, ends), last.variance)


def _unnamed_visits(seen: Measurements, tables: Mapping[Statistic, Estimates]) -> float:
    """The sum of a table is known much better than its cells.

    What the estimates miss of it are visits to locations that are each too rare to stand out. The
    zones, which are fewer, tell the sum better still; under their own cap.
    """
    visits, named = seen[VISITS], float(tables[VISITS].value.sum())
    in_all, deviation = float(visits.counts.sum()), visits.scale * sqrt(2.0 * len(visits.counts))
    if ZONES in seen:
        distinct = tables[SHAPES].value @ np.minimum.outer(
            DISTINCT_VALUES, [seen.plan[table].cap for table in (VISITS, ZONES)]
        )
        ratio = float(distinct[:, 0].sum() / max(distinct[:, 1].sum(), 1.0))
        zones = seen[ZONES]
        noise = ratio * zones.scale * sqrt(2.0 * len(zones.counts))
        if noise < deviation:
            in_all, deviation = ratio * float(zones.counts.sum()), noise
    return max(in_all - named - CERTAIN_DEVIATIONS * deviation, 0.0)
