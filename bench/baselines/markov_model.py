"""From noisy tables to a model of lengths, trips and steps. Post-processing: sees noise only.

Where pairs are listed above a threshold only, the rest is known by its sums: what the listed pairs
leave over of the people who depart from i, and of those who arrive at j. The rest is taken as
independent: in proportion to the product of the two. Locations whose visits are not listed either
are one place, "elsewhere", that comes after the others, with what the listed ones leave over.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.baselines.markov_plan import MarkovPlan
from bench.baselines.simplex import project
from pathveil.statistics.noisy_table import NoisyTable


class Pairs(NamedTuple):
    """Weights of ordered pairs of places: listed ones, and a product for the rest.

    The places are the locations and elsewhere, |L| + 1 in all.

    Attributes:
        starts: int64, shape (|L| + 2,); pairs (i, ·) are ``starts[i]:starts[i + 1]``.
        second: int64; j of each listed pair, rising for each i.
        weight: float64, ≥ 0; the pair's weight.
        rest_from: float64, shape (|L| + 1,), ≥ 0; weight of pairs (i, ·) that are not listed.
        rest_to: float64, shape (|L| + 1,), ≥ 0; weight of pairs (·, j) that are not listed.
    """

    starts: NDArray[np.int64]
    second: NDArray[np.int64]
    weight: NDArray[np.float64]
    rest_from: NDArray[np.float64]
    rest_to: NDArray[np.float64]


class MarkovModel(NamedTuple):
    """What trajectories are drawn from.

    Attributes:
        lengths: float64, shape (h,), ≥ 0; trajectories of length l at l − 1.
        trips: pairs (first, last).
        steps: pairs (location, next location).
        elsewhere: int64; the locations that the last place stands for, all alike.
    """

    lengths: NDArray[np.float64]
    trips: Pairs
    steps: Pairs
    elsewhere: NDArray[np.int64]


def fit_model(tables: Mapping[str, NoisyTable], plan: MarkovPlan) -> MarkovModel:
    """The model: counts that are not negative and that agree in their totals."""
    lengths = np.maximum(tables["lengths"].counts, 0).astype(np.float64)
    total = float(lengths.sum())
    visited = float(lengths @ np.arange(1, plan.height + 1))
    size = plan.universe_size
    if plan.is_small:
        return MarkovModel(
            lengths,
            _all_pairs(tables["trips"], total, size),
            _all_pairs(tables["transitions"], visited - total, size),
            np.empty(0, dtype=np.int64),
        )
    first, last, visits = (
        _by_location(tables[name], sum_)
        for name, sum_ in (
            ("first locations", total),
            ("last locations", total),
            ("visits", visited),
        )
    )
    return MarkovModel(
        lengths,
        _listed_pairs(tables["trips"], first, last),
        _listed_pairs(tables["transitions"], visits - last, visits - first),
        _elsewhere(visits),
    )


def _by_location(table: NoisyTable, total: float) -> NDArray[np.float64]:
    """One weight per place: 0 for locations that are not listed, and what is left for elsewhere."""
    if table.threshold is None:
        return np.append(project(table.counts, total), 0.0)
    weights = np.zeros(table.cells + 1)
    weights[table.keys] = table.counts
    if len(table.keys) < table.cells:
        weights[-1] = max(total - float(weights.sum()), 0.0)
    return weights


def _elsewhere(visits: NDArray[np.float64]) -> NDArray[np.int64]:
    """The locations without listed visits; all of them, if there is none."""
    unlisted = np.flatnonzero(visits[:-1] == 0)
    return unlisted if len(unlisted) else np.arange(len(visits) - 1)


def _all_pairs(table: NoisyTable, total: float, size: int) -> Pairs:
    """Every pair is measured; there is no rest."""
    weight = project(table.counts, total)
    nothing = np.zeros(size + 1)
    return Pairs(_starts(table.keys, size), table.keys % size, weight, nothing, nothing)


def _listed_pairs(
    table: NoisyTable, departing: NDArray[np.float64], arriving: NDArray[np.float64]
) -> Pairs:
    """The pairs above the threshold, and what they leave over of the sums."""
    size = len(departing) - 1
    weight = table.counts.astype(np.float64)
    from_, to = table.keys // size, table.keys % size
    return Pairs(
        _starts(table.keys, size),
        to,
        weight,
        np.maximum(departing - np.bincount(from_, weight, size + 1), 0.0),
        np.maximum(arriving - np.bincount(to, weight, size + 1), 0.0),
    )


def _starts(keys: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    starts = np.searchsorted(keys, np.arange(size + 1) * size)
    return np.append(starts, len(keys))  # nothing is listed from elsewhere
