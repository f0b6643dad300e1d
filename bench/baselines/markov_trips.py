"""The trips to make: the first and the last location of each trajectory, drawn from the model."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.baselines.markov_model import MarkovModel


class Trips(NamedTuple):
    """Trips, sorted by their last location.

    Attributes:
        first: int64, shape (n,).
        last: int64, shape (n,).
    """

    first: NDArray[np.int64]
    last: NDArray[np.int64]


def draw_trips(model: MarkovModel, draw: np.random.Generator) -> Trips:
    """As many as the noisy lengths add up to: listed pairs, or both ends from what they leave."""
    pairs, count = model.trips, round(float(model.lengths.sum()))
    listed = float(pairs.weight.sum())
    rest = min(float(pairs.rest_from.sum()), float(pairs.rest_to.sum()))
    if listed + rest == 0:
        return Trips(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))
    chosen = _spread(pairs.weight, round(count * listed / (listed + rest)), draw)
    others = count - len(chosen)
    starts, ends = (_spread(side, others, draw) for side in (pairs.rest_from, pairs.rest_to))
    first = np.concatenate((np.searchsorted(pairs.starts, chosen, side="right") - 1, starts))
    last = np.concatenate((pairs.second[chosen], draw.permutation(ends)))
    order = np.argsort(last, kind="stable")
    return Trips(first[order], last[order])


def _spread(
    weights: NDArray[np.float64], count: int, draw: np.random.Generator
) -> NDArray[np.int64]:
    """``count`` indices, rising, each as often as its weight says, off by less than 1."""
    if count == 0:
        return np.empty(0, dtype=np.int64)
    sums = np.cumsum(weights)
    marks = (np.arange(count) + draw.random()) * (sums[-1] / count)
    indices: NDArray[np.int64] = np.searchsorted(sums, marks, side="right")
    indices[indices > np.flatnonzero(weights)[-1]] = np.flatnonzero(weights)[-1]  # by rounding
    return indices
