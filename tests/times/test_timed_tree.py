"""Section IV-D: a tree of (location, slot) pairs equals an explicit walk over all candidates.

The statistical assertions fail on right code with probability 10⁻⁶ each.
"""

import tracemalloc
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.statistical.chi_square import ERROR, goodness_of_fit, homogeneity

from pathveil.core.parameters import Parameters
from pathveil.core.thresholds import pass_fraction
from pathveil.core.tree_forecast import Forecast
from pathveil.errors import InputError, ParameterError, TreeTooLargeError
from pathveil.gate import add_noise
from pathveil.gate import grow_tree as candidates_module
from pathveil.gate.add_noise import discrete_laplace
from pathveil.gate.grow_tree import Candidates, grow_level, grow_tree
from pathveil.gate.randomness import Randomness
from pathveil.publishing import publish
from pathveil.raw.database import TrajectoryDatabase
from pathveil.raw.engines import memory_counter
from pathveil.raw.engines.memory_counter import MemoryCounter
from pathveil.raw.engines.protocol import ExactCounts, Survivors
from pathveil.times.time_grid import TimeGrid
from pathveil.universe.universe import Universe

SIZE, SLOTS = 3, 4
GRID = TimeGrid.parse("6h")
UNIVERSE = Universe("abc")


def parameters(**changes):
    chosen = Parameters.choose(
        epsilon="1", height=3, universe_size=SIZE, threshold=2, time_grid=GRID, method="full"
    )
    return replace(chosen, **changes)


def database_of(rows, universe=UNIVERSE, grid=GRID):
    offsets = np.cumsum([0, *map(len, rows)])
    codes = [code for row in rows for code in row]
    return TrajectoryDatabase.from_arrays(offsets, codes, universe, time_grid=grid)


def survivors_of(codes, parents=None):
    parents = np.zeros(len(codes)) if parents is None else parents
    return Survivors(np.asarray(parents, dtype=np.int64), np.asarray(codes, dtype=np.int32))


def enumerated(codes):
    """All (node, code) pairs, node by node: what section IV-D tells us to consider, with ≥."""
    return [
        (node, slot * SIZE + location)
        for node, code in enumerate(codes)
        for slot in range(SLOTS)
        for location in range(SIZE)
        if code < 0 or slot >= code // SIZE
    ]


@given(st.lists(st.integers(0, SIZE * SLOTS - 1), min_size=1, max_size=6))
def test_the_candidates_are_the_pairs_at_the_same_time_or_later(codes):
    survivors = survivors_of(codes)
    candidates = Candidates.of(survivors, parameters())
    pairs = enumerated(codes)
    assert candidates.cells == len(pairs)
    children = candidates.children(np.arange(len(pairs)))
    assert list(zip(children.parent.tolist(), children.location.tolist(), strict=True)) == pairs
    exact = ExactCounts(children.parent, children.location, np.ones(len(pairs), dtype=np.int64))
    assert candidates.cells_of(exact).tolist() == list(range(len(pairs)))


def test_the_root_has_all_pairs():
    assert Candidates.of(Survivors.root(), parameters()).cells == SIZE * SLOTS


def test_without_a_grid_every_node_has_every_location():
    candidates = Candidates.of(survivors_of([2, 0]), parameters(time_grid=None))
    assert candidates.cells == 2 * SIZE
    assert candidates.children(np.array([0, 5])).parent.tolist() == [0, 1]


@st.composite
def timed_rows(draw, size=SIZE, slots=SLOTS):
    """Small databases whose slots never decrease."""
    visit = st.tuples(st.integers(0, slots - 1), st.integers(0, size - 1))
    rows = draw(st.lists(st.lists(visit, max_size=4), max_size=25))
    return [
        [slot * size + location for slot, (_, location) in zip(sorted(s for s, _ in row), row,
         strict=True)]
        for row in rows
    ]  # fmt: skip


@settings(deadline=None)
@given(timed_rows(), st.booleans())
def test_counts_are_those_of_a_dictionary(rows, ranked):
    """No noise, θ = 1: the tree is the prefix tree of pairs, however the engine numbers them."""
    with pytest.MonkeyPatch.context() as patch:
        if ranked:
            patch.setattr(memory_counter, "MOST_CODES", 0)
        patch.setattr(add_noise, "discrete_laplace", lambda size, *_: np.zeros(size, np.int64))
        none = np.empty(0, dtype=np.int64)
        patch.setattr(add_noise, "passing_empty_nodes", lambda *_: (none, none))
        tree = grow_tree(
            MemoryCounter(database_of(rows)), parameters(threshold=1, height=4), Randomness()
        )
    paths = []
    for parent, code in zip(tree.parent.tolist(), tree.location.tolist(), strict=True):
        paths.append((*(paths[parent] if parent >= 0 else ()), code))
    found = dict(zip(paths, tree.noisy_count.tolist(), strict=True))
    assert found == Counter(tuple(row[:i]) for row in rows for i in range(1, len(row) + 1))


# A level of many nodes at one slot, all with the same two occupied children, is as many
# independent repetitions.
NODES, CODE = 60_000, 2 * SIZE + 1
OCCUPIED = [2 * SIZE, 3 * SIZE + 2]
COUNTS = [2, 1]
CHILDREN = [code for _, code in enumerated([CODE])]


