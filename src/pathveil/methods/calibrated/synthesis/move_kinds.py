"""Kinds of small moves: what many of them together say of how far the model is off.

Of one small move its noisy count says nothing. Of all that lead back it does: where people click
through pages in one order, none of them is made, and the model, which mixes, does not know that. So
small moves are sorted in three ways, one after another:

- those that lead on, and those that lead back (`levels`);
- those whose way back is listed, and the others;
- without a map, by where they begin. (A map's guesses know that; on 20,000 taxi trips of
  `bench.peers` the divergence of transitions was 0.271 with it and 0.255 without.)

With the model's guesses m and the noisy counts x of the moves of one kind, the model is off by a
factor, whose likeliest value is (Σ m·x + v) / (Σ m² + v), if it is about 1 give or take 1 before
anything is seen, and the noise has the variance v. Where noise hides the moves it stays 1.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pathveil.core.noise import Noise
from pathveil.statistics.constants import LEAST_KIND
from pathveil.statistics.denoise import Estimates

Floats = NDArray[np.float64]
LEVEL_DIGITS = 6


def corrected(
    guess: Floats, noisy: NDArray[np.integer], noise: Noise, kind: NDArray[np.int64]
) -> Floats:
    """The guesses, each times the factor of its kind; their sum stays.

    Args:
        guess: > 0; how many make each move, by the model.
        noisy: their noisy counts.
        noise: its law.
        kind: which kind each move is of, from 0.
    """
    variance = noise.deviation**2
    told = np.maximum(np.bincount(kind, guess * noisy) + variance, 0.0)
    ratios = told / (np.bincount(kind, guess**2) + variance)
    found: Floats = guess * np.maximum(ratios, LEAST_KIND)[kind]
    found *= guess.sum() / found.sum()
    return found


def kinds(listed: Estimates, size: int, *, mapped: bool) -> Iterator[NDArray[np.int64]]:
    """Of all moves among so many locations: the kinds by each way to sort them.

    Args:
        listed: the moves that are listed.
        size: n; a move is from·n + to.
        mapped: whether a map made the guesses.
    """
    level = levels(listed, size)
    yield (level[:, None] > level).ravel().astype(np.int64)
    first, second = np.divmod(listed.listed_keys, size)
    is_way_back = np.zeros(size * size, dtype=np.int64)
    is_way_back[second * size + first] = 1
    yield is_way_back
    if not mapped:
        yield np.repeat(np.arange(size), size)


def levels(listed: Estimates, size: int) -> Floats:
    """How late on their way people come to each location, by the moves that are listed.

    Numbers such that, by least squares, a move leads up by 1 (trophic levels; MacKay, Johnson and
    Sansom, 2020). Where people go to and fro they are all alike.
    """
    flow = np.zeros((size, size))
    flow.ravel()[listed.listed_keys] = listed.value
    both = flow + flow.T
    laplacian = np.diag(both.sum(axis=0) + 1.0) - both  # + 1: locations without moves are at 0
    found: Floats = np.linalg.solve(laplacian, flow.sum(axis=0) - flow.sum(axis=1))
    return found.round(LEVEL_DIGITS)  # the last bits of a sum decide nothing
