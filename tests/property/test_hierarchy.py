"""What holds for every tree and every release of two granularities."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.hierarchies import ROWS, TAXONOMY, UNIVERSE, database_of, exact_counts, paths_to, told

from pathveil import publish
from pathveil.core.parameters import Parameters
from pathveil.core.paths import Paths
from pathveil.errors import QueryError
from pathveil.gate.grow_hierarchy import grow
from pathveil.gate.randomness import Randomness
from pathveil.release.bundle import read_release, verify_bundle
from pathveil.release.bundle_tables import tree_problem

SIZE = len(UNIVERSE)
LABELS = st.sampled_from([*UNIVERSE.labels, *TAXONOMY.labels])
METHODS = st.sampled_from(["basic", "full"])


def parameters(epsilon="1", height=3, threshold="auto"):
    return Parameters.choose(
        epsilon=epsilon,
        height=height,
        universe_size=SIZE,
        threshold=threshold,
        taxonomy=TAXONOMY,
        method="full",
    )


def released(rows, method="full", epsilon="30"):
    rows = [row for row in rows for _ in range(20)]
    return publish(database_of(rows), epsilon=epsilon, height=3, method=method, taxonomy=TAXONOMY)


@settings(deadline=None, max_examples=60)
@given(rows=ROWS)
def test_almost_without_noise_the_counts_are_those_of_rows_that_walk_down_the_tree(rows):
    """Noise of parameter 25 is not 0 in any cell of the test with a probability below 10⁻⁶."""
    tree = grow(database_of(rows), parameters("100", 2, 1), Randomness())
    assert np.array_equal(tree.noisy_count, exact_counts(tree, rows))


@settings(deadline=None, max_examples=60)
@given(rows=ROWS, epsilon=st.sampled_from(["1", "6", "60"]))
def test_the_children_of_a_node_hold_disjoint_parts_of_it(rows, epsilon):
    """True counts: so the constraints that inference relies on hold at both granularities."""
    tree = grow(database_of(rows), parameters(epsilon, 3, 1), Randomness())
    counts = exact_counts(tree, rows)
    below = np.zeros(len(tree) + 1, dtype=np.int64)
    np.add.at(below, tree.parent, counts)
    assert np.all(below[:-1] <= counts)
    assert below[-1] <= len(rows)


@settings(deadline=None, max_examples=40)
@given(rows=ROWS, extra=st.text("abcdef", max_size=4), epsilon=st.sampled_from(["1", "6"]))
def test_one_trajectory_adds_at_most_1_to_the_zones_and_1_to_the_locations_of_a_level(
    rows, extra, epsilon
):
    tree = grow(database_of(rows), parameters(epsilon, 3, 1), Randomness())
    added = exact_counts(tree, [*rows, extra]) - exact_counts(tree, rows)
    paths = [told(path) for path in paths_to(tree)]
    for level in range(1, 4):
        here = np.array([len(path) == level for path in paths], dtype=np.bool_)
        for zones in (True, False):
            kind = np.array([(path[-1][1] is None) == zones for path in paths], dtype=np.bool_)
            assert added[here & kind].sum() <= 1


@settings(deadline=None, max_examples=40)
@given(rows=ROWS, method=METHODS, epsilon=st.sampled_from(["1", "30"]))
def test_a_released_tree_is_one(rows, method, epsilon):
    release = released(rows, method, epsilon)
    assert tree_problem(release.tree) is None
    assert np.all(release.paths().lengths <= 3)
    assert len(release) == release.tree.estimate[release.tree.parent < 0].sum()


@settings(deadline=None, max_examples=60)
@given(rows=ROWS, method=METHODS, query=st.sets(LABELS, max_size=3))
def test_a_zone_is_visited_by_whoever_visits_one_of_its_locations(rows, method, query):
    release = released(rows, method)
    zone_of = {
        label: TAXONOMY.labels[zone]
        for label, zone in zip(UNIVERSE.labels, TAXONOMY.zone_of.tolist(), strict=True)
    }
    visited = [{*row, *(zone_of.get(label, label) for label in row)} for row in sequences(release)]
    assert release.count(query) == sum(query <= places for places in visited)


@settings(deadline=None, max_examples=40)
@given(rows=ROWS, query=st.lists(st.sampled_from(TAXONOMY.labels), min_size=1, max_size=3))
def test_the_view_of_zones_is_the_release_with_every_visit_as_its_zone(rows, query):
    release = released(rows)
    view = release.at_zone_level()
    assert len(view) == len(release)
    assert view.count(query) == release.count(query)
    assert view.count_ordered(query) == release.count_ordered(query)
    assert view.count_prefix(query) == release.count_prefix(query)
    assert np.array_equal(view.paths().lengths, release.paths().lengths)


def test_an_order_is_of_locations_or_of_zones():
    release = released(["ab"])
    assert release.count_ordered(["a", "b"]) > 0
    assert release.count_ordered(["zone:X", "zone:Y"]) > 0
    with pytest.raises(QueryError, match="not both"):
        release.count_ordered(["a", "zone:Y"])
    with pytest.raises(QueryError, match="no zones"):
        publish(database_of(["ab"]), epsilon="1", height=2, method="full").at_zone_level()


def sequences(release):
    return [tuple(row) for row in release.to_sequences()]


@st.composite
def paths_of_nodes(draw):
    """Paths as trees have them: a zone, and after it one of its locations or not."""
    rows = []
    for _ in range(draw(st.integers(0, 5))):
        row = []
        for code in draw(st.lists(st.integers(0, SIZE - 1), max_size=4)):
            row.append(SIZE + int(TAXONOMY.zone_of[code]))
            if draw(st.booleans()):
                row.append(code)
        rows.append(row)
    return Paths(
        np.cumsum([0, *map(len, rows)]),
        np.array([code for row in rows for code in row], dtype=np.int32),
        np.ones(len(rows), dtype=np.int64),
    )


@given(nodes=paths_of_nodes())
def test_visits_and_nodes_say_the_same(nodes):
    paths = TAXONOMY.merged(nodes)
    back = TAXONOMY.with_zones(paths)
    assert np.array_equal(back.offsets, nodes.offsets)
    assert np.array_equal(back.codes, nodes.codes)
    bounds = nodes.offsets
    for i in range(len(nodes)):
        visits = told(nodes.codes[bounds[i] : bounds[i + 1]].tolist())
        expected = [SIZE + zone if place is None else place for zone, place in visits]
        assert paths.codes[paths.offsets[i] : paths.offsets[i + 1]].tolist() == expected


@pytest.mark.parametrize("method", ["basic", "full"])
def test_a_bundle_is_read_back_as_it_was_written(method, tmp_path):
    release = released(["ab", "abc", "de", "df", "fa", "f"], method)
    release.write(tmp_path / "release", csv=True)
    again = verify_bundle(tmp_path / "release")
    assert again.universe == release.universe
    assert again.parameters == release.parameters
    assert again.to_sequences() == release.to_sequences()
    assert again.count(["zone:Z"]) == release.count(["zone:Z"])
    assert read_release(tmp_path / "release").certificate.adds_up()
    shares = [line.epsilon for line in again.certificate.accounting.budget]
    assert len(shares) == 6
    assert sum(map(Fraction, shares)) == 30
