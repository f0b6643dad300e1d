"""Fit the movement model: simulate, compare with what was measured, adjust; a few times.

Nothing is solved for: the measured tables are functions of whole trajectories (how often do people
return to x within their first h visits, say), and simulating a sample tells what the current model
makes of them. Each set of weights has one table that it can repair, and is multiplied by measured
over simulated. What is mostly noise must not steer: both sides of a ratio are raised by a few
standard deviations of the noise, which draws it towards 1, and every step is bounded.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pathveil.core.paths import Paths
from pathveil.methods.calibrated.synthesis.complete import complete_chunk, cut_tasks
from pathveil.methods.calibrated.synthesis.fit_targets import FitTargets, hazards, pool_long
from pathveil.methods.calibrated.synthesis.movement_model import (
    ENDING_AFTER,
    NOVELTY,
    Destinations,
    MovementModel,
)
from pathveil.methods.calibrated.synthesis.tree_estimates import Continuations
from pathveil.statistics.actions import ACTIONS, END, action_counts
from pathveil.statistics.constants import (
    ACTION_SLACK,
    ACTION_STEP,
    ENDING_STEP,
    EXPLORING_STEP,
    FACTOR_BOUNDS,
    FIT_SAMPLE_VISITS,
    FIT_SAMPLES,
    LAST_DAMPING,
    LEAST_DISTINCT,
    MOVE_SLACK_COUNTS,
    MOVE_SLACK_DEVIATIONS,
    MOVE_STEP,
    NOVELTY_STEP,
    RETURN_STEP,
)
from pathveil.statistics.measurement_plan import MeasurementPlan
from pathveil.statistics.moves import MOVES
from pathveil.statistics.returns import COMING_BACK, KINDS, RETURNS, STAYING, return_cells
from pathveil.statistics.shapes import LENGTH_BINS, LENGTH_ENDS, length_bins
from pathveil.statistics.statistic import Rows, Scope, places_among
from pathveil.statistics.visits import VISITS
from pathveil.threads import in_threads


class _Tables(NamedTuple):
    """The measured statistics of simulated trajectories.

    Attributes:
        actions: shape `statistics.actions.SHAPE`.
        lengths: trajectories by length bin.
        further: their distinct locations but the first, by length bin.
        visits: shape (n,).
        returns: shape (3, n), as `returns.KINDS`; 0 if they are not looked at.
        last: shape (n + 1,).
        moves: the listed moves to new locations, in the order of their table.
        leaving: shape (n,); all moves to new locations from there, listed or not.
    """

    actions: NDArray[np.float64]
    lengths: NDArray[np.float64]
    further: NDArray[np.float64]
    visits: NDArray[np.float64]
    returns: NDArray[np.float64]
    last: NDArray[np.float64]
    moves: NDArray[np.float64]
    leaving: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class _Weights:
    """A movement model whose factors by length are still by bins of lengths."""

    actions: NDArray[np.float64]
    returning_to: NDArray[np.float64]
    ending_at: NDArray[np.float64]
    exploring_from: NDArray[np.float64]
    staying_at: NDArray[np.float64]
    ending: NDArray[np.float64]
    novelty: NDArray[np.float64]

    def model(self, longest: int, destinations: Destinations) -> MovementModel:
        by_length = np.empty((longest + 1, 2))
        bins = length_bins(np.arange(longest + 1))
        by_length[:, ENDING_AFTER], by_length[:, NOVELTY] = self.ending[bins], self.novelty[bins]
        return destinations.model(
            self.actions,
            self.returning_to,
            self.ending_at,
            self.exploring_from,
            self.staying_at,
            by_length,
        )


def fit(
    targets: FitTargets,
    destinations: Destinations,
    work: Continuations,
    plan: MeasurementPlan,
    draw: np.random.Generator,
) -> MovementModel:
    """The movement model whose trajectories have the measured tables, as far as it can.

    Args:
        targets: what was measured.
        destinations: where people go; of these the measured moves are adjusted.
        work: the prefixes that the model will have to continue.
        plan: the public caps.
        draw: randomness for the simulations.
    """
    total = work.masses.sum()
    weights = _first_guess(targets, plan[ACTIONS].cap)
    for most in FIT_SAMPLES:
        model = weights.model(targets.longest, destinations)
        sample = min(most, FIT_SAMPLE_VISITS / targets.mean_length, total)
        listed = None if targets.leaving is None else targets.leaving[0]
        tables = _simulate(model, work, sample, plan, listed, draw)
        if tables is None:
            break
        scaling = total / tables.lengths.sum()
        scaled = _Tables(*(table * scaling for table in tables))
        weights = _adjust(weights, targets, scaled, plan[ACTIONS].cap)
        if targets.leaving is not None:
            ratios = _move_ratios(targets, destinations, scaled, scaling)
            destinations = destinations.reweighed(ratios)
    return weights.model(targets.longest, destinations)


def _first_guess(targets: FitTargets, steps: int) -> _Weights:
    """The measured actions as they are; who walks for long sees ever fewer new locations."""
    everywhere = np.ones(len(targets.last) + 1)
    returning_to = everywhere.copy()
    returning_to[-1] = 0.0  # nobody returns to an unnamed location: each is another one
    # The middle of each bin of lengths; the last bin is open.
    starts = np.concatenate((np.ones(1), LENGTH_ENDS + 1.0))
    middles = np.append((starts[:-1] + LENGTH_ENDS) / 2, starts[-1])
    return _Weights(
        targets.actions,
        returning_to,
        everywhere,
        everywhere,
        returning_to,
        targets.hazards / targets.mean_ending,
        np.minimum(1.0, steps / middles),
    )


def _simulate(
    model: MovementModel,
    work: Continuations,
    rows: float,
    plan: MeasurementPlan,
    listed: NDArray[np.int64] | None,
    draw: np.random.Generator,
) -> _Tables | None:
    """Tables of a sample of about ``rows`` trajectories; None if it is empty."""
    size = len(model.sums) - 1
    chunks = in_threads(
        lambda task: _tables(complete_chunk(task, work, model), size, plan, listed),
        cut_tasks(work, rows, draw),
    )
    columns = list(zip(*chunks, strict=True))
    return _Tables(*(np.sum(column, axis=0) for column in columns)) if columns else None


def _tables(
    chunk: Paths, size: int, plan: MeasurementPlan, listed: NDArray[np.int64] | None
) -> _Tables:
    offsets, codes = chunk.offsets, chunk.codes
    bins = length_bins(chunk.lengths)
    rows = Rows(offsets, codes, size)
    further = np.diff(rows.distinct[0]) - 1.0
    visits = VISITS.row_cells(rows, Scope(size), plan[VISITS].cap)[1]
    returns = np.zeros(0, dtype=np.int32)
    if RETURNS in plan:
        returns = return_cells(offsets, codes, size, plan[RETURNS].cap)[1]
    moves, counts = np.zeros(0, dtype=np.int64), np.zeros(0)
    if listed is not None:
        moves = rows.first_moves(plan[MOVES].cap, size)[1]
        found = places_among(listed, moves, size * size)
        counts = np.bincount(found[found >= 0], minlength=len(listed)).astype(np.float64)
    return _Tables(
        action_counts(offsets, codes, size, plan[ACTIONS].cap).astype(np.float64),
        np.bincount(bins, minlength=LENGTH_BINS).astype(np.float64),
        np.bincount(bins, further, LENGTH_BINS).astype(np.float64),
        np.bincount(visits, minlength=size).astype(np.float64),
        np.bincount(returns, minlength=len(KINDS) * size).reshape(len(KINDS), size).astype(float),
        np.bincount(codes[offsets[1:] - 1], minlength=size + 1).astype(np.float64),
        counts,
        np.bincount(moves // size, minlength=size).astype(np.float64),
    )


def _adjust(weights: _Weights, targets: FitTargets, tables: _Tables, steps: int) -> _Weights:
    """One round: each set of weights by the table that it can repair."""
    returns = _return_ratios(targets, tables)
    return replace(
        weights,
        actions=weights.actions * _action_ratios(targets, tables),
        ending=weights.ending
        * np.clip(targets.hazards / hazards(tables.lengths, targets.longest), *ENDING_STEP),
        novelty=weights.novelty * _novelty_ratios(targets, tables, steps),
        returning_to=_bounded(weights.returning_to, returns[COMING_BACK]),
        staying_at=_bounded(weights.staying_at, returns[STAYING]),
        ending_at=_bounded(weights.ending_at, _last_ratios(targets, tables)),
        exploring_from=_bounded(weights.exploring_from, _leaving_ratios(targets, tables)),
    )


def _bounded(factors: NDArray[np.float64], ratios: NDArray[np.float64]) -> NDArray[np.float64]:
    """Multiply the factors of the candidates; that of the unnamed location stays."""
    return np.append(np.clip(factors[:-1] * ratios, *FACTOR_BOUNDS), factors[-1])


def _action_ratios(targets: FitTargets, tables: _Tables) -> NDArray[np.float64]:
    """Shares of the actions in each situation; when to end is left to the lengths."""
    counts = tables.actions + ACTION_SLACK * targets.actions
    shares = counts / np.maximum(tables.actions.sum(-1, keepdims=True) + ACTION_SLACK, 1.0)
    ratios = np.divide(targets.actions, shares, out=np.ones(shares.shape), where=shares > 0)
    trusted: NDArray[np.float64] = np.clip(ratios, *ACTION_STEP) ** targets.action_trust
    trusted[..., END] = 1.0
    return trusted


def _novelty_ratios(targets: FitTargets, tables: _Tables, steps: int) -> NDArray[np.float64]:
    """How many different locations people of each length see, beyond what the actions tell."""
    further, rows = pool_long(tables.further), pool_long(tables.lengths)
    simulated = further / np.maximum(rows, 1.0)
    measured = (targets.further + targets.shape_slack * simulated) / (
        targets.trajectories + targets.shape_slack
    )
    ratios = np.where(rows > 0, measured / np.maximum(simulated, LEAST_DISTINCT), 1.0)
    known_from_actions = np.append(LENGTH_ENDS, np.iinfo(np.int64).max) <= steps
    return np.where(known_from_actions, 1.0, np.clip(ratios, *NOVELTY_STEP))


def _return_ratios(targets: FitTargets, tables: _Tables) -> NDArray[np.float64]:
    """Returns to each location, given as many first visits as were measured."""
    if targets.returns is None:
        return np.ones(tables.returns.shape)
    per_visit = tables.returns / np.maximum(tables.visits, 1.0)
    expected = per_visit * np.maximum(targets.first_visits, 1.0)
    ratios = (targets.returns + targets.return_slack) / (expected + targets.return_slack)
    bounded: NDArray[np.float64] = np.clip(ratios, *RETURN_STEP)
    return bounded


def _last_ratios(targets: FitTargets, tables: _Tables) -> NDArray[np.float64]:
    ratios = (targets.last + targets.last_slack) / (tables.last[:-1] + targets.last_slack)
    damped: NDArray[np.float64] = np.clip(ratios, *ENDING_STEP) ** LAST_DAMPING
    return damped


def _leaving_ratios(targets: FitTargets, tables: _Tables) -> NDArray[np.float64]:
    """Listed moves from each location, given as many first visits as were measured."""
    if targets.leaving is None:
        return np.ones(len(tables.leaving))
    size = len(tables.visits)
    keys, leaving, slack = targets.leaving
    per_visit = np.bincount(keys // size, tables.moves, size) / np.maximum(tables.visits, 1.0)
    expected = per_visit * np.maximum(targets.first_visits, 1.0)
    # From where rather than elsewhere: how many new locations there are in all, others tell better.
    expected *= leaving.sum() / max(float(expected.sum()), 1.0)
    bounded: NDArray[np.float64] = np.clip((leaving + slack) / (expected + slack), *EXPLORING_STEP)
    return bounded


def _move_ratios(
    targets: FitTargets, destinations: Destinations, tables: _Tables, scaling: float
) -> NDArray[np.float64]:
    """Each measured move, among all to new locations that begin where it does.

    A move is measured once for each trajectory, to where it was not before. Who comes from a hub
    can't take the move back to it as a new one, and would be sent elsewhere instead: so the moves
    that are measured have to be likelier than they are frequent.
    """
    first = targets.moves.listed_keys // len(tables.visits)
    expected = tables.moves * (destinations.leaving / np.maximum(tables.leaving, 1.0))[first]
    slack = MOVE_SLACK_DEVIATIONS * np.sqrt(targets.moves.variance) + MOVE_SLACK_COUNTS * scaling
    ratios = (targets.moves.value + slack) / (expected + slack)
    bounded: NDArray[np.float64] = np.clip(ratios, *MOVE_STEP)
    return bounded
