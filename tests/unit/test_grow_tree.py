"""Procedure 1 on the paper's own example, and at its edges."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pathveil.core.budget import Budget
from pathveil.core.parameters import Parameters
from pathveil.gate import add_noise
from pathveil.gate.grow_tree import grow_tree
from pathveil.gate.randomness import Randomness
from pathveil.raw.database import TrajectoryDatabase
from pathveil.raw.engines.memory_counter import MemoryCounter
from pathveil.universe.universe import Universe

PAPER_UNIVERSE = Universe(["L1", "L2", "L3", "L4"])
TABLE_1 = [
    ["L1", "L2", "L3"],
    ["L1", "L2"],
    ["L3", "L2", "L1"],
    ["L1", "L2", "L4"],
    ["L1", "L2", "L3"],
    ["L3", "L2"],
    ["L1", "L2", "L4", "L1"],
    ["L3", "L1"],
]


def table_1():
    return TrajectoryDatabase.from_sequences(TABLE_1, PAPER_UNIVERSE)


def parameters(height=3, universe_size=4, threshold=2, **changes):
    chosen = Parameters.choose(
        epsilon="1", height=height, universe_size=universe_size, threshold=threshold, method="full"
    )
    return replace(chosen, **changes)


def seeded(seed=1):
    return Randomness(np.random.default_rng(seed))  # noqa: TID251


def prefixes(tree, universe):
    """{prefix: noisy count}, in the order of the nodes."""
    paths = []
    for parent, location in zip(tree.parent.tolist(), tree.location.tolist(), strict=True):
        paths.append((*(paths[parent] if parent >= 0 else ()), universe.labels[location]))
    assert [len(path) for path in paths] == tree.level.tolist()
    return dict(zip(paths, tree.noisy_count.tolist(), strict=True))


def inject(
    monkeypatch,
    noise: Callable[[int], list[int]],
    invented: Callable[[int], dict[int, int]] = lambda _level: {},
):
    """Replace the gate's two draws by a script, level by level (from 1).

    ``noise(level)`` are the noises of the non-empty children, in order; ``invented(level)`` maps
    empty pairs (node · |L| + location) that pass to their counts.
    """
    level = iter(range(1, 100))
    now = [0]

    def laplace(size, _epsilon, _randomness):
        now[0] = next(level)
        script = noise(now[0])
        assert len(script) in (0, size)
        return np.array(script or [0] * size, dtype=np.int64)

    def empties(occupied, pairs, _epsilon, threshold, _randomness):
        script = invented(now[0])
        assert not set(script) & set(occupied.tolist())
        assert all(0 <= pair < pairs and count >= threshold for pair, count in script.items())
        return np.array(list(script), dtype=np.int64), np.array(list(script.values()), dtype=int)

    monkeypatch.setattr(add_noise, "discrete_laplace", laplace)
    monkeypatch.setattr(add_noise, "passing_empty_nodes", empties)


def test_the_prefix_tree_of_table_1(monkeypatch):
    """Figure 1: without noise and with θ = 1 the tree is the prefix tree with exact counts."""
    inject(monkeypatch, noise=lambda _level: [])
    tree = grow_tree(MemoryCounter(table_1()), parameters(height=4, threshold=1), seeded())
    assert prefixes(tree, PAPER_UNIVERSE) == {
        ("L1",): 5,
        ("L3",): 3,
        ("L1", "L2"): 5,
        ("L3", "L1"): 1,
        ("L3", "L2"): 2,
        ("L1", "L2", "L3"): 2,
        ("L1", "L2", "L4"): 2,
        ("L3", "L2", "L1"): 1,
        ("L1", "L2", "L4", "L1"): 1,
    }


def test_the_construction_of_figure_3(monkeypatch):
    """h = 3, θ = 2 on Table 1, with injected noise.

    The text has no picture, so the noise is ours; it agrees with what the text tells of the
    figure: Root → L3 → L2 → L1 is a root-to-leaf path with c(L2) > c(L3), and a path may be
    shorter than h. One real node is pruned (L3 → L1, whose true count is 1), and two are
    invented: L4 on level 1, below which nothing passes, and L1 → L2 → L2.
    """
    noise = {
        1: [+1, 0],  # L1: 5, L3: 3
        2: [0, 0, +2],  # L1→L2: 5, L3→L1: 1, L3→L2: 2
        3: [+1, 0, +1],  # L1→L2→L3: 2, L1→L2→L4: 2, L3→L2→L1: 1
    }
    # Level 1 has pairs 0 to 3; level 3's first node is L1→L2, so L2 below it is pair 1.
    invented = {1: {3: 2}, 2: {}, 3: {1: 3}}
    inject(monkeypatch, noise.__getitem__, invented.__getitem__)
    tree = grow_tree(MemoryCounter(table_1()), parameters(height=3, threshold=2), seeded())
    assert prefixes(tree, PAPER_UNIVERSE) == {
        ("L1",): 6,
        ("L3",): 3,
        ("L4",): 2,
        ("L1", "L2"): 5,
        ("L3", "L2"): 4,
        ("L1", "L2", "L2"): 3,
        ("L1", "L2", "L3"): 3,
        ("L1", "L2", "L4"): 2,
        ("L3", "L2", "L1"): 2,
    }
    assert tree.parent.tolist() == [-1, -1, -1, 0, 1, 3, 3, 3, 4]


def test_a_count_that_reaches_the_threshold_is_kept(monkeypatch):
    inject(monkeypatch, noise=lambda level: {1: [-3, -2]}.get(level, []))
    tree = grow_tree(MemoryCounter(table_1()), parameters(height=1, threshold=2), seeded())
    assert prefixes(tree, PAPER_UNIVERSE) == {("L1",): 2}


def test_without_survivors_the_tree_ends(monkeypatch):
    inject(monkeypatch, noise=lambda level: {1: [-5, -3]}[level])
    grown = []
    tree = grow_tree(
        MemoryCounter(table_1()),
        parameters(),
        seeded(),
        progress=lambda done, height: grown.append((done, height)),
    )
    assert (len(tree), tree.depth, grown) == (0, 0, [(1, 3)])
    for array in (tree.parent, tree.location, tree.level, tree.noisy_count):
        assert array.shape == (0,)


def test_an_empty_database_has_a_tree_of_invented_nodes():
    empty = TrajectoryDatabase.from_sequences([], PAPER_UNIVERSE)
    sizes = [
        len(grow_tree(MemoryCounter(empty), parameters(threshold=1), seeded(seed)))
        for seed in range(20)
    ]
    assert max(sizes) > 0


def test_a_universe_of_one_location():
    universe = Universe(["here"])
    database = TrajectoryDatabase.from_sequences([["here"] * 3] * 100, universe)
    tree = grow_tree(MemoryCounter(database), parameters(universe_size=1), seeded())
    assert tree.level.tolist() == [1, 2, 3]
    assert tree.location.tolist() == [0, 0, 0]
    assert np.all(np.abs(tree.noisy_count - 100) < 100)


def test_a_universe_of_a_million_locations():
    """The universe only appears in arithmetic; its labels are the slow part of this test."""
    universe = Universe(map(str, range(10**6)))
    database = TrajectoryDatabase.from_arrays(
        np.arange(0, 3001, 3), np.tile([999_999, 5, 999_999], 1000), universe
    )
    chosen = parameters(height=3, universe_size=10**6, threshold="auto")
    tree = prefixes(grow_tree(MemoryCounter(database), chosen, seeded()), universe)
    real = ("999999", "5", "999999")
    assert all(abs(tree[real[:level]] - 1000) < 200 for level in (1, 2, 3))
    assert len(tree) < 20


databases = st.integers(1, 5).flatmap(
    lambda size: st.tuples(
        st.just(size), st.lists(st.lists(st.integers(0, size - 1), max_size=5), max_size=12)
    )
)


@settings(deadline=None)
@given(databases, st.integers(1, 4), st.integers(1, 4), st.integers(0, 2**32))
def test_nodes_are_in_canonical_order(database, height, threshold, seed):
    size, rows = database
    universe = Universe([f"L{i}" for i in range(size)])
    trajectories = TrajectoryDatabase.from_sequences(
        [[f"L{code}" for code in row] for row in rows], universe
    )
    chosen = parameters(height=height, universe_size=size, threshold=threshold)
    tree = grow_tree(MemoryCounter(trajectories), chosen, seeded(seed))
    keys = list(zip(tree.level.tolist(), tree.parent.tolist(), tree.location.tolist(), strict=True))
    assert keys == sorted(set(keys))
    assert np.all(tree.noisy_count >= threshold)
    inner = tree.parent >= 0
    assert np.array_equal(inner, tree.level > 1)
    assert np.array_equal(tree.level[tree.parent[inner]] + 1, tree.level[inner])
    assert np.all((tree.location >= 0) & (tree.location < size))
    assert tree.depth <= height


def test_the_same_generator_gives_the_same_tree():
    trees = [grow_tree(MemoryCounter(table_1()), parameters(), seeded(9)) for _ in range(2)]
    other = grow_tree(MemoryCounter(table_1()), parameters(), seeded(10))
    assert prefixes(trees[0], PAPER_UNIVERSE) == prefixes(trees[1], PAPER_UNIVERSE)
    assert prefixes(trees[0], PAPER_UNIVERSE) != prefixes(other, PAPER_UNIVERSE)


def test_an_injected_generator_is_stamped_not_private():
    injected = grow_tree(MemoryCounter(table_1()), parameters(), seeded())
    secure = grow_tree(MemoryCounter(table_1()), parameters(), Randomness())
    assert not injected.is_private
    assert "NOT PRIVATE" in repr(injected)
    assert secure.is_private
    assert "NOT PRIVATE" not in repr(secure)


def test_the_order_of_the_people_does_not_show():
    turned = TrajectoryDatabase.from_sequences(TABLE_1[::-1], PAPER_UNIVERSE)
    tree, other = (
        grow_tree(MemoryCounter(database), parameters(), seeded(3))
        for database in (table_1(), turned)
    )
    assert prefixes(tree, PAPER_UNIVERSE) == prefixes(other, PAPER_UNIVERSE)


def test_growth_stops_where_the_next_level_would_not_fit():
    """Every node is expected to invent 1.8 children, and 20 nodes are allowed."""
    free = Parameters(Budget.parse("1"), 5, 4, threshold=1, method="full")
    tight = replace(free, max_nodes=20)
    assert free.invented_per_node == pytest.approx(1.8, abs=0.1)
    grown = [grow_tree(MemoryCounter(table_1()), chosen, seeded()) for chosen in (free, tight)]
    assert grown[0].depth == 5
    assert 0 < grown[1].depth < 5
    # Up to where it stopped, it is the same tree.
    kept = len(grown[1])
    assert np.array_equal(grown[0].noisy_count[:kept], grown[1].noisy_count)


def test_a_person_with_three_trajectories_gets_three_times_the_noise():
    one, three = parameters(), parameters(max_trajectories_per_unit=3)
    assert three.level_epsilon * 3 == one.level_epsilon
    assert three.level_budget == one.level_budget
