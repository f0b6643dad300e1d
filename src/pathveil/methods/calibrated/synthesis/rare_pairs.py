"""Pairs of locations that are too rare to be listed, told over the months as moves are.

As in `synthesis.rare_moves`: a release that follows another keeps all noisy counts of its table of
pairs. A guess is made of what the earlier release says of a pair, and of how often two would be on
the same trip if people chose each by itself, with the factors that come nearest to the noisy counts
of all small pairs; and each count moves towards it as far as both are uncertain.
"""

import numpy as np
from numpy.typing import NDArray

from pathveil.methods.calibrated.synthesis.earlier import Earlier
from pathveil.methods.calibrated.synthesis.rare_moves import towards
from pathveil.statistics.denoise import Estimates
from pathveil.statistics.measurements import Measurements
from pathveil.statistics.noisy_table import NoisyTable
from pathveil.statistics.pairs import PAIRS

Floats = NDArray[np.float64]


def pairs_over_time(
    earlier: Earlier | None, seen: Measurements, visits: Floats, total: float
) -> Estimates | None:
    """Estimates of all pairs; None without an earlier release, or if some only were measured.

    Args:
        earlier: the earlier release.
        seen: the noisy tables.
        visits: how many visit each candidate, about.
        total: how many trajectories there are now, about.
    """
    if earlier is None or PAIRS not in seen.whole:
        return None
    table, before = seen.whole[PAIRS], float(earlier.paths.weights.sum())
    first, second = np.divmod(table.keys, seen.scope.named)
    possible = first < second
    told = earlier.counted(PAIRS, table, seen)[possible] * (total / max(before, 1.0))
    by_chance = (visits[first] * visits[second])[possible] / max(total, 1.0)
    table = NoisyTable(table.keys[possible], table.counts[possible], len(told), table.noise)
    return towards(table, np.stack([told, by_chance]))
