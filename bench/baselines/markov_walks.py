"""Walks from a first to a last location, by first-order transitions, in a length that fits.

Let R_k(j) be the probability that k steps of the chain lead from j to the last location. The length
l of a trip from i is drawn ∝ lengths(l)·R_{l−1}(i), so it suits the trip. A step from i with k more
to come goes to j with probability ∝ P(j | i)·R_k(j). So a walk has exactly the law of the Markov
chain, given where it ends. A trip that the chain can't make in any length gets the length of
anybody, a free walk, and its last location by force.
"""

import numpy as np
from numpy.typing import NDArray

from bench.baselines.growing_codes import first_codes, with_room
from bench.baselines.markov_model import MarkovModel, Pairs
from bench.baselines.markov_trips import Trips
from pathveil.compiled import njit


def walk(
    trips: Trips, model: MarkovModel, generator: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The trajectories, as offsets and location codes."""
    first = first_codes(len(trips.first), len(model.lengths))
    offsets, codes = _walk(trips, _normalised(model.steps), model.lengths, first, generator)
    if len(model.elsewhere):
        unnamed = np.flatnonzero(codes == len(model.steps.rest_to) - 1)
        codes[unnamed] = generator.choice(model.elsewhere, len(unnamed))
    return offsets, codes


def _normalised(steps: Pairs) -> Pairs:
    """Weights as probabilities: those of a location and its rest sum to 1, and so does the rest."""
    size = len(steps.rest_to)
    begins = np.repeat(np.arange(size), np.diff(steps.starts))
    sums = np.bincount(begins, weights=steps.weight, minlength=size)
    arrivals = np.bincount(steps.second, weights=steps.weight, minlength=size)
    # Who has nowhere to go, or no rest to go to, goes where the others arrive, or anywhere.
    has_rest = bool(steps.rest_to.any())
    leaving = steps.rest_from if has_rest else np.zeros(size)
    leaving = np.where(sums + leaving > 0, leaving, 1.0)
    everywhere = np.append(np.ones(size - 1), 0.0)
    arriving = steps.rest_to if has_rest else arrivals if arrivals.any() else everywhere
    return Pairs(
        steps.starts,
        steps.second,
        steps.weight / (sums + leaving)[begins],
        leaving / (sums + leaving),
        arriving / arriving.sum(),
    )


@njit(cache=True)
def _walk(
    trips: Trips,
    chain: Pairs,
    lengths: NDArray[np.float64],
    codes: NDArray[np.int32],
    generator: np.random.Generator,
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    size, longest = len(chain.rest_to), len(lengths)
    offsets = np.zeros(len(trips.first) + 1, dtype=np.int64)
    reach = np.zeros((longest, size))
    rest = np.zeros((longest, size))
    anywhere, free = np.ones(size), np.cumsum(chain.rest_to)
    last = -1
    for row in range(len(trips.first)):
        start, here = offsets[row], trips.first[row]
        codes = with_room(codes, start, longest)
        if trips.last[row] != last:
            last = trips.last[row]
            _reach(chain, last, reach, rest)
        length = _pick(lengths * reach[:, here], generator)
        arrives = length >= 0
        if not arrives:
            length = max(_pick(lengths, generator), min(1, longest - 1))
        for left in range(length, 0, -1):
            codes[start + length - left] = here
            if arrives:
                here = _step(chain, here, reach[left - 1], rest[left - 1], generator)
            else:
                here = _step(chain, here, anywhere, free, generator)
        codes[start + length] = last
        offsets[row + 1] = start + length + 1
    return offsets, codes[: offsets[-1]].copy()


@njit(cache=True)
def _pick(weights: NDArray[np.float64], generator: np.random.Generator) -> int:
    """An index, with probability in proportion to its weight; -1 if all weights are 0."""
    left = generator.random() * weights.sum()
    last = -1
    for i in range(len(weights)):
        if weights[i] > 0:
            last = i
            left -= weights[i]
            if left < 0:
                break
    return last


@njit(cache=True)
def _reach(chain: Pairs, last: int, reach: NDArray[np.float64], rest: NDArray[np.float64]) -> None:
    """``reach[k, j]`` = R_k(j); ``rest[k]`` = running sums of the rest's steps, weighed by it."""
    size = len(chain.rest_to)
    reach[0] = 0.0
    reach[0, last] = 1.0
    for k in range(len(reach)):
        if k > 0:
            for i in range(size):
                total = chain.rest_from[i] * rest[k - 1, size - 1]
                for e in range(chain.starts[i], chain.starts[i + 1]):
                    total += chain.weight[e] * reach[k - 1, chain.second[e]]
                reach[k, i] = total
        rest[k] = np.cumsum(chain.rest_to * reach[k])


@njit(cache=True)
def _step(
    chain: Pairs,
    here: int,
    reach: NDArray[np.float64],
    rest: NDArray[np.float64],
    generator: np.random.Generator,
) -> int:
    """Where to go next: along a listed step or, as often as the rest says, along another."""
    start, stop = chain.starts[here], chain.starts[here + 1]
    total = chain.rest_from[here] * rest[-1]
    for e in range(start, stop):
        total += chain.weight[e] * reach[chain.second[e]]
    left = generator.random() * total
    there = -1
    for e in range(start, stop):
        weight = chain.weight[e] * reach[chain.second[e]]
        if weight > 0:
            there = int(chain.second[e])
            left -= weight
            if left < 0:
                return there
    if chain.rest_from[here] * rest[-1] > 0:
        return int(np.searchsorted(rest, min(left / chain.rest_from[here], rest[-1])))
    return there  # only if rounding left a crumb
