"""Moves that are too rare to be listed, told by this month's noise and the months before.

Of a single one the noisy count x says little, the release before little more, and the model another
little: how many leave for it and come to it, and how far it is. The guess is

    m = p·(what the model says) + q·(what the earlier release says),

with the p, q ≥ 0 that come nearest to the noisy counts of all moves that both make small: two
numbers from thousands of cells. From there on all is as in `synthesis.earlier`, with m for y: x
moves towards m by v/(v + t²) of the way, where t² is what x − m varies by beyond its noise. So it
leans on the earlier release, which knew the one before it, as far as that is nearer to the new
noisy counts than the model without it; and the expected squared error, v·t²/(v + t²), is below
that of the noisy count, v, and below that of the guess, t². Where counts would fall below zero, the
others of their size are lowered until they sum to what they did.

Without an earlier release such moves follow the model alone (`synthesis.movement_model`).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pathveil.methods.calibrated.synthesis.earlier import Earlier, of_one_size, squared_errors
from pathveil.statistics.measurements import Measurements
from pathveil.statistics.moves import MOVES
from pathveil.statistics.noisy_table import NoisyTable

Floats = NDArray[np.float64]
SMALL = 3.0  # deviations: about where a threshold stands, so that larger ones are listed anyway
SMALLEST = 1.0 / 256  # scales: most moves are far below the noise, and their sizes differ
ALIKE = 1e-9  # two guesses that are proportional to one another are one


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

    def estimates(self, model: Floats) -> Floats:
        """How many make each move, listed or not.

        Args:
            model: in proportion to how many make each by the model; 0 where nobody can.
        """
        table, guess = self.table, self.guess
        small = np.maximum(model, guess) < SMALL * table.noise.deviation
        counts = table.counts.astype(np.float64)
        of_model, of_guess = _nearest(counts[small], model[small], guess[small])
        expected = of_model * model + of_guess * guess
        groups, variance = of_one_size(expected, table.scale, SMALLEST), table.noise.deviation**2
        weight = variance / (variance + squared_errors(table, expected, SMALLEST))
        value = np.where(model > 0, counts + weight * (expected - counts), 0.0)
        for group in range(int(groups.max()) + 1):
            inside = groups == group
            value[inside] = _lowered(value[inside])
        return value


def _nearest(counts: Floats, model: Floats, guess: Floats) -> tuple[float, float]:
    """The p, q ≥ 0 for which p·model + q·guess is nearest to the counts."""
    aa, ab, bb = float(model @ model), float(model @ guess), float(guess @ guess)
    a, b = float(model @ counts), float(guess @ counts)
    alone = [(max(a / aa, 0.0) if aa > 0 else 0.0, 0.0), (0.0, max(b / bb, 0.0) if bb > 0 else 0.0)]
    determinant = aa * bb - ab * ab
    if determinant > ALIKE * aa * bb:
        p, q = (a * bb - b * ab) / determinant, (b * aa - a * ab) / determinant
        if p >= 0 and q >= 0:
            return p, q
    return min(alone, key=lambda pq: float(((counts - pq[0] * model - pq[1] * guess) ** 2).sum()))


def _lowered(values: Floats) -> Floats:
    """All lowered by the same, but not below 0, until they sum to what they did at first."""
    kept: Floats = np.maximum(values, 0.0)
    falling = np.sort(kept)[::-1]
    beyond = (np.cumsum(falling) - max(float(values.sum()), 0.0)) / np.arange(1, len(kept) + 1)
    last = int(np.count_nonzero(falling > beyond)) - 1
    return np.maximum(kept - max(beyond[last], 0.0), 0.0) if last >= 0 else np.zeros_like(kept)
