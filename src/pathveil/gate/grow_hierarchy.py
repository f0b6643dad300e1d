"""Beyond the paper: a prefix tree of two granularities (after Chen, Fung, Desai, Sossou, KDD 2012).

A public taxonomy puts every location in one zone. A level of the tree is grown in two steps: the
noisy counts of all zones of every node, and then, below the zones that reached their threshold
only, the noisy counts of their locations. Where the locations' counts do not carry a threshold the
zone's may, and the branch goes on from there.

What a node is. A zone node holds the trajectories of the node above it whose next visit lies in the
zone, and its count is the count of all of them. Its children are, first, the locations of the zone
that were kept, and then, on the next level, the zones to which the *rest* goes on: the
trajectories whose location was not kept. So a trajectory that reaches a node is in exactly one of
the nodes of the next level: its location's if that was kept, else its zone's, else none. The
children of a node hold disjoint parts of it: they sum to at most the node, at both granularities,
and inference needs to know nothing of zones. The trajectories that end at a zone node
are released with the zone as their last known location. A node is expanded if what is left for its
children (a location's noisy count; a zone's, less those of its kept locations) reaches the zones'
threshold: below that, all that could be found are children that nobody visited.

Why it is ε-differentially private. Fix what was kept so far: it is noisy, so it is the same public
value for two neighbouring databases. Which node a trajectory is in is then a function of that
trajectory alone. (1) Zones partition the locations, so a trajectory adds 1 to at most one (node,
zone) pair; every pair gets noise, visited or not (`add_noise`). A unit with c trajectories
changes the table by at most c in L1, and noise of parameter s·ε̄ with ε̄ = ε/(h·c) and s the public
share of the zones costs s·ε/h. (2) Which zones are refined, and which nodes are expanded, is
decided by noisy counts and a public threshold. The pairs (kept zone of a node, location in it)
again hold disjoint sets of trajectories, every one gets noise of parameter (1 − s)·ε̄, and that
costs (1 − s)·ε/h. A location whose true count is 0, in a zone that nobody visited but noise kept,
is treated like any other. The two steps are composed sequentially: a level costs ε/h, h levels cost
ε.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pathveil.core.noise import Laplace
from pathveil.core.noisy_tree import NoisyPrefixTree
from pathveil.core.parameters import Parameters
from pathveil.core.thresholds import SubLevels, pass_fraction
from pathveil.errors import ParameterError
from pathveil.gate.add_noise import sparse_table
from pathveil.gate.grow_tree import LARGEST_LEVEL, Progress, grow_tree
from pathveil.gate.randomness import Randomness
from pathveil.raw.database import TrajectoryDatabase
from pathveil.raw.engines.batch_counter import BatchCounter, BatchPrefixes
from pathveil.raw.engines.memory_counter import MemoryCounter
from pathveil.raw.engines.protocol import ExactCounts, PrefixCounter, Survivors
from pathveil.statistics.noisy_table import NoisyTable
from pathveil.universe.taxonomy import Taxonomy


@dataclass(frozen=True, slots=True)
class Zoning:
    """The public parameters that a level needs.

    Attributes:
        taxonomy: the zones.
        sub_levels: the noise of the two steps, and the zones' threshold.
        threshold: that of the locations.
        invented: how many zones and locations a node is expected to invent, at most.
    """

    taxonomy: Taxonomy
    sub_levels: SubLevels
    threshold: int
    invented: float

    @classmethod
    def of(cls, parameters: Parameters) -> "Zoning":
        """Worked out once for a tree."""
        taxonomy, sub_levels = parameters.taxonomy, parameters.sub_levels
        if taxonomy is None or sub_levels is None:
            raise ParameterError("A tree of zones needs a taxonomy.")
        invented = sub_levels.invented_per_node(parameters.threshold)
        return cls(taxonomy, sub_levels, parameters.threshold, invented)


@dataclass(frozen=True, slots=True)
class HybridLevel:
    """One level: the zones that were kept, and the locations that were kept below them.

    Attributes:
        node: int64, shape (z,), ascending; each zone's parent, by its position among the nodes of
            the level above that were expanded.
        zone: int64, shape (z,); from 0.
        zone_count: int64, shape (z,); noisy.
        inside: int64, shape (k,), ascending; the position of each location's zone among the zones.
        location: int32, shape (k,); its code.
        location_count: int64, shape (k,); noisy.
        survivors: zones and locations together, for the engine.
        position: int64, shape (z + k,); where each survivor stands in the zones followed by the
            locations.
        expanded: int64, ascending; the survivors that are expanded on the next level.
    """

    node: NDArray[np.int64]
    zone: NDArray[np.int64]
    zone_count: NDArray[np.int64]
    inside: NDArray[np.int64]
    location: NDArray[np.int32]
    location_count: NDArray[np.int64]
    survivors: Survivors
    position: NDArray[np.int64]
    expanded: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        zones: NoisyTable,
        locations: NoisyTable,
        above: NDArray[np.int64],
        zoning: Zoning,
    ) -> "HybridLevel":
        """What the two steps kept below the expanded survivors ``above``."""
        taxonomy = zoning.taxonomy
        node, zone = np.divmod(zones.keys, len(taxonomy))
        starts = _starts(zones, taxonomy)
        inside = np.searchsorted(starts, locations.keys, side="right") - 1
        location = taxonomy.members[taxonomy.starts[zone[inside]] + locations.keys - starts[inside]]
        rest = zones.counts.copy()
        np.subtract.at(rest, inside, locations.counts)
        parent = above[np.concatenate((node, node[inside]))]
        code = np.concatenate((taxonomy.locations + zone, location)).astype(np.int32)
        order = np.lexsort((code, parent))
        # What has less than θ left for its children can't have a child that is not invented.
        carries = (
            np.concatenate((rest, locations.counts))[order] >= zoning.sub_levels.zone_threshold
        )
        survivors = Survivors(parent[order], code[order])
        return cls(
            node,
            zone,
            zones.counts,
            inside,
            location,
            locations.counts,
            survivors,
            order,
            np.flatnonzero(carries),
        )

    def __len__(self) -> int:
        return len(self.position)


def grow_hierarchy(
    counter: PrefixCounter,
    parameters: Parameters,
    randomness: Randomness,
    progress: Progress = lambda _done, _height: None,
) -> NoisyPrefixTree:
    """Build the noisy prefix tree of two granularities. Spends ``parameters.main_budget``.

    Args:
        counter: an engine over the private database, made with the taxonomy and not used before.
        parameters: public, with a taxonomy.
        randomness: where the noise comes from.
        progress: told after every level.

    Returns:
        A tree of at most 2h levels: zones, then locations, and so on; a zone may follow a zone.
    """
    zoning = Zoning.of(parameters)
    levels: list[HybridLevel] = []
    survivors, expanded = Survivors.root(), np.zeros(1, dtype=np.int64)
    for done in range(parameters.height):
        room = parameters.max_nodes - sum(map(len, levels))
        pairs = len(expanded) * len(zoning.taxonomy)
        if not 0 < pairs <= LARGEST_LEVEL or len(expanded) * zoning.invented > room:
            break
        exact = _below(ExactCounts.gathered(counter.count_children(survivors)), expanded)
        zones = zone_table(exact, pairs, zoning, randomness)
        locations = location_table(exact, zones, zoning, randomness, room)
        levels.append(HybridLevel.of(zones, locations, expanded, zoning))
        survivors, expanded = levels[-1].survivors, levels[-1].expanded
        progress(done + 1, parameters.height)
    return _assemble(levels, parameters, zoning.taxonomy, is_private=randomness.is_private)


def _below(exact: ExactCounts, expanded: NDArray[np.int64]) -> ExactCounts:
    """The counts below the nodes that are expanded, which are numbered anew."""
    at = np.searchsorted(expanded, exact.node)
    kept = np.append(expanded, -1)[at] == exact.node
    return ExactCounts(at[kept], exact.location[kept], exact.count[kept])


def zone_table(
    exact: ExactCounts, pairs: int, zoning: Zoning, randomness: Randomness
) -> NoisyTable:
    """Step 1: noise and threshold on every pair of a node and a zone; cell = node·|Z| + zone."""
    cells, which = np.unique(_zone_cells(exact, zoning.taxonomy), return_inverse=True)
    counts = np.zeros(len(cells), dtype=np.int64)
    np.add.at(counts, which, exact.count)
    return sparse_table(
        [(cells, counts)],
        pairs,
        Laplace(zoning.sub_levels.zone_epsilon),
        zoning.sub_levels.zone_threshold,
        randomness,
    )


def location_table(
    exact: ExactCounts,
    zones: NoisyTable,
    zoning: Zoning,
    randomness: Randomness,
    room: int,
) -> NoisyTable:
    """Step 2: noise and threshold on every location of the zones that were kept.

    Args:
        exact: the counts of the level, the same as for step 1.
        zones: what step 1 kept.
        zoning: public.
        randomness: where the noise comes from.
        room: how many nodes more may be held. If inventions alone are expected to take more, no
            location is measured; that looks at public figures and noisy counts only.

    Returns:
        Its cells go through the locations of one kept zone after another.
    """
    taxonomy, epsilon, threshold = (
        zoning.taxonomy,
        zoning.sub_levels.location_epsilon,
        zoning.threshold,
    )
    starts = _starts(zones, taxonomy)
    cells = int(starts[-1])
    if cells * float(pass_fraction(epsilon, threshold)) > room:
        nothing = np.empty(0, dtype=np.int64)
        return NoisyTable(nothing, nothing, 0, Laplace(epsilon), threshold)
    pair = _zone_cells(exact, taxonomy)
    at = np.searchsorted(zones.keys, pair)
    kept = np.append(zones.keys, -1)[at] == pair
    occupied = starts[at[kept]] + taxonomy.rank[exact.location[kept]]
    order = np.argsort(occupied)
    return sparse_table(
        [(occupied[order], exact.count[kept][order])],
        cells,
        Laplace(epsilon),
        threshold,
        randomness,
    )


def _zone_cells(exact: ExactCounts, taxonomy: Taxonomy) -> NDArray[np.int64]:
    return exact.node * len(taxonomy) + taxonomy.zone_of[exact.location]


def _starts(zones: NoisyTable, taxonomy: Taxonomy) -> NDArray[np.int64]:
    """The cell at which the locations of each kept zone begin, and the number of all cells."""
    sizes = taxonomy.sizes[zones.keys % len(taxonomy)]
    return np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(sizes)))


def _assemble(
    levels: list[HybridLevel], parameters: Parameters, taxonomy: Taxonomy, *, is_private: bool
) -> NoisyPrefixTree:
    """Chain the levels. Nodes are numbered level by level first, and then ordered by depth."""
    starts = np.cumsum([0, *map(len, levels)])
    above = np.full(1, -1, dtype=np.int64)
    parents: list[NDArray[np.int64]] = []
    codes: list[NDArray[np.int64]] = []
    counts: list[NDArray[np.int64]] = []
    for start, level in zip(starts.tolist(), levels, strict=False):
        parents += [above[level.node], start + level.inside]
        codes += [taxonomy.locations + level.zone, level.location.astype(np.int64)]
        counts += [level.zone_count, level.location_count]
        above = start + level.position[level.expanded]
    nothing = np.empty(0, dtype=np.int64)
    parent = np.concatenate((nothing, *parents))
    code = np.concatenate((nothing, *codes)).astype(np.int32)
    order, depths = _by_depth(parent, code)
    new = np.empty(len(parent) + 1, dtype=np.int64)
    new[order], new[-1] = np.arange(len(parent)), -1
    return NoisyPrefixTree(
        parent=new[parent[order]],
        location=code[order],
        level=np.repeat(np.arange(1, len(depths) + 1, dtype=np.int32), depths),
        noisy_count=np.concatenate((nothing, *counts))[order],
        parameters=parameters,
        is_private=is_private,
    )


def _by_depth(
    parent: NDArray[np.int64], code: NDArray[np.int32]
) -> tuple[NDArray[np.int64], list[int]]:
    """The nodes ordered by (depth, position of the parent, code), and how many each depth has."""
    by_parent = np.lexsort((code, parent))
    first = np.searchsorted(parent[by_parent], np.arange(-1, len(parent) + 1))
    here = by_parent[: first[1]]
    order = [here]
    while len(here):
        begin, end = first[here + 1], first[here + 2]
        sizes = end - begin
        shift = np.repeat(begin - (np.cumsum(sizes) - sizes), sizes)
        here = by_parent[np.arange(int(sizes.sum())) + shift]
        order.append(here)
    return np.concatenate(order), [len(nodes) for nodes in order[:-1]]


# The tree that the parameters ask for: the paper's, or one of two granularities.


def grow(
    database: TrajectoryDatabase | BatchCounter,
    parameters: Parameters,
    randomness: Randomness,
    progress: Progress = lambda _done, _height: None,
) -> NoisyPrefixTree:
    """Grow the noisy prefix tree of a database. Spends ``parameters.main_budget``."""
    counter: PrefixCounter
    if isinstance(database, BatchCounter):
        counter = BatchPrefixes(database, parameters.taxonomy)
    else:
        counter = MemoryCounter(database, parameters.taxonomy)
    build = grow_tree if parameters.taxonomy is None else grow_hierarchy
    return build(counter, parameters, randomness, progress)
