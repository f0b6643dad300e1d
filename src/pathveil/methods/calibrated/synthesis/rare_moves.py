"""Moves that are too rare to be listed, told by this month's noise and the months before.

Of a single one the noisy count x says little, the release before little more, and the model another
little: how many leave for it and come to it, and how far it is. There are several guesses:

- what the model says;
- what the earlier release says of it, and of the way back: who goes there comes back;
- what the earlier release says of moves like it: stops from where people go to the same places have
  much in common, so a matrix of moves is nearly one of low rank, and its largest singular vectors
  have less noise than its cells. Cells are divided by the roots of what leaves and comes (as in
  correspondence analysis), so that a few busy stops are not all that is seen.

The guess m is their sum with the factors ≥ 0 that come nearest to the noisy counts of all moves
that are guessed to be small: a handful of numbers from thousands of cells. From there on all is as
in `synthesis.earlier`, with m for y: x moves towards m by v/(v + t²) of the way, where t² is what
x − m varies by beyond its noise. So it leans on the earlier release, which knew the one before it,
as far as that is nearer to the new noisy counts than the model without it; and the expected squared
error, v·t²/(v + t²), is below that of the noisy count, v, and below that of the guess, t². Where
counts would fall below zero, the others of their size are lowered until they sum to what they did.

Without an earlier release such moves follow the model alone (`synthesis.movement_model`).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pathveil.methods.calibrated.synthesis.earlier import Earlier, of_one_size, squared_errors
from pathveil.statistics.constants import SMALLEST_VARIANCE
from pathveil.statistics.denoise import Estimates
from pathveil.statistics.measurements import Measurements
from pathveil.statistics.moves import MOVES
from pathveil.statistics.noisy_table import NoisyTable

Floats = NDArray[np.float64]
SMALL = 3.0  # deviations: about where a threshold stands, so that larger ones are listed anyway
SMALLEST = 1.0 / 256  # scales: most moves are far below the noise, and their sizes differ
RANKS = (16, 64)  # of guesses by what is alike; any of this size would do: factors choose
ROUNDS = 1000  # of looking for the factors, one at a time; the guesses are a handful


@dataclass(frozen=True, slots=True, eq=False)
class RareMoves:
    """This month's noisy counts of all moves, and what an earlier release says of them.

    Attributes:
        table: the noisy counts of all moves.
        guess: the earlier release's.
    """

    table: NoisyTable
    guess: Floats

    @classmethod
    def of(cls, earlier: Earlier | None, seen: Measurements, total: float) -> "RareMoves | None":
        """None without an earlier release, or if only moves above a threshold were measured."""
        if earlier is None or MOVES not in seen.whole:
            return None
        table, before = seen.whole[MOVES], float(earlier.paths.weights.sum())
        return cls(table, earlier.counted(MOVES, table, seen) * (total / max(before, 1.0)))

    def _guesses(self, model: Floats) -> list[Floats]:
        """What the model, and what the earlier release says, in several ways."""
        stops = round(len(model) ** 0.5)
        there = self.guess.reshape(stops, stops)
        ways = [there.T, *alike(there), *alike(there + there.T)]
        return [model, self.guess, *(way.ravel() for way in ways)]

    def estimates(self, model: Floats) -> Floats:
        """How many make each move, listed or not.

        Args:
            model: in proportion to how many make each by the model; 0 where nobody can.
        """
        table, counts = self.table, self.table.counts.astype(np.float64)
        guesses = np.stack([np.where(model > 0, one, 0.0) for one in self._guesses(model)])
        small = np.maximum(model, self.guess) < SMALL * table.noise.deviation
        expected = nearest(counts[small], guesses[:, small]) @ guesses
        return shrunk(table, expected, model > 0).value


def towards(table: NoisyTable, guesses: Floats) -> Estimates:
    """All noisy counts, moved towards what the guesses make of them.

    Args:
        table: with all its cells.
        guesses: a row for each guess; what any of them makes large does not choose the factors.
    """
    small = guesses.max(axis=0) < SMALL * table.noise.deviation
    factors = nearest(table.counts[small].astype(np.float64), guesses[:, small])
    return shrunk(table, factors @ guesses, np.ones(len(table.keys), dtype=np.bool_))


def shrunk(table: NoisyTable, expected: Floats, possible: NDArray[np.bool_]) -> Estimates:
    """All noisy counts, moved towards what is expected as far as both are uncertain.

    Args:
        table: with all its cells.
        expected: of each cell; made before.
        possible: where anybody can be; elsewhere it is 0.
    """
    counts, variance = table.counts.astype(np.float64), table.noise.deviation**2
    groups = of_one_size(expected, table.scale, SMALLEST)
    weight = variance / (variance + squared_errors(table, expected, SMALLEST))
    value = np.where(possible, counts + weight * (expected - counts), 0.0)
    for group in range(int(groups.max(initial=-1)) + 1):
        inside = groups == group
        value[inside] = _lowered(value[inside])
    return Estimates(value, np.maximum(variance * (1.0 - weight), SMALLEST_VARIANCE), table.keys)


def alike(moves: Floats) -> list[Floats]:
    """The matrix of moves by its largest singular vectors: what it is without its single cells."""
    size = np.sqrt(np.outer(_at_least_one(moves.sum(axis=1)), _at_least_one(moves.sum(axis=0))))
    left, strength, right = np.linalg.svd(moves / size)
    ranks = [rank for rank in RANKS if 2 * rank < len(strength)]
    return [
        np.maximum(left[:, :rank] * strength[:rank] @ right[:rank], 0.0) * size for rank in ranks
    ]


def _at_least_one(sums: Floats) -> Floats:
    return np.maximum(sums, 1.0)


def nearest(counts: Floats, guesses: Floats) -> Floats:
    """The factors ≥ 0, one for each row of guesses, whose sum with them is nearest to the counts.

    One factor at a time is set to the best there is given the others, again and again: the sum of
    squares falls with each, and is convex.
    """
    size = np.sqrt((guesses**2).sum(axis=1))
    there = size > 0
    used = guesses[there] / size[there, None]
    products, aims = used @ used.T, used @ counts
    factors = np.zeros(len(used))
    for _ in range(ROUNDS):
        for one in range(len(used)):
            factors[one] = max(0.0, factors[one] + aims[one] - products[one] @ factors)
    found: Floats = np.zeros(len(guesses))
    found[there] = factors / size[there]
    return found


def _lowered(values: Floats) -> Floats:
    """All lowered by the same, but not below 0, until they sum to what they did at first."""
    kept: Floats = np.maximum(values, 0.0)
    falling = np.sort(kept)[::-1]
    beyond = (np.cumsum(falling) - max(float(values.sum()), 0.0)) / np.arange(1, len(kept) + 1)
    last = int(np.count_nonzero(falling > beyond)) - 1
    return np.maximum(kept - max(beyond[last], 0.0), 0.0) if last >= 0 else np.zeros_like(kept)
