"""Flows as lines on a map: from one place to another, and how many."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pathveil.analysis.flows import PairCounts, origin_destination, transitions
from pathveil.errors import ParameterError, ReleaseError
from pathveil.model.paths import WeightedPaths
from pathveil.release.exports.published import Published

FLOWS: Final[dict[str, Callable[[WeightedPaths], PairCounts]]] = {
    "transitions": transitions,
    "origin-destination": origin_destination,
}


@dataclass(frozen=True, slots=True, repr=False)
class FlowLines:
    """Flows between two different places, by their location codes in ascending order.

    Attributes:
        origin: labels, n of them.
        destination: labels, n of them.
        counts: int64, shape (n,).
        ends: float64, shape (n, 2, 2); of each line the first and the last point, each as
            longitude and latitude.
    """

    origin: list[str]
    destination: list[str]
    counts: NDArray[np.int64]
    ends: NDArray[np.float64]


def flow_lines(release: Published, flows: str) -> FlowLines:
    """The flows of a release that have a line.

    Staying in one place has none, nor has a flow from or to a place without coordinates.

    Args:
        release: what was published.
        flows: "transitions" (what follows what) or "origin-destination".

    Raises:
        ParameterError: if there are no such flows.
        ReleaseError: if the universe has no coordinates.
    """
    if flows not in FLOWS:
        raise ParameterError(f"Flows are {' or '.join(FLOWS)}; choose one of these.")
    universe = release.universe
    if universe.latitude is None or universe.longitude is None:
        raise ReleaseError(
            "The universe of this release has no coordinates, so its flows can't be put on a map; "
            "export a table instead (csv, parquet)."
        )
    pairs = FLOWS[flows](release)
    points = np.column_stack((universe.longitude, universe.latitude))
    has_line = pairs.first != pairs.second
    has_line &= ~np.isnan(points[pairs.first] + points[pairs.second]).any(axis=1)
    first, second = pairs.first[has_line], pairs.second[has_line]
    return FlowLines(
        origin=[universe.labels[code] for code in first],
        destination=[universe.labels[code] for code in second],
        counts=pairs.counts[has_line],
        ends=np.stack((points[first], points[second]), axis=1),
    )
