"""Procedure 1, BuildNoisyPrefixTree: the candidate children of a level, and the tree of them."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pathveil.core.noise import Laplace
from pathveil.core.noisy_tree import NoisyPrefixTree
from pathveil.core.parameters import Parameters
from pathveil.gate.add_noise import sparse_table
from pathveil.gate.randomness import Randomness
from pathveil.raw.engines.protocol import ExactCounts, PrefixCounter, Survivors

LARGEST_LEVEL = 1 << 61  # (node, candidate) pairs that still fit the walk's integers


# The candidate children of a level, as one row of numbered cells that is never written out.
#
# Without times every location of the universe is a candidate of every node. With a time grid
# (section IV-D) a candidate is a pair (location, slot), numbered slot · |L| + location, and a node
# at slot t has the pairs at slots ≥ t: all codes from t · |L| on, one range. The root has all
# pairs.
#
# Why ≥ and not >. Section IV-D first defines a trajectory by t₁ ≤ t₂ ≤ … ≤ tₙ, and then expands a
# node with the slots "greater than" its own, "because the timestamps in a trajectory are
# non-decreasing". Only ≥ follows from that reason, and only ≥ can represent its trajectories:
# whoever taps twice within an hour has two visits in one slot. With > the second visit would have
# no node to be counted at, and the trajectory would be cut there.
#
# Why this spends no more. For fixed survivors of the level above, which are noisy and so the same
# for two neighbouring databases, the candidates are a function of survivors, universe and grid:
# public. A node's slot comes from its own label, never from the visits below it. In every
# trajectory slots never decrease (the database is built so), so a trajectory that reaches a node
# continues to exactly one of its candidates or ends: the cells of a level hold disjoint sets of
# trajectories, and one trajectory changes their counts by at most 1 in L1, as without times.


@dataclass(frozen=True, slots=True, repr=False)
class Candidates:
    """The candidates of n nodes, node by node; cell = start[node] + code − first_code[node].

    Attributes:
        first_code: int64, shape (n,); the smallest code that a child of the node can have.
        start: int64, shape (n,); the cell of that code.
        cells: number of all cells.
    """

    first_code: NDArray[np.int64]
    start: NDArray[np.int64]
    cells: int

    @classmethod
    def of(cls, survivors: Survivors, parameters: Parameters) -> "Candidates":
        """The candidates of the nodes that survived a level."""
        size = parameters.universe_size
        if parameters.time_grid is None:
            first_code = np.zeros(len(survivors), dtype=np.int64)
        else:
            # The root's code is -1: everything may follow it.
            slot = np.maximum(survivors.location, 0).astype(np.int64) // size
            first_code = slot * size
        ends = np.cumsum(parameters.candidates - first_code)
        start = np.concatenate((np.zeros(1, dtype=np.int64), ends))
        return cls(first_code, start[:-1], int(start[-1]))

    def cells_of(self, exact: ExactCounts) -> NDArray[np.int64]:
        """The cells of some children, int64; ascending, as the children are."""
        return self.start[exact.node] + exact.location - self.first_code[exact.node]

    def children(self, cells: NDArray[np.int64]) -> Survivors:
        """The nodes and codes of some ascending cells."""
        node = np.searchsorted(self.start, cells, side="right") - 1
        code = cells - self.start[node] + self.first_code[node]
        return Survivors(node, code.astype(np.int32))


# Grow the noisy prefix tree level by level.
#
# Why the tree is ε-differentially private. Fix the survivors of level i − 1: they are noisy, so
# they are the same public value for both of two neighbouring databases. Every (survivor, location)
# pair is a potential child, whether anybody went there or not (with a time grid every pair of a
# survivor and a candidate that `Candidates` names). The pairs hold disjoint sets of trajectories,
# so adding or removing a unit with at most c trajectories changes their counts by at most c in
# total, and noise of parameter ε̄ = ε/(h·c) on every pair costs ε/h (`gate.add_noise`). Dropping
# the pairs below a public threshold looks only at noisy counts. The pairs without trajectories get
# the same noise and the same test, drawn at once (Theorem 4). There are at most h levels: ε in
# total, by sequential composition. Stopping early when the next level would not fit looks at the
# number of survivors, which is noisy already, and at public parameters.


Progress = Callable[[int, int], None]
"""Called with (levels grown, height); sees nothing else."""


@dataclass(frozen=True, slots=True)
class NoisyLevel:
    """The children of one level that passed θ, sorted by (parent, location)."""

    survivors: Survivors
    noisy_count: NDArray[np.int64]


def grow_tree(
    counter: PrefixCounter,
    parameters: Parameters,
    randomness: Randomness,
    progress: Progress = lambda _done, _height: None,
) -> NoisyPrefixTree:
    """Build the noisy prefix tree (Procedure 1). Spends ``parameters.main_budget``, all of it.

    Args:
        counter: an engine over the private database, not used before.
        parameters: public; its universe size and contribution bound must be the counter's.
        randomness: where the noise comes from.
        progress: told after every level.
    """
    levels: list[NoisyLevel] = []
    survivors = Survivors.root()
    for done in range(parameters.height):  # lines 6 to 19
        if not len(survivors) or not _fits(len(survivors), levels, parameters):
            break
        exact = counter.count_children(survivors)
        levels.append(grow_level(exact, survivors, parameters, randomness))
        survivors = levels[-1].survivors
        progress(done + 1, parameters.height)
    return _assemble(levels, parameters, is_private=randomness.is_private)


def grow_level(
    exact: Iterable[ExactCounts],
    survivors: Survivors,
    parameters: Parameters,
    randomness: Randomness,
) -> NoisyLevel:
    """Noise on every potential child of the survivors, and the threshold (lines 7 to 17).

    A cell of the table is a pair of a node and one of its candidates. The exact counts come in
    blocks, and a block is forgotten before the next is asked for.
    """
    candidates = Candidates.of(survivors, parameters)
    table = sparse_table(
        ((candidates.cells_of(block), block.count) for block in exact),
        candidates.cells,
        Laplace(parameters.level_epsilon),
        parameters.threshold,
        randomness,
    )
    return NoisyLevel(candidates.children(table.keys), table.counts)


def _fits(nodes: int, levels: list[NoisyLevel], parameters: Parameters) -> bool:
    """Whether the children invented on the next level are expected to fit ``max_nodes``."""
    so_far = sum(len(level.survivors) for level in levels)
    invented = nodes * parameters.invented_per_node
    return (
        so_far + invented <= parameters.max_nodes and nodes * parameters.candidates <= LARGEST_LEVEL
    )


def _assemble(
    levels: list[NoisyLevel], parameters: Parameters, *, is_private: bool
) -> NoisyPrefixTree:
    """Chain the levels; positions within a level become positions in the tree."""
    sizes = [len(level.survivors) for level in levels]
    starts = np.cumsum([0, *sizes])
    parents = [
        np.full(sizes[i], -1, dtype=np.int64) if i == 0 else level.survivors.parent + starts[i - 1]
        for i, level in enumerate(levels)
    ]
    return NoisyPrefixTree(
        parent=np.concatenate([np.empty(0, np.int64), *parents]),
        location=np.concatenate(
            [np.empty(0, np.int32), *(level.survivors.location for level in levels)]
        ),
        level=np.repeat(np.arange(1, len(sizes) + 1, dtype=np.int32), sizes),
        noisy_count=np.concatenate(
            [np.empty(0, np.int64), *(level.noisy_count for level in levels)]
        ),
        parameters=parameters,
        is_private=is_private,
    )
