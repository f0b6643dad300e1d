"""Counts told from noisy ones as well as they can be cell by cell: by Bayes, sizes known.

Suppose it is known how many cells have each true count, but not which. Then a noisy count gives
every true one a chance, and the guess of each cell is the one with the least expected divergence
(Jensen-Shannon, of all cells together: a sum over cells, if the guesses sum to what the truth does;
a price on each trip that is guessed, the same for all cells, sees to that). Nobody knows so much.
So it is a floor for what looks at each cell alone; not for what knows how cells belong together.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
ROWS = 4096  # at once
GUESSES = 128
PRICES = 40  # that are tried: halving from ±1 bit


def told(noisy: Floats, table: Floats, truth: Floats, scale: float, *, is_laplace: bool) -> Floats:
    """The guesses; the true counts are known but for their order.

    Args:
        noisy: the counts with noise.
        table: the counts without it: those of the truth, or what clipping leaves of them.
        truth: what is to be guessed, cell for cell of the table.
        scale: of the noise: its deviation if it is Gaussian, b of exp(−|x|/b) if it is Laplace's.
        is_laplace: whether it is Laplace's.
    """
    (values, aims), cells = np.unique(np.stack([table, truth]), axis=1, return_counts=True)
    largest = max(float(aims.max()), 2.0)
    guesses = np.concatenate(([0.0], np.geomspace(largest / 1e5, largest, GUESSES - 1)))
    losses = divergences(aims[:, None], guesses)
    parts = np.array_split(noisy, -(-len(noisy) // ROWS))
    expected = np.concatenate(
        [_chances(part, values, cells, scale, is_laplace) @ losses for part in parts]
    )
    low, high = -1.0, 1.0
    for _ in range(PRICES):
        price = (low + high) / 2.0
        found: Floats = guesses[(expected + price * guesses).argmin(axis=1)]
        low, high = (price, high) if found.sum() > truth.sum() else (low, price)
    return found


def divergences(true: Floats, guess: Floats) -> Floats:
    """What each cell adds to the divergence in bits, if both sum to the same."""
    middle = (true + guess) / 2.0
    return (_entropies(true, middle) + _entropies(guess, middle)) / 2.0


def _entropies(one: Floats, other: Floats) -> Floats:
    ratio = np.divide(one, other, out=np.ones(np.broadcast(one, other).shape), where=one > 0)
    return one * np.log2(ratio)


def _chances(noisy, values, cells, scale, is_laplace):
    off = np.abs(noisy[:, None] - values) / scale
    log = np.log(cells) - (off if is_laplace else off**2 / 2.0)
    chance = np.exp(log - log.max(axis=1, keepdims=True))
    return chance / chance.sum(axis=1, keepdims=True)
