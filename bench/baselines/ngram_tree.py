"""The exploration tree of n-grams, grown with noisy counts as deep as each path allows.

Why the tree is ε-differentially private. All n-grams that start at one place of a trajectory are
prefixes of one another, so they lie on one path from the root. A trajectory has at most h + 1
starting places ($ and its first h locations), so it touches at most h + 1 paths and adds 1 to each
count on them; a unit has at most c trajectories. The children of a node v get noise of parameter
ε_v/((h + 1)·c), whether anybody went there or not, and along every path the ε_v sum to ε at most:
what a node spends is taken from what its path has left. So a unit changes the probability of the
noisy counts by at most the product of e^(ε_v/((h + 1)·c)) over the nodes of (h + 1)·c paths: at
most e^ε. Which nodes are expanded, and what they may spend, follows from the noisy counts of the
levels above and from public parameters: it is the same for two neighbouring databases.
"""

import numpy as np
from numpy.typing import NDArray

from bench.baselines.ngram_growth import expand
from bench.baselines.ngram_levels import Expanded, Level
from bench.baselines.ngram_plan import NGramPlan
from pathveil.core.noise import Laplace
from pathveil.gate.add_noise import sparse_table
from pathveil.gate.randomness import Randomness
from pathveil.raw.database import TrajectoryDatabase
from pathveil.raw.engines.memory_counter import MemoryCounter
from pathveil.raw.engines.protocol import ExactCounts


def explore(grams: TrajectoryDatabase, plan: NGramPlan, randomness: Randomness) -> list[Level]:
    """Grow the tree. Spends ε at most, and looks at ``grams`` through noisy counts only."""
    counter = MemoryCounter(grams)
    levels: list[Level] = []
    expanded = Expanded.root(plan)
    while len(expanded):
        exact = ExactCounts.gathered(counter.count_children(expanded.nodes))
        levels.append(_measure(exact, expanded, plan, randomness))
        if len(levels) == plan.longest:
            break
        expanded = expand(levels[-1], plan, depth=len(levels))
    return levels


def _measure(
    exact: ExactCounts, expanded: Expanded, plan: NGramPlan, randomness: Randomness
) -> Level:
    """Noise and θ on every child of every node; the nodes that spend the same are one table."""
    pairs, counts = [], []
    budgets = [purse.budget for purse in expanded.purses]
    for budget in sorted(set(budgets)):
        spends_it = np.array([other == budget for other in budgets])
        nodes = np.flatnonzero(spends_it[expanded.purse])
        position = np.full(len(expanded), -1, dtype=np.int64)
        position[nodes] = np.arange(len(nodes))
        own = position[exact.node] >= 0
        table = sparse_table(
            [(position[exact.node[own]] * plan.symbols + exact.location[own], exact.count[own])],
            len(nodes) * plan.symbols,
            Laplace(plan.noise(budget)),
            plan.threshold(budget),
            randomness,
        )
        pairs.append(nodes[table.keys // plan.symbols] * plan.symbols + table.keys % plan.symbols)
        counts.append(table.counts)
    return _level(np.concatenate(pairs), np.concatenate(counts), expanded, plan)


def _level(
    pair: NDArray[np.int64], count: NDArray[np.int64], expanded: Expanded, plan: NGramPlan
) -> Level:
    order = np.argsort(pair)
    node, symbol = pair[order] // plan.symbols, pair[order] % plan.symbols
    listed = np.bincount(node, weights=count[order], minlength=len(expanded))
    return Level(expanded, node, symbol, count[order], np.maximum(expanded.count - listed, 0.0))
