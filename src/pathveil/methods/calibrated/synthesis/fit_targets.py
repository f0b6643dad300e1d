"""What the fit of the movement model aims at, and how far each figure can be trusted."""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from pathveil.methods.calibrated.synthesis.estimates import Estimated
from pathveil.statistics.actions import ACTIONS, END, possible_actions
from pathveil.statistics.constants import (
    BORROWED_COUNTS,
    BY_DISTINCT_SCALES,
    BY_SITUATION_SCALES,
    HAZARD_BOUNDS,
    LONGEST_WALK,
    POOLED_AFTER,
    POOLING,
    SHAPE_SLACK_COUNTS,
    SLACK_COUNTS,
    SLACK_DEVIATIONS,
    TRUST_COUNTS,
    TRUST_SCALES,
)
from pathveil.statistics.denoise import Estimates
from pathveil.statistics.last_locations import LAST_LOCATIONS
from pathveil.statistics.measurements import Measurements
from pathveil.statistics.moves import MOVES
from pathveil.statistics.noisy_table import NoisyTable
from pathveil.statistics.returns import RETURNS
from pathveil.statistics.shapes import DISTINCT_VALUES, LENGTH_BINS, LENGTHS, SHAPES, length_bins
from pathveil.statistics.visits import VISITS


@dataclass(frozen=True, slots=True, eq=False)
class FitTargets:
    """Measured tables, as the fit needs them. n candidates.

    Attributes:
        longest: no trajectory is made longer than this.
        mean_length: of all trajectories.
        mean_ending: the share of END among all actions.
        actions: shares of the actions in each situation, shape `statistics.actions.SHAPE`.
        action_trust: in [0, 1), shape (5, 8, 1).
        hazards: the probability to end at a length, given that it was reached, by length bin.
        further: distinct locations but the first of all trajectories of a length bin, pooled.
        trajectories: how many there are, pooled alike.
        shape_slack: in trajectories, for the two above.
        first_visits: shape (n,).
        returns: shape (3, n), as `returns.KINDS`; None if they were not measured.
        return_slack: for them.
        last: shape (n,); trajectories that end there.
        last_slack: for them.
        leaving: the listed moves to new locations; how many begin at each, shape (n,); and the
            slack for them, alike. None if no moves are listed.
        moves: how many make each of the listed moves, and how uncertain that is.
    """

    longest: int
    mean_length: float
    mean_ending: float
    actions: NDArray[np.float64]
    action_trust: NDArray[np.float64]
    hazards: NDArray[np.float64]
    further: NDArray[np.float64]
    trajectories: NDArray[np.float64]
    shape_slack: float
    first_visits: NDArray[np.float64]
    returns: NDArray[np.float64] | None
    return_slack: float
    last: NDArray[np.float64]
    last_slack: float
    leaving: tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]] | None
    moves: Estimates

    @classmethod
    def of(cls, known: Estimated, seen: Measurements) -> "FitTargets":
        """Collect them."""
        longest = LONGEST_WALK
        lengths = _shortened(known[LENGTHS].value, longest)
        shapes, visits, actions = (known[table].value for table in (SHAPES, VISITS, ACTIONS))
        distinct = np.minimum(DISTINCT_VALUES, seen.universe_size)
        scale = seen[ACTIONS].scale
        overall = _overall_shares(actions)
        situations = actions.sum(axis=-1, keepdims=True)
        reached = np.bincount(length_bins(np.arange(1, longest + 1)), minlength=LENGTH_BINS)
        middles = np.cumsum(reached) - reached / 2
        return cls(
            longest=longest,
            mean_length=max(1.0, float(lengths @ middles) / max(lengths.sum(), 1.0)),
            mean_ending=overall[END],
            actions=_action_shares(actions, overall, scale),
            action_trust=situations / (situations + TRUST_SCALES * scale + TRUST_COUNTS),
            hazards=hazards(lengths, longest),
            further=pool_long(shapes @ (distinct - 1.0)),
            trajectories=pool_long(shapes.sum(axis=1)),
            shape_slack=_slack(seen[SHAPES], SHAPE_SLACK_COUNTS),
            first_visits=visits,
            returns=known.returns,
            return_slack=_slack(seen[RETURNS], SLACK_COUNTS) if RETURNS in seen else 0.0,
            last=known[LAST_LOCATIONS].value,
            last_slack=_slack(seen[LAST_LOCATIONS], SLACK_COUNTS),
            leaving=_leaving(known),
            moves=known.listed(MOVES),
        )


