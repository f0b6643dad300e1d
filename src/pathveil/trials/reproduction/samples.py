"""The test sets of Fig. 7: random trajectories, or all trajectories on fewer locations."""

import numpy as np
from numpy.typing import NDArray

from pathveil.raw.database import TrajectoryDatabase
from pathveil.trials.reproduction.paper_numbers import UNIVERSE_PANEL_SHARE
from pathveil.trials.reproduction.plan import Panel
from pathveil.universe.universe import Universe


def draw_test_set(
    database: TrajectoryDatabase, panel: Panel, step: int, steps: int, seed: list[int]
) -> TrajectoryDatabase:
    """The test set of one point of Fig. 7.

    Fig. 7a: step/steps of the trajectories, drawn at random. Fig. 7b: the locations outside a
    random step/steps of the universe are removed, then a fixed number of the trajectories that
    are left is drawn: the paper's share of |D| (800,000 of 1,210,096), or what the smallest
    universe leaves if that is less.

    Args:
        database: the whole of it.
        panel: what is varied.
        step: from 1 to ``steps``.
        steps: how many sizes there are.
        seed: fixes the draw.
    """
    draw = np.random.default_rng(seed)
    if panel == "database":
        wanted = round(len(database) * step / steps)
        return _take(database, draw.permutation(len(database))[:wanted])
    # The same order of locations for every step, so that the universes are nested.
    order = draw.permutation(len(database.universe))
    smallest, kept = (order[: _share(len(order), s, steps)] for s in (1, step))
    rows = min(
        round(len(database) * UNIVERSE_PANEL_SHARE),
        int(np.count_nonzero(_lengths_within(database, smallest))),
    )
    restricted = _restrict(database, np.sort(kept))
    not_empty = np.flatnonzero(np.diff(restricted.offsets))
    return _take(restricted, draw.permutation(not_empty)[:rows])


def _share(size: int, step: int, steps: int) -> int:
    return max(1, round(size * step / steps))


def _lengths_within(
    database: TrajectoryDatabase, locations: NDArray[np.int64]
) -> NDArray[np.int64]:
    """How many visits of each trajectory are to these locations, int64, shape (n,)."""
    inside = np.zeros(len(database.universe), dtype=np.bool_)
    inside[locations] = True
    before = np.concatenate((np.zeros(1, np.int64), np.cumsum(inside[database.codes])))
    return np.diff(before[database.offsets])


def _restrict(database: TrajectoryDatabase, locations: NDArray[np.int64]) -> TrajectoryDatabase:
    """Remove the visits to all other locations; the universe becomes these."""
    code = np.full(len(database.universe), -1, dtype=np.int32)
    code[locations] = np.arange(len(locations), dtype=np.int32)
    codes = code[database.codes]
    labels = database.universe.labels
    return TrajectoryDatabase(
        np.concatenate((np.zeros(1, np.int64), np.cumsum(_lengths_within(database, locations)))),
        codes[codes >= 0],
        Universe(labels[location] for location in locations),
        database.max_trajectories_per_unit,
    )


def _take(database: TrajectoryDatabase, rows: NDArray[np.int64]) -> TrajectoryDatabase:
    """Some trajectories, in the given order."""
    lengths = np.diff(database.offsets)[rows]
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
    shift = np.repeat(database.offsets[rows] - offsets[:-1], lengths)
    return TrajectoryDatabase(
        offsets,
        database.codes[np.arange(offsets[-1]) + shift],
        database.universe,
        database.max_trajectories_per_unit,
    )
