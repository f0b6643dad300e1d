"""The exploration tree as one table to draw from: every n-gram with its next symbols."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.baselines.ngram_levels import Level
from bench.baselines.ngram_plan import NGramPlan


class NGramModel(NamedTuple):
    """A named tuple of arrays, which compiled code can read. Node 0 is the root.

    Attributes:
        starts: int64, shape (nodes + 1,); node v lists the children ``starts[v]:starts[v + 1]``.
        symbol: int64; the children's symbols, rising within a node.
        child: int64; the children's own node, or -1 if they were not expanded.
        cumulative: float64; running sums of the weights, from 0 within each node.
        rest: float64, shape (nodes,); weight of next symbols that are not listed.
        boundary: |L|: a symbol below it is a location.
        longest: n_max.
        trajectories: how many to draw.
    """

    starts: NDArray[np.int64]
    symbol: NDArray[np.int64]
    child: NDArray[np.int64]
    cumulative: NDArray[np.float64]
    rest: NDArray[np.float64]
    boundary: int
    longest: int
    trajectories: int


def fit_model(levels: list[Level], plan: NGramPlan) -> NGramModel:
    """Chain the levels. CUT (h cuts what is drawn) and an end right after the start are dropped."""
    sizes = [len(level.expanded) for level in levels]
    first = np.cumsum([0, *sizes])
    nodes = np.concatenate(
        [level.node + start for level, start in zip(levels, first[:-1], strict=True)]
    )
    symbol = np.concatenate([level.symbol for level in levels])
    weight = np.concatenate([_weights(level, plan) for level in levels])
    starts = np.searchsorted(nodes, np.arange(first[-1] + 1))
    sums = np.concatenate((np.zeros(1), np.cumsum(weight)))
    return NGramModel(
        starts=starts,
        symbol=symbol,
        child=_child_nodes(nodes * plan.symbols + symbol, levels, first, plan),
        cumulative=sums[1:] - sums[starts[nodes]],
        rest=np.concatenate([level.rest for level in levels]),
        boundary=plan.boundary,
        longest=plan.longest,
        trajectories=int(weight[: starts[1]][symbol[: starts[1]] == plan.boundary].sum()),
    )


def _weights(level: Level, plan: NGramPlan) -> NDArray[np.float64]:
    is_start = level.expanded.nodes.location[level.node] == plan.boundary
    is_impossible = (level.symbol > plan.boundary) | (is_start & (level.symbol == plan.boundary))
    return np.where(is_impossible, 0.0, level.count)


def _child_nodes(
    pairs: NDArray[np.int64], levels: list[Level], first: NDArray[np.int64], plan: NGramPlan
) -> NDArray[np.int64]:
    """The node of each child, -1 for leaves; ``first`` numbers the nodes level by level."""
    child = np.full(len(pairs), -1, dtype=np.int64)
    for depth in range(1, len(levels)):
        nodes = levels[depth].expanded.nodes
        parent = first[depth - 1] + nodes.parent
        child[np.searchsorted(pairs, parent * plan.symbols + nodes.location)] = np.arange(
            first[depth], first[depth + 1]
        )
    return child
