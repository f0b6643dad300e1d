"""Zones: how many visit each part of the universe.

In a large universe most locations are visited by so few that no noisy count can name them; a zone
of some hundred neighbours is visited by many. So a small table tells where those visits belong. A
cell is a zone of the taxonomy, if there is one; else a block of the map (`blocks`): a public
function of the coordinates, with about as many locations in each. Locations that are not on the
map, or all of them without one, are one more.

A trajectory adds 1 for each of its distinct locations, to the cell of its zone, and for ``cap`` of
them at most; they are picked as for the visits. All of them may lie in one zone. Which zone a
location lies in is public either way, so this does not depend on who made the zones.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from pathveil.statistics.constants import LEAST_IN_ZONE, MOST_ZONES
from pathveil.statistics.denoise import Estimates, posterior_means
from pathveil.statistics.first_visits import spread
from pathveil.statistics.noisy_table import NoisyTable
from pathveil.statistics.outlook import Outlook
from pathveil.statistics.statistic import (
    VISITED,
    Bound,
    Known,
    OfVisits,
    RowCells,
    Rows,
    Scope,
    Visit,
)
from pathveil.statistics.visits import visit_cells


class Zones(OfVisits):
    """See above."""

    name = "zones"
    words = "how many visit each zone, or block of the map"
    adds, because = "k", "one for each of at most k of its distinct locations"
    stage = VISITED

    def bound(self, cap: int) -> Bound:
        """All of the locations may lie in one zone."""
        return Bound(cap, cap**2)

    def size(self, scope: Scope) -> int:
        """The zones, and one for what is not on the map."""
        return count_zones(scope) + 1

    def row_cells(self, rows: Rows, scope: Scope, cap: int) -> RowCells:
        """Those of the visits, zone by zone."""
        found, locations = visit_cells(rows.offsets, rows.codes, rows.size, cap)
        return found, blocks_of(scope)[locations]

    def oracle(self, visits: Sequence[Visit], scope: Scope, cap: int) -> Iterator[int]:
        """An unnamed location takes a turn but has no cell."""
        distinct = list(dict.fromkeys(visit.location for visit in visits))
        blocks = blocks_of(scope)
        kept = (location for location in spread(distinct, cap) if isinstance(location, int))
        return (int(blocks[location]) for location in kept)

    def added(self, outlook: Outlook, cap: int) -> NDArray[np.float64]:
        """Distinct locations."""
        return np.minimum(outlook.distinct, cap)

    def typical(self, outlook: Outlook) -> float:
        """The average zone."""
        return outlook.total * outlook.mean_distinct / max(outlook.zones, 1)

    def worth(self, outlook: Outlook, usual: float) -> float:
        """Nothing without zones or a map, or if the average location can be counted by itself.

        That is, if it reaches the sanity bound of the paper's relative error.
        """
        average = outlook.total * outlook.mean_distinct / outlook.universe_size
        return usual if outlook.zones > 1 and average < outlook.least else 0.0

    def denoise(self, table: NoisyTable, scope: Scope, known: Known) -> Estimates:
        """Hardly a zone is quite empty."""
        return posterior_means(table.counts, table.noise)


BLOCKS = -1  # where a scope keeps them


def zones_of(universe_size: int) -> int:
    """How many blocks there are: a square number, so that a map has as many rows as columns."""
    return int(max(min(MOST_ZONES, universe_size // LEAST_IN_ZONE), 1) ** 0.5) ** 2


def has_taxonomy(scope: Scope) -> bool:
    """Whether somebody named the zones, and not more than a small table can count."""
    return scope.taxonomy is not None and 1 < len(scope.taxonomy) <= MOST_ZONES


def count_zones(scope: Scope) -> int:
    """How many zones, or blocks of a map, there are."""
    if scope.taxonomy is not None and has_taxonomy(scope):
        return len(scope.taxonomy)
    return zones_of(scope.universe_size)


def told_zones(scope: Scope) -> int:
    """The same, and 0 if nothing tells one from the other."""
    return count_zones(scope) if has_taxonomy(scope) or scope.has_map else 0


def blocks_of(scope: Scope) -> NDArray[np.int64]:
    """The zone or block of each location, int64, shape (|L|,); found once for a scope."""
    size = scope.universe_size
    if scope.taxonomy is not None and has_taxonomy(scope):
        return scope.taxonomy.zone_of.astype(np.int64)
    if scope.points is None:
        return np.full(size, zones_of(size), dtype=np.int64)
    if BLOCKS not in scope.numbered:
        scope.numbered[BLOCKS] = blocks(scope.points, zones_of(size))
    known: NDArray[np.int64] = scope.numbered[BLOCKS]
    return known


def blocks(points: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    """Cut the map into rows from south to north, and each into blocks from west to east.

    Args:
        points: float64, shape (n, 3); see `universe.coordinates.points_on_earth`.
        count: how many blocks; a square number.

    Returns:
        int64, shape (n,), from 0; ``count`` for points that are NaN.
    """
    side = round(count**0.5)
    placed = np.flatnonzero(~np.isnan(points[:, 0]))
    found = np.full(len(points), count, dtype=np.int64)
    row = np.empty(len(placed), dtype=np.int64)
    row[np.argsort(points[placed, 2], kind="stable")] = (
        np.arange(len(placed)) * side // max(len(placed), 1)
    )
    east = np.arctan2(points[placed, 1], points[placed, 0])
    order = np.lexsort((east, row))
    starts = np.searchsorted(row[order], np.arange(side + 1))
    turn = np.arange(len(placed)) - starts[row[order]]
    column = turn * side // np.maximum(np.diff(starts), 1)[row[order]]
    found[placed[order]] = row[order] * side + column
    return found


ZONES = Zones()
