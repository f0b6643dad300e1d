"""The error model: draws true counts that the measurements allow, and tabulates their quantiles.

Answers about one location have a posterior of their own (`single_stops`). Those about several are
compared with questions that nothing was fitted to (`validated`), and with the noisy tables that
count the same, where these tell more (`measured`). Where neither tells anything, the table says
nothing, and whoever asks is given a bound that needs no model. **Long trajectories** that the noise
on the shapes hides visit nearly everything, which matters for many locations where the universe is
small.
"""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pathveil.core.error_table import (
    ANY,
    LENGTH,
    MOVE,
    ORDERED,
    PREFIX,
    TRIP,
    ErrorTable,
)
from pathveil.core.paths import Paths
from pathveil.methods.calibrated.synthesis.canonical import take_rows
from pathveil.methods.calibrated.uncertainty.listed import listed_cells
from pathveil.methods.calibrated.uncertainty.measured import (
    Tail,
    residual_draws,
    set_draws,
    trip_residuals,
)
from pathveil.methods.calibrated.uncertainty.popularity_prior import simulated
from pathveil.methods.calibrated.uncertainty.sample import Evidence
from pathveil.methods.calibrated.uncertainty.single_stops import (
    SlotCounts,
    single_location_rows,
    slot_rows,
)
from pathveil.methods.calibrated.uncertainty.table_rows import TableRows, sizes_up_to, tabulate
from pathveil.methods.calibrated.uncertainty.validated import Validated, validated
from pathveil.statistics import validation
from pathveil.statistics.constants import (
    CHOSEN_TAIL,
    CONJUNCTION_DRAWS,
    ENOUGH_MOVES,
    LENGTH_DRAWS,
    MOVES_SAMPLE,
    NEGLIGIBLE,
    SANITY,
    TOTAL_DRAWS,
)
from pathveil.statistics.denoise import posterior
from pathveil.statistics.shapes import (
    DISTINCT_BINS,
    DISTINCT_VALUES,
    LENGTH_BINS,
    SHAPES,
    possible_shapes,
)
from pathveil.statistics.total import TOTAL
from pathveil.statistics.trips import TRIPS

MOST_TOGETHER = 12  # locations in one question that the table tells apart

_Draws = list[tuple[int, NDArray[np.float64]]]
KINDS_OF_ROWS = {
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
    sizes = sizes_up_to(total)
    rows = []
    seed = int(draw.integers(0, 2**63))
    hidden = [] if validation.TRIPLE not in found.told else _hidden_long(evidence)[1:]
    noise = draw.standard_normal(CONJUNCTION_DRAWS)
    more_or_less = np.exp(_repeated_moves(released, evidence.measurements.universe_size) * noise)
    for query in sorted(found.told):
        kind, locations = KINDS_OF_ROWS[query]
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


def with_measured(
    parts: list[TableRows], evidence: Evidence, released: Paths, draw: np.random.Generator
) -> list[TableRows]:
    """What the tables tell that count the same, where no questions tell it or they tell more."""
    measurements = evidence.measurements
    trips = trip_residuals(measurements, released)
    for locations, of_kind in enumerate(trips or (), start=1):
        if not len(of_kind.released):
            continue
        noise = simulated(measurements[TRIPS].noise, CONJUNCTION_DRAWS, draw)
        draws = residual_draws(of_kind, noise, draw, Tail.of(measurements[TRIPS]))
        measured = TableRows.of(locations, draws, kind=TRIP, is_asked=True, tail=CHOSEN_TAIL)
        asked = of_kind.released[of_kind.released > 0].astype(np.int64)
        parts = _shorter(parts, measured, asked)
    for locations, draws in enumerate(set_draws(measurements, released, draw), start=1):
        if locations > 1:
            measured = TableRows.of(locations, draws, is_asked=True)
            parts = _shorter(parts, measured, measured.estimates)
    return parts


def _shorter(
    parts: list[TableRows],
    measured: TableRows,
    asked: NDArray[np.int64],
) -> list[TableRows]:
    """Rows by a table, if there are none by questions or intervals by these are longer.

    Together, at the sizes that are asked for: one choice for all, so that intervals are not short
    just where noise makes them so.

    Args:
        parts: all rows.
        measured: of one kind and number of locations.
        asked: sizes.
    """
    same = _alike(parts, measured)
    if same and _lengths(same, asked).sum() <= _lengths([measured], asked).sum():
        return parts
    return [*(part for part in parts if part not in same), measured]


def _alike(parts: list[TableRows], row: TableRows) -> list[TableRows]:
    return [part for part in parts if (part.kind, part.locations) == (row.kind, row.locations)]


def _lengths(told: Sequence[TableRows], asked: NDArray[np.int64]) -> NDArray[np.int64]:
    """Of the usual intervals of such answers."""
    many = np.full(len(asked), told[0].locations, dtype=np.int64)
    low, high = tabulate(told).intervals(many, asked, many > 0, kind=told[0].kind)
    return high - low


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
        table = tabulate(with_measured(parts, self.evidence, released, draw))
        return replace(table, listed=listed_cells(self.evidence, released, table, draw))

    def _lengths(self, released: Paths, draw: np.random.Generator) -> TableRows:
        """How many trajectories have a length: the sum of its shapes, each with its noise."""
        table = self.evidence.measurements[SHAPES]
        noise = simulated(table.noise, (LENGTH_DRAWS, DISTINCT_BINS), draw).sum(axis=1)
        sizes = sizes_up_to(int(released.weights.sum()))
        draws = [(size, _rounded(size + noise)) for size in sizes]
        return TableRows.of(1, draws, kind=LENGTH)

    def _all_trajectories(self, released: Paths, draw: np.random.Generator) -> TableRows:
        """The empty query: how many trajectories there are."""
        total = self.evidence.measurements[TOTAL]
        true = np.round(total.counts[0] + simulated(total.noise, TOTAL_DRAWS, draw))
        return TableRows.of(0, [(int(released.weights.sum()), np.maximum(true, 0.0))])
