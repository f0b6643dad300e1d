"""Tables that were clipped, read as tables of trips. Post-processing: from noisy tables alone.

A clipped table counts 256ths of trips, and of people whose trips repeat fewer of them
(`gate.weighing`). How many trips stand for each whole one that was counted, one number for all
tables of a stage, follows from noisy tables: of the visits, from how many there should be by the
noisy number of trips and their shapes; later, from a table in which each trip has one cell, and
from what the stage before told. No weight is above 256 parts, nor below what the norms leave of
all c trips, so the number is kept within public bounds.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import exp, log, sqrt

import numpy as np

from pathveil.core.noise import Gaussian
from pathveil.statistics.constants import WEIGHTS_DRIFT
from pathveil.statistics.measurement_plan import PARTS, Line
from pathveil.statistics.measurements import Measurements
from pathveil.statistics.noisy_table import NoisyTable
from pathveil.statistics.shapes import SHAPES, count_shapes, shape_values
from pathveil.statistics.statistic import Statistic
from pathveil.statistics.total import TOTAL
from pathveil.statistics.visits import VISITS

STEPS = 1 << 12  # the number is a multiple of 1 over this, so that noise keeps an exact parameter
SEEN = 2.0  # deviations of its noise that a sum must be to tell anything


def in_trips(
    seen: Measurements, lines: Sequence[Line], tables: Mapping[Statistic, NoisyTable]
) -> tuple[dict[Statistic, NoisyTable], Fraction]:
    """The tables of a stage as those of trips, and how many trips stand for one of them.

    Args:
        seen: what was published before.
        lines: of the stage.
        tables: as they were measured.
    """
    if not any(line.clip for line in lines):
        return dict(tables), seen.trips_per_weight
    per_weight = _trips_per_weight(seen, lines, tables)
    return {one: _scaled(table, per_weight / PARTS) for one, table in tables.items()}, per_weight


def _scaled(table: NoisyTable, factor: Fraction) -> NoisyTable:
    if not isinstance(table.noise, Gaussian):
        raise TypeError("Clipped tables have Gaussian noise.")
    return NoisyTable(
        table.keys,
        np.rint(table.counts * float(factor)).astype(np.int64),
        table.cells,
        Gaussian(table.noise.variance * factor**2),
        None if table.threshold is None else -int(-table.threshold * factor // 1),
    )


def _trips_per_weight(
    seen: Measurements, lines: Sequence[Line], tables: Mapping[Statistic, NoisyTable]
) -> Fraction:
    """Estimates of its logarithm, weighed by how well they are known."""
    most = max(line.most_trips_per_weight for line in lines)
    middle, spread = log(float(seen.trips_per_weight)), WEIGHTS_DRIFT
    if seen.trips_per_weight == 1:  # nothing is known: anything between the bounds
        middle, spread = log(most) / 2, max(log(most) / sqrt(12), WEIGHTS_DRIFT)
    known = [(middle, spread)]
    total, shapes = count_shapes(seen[TOTAL], seen[SHAPES], seen.scope)
    _, distinct = shape_values(shapes.value, seen.universe_size)
    for line in lines:
        there = total if line.statistic.counts_each else 0.0
        if line.statistic is VISITS:
            there = float((shapes.value.ravel() * np.minimum(distinct, line.cap)).sum())
        table = tables.get(line.statistic)
        if table is None or there <= 0:
            continue
        counted = float(table.counts.sum()) / PARTS
        noise = table.noise.deviation * sqrt(table.cells) / PARTS
        if counted > SEEN * noise:
            known.append((log(there / counted), max(noise / counted, 1 / STEPS)))
    precision = [1 / spread**2 for _, spread in known]
    found = sum(p * value for p, (value, _) in zip(precision, known, strict=True)) / sum(precision)
    return Fraction(round(exp(min(max(found, 0.0), log(most))) * STEPS), STEPS)
