"""The explorer's indexes give the answers of the plain code they stand in for."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.explorer import releases

import pathveil as pv
from pathveil.analysis.patterns import top_patterns
from pathveil.core.paths import Paths
from pathveil.explorer import mining_beside, pattern_tables
from pathveil.explorer.indexed_release import LocationSearch, VisitPositions, folded
from pathveil.explorer.mining_beside import MiningBeside
from pathveil.explorer.pattern_tables import PER_TABLE, Mined, PatternTables, mine
from pathveil.explorer.prefix_walk import PrefixWalk
from pathveil.universe.universe import Universe

SIZE, SLOTS = 3, 4
ROWS = st.lists(
    st.lists(st.integers(0, SIZE * SLOTS - 1), min_size=1, max_size=5).map(tuple),
    max_size=12,
    unique=True,
)


def paths_of(rows):
    rows = sorted(rows)
    return Paths(
        np.cumsum([0, *map(len, rows)]),
        np.array([code for row in rows for code in row], dtype=np.int32),
        np.arange(1, len(rows) + 1),
    ), rows


def fits(code, step):
    location, window = step
    return code % SIZE == location and (window is None or window[code // SIZE])


def has_in_order(row, steps):
    rest = iter(row)
    return all(any(fits(code, step) for code in rest) for step in steps)


WINDOWS = st.none() | st.lists(st.booleans(), min_size=SLOTS, max_size=SLOTS).map(np.array)
STEPS = st.lists(st.tuples(st.integers(0, SIZE - 1), WINDOWS), max_size=4)


@given(ROWS, STEPS)
@settings(max_examples=200)
def test_visits_in_order_and_in_hours_are_counted_as_by_hand(rows, steps):
    paths, rows = paths_of(rows)
    positions = VisitPositions.build(paths, SIZE)
    weighted = list(zip(rows, paths.weights.tolist(), strict=True))
    in_order = sum(weight for row, weight in weighted if has_in_order(row, steps))
    anyhow = sum(
        weight
        for row, weight in weighted
        if all(any(fits(code, step) for code in row) for step in steps)
    )
    assert positions.count_ordered(steps) == in_order
    assert positions.count(steps) == anyhow


@given(ROWS, st.lists(st.integers(0, SIZE * SLOTS - 1), max_size=3), st.randoms())
@settings(max_examples=200)
def test_a_walk_counts_as_by_hand_and_whatever_the_order(rows, prefix, shuffler):
    paths, rows = paths_of(rows)
    weighted = list(zip(rows, paths.weights.tolist(), strict=True))
    shuffler.shuffle(weighted)
    mixed = Paths(
        np.cumsum([0, *(len(row) for row, _ in weighted)]),
        np.array([code for row, _ in weighted for code in row], dtype=np.int32),
        np.array([weight for _, weight in weighted], dtype=np.int64),
    )
    below = [(row, w) for row, w in weighted if list(row[: len(prefix)]) == prefix]
    children = {}
    for row, weight in below:
        if len(row) > len(prefix):
            step = row[len(prefix)]
            children[step] = children.get(step, 0) + weight
    for given_ in (paths, mixed):
        found = PrefixWalk(given_, None).children(prefix)
        assert found.count == sum(weight for _, weight in below)
        assert found.ended == sum(w for row, w in below if len(row) == len(prefix))
        assert dict(zip(found.codes.tolist(), found.counts.tolist(), strict=True)) == children


LABELS = st.lists(st.text("aAbé -", min_size=1, max_size=5), min_size=1, max_size=8, unique=True)


@given(LABELS.filter(lambda labels: all(map(str.strip, labels))), st.text("aAbBéE ", max_size=3))
def test_a_search_finds_what_holds_the_text(labels, typed):
    names = [label[::-1] for label in labels]
    search = LocationSearch.build(Universe(labels, names=names))
    found = search.find(typed, 100)
    wanted = folded(typed).strip()
    holding = {
        i
        for i, (label, name) in enumerate(zip(labels, names, strict=True))
        if wanted in folded(label) or wanted in folded(name)
    }
    assert set(found) == holding
    assert len(found) == len(holding)
    assert search.find(typed, 2) == found[:2]


def test_a_search_ranks_and_ignores_case_and_accents():
    universe = Universe(
        ["x9", "10", "1", "101", "z"], names=["Gare 1", "Crémazie", "Parc", "10 Bis", "Le Crémazie"]
    )
    search = LocationSearch.build(universe)
    assert search.find("1", 9) == [2, 1, 3, 0]
    assert search.find("CREMAZIE", 9) == [1, 4]
    assert search.find("nowhere", 9) == []
    assert search.find("", 3) == [0, 1, 2]


def test_tables_are_mined_once_and_then_filtered():
    release = releases.week(riders=200, stops=5)
    tables = PatternTables(4)
    nothing = {"contains": None, "contiguous": False, "different": True}
    assert tables.find(1, min_length=1, max_length=1, **nothing) is None
    for table in mine(release):
        assert Mined.from_line(table.to_line()) == table
        if table.length <= 4:
            tables.add(table)
    assert tables.progress == 1
    for least, most, contiguous, different in product((1, 2), (2, 4), *[(False, True)] * 2):
        wanted = {"contiguous": contiguous, "different": different}
        found = tables.find(30, min_length=least, max_length=most, contains=None, **wanted)
        expected = top_patterns(release, 30, min_length=least, max_length=most, **wanted)
        labels = release.universe.labels
        assert [(tuple(labels[c] for c in codes), n) for codes, n in found.patterns] == [
            (p.locations, p.support) for p in expected
        ]


def test_a_filtered_table_says_from_where_it_is_complete():
    tables = PatternTables(1)
    tables.add(Mined(1, False, True, tuple(((code,), 1000 - code) for code in range(PER_TABLE))))
    floor = 1000 - PER_TABLE + 1

    def find(k, contains):
        wanted = {"contains": contains, "contiguous": False, "different": True}
        return tables.find(k, min_length=1, max_length=1, **wanted)

    assert find(5, None).complete_from == 0
    assert find(1, 7).complete_from == 0
    assert find(2, 7).complete_from == floor
    assert find(1, PER_TABLE - 1).complete_from == floor


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    # Enough riders that noise can not leave an empty release.
    return releases.week(riders=2000, stops=4).write(tmp_path_factory.mktemp("mined") / "bundle")


def test_mining_in_another_process_finds_the_same(bundle, monkeypatch):
    release = pv.read_release(bundle)
    monkeypatch.setattr(pattern_tables, "MOST_LENGTH", 2)
    here, beside = PatternTables(2), PatternTables(12)
    MiningBeside(here, release, None).wait()
    monkeypatch.setattr(mining_beside, "MOST_VISITS_IN_A_THREAD", 0)
    mining = MiningBeside(beside, release, bundle)
    mining.wait()
    assert {key: beside._tables[key] for key in here._tables} == here._tables
    assert len(here._tables) == 8
    mining.stop()


def test_of_very_many_visits_only_short_patterns_are_mined(bundle, monkeypatch):
    release = pv.read_release(bundle)
    assert pattern_tables.longest_pattern(release) > pattern_tables.MOST_LENGTH_OF_MANY
    monkeypatch.setattr(pattern_tables, "MANY_VISITS", 10)
    monkeypatch.setattr(pattern_tables, "MOST_LENGTH_OF_MANY", 2)
    tables = PatternTables(pattern_tables.longest_pattern(release))
    MiningBeside(tables, release, None).wait()
    assert tables.longest == 2
    assert tables.progress == 1


def test_mining_that_fails_says_so(tmp_path, monkeypatch, bundle):
    monkeypatch.setattr(mining_beside, "MOST_VISITS_IN_A_THREAD", 0)
    tables = PatternTables(4)
    MiningBeside(tables, pv.read_release(bundle), tmp_path / "nowhere").wait()
    assert tables.has_failed


def test_mining_can_be_stopped(bundle, monkeypatch):
    monkeypatch.setattr(mining_beside, "MOST_VISITS_IN_A_THREAD", 0)
    tables = PatternTables(4)
    mining = MiningBeside(tables, pv.read_release(bundle), bundle)
    mining.stop()
    assert not tables.has_failed
    assert mining._process.returncode is not None
