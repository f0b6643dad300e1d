"""From draws of the true count to the bounds of intervals."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pathveil.uncertainty.error_table import LEVELS, ErrorTable


@dataclass(frozen=True, slots=True, eq=False)
class TableRows:
    """The rows of an error table for one number of locations.

    Attributes:
        locations: see `ErrorTable`.
        estimates: int64, ascending.
        bounds: int64, shape (rows, levels, 2).
    """

    locations: int
    estimates: NDArray[np.int64]
    bounds: NDArray[np.int64]

    @classmethod
    def of(cls, locations: int, draws: Sequence[tuple[int, NDArray[np.float64]]]) -> "TableRows":
        """Quantiles of the true counts that were drawn for each estimate."""
        estimates, first = np.unique([estimate for estimate, _ in draws], return_index=True)
        bounds = np.array([_bounds(draws[i][1]) for i in first])
        # Larger estimates have no lower bounds, and wider levels no narrower ones; draws are
        # finite, so this is not quite so by itself.
        bounds = np.maximum.accumulate(bounds, axis=0)
        bounds[..., 0] = np.minimum.accumulate(bounds[..., 0], axis=1)
        bounds[..., 1] = np.maximum.accumulate(bounds[..., 1], axis=1)
        return cls(locations, estimates, bounds)


def tabulate(parts: Sequence[TableRows]) -> ErrorTable:
    """All rows in order."""
    ordered = sorted(parts, key=lambda part: part.locations)
    return ErrorTable(
        np.concatenate([np.full(len(part.estimates), part.locations) for part in ordered]),
        np.concatenate([part.estimates for part in ordered]),
        np.concatenate([part.bounds for part in ordered]),
    )


def _bounds(true: NDArray[np.float64]) -> NDArray[np.int64]:
    """Low and high for each level, shape (levels, 2).

    Most answers to random queries are 0, and an interval that is right about them says little.
    So ``high`` is chosen given that somebody did it: of the draws that are not 0, the level's
    share lies between low and high. ``low`` is the ordinary quantile, 0 included.
    """
    ordered = np.sort(true)
    some = ordered[ordered > 0]
    bounds = np.zeros((len(LEVELS), 2), dtype=np.int64)
    if not len(some):
        return bounds
    for place, per_cent in enumerate(LEVELS):
        low = ordered[(100 - per_cent) * len(ordered) // 200]
        missed = int(np.searchsorted(some, low))
        last = missed - (-per_cent * len(some) // 100) - 1
        bounds[place] = low, some[min(last, len(some) - 1)]
    return bounds
