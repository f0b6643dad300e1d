"""How far answers are off, read from questions that nothing was fitted to (`validation`).

A true count T beside the released answer e of its question:

    T = (e + h)·e^(m·s)·G,   G of a gamma distribution with mean 1 and variance s² = α² + β²/(e + h)

h is what is missing of all answers of this kind (pairs that the synthesis does not know of are
answered by 0), s how far they scatter: over-dispersed for small ones (β), down to a floor (α). m is
their bias, in units of the scatter: what makes answers err makes all of a size err alike, too, and
large ones, of which more is measured, do both less. Counts of people scatter so: much below 1 for
most, far above for a few. The noisy table shows T with noise of known law. So every (m, h, α, β) of
a grid is weighed by how likely it makes the noisy answers of its kind (those of other kinds have a
small say, for kinds with few questions). Where in that distribution the true counts then lie is
found by EM, noise taken out: it starts as everywhere alike, and what the questions say otherwise is
believed. No model of how people move is assumed: where the synthesis is wrong, its answers are, and
the questions show it. A kind of which too few questions stand out of the noise is not told at all:
of its answers only a bound is known that needs no model.

What is drawn for an answer of size e is a posterior of T given that it was released as e. It holds
for answers that were picked for being large, because it is conditional on what they were picked by.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pathveil.core.noise import Noise
from pathveil.core.paths import Paths
from pathveil.methods.calibrated.uncertainty.likelihood import likely_between, log_likelihoods
from pathveil.methods.calibrated.uncertainty.sample import Evidence
from pathveil.methods.calibrated.uncertainty.what_is_left import kept_shares, taken_by
from pathveil.statistics.constants import (
    ALIKE_SIZES,
    BIASES,
    BORROWED_KINDS,
    ENOUGH_QUERIES,
    FLOORS,
    LEAST_DEVIATION,
    MISSING,
    MOST_DEVIATION,
    OTHERS_ERROR,
    SANITY,
    SHAPE_PRIOR,
    SHAPE_ROUNDS,
    SPREADS,
    WORTH_OF_QUERY,
)
from pathveil.statistics.statistic import Rows
from pathveil.statistics.validation import QUERY_KINDS, VALIDATION, queries_of

_DEVIATIONS = np.geomspace(LEAST_DEVIATION, MOST_DEVIATION, 16)
_STEP = float(np.log(_DEVIATIONS[1] / _DEVIATIONS[0]))
_PARTS = 24  # of the distribution of G, as likely as each other
_FINER = 8  # quantiles in each
_LEAST = 5e-4  # as much of G is left out at either end
_NODE_STEP = 1.0
_NODES = np.arange(0.0, 18.0, _NODE_STEP)  # logarithms of sizes


def _quantile_table() -> NDArray[np.float64]:
    """Logarithms of quantiles of G for each s of `_DEVIATIONS`, shape (deviations, quantiles)."""
    table = []
    places = np.clip(np.linspace(0.0, 1.0, _PARTS * _FINER + 1), _LEAST, 1.0 - _LEAST)
    for spread in _DEVIATIONS:
        shape = spread**-2.0
        logs = np.linspace(-60.0 * min(spread, 1.0), 6.0 * min(spread, 1.0), 8001)
        density = np.exp(shape * (logs + 1.0 - np.exp(logs)))
        reached = np.cumsum(density) - density / 2
        table.append(np.interp(places * density.sum(), reached, logs))
    return np.array(table)


_QUANTILES = _quantile_table()
# By these parts the likelihood of a noisy answer is summed: twice as large, finer in the tails.
_EDGES = np.array([0, 1, 2, 4, *range(8, 192, 16), 188, 190, 191, 192])
_MASSES = np.diff(_EDGES) / (_PARTS * _FINER)


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """All (m, h, α, β) that are weighed; float64, a point each."""

    biases: NDArray[np.float64]
    missing: NDArray[np.float64]
    floors: NDArray[np.float64]
    spreads: NDArray[np.float64]
    powers: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.biases)

    def deviations(
        self, sizes: NDArray[np.float64] | float, which: NDArray[np.int64] | slice = slice(None)
    ) -> NDArray[np.float64]:
        """S of answers of these sizes."""
        means = sizes + self.missing[which]
        result: NDArray[np.float64] = np.clip(
            np.sqrt(self.floors[which] ** 2 + (self.spreads[which] / means) ** self.powers[which]),
            LEAST_DEVIATION,
            MOST_DEVIATION,
        )
        return result


def _grid() -> Grid:
    which = np.arange(len(SPREADS))
    *axes, spread = (axis.ravel() for axis in np.meshgrid(BIASES, MISSING, FLOORS, which))
    return Grid(*axes, *np.array(SPREADS)[spread].T)


GRID = _grid()


@dataclass(frozen=True, slots=True, eq=False)
class Validated:
    """The errors of each kind of answer.

    Attributes:
        chances: float64, shape (kinds, points of `GRID`); each row sums to 1.
        shapes: float64, shape (kinds, sizes of `_NODES`, `_PARTS`); how likely G is in each part
            of its distribution, by the size of the answer.
        known: float64, shape (kinds, sizes of `_NODES`); about how many questions of such a size
            told their error, noise taken off.
        told: the kinds with enough questions that stand out of the noise.
    """

    chances: NDArray[np.float64]
    shapes: NDArray[np.float64]
    known: NDArray[np.float64]
    told: frozenset[int]

    @classmethod
    def fit(
        cls,
        kinds: NDArray[np.integer],
        released: NDArray[np.float64],
        kept: NDArray[np.float64],
        noisy: NDArray[np.float64],
        noise: Noise,
        sanity: float = 0.0,
    ) -> "Validated":
        """From released and noisy answers.

        Args:
            kinds: of the questions.
            released: the answers of the released trajectories.
            kept: what of each answer is left if a trajectory answers one question only.
            noisy: what is left of those of people's, with noise.
            noise: its law.
            sanity: the sanity bound.
        """
        noise = noise.at_least(0.5)
        out = np.bincount(kinds[kept * released >= noise.scale], minlength=len(QUERY_KINDS))
        told = [kind for kind in QUERY_KINDS if out[kind] >= ENOUGH_QUERIES]
        some = np.isin(kinds, told)
        columns = released[some], kept[some], noisy[some]
        seen = _Seen(kinds[some].astype(np.int64), *columns, max(sanity, noise.scale))
        fits = _log_likelihoods(seen, noise)
        found = np.array([_summed(fits, seen, kind) for kind in QUERY_KINDS])
        weighed = (1.0 - BORROWED_KINDS) * found + BORROWED_KINDS * found.sum(axis=0)
        weighed *= WORTH_OF_QUERY
        chances = np.exp(weighed - weighed.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        points = chances.argmax(axis=1)
        shapes = np.array([_shapes(points[kind], kind, seen, noise) for kind in QUERY_KINDS])
        known = np.array([_known(points[kind], kind, seen, noise) for kind in QUERY_KINDS])
        return cls(chances, shapes, known, frozenset(told))

    def draw(
        self, kind: int, size: float, times: int, draw: np.random.Generator
    ) -> NDArray[np.float64]:
        """True counts of questions of a kind that were answered by ``size``."""
        reached = np.cumsum(self.chances[kind])
        which = np.searchsorted(reached, draw.random(times) * reached[-1])
        shape = _at_size(self.shapes[kind], size)
        part = np.searchsorted(np.cumsum(shape), draw.random(times))
        part = np.minimum(part, _PARTS - 1)
        spread = GRID.deviations(size, which)
        logs = _biased(GRID.biases[which], spread) + _logs(spread, part + draw.random(times))
        # What answers of one size have in common is as large as what each has by itself, and is
        # known as well as so many questions tell it.
        common = np.minimum(spread, 1.0) / np.sqrt(1.0 + _at_size(self.known[kind], size))
        logs += common * draw.standard_normal(times) - common**2 / 2
        # If much more than its share is in the first part, that goes down to nobody: what the
        # synthesis invented.
        excess = 1.0 - 1.5 / _PARTS / shape[0]
        invented = (part == 0) & (draw.random(times) < excess)
        logs += np.where(invented, np.log(draw.random(times)), 0.0)
        drawn: NDArray[np.float64] = (size + GRID.missing[which]) * np.exp(logs)
        return drawn


@dataclass(frozen=True, slots=True, eq=False)
class _Seen:
    """Questions: their kinds, released answers, what is left of these, and noisy answers.

    Attributes:
        small: about how large the answers are that take from others.
    """

    kinds: NDArray[np.int64]
    sizes: NDArray[np.float64]
    kept: NDArray[np.float64]
    noisy: NDArray[np.float64]
    small: float

    def spread(self, points: NDArray[np.intp] | slice, rows: NDArray[Any]) -> NDArray[np.float64]:
        """How far what is left scatters: as the answers do, and as what others take of them.

        Others are questions, too: the small ones, which stand first.
        """
        own = GRID.deviations(self.sizes[rows][:, None], points)
        result: NDArray[np.float64] = np.minimum(
            np.hypot(own, self.taken(points, rows)), MOST_DEVIATION
        )
        return result

    def taken(self, points: NDArray[np.intp] | slice, rows: NDArray[Any]) -> NDArray[np.float64]:
        """How far off it is what is left."""
        others = OTHERS_ERROR * np.minimum(GRID.deviations(self.small, points), 1.0)
        result: NDArray[np.float64] = (1.0 - self.kept[rows][:, None]) * others
        return result


def _biased(biases: Any, spread: NDArray[np.float64]) -> NDArray[np.float64]:
    """The logarithms by which answers are off together: no more than if they scattered by 1."""
    result: NDArray[np.float64] = biases * np.minimum(spread, 1.0)
    return result


def _logs(spread: NDArray[np.float64], place: NDArray[np.float64]) -> NDArray[np.float64]:
    """Log G at some place of its distribution, from 0 to `_PARTS`, by interpolation."""
    row, row_share = _between(np.log(spread / LEAST_DEVIATION) / _STEP, len(_DEVIATIONS))
    column, share = _between(place * _FINER, _QUANTILES.shape[1])
    at = [
        (1 - share) * _QUANTILES[row + i, column] + share * _QUANTILES[row + i, column + 1]
        for i in (0, 1)
    ]
    result: NDArray[np.float64] = (1 - row_share) * at[0] + row_share * at[1]
    return result


def _at_size(by_node: NDArray[np.float64], size: float) -> NDArray[np.float64]:
    """Between what holds at the two next sizes of `_NODES`."""
    below, share = _between(np.array(np.log1p(size) / _NODE_STEP), len(_NODES))
    result: NDArray[np.float64] = (1 - share) * by_node[below] + share * by_node[below + 1]
    return result


def _between(
    position: NDArray[np.float64], size: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The entry below a position in a table, and how far it is to the next one."""
    inside = np.clip(position, 0.0, size - 1.001)
    below = inside.astype(np.int64)
    return below, inside - below


