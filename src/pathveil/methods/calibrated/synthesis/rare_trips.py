"""Trips (first and last location) too rare to be listed, told over the months as moves are.

As in `synthesis.rare_moves`: a release that follows another keeps all noisy counts of its table of
trips. (A small table has them all anyway, and leans cell by cell: `synthesis.earlier`.) What may be
guessed of a trip:

- as many as if people ended anywhere, wherever they began;
- what the earlier release says of it, of the way back, and of trips like it;
- what it says of moves: many trips are a single one, and tables of moves have noise of their own;

with the factors that come nearest to the noisy counts of all small trips.
"""

import numpy as np
from numpy.typing import NDArray

from pathveil.methods.calibrated.synthesis.earlier import Earlier
from pathveil.methods.calibrated.synthesis.rare_moves import alike, towards
from pathveil.statistics.denoise import Estimates
from pathveil.statistics.measurements import Measurements
from pathveil.statistics.moves import MOVES
from pathveil.statistics.trips import TRIPS

Floats = NDArray[np.float64]


def trips_over_time(
    earlier: Earlier | None, seen: Measurements, last: Floats, total: float
) -> Estimates | None:
    """Estimates of all trips; None without an earlier release, or if some only were measured.

    Args:
        earlier: the earlier release.
        seen: the noisy tables.
        last: how many end at each candidate, about.
        total: how many trajectories there are now, about.
    """
    if earlier is None or TRIPS not in seen.whole:
        return None
    table, size = seen.whole[TRIPS], seen.scope.named
    grown = total / max(float(earlier.paths.weights.sum()), 1.0)
    told = earlier.counted(TRIPS, table, seen).reshape(size, size) * grown
    by_chance = np.outer(told.sum(axis=1), last) / max(total, 1.0)
    moves = None
    if MOVES in seen.whole:
        moves = earlier.counted(MOVES, seen.whole[MOVES], seen).reshape(size, size) * grown
    return towards(table, guesses_of_trips(by_chance, told, moves))


def guesses_of_trips(by_chance: Floats, told: Floats, moves: Floats | None) -> Floats:
    """A row for each guess.

    Args:
        by_chance: if people ended anywhere; from each candidate to each.
        told: trips of the earlier release.
        moves: those of the earlier release, if they are learnt, too.
    """
    guesses = [by_chance, told, told.T, *alike(told), *alike(told + told.T)]
    if moves is not None:
        guesses += [moves, moves.T, *alike(moves)]
    return np.stack([guess.ravel() for guess in guesses])
