"""Where the exploration tree grows on, and what it may spend there. Sees noisy counts only.

The adaptive part of the idea: a node whose count passed θ is grown, and its path shares out
what it has left over the levels that it can be expected to reach. By the Markov assumption the
likeliest child of a node keeps the share p of its count that the n-gram without the first symbol,
measured already, predicts. After i levels count·pⁱ is left; where that falls under θ the path ends.
"""

import numpy as np
from numpy.typing import NDArray

from bench.baselines.ngram_levels import Expanded, Level
from bench.baselines.ngram_plan import NGramPlan
from pathveil.raw.engines.protocol import Survivors

# A likeliest child with p = 1 would let a path grow for ever.
LARGEST_SHARE = 0.999


def expand(level: Level, plan: NGramPlan, *, depth: int) -> Expanded:
    """The children of the level to grow below, with their purses.

    Args:
        level: the last level measured.
        plan: public.
        depth: its number, from 1; below n_max.
    """
    grows = level.symbol < plan.universe_size
    if depth == 1:
        grows |= level.symbol == plan.boundary  # first it is the start, later the end
    can_pay = np.array([purse.left > purse.budget for purse in level.expanded.purses])
    grows &= can_pay[level.expanded.purse[level.node]]
    grown = np.flatnonzero(grows)
    node, symbol = level.node[grown], level.symbol[grown]
    suffix = _suffixes(level.expanded, node, symbol, plan)
    decay = np.where(suffix >= 0, _largest_shares(level)[suffix], level.expanded.decay[node])
    count = level.count[grown].astype(np.float64)
    levels_ahead = _levels_ahead(count, decay, plan, plan.longest - depth)
    # One purse for each (purse of the parent, levels ahead) that occurs: a handful.
    kinds, purse = np.unique(
        level.expanded.purse[node] * plan.longest + levels_ahead, return_inverse=True
    )
    purses = tuple(
        level.expanded.purses[kind // plan.longest].after(kind % plan.longest)
        for kind in kinds.tolist()
    )
    return Expanded(Survivors(node, symbol.astype(np.int32)), count, suffix, decay, purse, purses)


def _suffixes(
    expanded: Expanded, node: NDArray[np.int64], symbol: NDArray[np.int64], plan: NGramPlan
) -> NDArray[np.int64]:
    """For each child the expanded node of its n-gram without the first symbol, or -1."""
    if expanded.nodes.location[0] < 0:
        return np.zeros(len(node), dtype=np.int64)  # a single symbol: the root
    known = expanded.nodes.parent * plan.symbols + expanded.nodes.location
    shorter = expanded.suffix[node]
    wanted = shorter * plan.symbols + symbol
    place = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    return np.where((shorter >= 0) & (known[place] == wanted), place, -1)


def _largest_shares(level: Level) -> NDArray[np.float64]:
    """The probability of each expanded node's likeliest next symbol; 1 where none is known."""
    largest = np.zeros(len(level.expanded))
    np.maximum.at(largest, level.node, level.count)
    total = level.rest + np.bincount(level.node, weights=level.count, minlength=len(largest))
    return np.divide(largest, total, out=np.ones(len(total)), where=total > 0)


def _levels_ahead(
    count: NDArray[np.float64], decay: NDArray[np.float64], plan: NGramPlan, most: int
) -> NDArray[np.int64]:
    """How many levels will grow below each node, from 1 to ``most``; θ as for equal shares."""
    theta = plan.threshold(plan.epsilon / plan.longest)
    falls = -np.log(np.clip(decay, 1 - LARGEST_SHARE, LARGEST_SHARE))
    ahead = np.ceil(np.log(np.maximum(count / theta, 1.0)) / falls)
    return np.clip(ahead, 1, most).astype(np.int64)