def validated(evidence: Evidence, released: Paths) -> Validated | None:
    """The errors of a release; None if nothing validates it.

    Args:
        evidence: the noisy measurements.
        released: the released trajectories, over location codes.
    """
    measurements = evidence.measurements
    if VALIDATION not in measurements:
        return None
    rows = Rows(released.offsets, released.codes, measurements.universe_size)
    positions = rows.among(measurements.candidates).positions
    taken = taken_by(Paths(released.offsets, positions, released.weights), measurements.scope)
    table, kinds = measurements[VALIDATION], queries_of(measurements.scope).kind.astype(np.int64)
    noisy = table.counts.astype(np.float64)
    return Validated.fit(
        kinds,
        taken.sum(axis=1),
        kept_shares(kinds, taken, noisy, table.noise.deviation),
        noisy,
        table.noise,
        SANITY * float(released.weights.sum()),
    )


def _log_likelihoods(seen: _Seen, noise: Noise) -> NDArray[np.float64]:
    """Of each question, for each h of `MISSING`, each m of `BIASES` and each s of `_DEVIATIONS`."""
    biases = _biased(BIASES[:, None], _DEVIATIONS)
    factors = np.exp(biases[:, :, None] + _QUANTILES[:, _EDGES])
    left = seen.kept[:, None] * (seen.sizes[:, None] + MISSING)
    found = log_likelihoods(left, seen.noisy, factors.reshape(-1, len(_EDGES)), _MASSES, noise)
    return found.reshape(len(left), len(MISSING), len(BIASES), len(_DEVIATIONS))


