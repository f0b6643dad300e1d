"""One suite over every counting engine, against a dictionary.

An engine is a function from a database to a `PrefixCounter`, in a ``with``. To add one, add a line
to ENGINES. Spark, whose every level takes a second, is behind ``long``.
"""

from collections import Counter
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engines.conftest import in_duckdb, in_memory, in_spark

from pathveil.core.parameters import MAX_HEIGHT
from pathveil.raw.database import TrajectoryDatabase
from pathveil.raw.engines.protocol import ExactCounts, Survivors
from pathveil.universe.universe import Universe

ENGINES = {"memory": in_memory, "duckdb": in_duckdb}
DEEPEST = {in_memory: MAX_HEIGHT, in_duckdb: 60}  # a column per level; one scan for each
ON_A_CLUSTER = [
    pytest.mark.long,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support:FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # py4j's sockets
]


@pytest.fixture(params=[*ENGINES, pytest.param("spark", marks=ON_A_CLUSTER)], scope="module")
def engine(request):
    if request.param == "spark":
        return partial(in_spark, request.getfixturevalue("cluster").session)
    return ENGINES[request.param]


def oracle(rows, nodes):
    """Exact counts of the non-empty children of ``nodes`` (prefixes), sorted."""
    counts = Counter(tuple(row[: len(nodes[0]) + 1]) for row in rows if len(row) > len(nodes[0]))
    return sorted(
        (nodes.index(prefix[:-1]), prefix[-1], count)
        for prefix, count in counts.items()
        if prefix[:-1] in nodes
    )


def database_of(rows, size):
    offsets = np.cumsum([0, *map(len, rows)])
    codes = [code for row in rows for code in row]
    return TrajectoryDatabase.from_arrays(offsets, codes, Universe(map(str, range(size))))


def counted(blocks):
    exact = ExactCounts.gathered(blocks)
    return list(
        zip(exact.node.tolist(), exact.location.tolist(), exact.count.tolist(), strict=True)
    )


def survivors_of(pairs):
    parent, location = zip(*pairs, strict=True)
    return Survivors(np.array(parent, dtype=np.int64), np.array(location, dtype=np.int32))


@st.composite
def runs(draw):
    """A small database, and for each level the pairs (node, location) that survive.

    Any pair may survive: also one that nobody visited, as the noise may invent it.
    """
    size = draw(st.integers(1, 5))
    codes = st.integers(0, size - 1)
    rows = draw(st.lists(st.lists(codes, max_size=6), max_size=30))
    levels, nodes = [], 1
    for _ in range(draw(st.integers(0, 5))):
        pairs = draw(st.sets(st.tuples(st.integers(0, nodes - 1), codes), min_size=1, max_size=8))
        levels.append(sorted(pairs))
        nodes = len(pairs)
    return size, rows, levels


def check_every_level(engine, run):
    size, rows, levels = run
    with engine(database_of(rows, size)) as counter:
        nodes = [()]
        assert counted(counter.count_children(Survivors.root())) == oracle(rows, nodes)
        for pairs in levels:
            nodes = [(*nodes[parent], location) for parent, location in pairs]
            assert counted(counter.count_children(survivors_of(pairs))) == oracle(rows, nodes)


@settings(max_examples=300)
@given(run=runs())
def test_every_level_is_counted_like_the_dictionary(run):
    check_every_level(in_memory, run)


@settings(max_examples=25)  # DuckDB has to be started for each
@given(run=runs())
def test_every_level_is_counted_like_the_dictionary_by_duckdb(run):
    check_every_level(in_duckdb, run)


@pytest.mark.parametrize("rows", [[], [[0, 1], [], [1]]])
def test_the_arrays_are_as_the_protocol_says(engine, rows):
    with engine(database_of(rows, 2)) as counter:
        blocks = list(counter.count_children(Survivors.root()))
    for exact in (*blocks, ExactCounts.gathered(blocks)):
        check_types(exact)


def check_types(exact):
    assert (exact.node.dtype, exact.location.dtype, exact.count.dtype) == (
        np.int64,
        np.int32,
        np.int64,
    )
    assert "private" in repr(exact)


def test_an_engine_tells_the_universe_and_the_bound(engine):
    universe = Universe("abc")
    database = TrajectoryDatabase.from_arrays([0, 1], [2], universe, max_trajectories_per_unit=4)
    with engine(database) as counter:
        assert counter.universe == universe
        assert counter.max_trajectories_per_unit == 4


def test_a_node_that_nobody_visited_has_no_children(engine):
    with engine(database_of([[0, 1], [0]], 3)) as counter:
        counted(counter.count_children(Survivors.root()))
        assert counted(counter.count_children(survivors_of([(0, 2)]))) == []
        assert counted(counter.count_children(survivors_of([(0, 0), (0, 1)]))) == []


def test_a_node_that_died_is_not_counted_again(engine):
    with engine(database_of([[0, 1], [0, 1], [1, 1]], 2)) as counter:
        counted(counter.count_children(Survivors.root()))
        assert counted(counter.count_children(survivors_of([(0, 1)]))) == [(0, 1, 1)]


def test_an_empty_database(engine):
    with engine(database_of([], 3)) as counter:
        assert counted(counter.count_children(Survivors.root())) == []
        assert counted(counter.count_children(survivors_of([(0, 1)]))) == []


def test_a_trajectory_is_followed_to_the_largest_height(engine):
    """Longer than any tree, and than what the engine remembers of a trajectory's length."""
    top = DEEPEST.get(engine, 12)
    with engine(database_of([[0] * 1500, [0] * (top - 1)], 1), top) as counter:
        survivors = Survivors.root()
        for level in range(1, top + 1):
            assert counted(counter.count_children(survivors)) == [(0, 0, 2 if level < top else 1)]
            survivors = survivors_of([(0, 0)])


def test_counts_of_many_trajectories(engine):
    """Against the dictionary at a size where blocks and batches fill: 20,000 rows."""
    rng = np.random.default_rng(5)  # noqa: TID251
    rows = [rng.integers(0, 50, size=rng.integers(0, 5)).tolist() for _ in range(20_000)]
    with engine(database_of(rows, 50)) as counter:
        first = counted(counter.count_children(Survivors.root()))
        assert first == oracle(rows, [()])
        kept = [(0, location) for _, location, _ in first[::2]]
        second = counter.count_children(survivors_of(kept))
        assert counted(second) == oracle(rows, [(location,) for _, location in kept])
