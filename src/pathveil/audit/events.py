"""What the attacker sees of one run, what is asked about it, and the record of many runs."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pathveil.audit.neighbours import NeighbouringPair
from pathveil.core.noisy_tree import NoisyPrefixTree
from pathveil.core.parameters import Parameters
from pathveil.gate.grow_hierarchy import grow
from pathveil.gate.randomness import Randomness
from pathveil.raw.database import TrajectoryDatabase

ABSENT = -(1 << 62)
"""The count of a node that was not kept: below every count that can occur."""


# What the attacker sees of one run, and the record of many runs.


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


# The fixed family of events: yes/no questions about what one run gave away.
#
# They are about the tree, not only about released rows, and are fixed before the first run: what
# is asked depends on the pair of databases, which the auditor made, never on an outcome. Each one
# is where some plausible mistake shows:
#
# - a node of level 1 is kept (empty children that are not sampled, a universe off the data);
# - a count on the watched path is at least t, or exactly θ (noise of the wrong scale, none at all);
# - several nodes of the path are kept, or are all high, together (a budget spent several times);
# - two counts of the path, or of two nodes of level 1, differ by exactly d (noise that is used
#   twice, on two levels or on one);
# - a level has at least n nodes (a height off the data);
# - a number published beside the tree is |D|.


Answers = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Event:
    """A yes/no question.

    Attributes:
        name: the question in words.
        happened: gives the answers, bool, shape (runs,).
    """

    name: str
    happened: Callable[[View], Answers]


def event_family(pair: NeighbouringPair) -> tuple[Event, ...]:
    """The questions that are asked about one pair of neighbouring databases."""
    return (
        *_kept_locations(pair),
        *_counts(pair),
        *_conjunctions(pair),
        *_differences(pair),
        *_differences_on_level_1(pair),
        *_level_sizes(pair),
        *_published(pair),
    )


def _kept_locations(pair: NeighbouringPair) -> Iterator[Event]:
    for code, label in enumerate(pair.candidates):
        yield Event(f"{label} is kept on level 1", _at_least("first", code, ABSENT + 1))


def _counts(pair: NeighbouringPair) -> Iterator[Event]:
    extra = pair.parameters.max_trajectories_per_unit
    for level, (count, theta) in enumerate(zip(pair.counts, pair.thresholds, strict=True)):
        what = f"the count of node {level + 1} of the path"
        yield Event(f"{what} is exactly θ", _equals("path", level, theta))
        around = {count + shift for shift in range(-1, extra + 2)} | {theta + 1, theta + 2}
        for least in sorted(t for t in around if t > theta):
            yield Event(f"{what} is at least {least}", _at_least("path", level, least))


def _conjunctions(pair: NeighbouringPair) -> Iterator[Event]:
    # On a path that many walk, "high" is above the true count; elsewhere it is "kept".
    higher = np.array(pair.counts) + 1 + pair.parameters.max_trajectories_per_unit // 2
    for depth in range(2, len(pair.path) + 1):
        what = f"the first {depth} nodes of the path"
        yield Event(f"{what} are kept", lambda v, d=depth: v.path[:, d - 1] > ABSENT)  # type: ignore[misc]
        yield Event(
            f"{what} all count more people than without the unit",
            lambda v, d=depth: (v.path[:, :d] >= higher[:d]).all(axis=1),  # type: ignore[misc]
        )
        total = int(np.sum(pair.counts[:depth])) + (depth + 1) // 2
        yield Event(
            f"{what} are kept and sum to at least {total}",
            lambda v, d=depth, t=total: (
                (v.path[:, d - 1] > ABSENT)  # type: ignore[misc]
                & (np.sum(v.path[:, :d], axis=1, where=v.path[:, :d] > ABSENT) >= t)
            ),
        )


def _differences(pair: NeighbouringPair) -> Iterator[Event]:
    for level in range(1, len(pair.path)):
        true = pair.counts[level - 1] - pair.counts[level]
        for less in sorted({0, true, true + 1}):
            yield Event(
                f"node {level + 1} of the path is kept and counts exactly {less} less than its "
                "parent",
                lambda v, i=level, d=less: (
                    (v.path[:, i] > ABSENT)  # type: ignore[misc]
                    & (v.path[:, i - 1] - v.path[:, i] == d)
                ),
            )


def _differences_on_level_1(pair: NeighbouringPair) -> Iterator[Event]:
    # Zones are there, and no locations; or labels that are yet to be discovered.
    if pair.parameters.taxonomy is not None or pair.labels is not None:
        return
    watched, data = pair.path[0], pair.without
    begins = data.offsets[:-1][np.diff(data.offsets) > 0]
    codes, counts = np.unique(data.codes[begins], return_counts=True)
    for code, count in zip(codes.tolist(), counts.tolist(), strict=True):
        for more in (pair.counts[0] - count, pair.counts[0] - count + 1):
            if code != watched:
                yield Event(
                    f"node 1 of the path and {pair.candidates[code]} are kept, and it counts "
                    f"exactly {more} more",
                    lambda v, c=code, m=more: (
                        (v.first[:, watched] > ABSENT)  # type: ignore[misc]
                        & (v.first[:, c] > ABSENT)
                        & (v.first[:, watched] - v.first[:, c] == m)
                    ),
                )


def _level_sizes(pair: NeighbouringPair) -> Iterator[Event]:
    for level in range(pair.levels):
        for least in (1, 2, 3, 4):
            yield Event(
                f"level {level + 1} has {least} nodes or more", _at_least("nodes", level, least)
            )


def _published(pair: NeighbouringPair) -> Iterator[Event]:
    for size in (len(pair.without), len(pair.with_unit)):
        yield Event(f"{size} is published", lambda v, n=size: v.published == n)  # type: ignore[misc]


def _at_least(table: str, column: int, least: int) -> Callable[[View], Answers]:
    return lambda view: np.asarray(getattr(view, table)[:, column] >= least)


def _equals(table: str, column: int, value: int) -> Callable[[View], Answers]:
    return lambda view: np.asarray(getattr(view, table)[:, column] == value)
