"""Hotspots: does the release name the busiest locations, the busiest first?"""

import numpy as np
from numpy.typing import NDArray


def hotspot_ndcg(raw: NDArray[np.int64], released: NDArray[np.int64], k: int) -> float:
    """The normalised discounted cumulative gain of the release's k busiest locations.

    The gain of a location is its raw count, the discount of place i is log₂(i + 1), and the
    norm is the gain of the k locations that are busiest in truth. Only locations with a
    released count can be named; equal counts are taken in the order of the universe.

    Args:
        raw: trajectories that visit each location, int64, shape (|L|,).
        released: the same in the release, int64, shape (|L|,).
        k: how many hotspots.

    Returns:
        From 0 (nothing named) to 1 (the true order); 1 if nobody visits anything in truth.
    """
    best = _gain(raw, _busiest(raw, k))
    return _gain(raw, _busiest(released, k)) / best if best else 1.0


def _busiest(counts: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    order = np.argsort(-counts, kind="stable")[:k]
    return order[counts[order] > 0]


def _gain(raw: NDArray[np.int64], named: NDArray[np.int64]) -> float:
    return float(np.sum(raw[named] / np.log2(np.arange(len(named)) + 2)))
