"""What the attacker sees of one run, and the record of many runs."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pathveil.audit.neighbours import NeighbouringPair
from pathveil.mechanism.grow import grow
from pathveil.mechanism.randomness import Randomness
from pathveil.model.noisy_tree import NoisyPrefixTree
from pathveil.model.parameters import Parameters
from pathveil.raw.database import TrajectoryDatabase

ABSENT = -(1 << 62)
"""The count of a node that was not kept: below every count that can occur."""


@dataclass(frozen=True, slots=True)
class Observation:
    """All that one run gives away.

    Attributes:
        tree: the noisy prefix tree.
        published: a number told beside the tree, such as |D|; the right mechanism tells none.
    """

    tree: NoisyPrefixTree
    published: int | None = None


Mechanism = Callable[[TrajectoryDatabase, Parameters, Randomness], Observation]


def front_door(
    database: TrajectoryDatabase, parameters: Parameters, randomness: Randomness
) -> Observation:
    """The mechanism as `pathveil.publish` runs it, up to the gate; what follows sees no data."""
    return Observation(grow(database, parameters, randomness))


class Record:
    """The facts of many runs on which events are decided, one row per run.

    Attributes:
        first: int64, shape (runs, candidates of the root); noisy counts of the nodes of level 1.
        path: int64, shape (runs, n); noisy counts along the watched path.
        nodes: int64, shape (runs, levels); number of nodes on each level.
        published: int64, shape (runs,).

    What was not kept or not published is `ABSENT`.
    """

    def __init__(self, pair: NeighbouringPair, runs: int) -> None:
        self._watched = pair.path
        self._edges = np.arange(1, pair.levels + 2)
        self.first = np.full((runs, len(pair.candidates)), ABSENT, dtype=np.int64)
        self.path = np.full((runs, len(pair.path)), ABSENT, dtype=np.int64)
        self.nodes = np.zeros((runs, pair.levels), dtype=np.int64)
        self.published = np.full(runs, ABSENT, dtype=np.int64)

    def write(self, run: int, observation: Observation) -> None:
        """Note the facts of one run."""
        tree = observation.tree
        bounds = np.searchsorted(tree.level, self._edges).tolist()
        self.nodes[run] = np.diff(bounds)
        self.first[run, tree.location[: bounds[1]]] = tree.noisy_count[: bounds[1]]
        if observation.published is not None:
            self.published[run] = observation.published
        node = -1
        for level, code in enumerate(self._watched):
            start, stop = bounds[level], bounds[level + 1]
            found = np.flatnonzero(
                (tree.parent[start:stop] == node) & (tree.location[start:stop] == code)
            )
            if not len(found):
                return
            node = start + int(found[0])
            self.path[run, level] = tree.noisy_count[node]

    def upto(self, runs: int) -> "View":
        """The first ``runs`` rows."""
        return View(self.first[:runs], self.path[:runs], self.nodes[:runs], self.published[:runs])


@dataclass(frozen=True, slots=True)
class View:
    """Some rows of a `Record`; the attributes are the same."""

    first: NDArray[np.int64]
    path: NDArray[np.int64]
    nodes: NDArray[np.int64]
    published: NDArray[np.int64]
