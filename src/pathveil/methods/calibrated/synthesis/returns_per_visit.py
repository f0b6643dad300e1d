"""Returns to each location, where noise hides them: as many per visit as elsewhere.

Noise on the table of returns is larger than that on the visits, and of a location of which it shows
nothing, taken by itself, the best guess is that hardly anybody returns there. But it is known how
many visit it, and how many return for each visit everywhere, m in all. So the estimate moves from m
to the noisy count x by s²m²/(s²m² + v) of the way, where v is the variance of the noise and s, how
far locations differ, is told by the table: (x − m)² is s²m² + v, on average. (James and Stein; as
`statistics.returns` tells staying from coming back.)
"""

import numpy as np
from numpy.typing import NDArray

from pathveil.statistics.denoise import Estimates
from pathveil.statistics.noisy_table import NoisyTable
from pathveil.statistics.returns import KINDS, OFTEN, shared_out

Floats = NDArray[np.float64]


def by_visits(
    table: NoisyTable, alone: Estimates, visits: Floats, candidates: NDArray[np.int64]
) -> Estimates:
    """Returns to the candidates, kind by kind.

    Args:
        table: of returns to all locations.
        alone: what it says of the candidates, each by itself; a kind that it does not show stays 0.
        visits: to the candidates.
        candidates: their codes.
    """
    counts = table.counts.reshape(len(KINDS), -1)[:, candidates]
    value, variance = (
        column.reshape(len(KINDS), -1).copy() for column in (alone.value, alone.variance)
    )
    noise = table.noise.deviation**2
    if (value[:OFTEN] > 0).any(axis=1).all():
        both = _drawn(counts[:OFTEN].sum(axis=0), visits, OFTEN * noise)
        value[:OFTEN], variance[:OFTEN] = shared_out(counts[:OFTEN], both, table.noise)
    else:
        for kind in range(OFTEN):
            if (value[kind] > 0).any():
                value[kind] = _drawn(counts[kind], visits, noise)
    return Estimates(value.ravel(), variance.ravel())


def _drawn(counts: NDArray[np.int64], visits: Floats, variance: float) -> Floats:
    in_all = max(float(counts.sum()), 0.0)
    expected = visits * (in_all / max(float(visits.sum()), 1.0))
    squares = expected**2
    differing = float(((counts - expected) ** 2 - variance).sum())
    spread = max(differing / max(float(squares.sum()), 1.0), 0.0)
    trust = spread * squares / (spread * squares + variance)
    value: Floats = np.maximum(expected + trust * (counts - expected), 0.0)
    return value * (in_all / max(float(value.sum()), 1.0))
