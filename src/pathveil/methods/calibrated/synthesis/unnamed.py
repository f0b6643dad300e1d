"""Where visits go that no noisy count can name.

The movement model knows that somebody goes somewhere rare, and not where. Left out, such visits
would be missing: lengths and sums would not agree, and of a large universe most visits would be
gone. With zones or a map each gets a location that is no candidate. No single one of them means
anything, but their sums do: by zones (those of a taxonomy, else blocks of the map) they are what
the table of zones has and the candidates have not (`statistics.zones`), within a zone they follow
what the noisy visits say.

Without zones such visits are left out, but a trajectory that would be empty keeps one location.
To place them by what the noisy visits say was tried and does harm: of the 41,270 pages of kosarak
the error of the paper's queries would be a third larger than that of an empty release.

From where somebody is the blocks near by are likelier: as much as measured moves are rather short
(`statistics.distances`). Both are brought together by iterative proportional fitting. Only
coordinates, which are public, and noisy tables are seen.
"""

from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from pathveil.core.paths import Paths
from pathveil.methods.calibrated.synthesis.canonical import (
    SmallPaths,
    concatenate_paths,
    drop_code,
    merged_parts,
    take_rows,
    taken_by_blocks,
)
from pathveil.methods.calibrated.synthesis.estimates import Estimated
from pathveil.statistics.constants import PLACING_ROUNDS
from pathveil.statistics.denoise import posterior
from pathveil.statistics.distances import DISTANCES, STEP_ENDS
from pathveil.statistics.measurements import Measurements
from pathveil.statistics.visits import VISITS
from pathveil.statistics.zones import ZONES, blocks_of

MOST_COPIES = 1 << 22  # trajectories that are told apart; beyond that each stands for several
_TINY = 1e-300


@dataclass(frozen=True, slots=True, eq=False)
class Unnamed:
    """How likely an unnamed visit goes to each location.

    Attributes:
        odds: float64, shape (|L|,), not normalised; 0 for candidates.
        block: int64, shape (|L|,); the zone, or block of the map, that each lies in.
        kernel: float64, shape (blocks, blocks); how much likelier a move between them is than
            without a map.
        has_zones: whether the blocks were measured; if not, such visits are left out.
    """

    odds: NDArray[np.float64]
    block: NDArray[np.int64]
    kernel: NDArray[np.float64]
    has_zones: bool

    @classmethod
    def of(cls, measurements: Measurements, known: Estimated) -> "Unnamed | None":
        """None if there are no unnamed visits.

        Args:
            measurements: the noisy tables.
            known: the same denoised, as seen from the candidates.
        """
        candidates = measurements.candidates
        if known.unnamed_visits <= 0:
            return None
        scope, table = measurements.scope, measurements[VISITS]
        block, count = blocks_of(scope), ZONES.size(scope)
        odds = posterior(table.counts, table.noise).mean
        odds[candidates] = 0.0
        if not odds.any():
            odds = np.ones(len(odds))
            odds[candidates] = 0.0
        if len(candidates) == len(odds):  # there is nowhere else
            odds = np.ones(len(odds))
        if ZONES not in known.tables or len(candidates) == len(odds):
            return cls(odds, block, np.ones((count, count)), has_zones=False)
        named = np.bincount(block[candidates], known[VISITS].value, count).astype(np.float64)
        odds = _as_zones_say(odds, block, candidates, named, known)
        return cls(odds, block, _kernel(measurements, known, block, named), has_zones=True)


def _as_zones_say(
    odds: NDArray[np.float64],
    block: NDArray[np.int64],
    candidates: NDArray[np.int64],
    named: NDArray[np.float64],
    known: Estimated,
) -> NDArray[np.float64]:
    """The same within each block; the blocks have what their candidates leave of them."""
    is_open = np.ones(len(odds))
    is_open[candidates] = 0.0
    count = len(named)
    offered = np.bincount(block, odds, count)
    odds = np.where(offered[block] > 0, odds, is_open)
    offered = np.bincount(block, odds, count)
    zones = known[ZONES].value
    visits = known[VISITS].value.sum() + known.unnamed_visits
    left = np.maximum(zones * (visits / max(zones.sum(), 1.0)) - named, 0.0)
    left = np.where(offered > 0, left, 0.0)
    if not left.any():
        return odds
    shared: NDArray[np.float64] = odds * (left / np.maximum(offered, _TINY))[block]
    return shared