def _leaving(
    known: Estimated,
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]] | None:
    """The listed moves, how many of them begin at each location, and the slack for that."""
    moves, size = known.listed(MOVES), known.scope.named
    if not len(moves.value):
        return None
    first = moves.listed_keys // size
    measured = np.bincount(first, moves.value, size).astype(np.float64)
    deviation = np.sqrt(np.bincount(first, moves.variance, size))
    return moves.listed_keys, measured, SLACK_DEVIATIONS * deviation + SLACK_COUNTS


def hazards(lengths: NDArray[np.float64], longest: int) -> NDArray[np.float64]:
    """The probability of ending at each length of a bin, given that the bin was reached.

    Args:
        lengths: trajectories by length bin.
        longest: no trajectory is longer.
    """
    reaching = np.cumsum(lengths[::-1])[::-1]
    in_bin = np.clip((lengths + 0.5) / (reaching + 1.0), *HAZARD_BOUNDS)
    widths = np.bincount(length_bins(np.arange(1, longest + 1)), minlength=LENGTH_BINS)
    per_length: NDArray[np.float64] = 1.0 - (1.0 - in_bin) ** (1.0 / np.maximum(widths, 1))
    return per_length


def pool_long(by_length: NDArray[np.float64]) -> NDArray[np.float64]:
    """Average the bins of long lengths with their neighbours."""
    pooled = np.convolve(by_length, POOLING, mode="same")
    return np.where(np.arange(LENGTH_BINS) < POOLED_AFTER, by_length, pooled)


def _slack(table: NoisyTable, counts: float) -> float:
    return SLACK_DEVIATIONS * sqrt(2.0) * table.scale + counts


def _shortened(lengths: NDArray[np.float64], longest: int) -> NDArray[np.float64]:
    """Who is longer than the longest counts as such."""
    last = int(length_bins(np.array([longest]))[0])
    shortened = lengths.copy()
    shortened[last] += shortened[last + 1 :].sum()
    shortened[last + 1 :] = 0.0
    return shortened


def _overall_shares(actions: NDArray[np.float64]) -> NDArray[np.float64]:
    counts = actions.sum(axis=(0, 1)) + 1.0
    shares: NDArray[np.float64] = counts / counts.sum()
    return shares


def _action_shares(
    actions: NDArray[np.float64], overall: NDArray[np.float64], scale: float
) -> NDArray[np.float64]:
    """Shares in each situation, less noisy than the counts.

    They are drawn to the shares at the same number of distinct locations, and those to the
    overall ones, by as much as noise may have moved them.
    """
    by_distinct = _drawn_to(
        overall, actions.sum(axis=0), BY_DISTINCT_SCALES * scale + BORROWED_COUNTS
    )
    shares = _drawn_to(by_distinct, actions, BY_SITUATION_SCALES * scale + BORROWED_COUNTS)
    shares *= possible_actions()
    total = shares.sum(axis=-1, keepdims=True)
    result: NDArray[np.float64] = shares / np.where(total > 0, total, 1.0)
    return result


def _drawn_to(
    prior: NDArray[np.float64], counts: NDArray[np.float64], weight: float
) -> NDArray[np.float64]:
    total = counts.sum(axis=-1, keepdims=True)
    shares: NDArray[np.float64] = (counts + weight * prior) / (total + weight)
    return shares