def one_level(nodes=NODES):
    """Noisy counts of the children of every node, int64, shape (nodes, candidates); -1 if lost."""
    chosen = parameters(height=2)
    exact = ExactCounts(
        np.repeat(np.arange(nodes), 2),
        np.tile(np.array(OCCUPIED, dtype=np.int32), nodes),
        np.tile(np.array(COUNTS), nodes),
    )
    level = grow_level([exact], survivors_of([CODE] * nodes), chosen, Randomness())
    table = np.full((nodes, SIZE * SLOTS), -1)
    table[level.survivors.parent, level.survivors.location] = level.noisy_count
    before = np.setdiff1d(np.arange(SIZE * SLOTS), CHILDREN)
    assert np.all(table[:, before] == -1)  # nobody goes back in time
    return table[:, CHILDREN]


def explicit_level(nodes=NODES):
    """Procedure 1, lines 12 and 13, on every candidate, one after the other."""
    chosen = parameters(height=2)
    true = np.array([dict(zip(OCCUPIED, COUNTS, strict=True)).get(code, 0) for code in CHILDREN])
    noise = discrete_laplace(nodes * len(true), chosen.level_epsilon, Randomness())
    noisy = true + noise.reshape(nodes, -1)
    return np.where(noisy >= chosen.threshold, noisy, -1)


def kept(level):
    return np.sum(level >= 0, axis=0)


def sets(level):
    return np.bincount((level >= 0) @ (1 << np.arange(len(CHILDREN))), minlength=2 ** len(CHILDREN))


def values(level):
    """Noisy counts by candidate, from θ on, and θ + 8 or more."""
    cells = np.minimum(level - 2, 8) + 9 * np.arange(len(CHILDREN))
    return np.bincount(cells[level >= 0], minlength=9 * len(CHILDREN))


@pytest.mark.parametrize("statistic", [kept, sets, values])
def test_a_level_with_times_equals_the_explicit_walk_over_all_pairs(statistic):
    assert homogeneity(statistic(one_level()), statistic(explicit_level())) > ERROR


def test_candidates_at_later_times_only_would_be_noticed(monkeypatch):
    """The paper's other sentence, >: pairs at the node's own slot are then never considered."""
    right = Candidates.of

    def later(survivors, chosen):
        found = right(survivors, chosen)
        first = found.first_code + chosen.universe_size
        ends = np.cumsum(chosen.candidates - first)
        return Candidates(first, ends - (chosen.candidates - first), int(ends[-1]))

    monkeypatch.setattr(candidates_module.Candidates, "of", later)
    exact = ExactCounts(*(np.empty(0, dtype=d) for d in (np.int64, np.int32, np.int64)))
    level = grow_level([exact], survivors_of([CODE] * NODES), parameters(height=2), Randomness())
    passed = np.bincount(level.survivors.location, minlength=SIZE * SLOTS)[CHILDREN]
    assert goodness_of_fit(passed, np.full(len(CHILDREN), 1 / len(CHILDREN))) < ERROR


def test_the_default_threshold_and_the_forecast_know_the_slots():
    plain = Parameters.choose(epsilon="1", height=4, universe_size=1000, method="full")
    timed = Parameters.choose(
        epsilon="1", height=4, universe_size=1000, time_grid=TimeGrid.parse("1h"), method="full"
    )
    same = Parameters.choose(epsilon="1", height=4, universe_size=24_000, method="full")
    assert timed.candidates == 24_000
    assert timed.threshold == same.threshold > plain.threshold
    forecast = Forecast.of(timed)
    assert forecast.invented_per_node <= Fraction(1, 10)
    assert forecast.invented_per_node == pytest.approx(
        24_000 * float(pass_fraction(timed.level_epsilon, timed.threshold))
    )
    assert forecast.survives == Forecast.of(same).survives
    # Level 1 has 24,000 nodes at most, and each invents so many children.
    assert forecast.levels[1].invented == pytest.approx(24_000 * forecast.invented_per_node)
    with pytest.raises(TreeTooLargeError):
        Parameters.choose(
            epsilon="1", height=4, universe_size=1000, threshold="paper",
            time_grid=TimeGrid.parse("1h"),
        method="full")  # fmt: skip


def test_parameters_and_data_must_have_the_same_grid():
    from pathveil.publishing import publish_with

    chosen = parameters(time_grid=TimeGrid.parse("12h"))
    with pytest.raises(ParameterError, match="time grid"):
        publish_with(database_of([[0]]), chosen, Randomness())


def test_a_database_whose_times_go_back_is_refused():
    database_of([[3, 0 + 3], [0]])
    with pytest.raises(InputError, match="decrease"):
        database_of([[3, 2]])
    with pytest.raises(InputError, match="outside"):
        database_of([[SIZE * SLOTS]])


def test_10_to_the_8_pairs_per_node_are_never_materialised():
    """|L| = 10⁵, |T| = 10³: a byte for every pair would be 100 MB; the peak is a fraction of it."""
    universe = Universe(map(str, range(100_000)))
    starts = [f"2024-{1 + i // 25:02}-{1 + i % 25:02}T{h:02}:00" for i in range(250)
              for h in (0, 6, 12, 18)]  # fmt: skip
    grid = TimeGrid.of(starts)
    assert len(universe) * len(grid) == 10**8
    trip = [99_999, 500 * 100_000 + 7, 999 * 100_000 + 99_999]
    database = database_of([trip] * 2000, universe, grid)
    publish(database, epsilon="1", height=3, method="full")  # compiles
    tracemalloc.start()
    release = publish(database, epsilon="1", height=3, method="full")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 30e6
    visits = [(universe.labels[code % 100_000], grid.labels[code // 100_000]) for code in trip]
    ends = [grid.ends_as_texts()[code // 100_000] for code in trip]
    steps = [(label, f"{time}-{end}") for (label, time), end in zip(visits, ends, strict=True)]
    assert abs(release.count_ordered(steps) - 2000) < 400
