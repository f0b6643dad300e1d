"""The rows of an error table: quantiles of the true counts that were drawn for released ones."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pathveil.core.error_table import ANY, KINDS, LEVELS, ErrorTable
from pathveil.statistics.constants import AS_GOOD_AS_NOBODY, STEPS_PER_DECADE

HALF_DECADES = np.concatenate((np.array([0.0, 1.0]), 10.0 ** np.arange(0.5, 12.1, 0.5)))


@dataclass(frozen=True, slots=True, eq=False)
class TableRows:
    """The rows of an error table for one kind of question and number of locations.

    Attributes:
        locations: see `ErrorTable`.
        estimates: int64, ascending.
        bounds: int64, shape (rows, levels, 2).
        best: int64; medians.
        kind: of `KINDS`.
    """

    locations: int
    estimates: NDArray[np.int64]
    bounds: NDArray[np.int64]
    best: NDArray[np.int64]
    kind: str = ANY

    @classmethod
    def of(
        cls,
        locations: int,
        draws: Sequence[tuple[int, NDArray[np.float64]]],
        *,
        kind: str = ANY,
        is_asked: bool = False,
        tail: float = 1.0,
        least: float = 0.0,
    ) -> "TableRows":
        """Quantiles of the true counts that were drawn for each estimate.

        Args:
            locations: how many are asked for.
            draws: estimates, each with true counts.
            kind: of question.
            is_asked: whether ``high`` is to hold for questions that people's own trajectories
                suggest, too: see `_bounds`.
            tail: so much of what a level allows lies outside.
            least: the sanity bound: see `_bounds`.
        """
        estimates, first = np.unique([estimate for estimate, _ in draws], return_index=True)
        bounds = np.array(
            [
                _bounds(
                    draws[i][1],
                    tail,
                    is_asked=is_asked or draws[i][0] < least,
                    least=least if draws[i][0] < least else 0.0,
                )
                for i in first
            ]
        )
        best = np.array([round(float(np.median(draws[i][1]))) for i in first])
        # Larger estimates have no lower bounds, and wider levels no narrower ones; draws are
        # finite, so this is not quite so by itself.
        at = min(int(np.searchsorted(estimates, least)), len(estimates) - 1) if least else 0
        bounds[at:] = _ascending(bounds[at:])
        if is_asked:
            # Between such rows and others, too.
            bounds[..., 0][bounds[..., 0] < AS_GOOD_AS_NOBODY * bounds[..., 1]] = 0
            # What is answered by less than the sanity bound may be as much as what is there.
            bounds[:at, :, 0] = np.minimum(bounds[:at, :, 0], bounds[at, :, 0])
            bounds[:at, :, 1] = np.maximum(bounds[:at, :, 1], bounds[at, :, 1])
        else:
            # And no more than that.
            most = np.maximum(bounds[at, :, 1], bounds[:at, :, 0])
            bounds[:at, :, 1] = np.minimum(bounds[:at, :, 1], most)
        bounds[..., 0] = np.minimum.accumulate(bounds[..., 0], axis=1)
        bounds[..., 1] = np.maximum.accumulate(bounds[..., 1], axis=1)
        return cls(locations, estimates, bounds, np.maximum.accumulate(best), kind)


def _ascending(bounds: NDArray[np.int64]) -> NDArray[np.int64]:
    """Bounds that ascend with the estimate: between the next ones that do, above and below."""
    up = np.maximum.accumulate(bounds, axis=0)
    down = np.minimum.accumulate(bounds[::-1], axis=0)[::-1]
    return np.round(np.expm1((np.log1p(up) + np.log1p(down)) / 2)).astype(np.int64)


def tabulate(parts: Sequence[TableRows]) -> ErrorTable:
    """All rows in order."""
    ordered = sorted(parts, key=lambda part: (KINDS.index(part.kind), part.locations))
    return ErrorTable(
        np.concatenate([np.full(len(part.estimates), part.locations) for part in ordered]),
        np.concatenate([part.estimates for part in ordered]),
        np.concatenate([part.bounds for part in ordered]),
        np.concatenate([np.full(len(part.estimates), KINDS.index(part.kind)) for part in ordered]),
        np.concatenate([part.best for part in ordered]),
    )


def _bounds(
    true: NDArray[np.float64], tail: float, *, is_asked: bool, least: float = 0.0
) -> NDArray[np.int64]:
    """Low and high for each level, shape (levels, 2): quantiles with as much on either side.

    But where low would be as good as nobody, it is 0, and as much as both together lies above high.

    People ask for what many do. Of questions that a random trajectory suggests, one with a true
    count of 300 is asked three times as often as one of 100 that was answered alike. So where
    several locations are asked for (``is_asked``), ``high`` is not below the quantile by
    trajectories, of which nearly all that lie outside lie above. Who asks for what was answered by
    less than the sanity bound does so because it is no less (``least``), or does not care.
    """
    ordered = np.sort(true)
    size, last = len(ordered), len(ordered) - 1
    bounds = np.zeros((len(LEVELS), 2), dtype=np.int64)
    by_trajectories = np.cumsum(ordered)
    by_trajectories -= np.append(0.0, by_trajectories)[np.searchsorted(ordered, least)]
    by_trajectories = np.maximum(by_trajectories, 0.0)
    for row, per_cent in enumerate(LEVELS):
        outside = tail * (100 - per_cent) / 200
        low, high = int(outside * size), last - int(outside * size)
        if is_asked:
            high = max(high, _reached(by_trajectories, outside))
            if ordered[low] < AS_GOOD_AS_NOBODY * ordered[high]:
                # So much is not known then that nobody may do it. No true count lies below that,
                # so all that the level allows lies above.
                high = max(last - int(2 * outside * size), _reached(by_trajectories, 2 * outside))
                bounds[row] = 0, np.ceil(ordered[high])
                continue
        bounds[row] = np.floor(ordered[low]), np.ceil(ordered[high])
    return bounds


def _reached(by_trajectories: NDArray[np.float64], outside: float) -> int:
    """The draw above which so much of all trajectories lies, of their sums so far."""
    asked = np.searchsorted(by_trajectories, (1.0 - outside) * by_trajectories[-1])
    return min(int(asked), len(by_trajectories) - 1)


def by_size(
    estimates: NDArray[np.float64], true: NDArray[np.float64]
) -> list[tuple[int, NDArray[np.float64]]]:
    """Draws grouped by half-decades of the estimate, moved to the middle of the group."""
    groups = []
    group_of = np.searchsorted(HALF_DECADES, estimates, side="right")
    for group in np.unique(group_of):
        inside = group_of == group
        middle = int(np.round(np.expm1(np.log1p(estimates[inside]).mean())))
        groups.append((middle, np.maximum(np.round(middle + true - estimates)[inside], 0.0)))
    return groups


def sizes_up_to(largest: int) -> list[int]:
    """The estimates of the table: 0 to 9, and then some of each decade."""
    decades = np.log10(max(largest, 10)) - 1.0
    steps = np.arange(np.ceil(STEPS_PER_DECADE * decades) + 1) / STEPS_PER_DECADE
    return [*range(10), *np.round(10.0 * 10.0**steps).astype(np.int64).tolist()]