def _summed(fits: NDArray[np.float64], seen: _Seen, kind: int) -> NDArray[np.float64]:
    """The log-likelihood of each point of the grid, over the questions of a kind."""
    rows = np.flatnonzero(seen.kinds == kind)
    # The spread does not depend on the bias, so it is looked up once for all of them.
    points = np.arange(len(GRID)).reshape(len(MISSING), len(BIASES), -1)
    deviations = seen.spread(points[:, 0].ravel(), rows)
    left, share = _between(np.log(deviations / LEAST_DEVIATION) / _STEP, len(_DEVIATIONS))
    missing = np.repeat(np.arange(len(MISSING)), points.shape[2])
    low, high = (fits[rows[:, None], missing, :, left + i] for i in (0, 1))
    summed = np.einsum("qp,qpb->pb", 1.0 - share, low) + np.einsum("qp,qpb->pb", share, high)
    by_bias = summed.reshape(len(MISSING), -1, len(BIASES)).swapaxes(1, 2)
    result: NDArray[np.float64] = by_bias.ravel()
    return result


def _shapes(point: np.intp, kind: int, seen: _Seen, noise: Noise) -> NDArray[np.float64]:
    """Where the true counts of a kind lie in the distribution of G, by size, by EM.

    Of all sizes first; that then counts as so many questions at each size, beside those whose
    answers are about as large.
    """
    rows = seen.kinds == kind
    sizes = seen.sizes[rows]
    spread = seen.spread(np.array([point]), rows)[:, 0]
    edges = np.broadcast_to(np.arange(_PARTS + 1.0), (len(sizes), _PARTS + 1))
    biases = _biased(GRID.biases[point], spread)
    means = seen.kept[rows] * (sizes + GRID.missing[point]) * np.exp(biases)
    true = means[:, None] * np.exp(_logs(spread[:, None], edges))
    noisy = seen.noisy[rows][:, None]
    likely = likely_between(true, noisy, noise)
    # What lies in the first part may go down to nobody.
    true[:, 0] = 0.0
    likely[:, 0] = (likely[:, 0] + likely_between(true[:, :2], noisy, noise)[:, 0]) / 2
    even: NDArray[np.float64] = np.full(_PARTS, 1.0 / _PARTS)
    overall = _em(likely, np.ones((1, len(sizes))), even)
    return _em(likely, _alike(sizes), overall[0])


