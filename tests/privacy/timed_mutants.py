"""Plausible mistakes about times, each one small change to the real gate."""

from dataclasses import replace

import numpy as np
import pytest
from tests.privacy.mutants import Mutant

from pathveil.audit import Mechanism, Observation, front_door
from pathveil.gate import grow_tree as gate
from pathveil.gate import grow_tree as module
from pathveil.gate.grow_tree import Candidates
from pathveil.raw.database import TrajectoryDatabase
from pathveil.raw.engines.protocol import ExactCounts, Survivors
from pathveil.times.time_grid import TimeGrid


def empties_at_later_times_only(patch: pytest.MonkeyPatch) -> Mechanism:
    """The paper's ≥ for who is counted, and its > for who is invented."""
    right = gate.grow_level

    def grow_level(blocks, survivors, parameters, randomness):
        exact = ExactCounts.gathered(blocks)
        level, size = right([exact], survivors, parameters, randomness), parameters.universe_size
        found = level.survivors
        occupied = set(zip(exact.node.tolist(), exact.location.tolist(), strict=True))
        pairs = zip(found.parent.tolist(), found.location.tolist(), strict=True)
        kept = np.array(
            [
                (node, code) in occupied or code // size > survivors.location[node] // size
                for node, code in pairs
            ],
            dtype=np.bool_,
        )
        children = Survivors(found.parent[kept], found.location[kept])
        return gate.NoisyLevel(children, level.noisy_count[kept])

    patch.setattr(gate, "grow_level", grow_level)
    return front_door


def candidates_from_the_next_occupied_time(patch: pytest.MonkeyPatch) -> Mechanism:
    """A node's candidates begin at the first slot at which somebody goes on from it."""
    right_level, right_of = gate.grow_level, Candidates.of
    counted = []

    def grow_level(blocks, survivors, parameters, randomness):
        counted[:] = [ExactCounts.gathered(blocks)]
        return right_level(counted, survivors, parameters, randomness)

    def of(survivors, parameters):
        found, size = right_of(survivors, parameters), parameters.universe_size
        # Where nobody goes on, the last slot is left.
        first = np.full(len(survivors), parameters.candidates - size)
        exact = counted[0]
        np.minimum.at(first, exact.node, exact.location // size * size)
        ends = np.cumsum(parameters.candidates - np.maximum(first, found.first_code))
        start = np.concatenate(([0], ends[:-1]))
        return Candidates(np.maximum(first, found.first_code), start, int(ends[-1]))

    patch.setattr(gate, "grow_level", grow_level)
    patch.setattr(module.Candidates, "of", of)
    return front_door


def grid_read_off_the_data(_patch: pytest.MonkeyPatch) -> Mechanism:
    """Only slots at which somebody was can be children."""

    def mechanism(database, parameters, randomness):
        size, grid = parameters.universe_size, parameters.time_grid
        slots = np.unique(database.codes // size)
        slots = slots if len(slots) else np.array([0])
        smaller = TimeGrid.of(
            [grid.labels[slot] for slot in slots], [grid.ends_as_texts()[slot] for slot in slots]
        )
        codes = np.searchsorted(slots, database.codes // size) * size + database.codes % size
        tree = front_door(
            TrajectoryDatabase.from_arrays(
                database.offsets, codes, database.universe, time_grid=smaller
            ),
            replace(parameters, time_grid=smaller),
            randomness,
        ).tree
        location = slots[tree.location // size] * size + tree.location % size
        return Observation(replace(tree, location=location.astype(np.int32)))

    return mechanism


TIMED_MUTANTS = (
    Mutant("empties at later times only", empties_at_later_times_only, "same slot", 3, 4096),
    Mutant(
        "candidates from the next occupied time",
        candidates_from_the_next_occupied_time,
        "same slot",
        3,
        4096,
    ),
    Mutant("time grid read off the data", grid_read_off_the_data, "new time", 1, 4096),
    Mutant("time grid read off the data, below", grid_read_off_the_data, "later slot", 3, 4096),
)