def _kernel(
    measurements: Measurements,
    known: Estimated,
    block: NDArray[np.int64],
    named: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Measured moves over expected ones at the distance of two blocks; 1 without a map."""
    count, points = len(named), measurements.scope.points
    even = np.ones((count, count))
    if points is None or DISTANCES not in known.tables:
        return even
    placed = np.flatnonzero(~np.isnan(points[:, 0]))
    size = np.maximum(np.bincount(block[placed], minlength=count), 1)
    middle = np.column_stack(
        [np.bincount(block[placed], points[placed, axis], count) / size for axis in range(3)]
    )
    spread = ((points[placed] - middle[block[placed]]) ** 2).sum(axis=1)
    within = float(np.median(spread)) * 2.0  # two locations of one block
    apart = ((middle[:, None, :] - middle[None, :, :]) ** 2).sum(axis=2)
    # Blocks can't tell steps that are shorter than they are wide.
    step = np.searchsorted(STEP_ENDS, np.maximum(apart, within), "right")
    nearest = int(step.min())
    told = known[DISTANCES].value[: len(STEP_ENDS) + 1].copy()
    told[nearest] += told[:nearest].sum()
    told[:nearest] = 0.0
    expected = np.bincount(step.ravel(), np.outer(named, named).ravel(), len(told))
    expected *= told.sum() / max(expected.sum(), _TINY)
    slack = float(np.sqrt(known[DISTANCES].variance.max())) + 1.0
    decay = (told + slack) / (expected + slack)
    kernel: NDArray[np.float64] = decay[step]
    # Nobody knows how far away what is not on the map is.
    nowhere = np.bincount(block[placed], minlength=count) == 0
    kernel[nowhere, :] = kernel[:, nowhere] = 1.0
    return kernel


def name_all(
    paths: SmallPaths, candidates: NDArray[np.int64], unnamed: Unnamed, draw: np.random.Generator
) -> Paths:
    """Give every unnamed visit a location; distinct paths of location codes.

    Args:
        paths: over positions of candidates; their number stands for an unnamed location.
        candidates: int64, their codes.
        unnamed: where unnamed visits go.
        draw: randomness for the synthesis.
    """
    is_unnamed = np.zeros(len(paths), dtype=np.bool_)
    if len(paths):
        np.logical_or.reduceat(paths.codes == len(candidates), paths.offsets[:-1], out=is_unnamed)
    if not is_unnamed.any():  # candidates ascend, so the order stays
        return concatenate_paths(taken_by_blocks(paths, paths.weights, candidates))
    apart = _copies(paths, np.flatnonzero(is_unnamed))
    names = np.append(candidates, -1).astype(np.int32)
    places = names[apart.codes]
    is_placed = unnamed.has_zones | _is_nowhere_else(apart, places)
    missing = np.flatnonzero((places < 0) & is_placed)
    places[missing] = _drawn(_anchors(apart, places, unnamed.block)[missing], unnamed, draw)
    size = len(unnamed.odds)
    places[places < 0] = size
    found = drop_code(Paths(apart.offsets, places, apart.weights), size)
    whole = taken_by_blocks(paths, np.where(is_unnamed, 0, paths.weights), names)
    everybody = SmallPaths.joined(chain(whole, (found,)), size)
    del paths, whole  # as large as what follows
    merged = SmallPaths.joined(merged_parts(everybody, size), size)
    del everybody
    return concatenate_paths(taken_by_blocks(merged, merged.weights, np.arange(size)))


def _is_nowhere_else(paths: Paths, places: NDArray[np.int32]) -> NDArray[np.bool_]:
    """The first visit of everybody all of whose visits are unnamed."""
    first = np.zeros(len(places), dtype=np.bool_)
    if len(paths):
        nowhere = np.add.reduceat(places >= 0, paths.offsets[:-1]) == 0
        first[paths.offsets[:-1][nowhere]] = True
    return first


def _copies(paths: SmallPaths, rows: NDArray[np.int64]) -> Paths:
    """These rows as often as they are made, or as memory allows."""
    weights = paths.weights[rows].astype(np.int64)
    together = max(1, -(-int(weights.sum()) // MOST_COPIES))
    times = -(-weights // together)
    row = np.repeat(np.arange(len(rows)), times)
    turn = np.arange(len(row)) - np.repeat(np.cumsum(times) - times, times)
    weight = np.minimum(weights[row] - turn * together, together)
    return take_rows(paths, rows[row], weight)


def _anchors(
    paths: Paths, places: NDArray[np.int32], block: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The block of the named visit before each visit, else of the one after; −1 if none is."""
    at = np.arange(len(places))
    first = np.repeat(paths.offsets[:-1], paths.lengths)
    end = np.repeat(paths.offsets[1:], paths.lengths)
    before = np.maximum.accumulate(np.where(places >= 0, at, -1))
    after = np.minimum.accumulate(np.where(places >= 0, at, len(at))[::-1])[::-1]
    anchor = np.where(before >= first, before, np.where(after < end, after, -1))
    return np.where(anchor >= 0, block[places[anchor]], -1)


def _drawn(
    anchors: NDArray[np.int64], unnamed: Unnamed, draw: np.random.Generator
) -> NDArray[np.int32]:
    """A location for each visit: first a block, then one in it."""
    count = len(unnamed.kernel)
    kernel = np.vstack((unnamed.kernel, np.ones(count)))  # who was nowhere goes anywhere
    leaving = np.bincount(np.where(anchors >= 0, anchors, count), minlength=count + 1)
    wanted = np.bincount(unnamed.block, unnamed.odds, count)
    flow = kernel * wanted
    for _ in range(PLACING_ROUNDS):
        flow *= _ratio(leaving.astype(np.float64), flow.sum(axis=1))[:, None]
        flow *= _ratio(wanted * (leaving.sum() / wanted.sum()), flow.sum(axis=0))
    flow += _TINY * wanted
    upto = np.cumsum(flow / flow.sum(axis=1, keepdims=True), axis=1)
    upto /= upto[:, -1:]
    row = np.where(anchors >= 0, anchors, count)
    reached = (upto + np.arange(count + 1)[:, None]).ravel()
    found = np.searchsorted(reached, row + draw.random(len(row)), side="right")
    block = np.clip(found - row * count, 0, count - 1)
    # Within a block, in proportion to the odds.
    order = np.argsort(unnamed.block, kind="stable")
    sums = np.concatenate((np.zeros(1), np.cumsum(unnamed.odds[order])))
    edges = np.searchsorted(unnamed.block[order], np.arange(count + 1))
    low, high = sums[edges[block]], sums[edges[block + 1]]
    at = np.searchsorted(sums, low + draw.random(len(block)) * (high - low), side="right") - 1
    places: NDArray[np.int32] = order[np.minimum(at, len(order) - 1)].astype(np.int32)
    return places


def _ratio(wanted: NDArray[np.float64], there: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(wanted, there, out=np.zeros_like(there), where=there > 0)