def _known(point: np.intp, kind: int, seen: _Seen, noise: Noise) -> NDArray[np.float64]:
    """How many questions tell the error of answers of each size of `_NODES`, noise taken off."""
    rows = seen.kinds == kind
    sizes = seen.sizes[rows]
    spread = GRID.deviations(sizes, np.full(len(sizes), point))
    left = np.maximum(seen.kept[rows] * sizes, 1.0)
    other = (noise.deviation / left) ** 2 + seen.taken(np.array([point]), rows)[:, 0] ** 2
    result: NDArray[np.float64] = _alike(sizes) @ (1.0 / (1.0 + other / spread**2))
    return result


def _alike(sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    """How alike sizes are to those of `_NODES`, shape (nodes, sizes): 1 if they are the same."""
    apart = (np.log1p(sizes)[None, :] - _NODES[:, None]) / ALIKE_SIZES
    result: NDArray[np.float64] = np.exp(-(apart**2) / 2)
    return result


def _em(
    likely: NDArray[np.float64], weights: NDArray[np.float64], prior: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The distributions over parts that make weighted questions likely, each drawn to a prior.

    Args:
        likely: shape (questions, parts).
        weights: shape (distributions, questions).
        prior: shape (parts,).
    """
    shapes = np.broadcast_to(prior, (len(weights), len(prior)))
    for _ in range(SHAPE_ROUNDS):
        shapes = shapes * ((weights / (shapes @ likely.T)) @ likely) + SHAPE_PRIOR * prior
        shapes = shapes / shapes.sum(axis=1, keepdims=True)
    return shapes
