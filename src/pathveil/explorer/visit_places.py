"""The index behind questions about an order or about hours: where each location is visited."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pathveil.analysis._visits import order_by_code, row_of_visits
from pathveil.model.paths import Paths

Window = NDArray[np.bool_] | None
"""The slots that fit a step, bool, shape (|T|,); None if every time does."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class VisitPlaces:
    """Every visit of the released trajectories, location by location.

    The same answers as `Release.count_ordered` and `TimeView.count`, without a pass over all visits
    for each question. Build it once per release.

    Attributes:
        paths: the released trajectories, as pair codes if there are times.
        size: |L| of the release's universe.
        rows: int64, shape (visits,); the path of each visit.
        offsets: int64, shape (|L| + 1,); location c is visited at
            ``places[offsets[c]:offsets[c + 1]]``.
        places: int64, shape (visits,); positions in the codes, ascending for each location.
    """

    paths: Paths
    size: int
    rows: NDArray[np.int64]
    offsets: NDArray[np.int64]
    places: NDArray[np.int64]

    @classmethod
    def build(cls, paths: Paths, size: int) -> "VisitPlaces":
        """Sort the visits by location."""
        locations = paths.codes % np.int32(size)
        places = order_by_code(locations, size)
        offsets = np.zeros(size + 1, dtype=np.int64)
        np.cumsum(np.bincount(locations, minlength=size), out=offsets[1:])
        return cls(paths, size, row_of_visits(paths), offsets, places)

    def count(self, steps: Sequence[tuple[int, Window]]) -> int:
        """How many trajectories make all these visits, in any order.

        Args:
            steps: location codes, each with the slots that count. One visit may serve two steps.
        """
        visitors = sorted((self._visitors(self._at(*step)) for step in steps), key=len)
        if not visitors:
            return int(self.paths.weights.sum())
        rows = visitors[0]
        for others in visitors[1:]:
            rows = np.intersect1d(rows, others, assume_unique=True)
        return int(self.paths.weights[rows].sum())

    def count_ordered(self, steps: Sequence[tuple[int, Window]]) -> int:
        """How many trajectories make these visits in this order, others in between allowed."""
        if not steps:
            return int(self.paths.weights.sum())
        places = self._at(*steps[0])
        reached = places[_first_of_each(self.rows[places])]
        for step in steps[1:]:
            places = self._at(*step)
            # The earliest later visit that fits leaves the most room for the steps to come.
            found = np.searchsorted(places, reached, side="right")
            some = found < len(places)
            reached, found = reached[some], found[some]
            reached = places[found][self.rows[places[found]] == self.rows[reached]]
        return int(self.paths.weights[self.rows[reached]].sum())

    def _at(self, code: int, window: Window) -> NDArray[np.int64]:
        places = self.places[self.offsets[code] : self.offsets[code + 1]]
        if window is None:
            return places
        return places[window[self.paths.codes[places] // self.size]]

    def _visitors(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        rows = self.rows[places]
        return rows[_first_of_each(rows)]


def _first_of_each(rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which of ascending rows differ from the one before."""
    return np.diff(rows, prepend=-1) > 0
