"""Contribution bounding: the first c trajectories of each unit, by the unit's own data alone."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reading_oracle import id_key, trajectories

from pathveil.errors import ParameterError
from pathveil.raw.bounding import (
    NO_VISITS,
    Visits,
    bound_contributions,
    join,
    rows_by_code,
)
from pathveil.raw.reading import read_trajectories
from pathveil.raw.sources.text_values import text_buffers
from pathveil.raw.trajectory_ids import rank_trajectory_ids
from pathveil.universe.universe import Universe

UNIVERSE = Universe(["a", "b", "c"])


def read(rows, cap=1):
    """Read (unit, trajectory, seq, location) rows; also the number of trajectories dropped."""
    names = ["user_id", "trajectory_id", "seq", "location"]
    columns = zip(*rows, strict=True)
    table = pa.table(dict(zip(names, map(list, columns), strict=True)))
    dropped = []
    db = read_trajectories(
        table,
        UNIVERSE,
        unit="user_id",
        max_trajectories_per_unit=cap,
        report=lambda report: dropped.append(report.trajectories_over_the_cap),
    )
    return trajectories(db), dropped[0]


ROWS = [
    ("ann", "10", 1, "a"), ("ann", "2", 1, "b"), ("ann", "x", 1, "c"), ("bob", "7", 1, "c"),
    ("ann", "2", 0, "a"), ("bob", "7", 2, "c"), ("ann", "10", 0, "c"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("cap", "kept", "dropped"),
    [
        (1, [(0, 1), (2, 2)], 2),
        (2, [(0, 1), (2, 0), (2, 2)], 1),
        (3, [(0, 1), (2, 0), (2,), (2, 2)], 0),
        (1_000_000, [(0, 1), (2, 0), (2,), (2, 2)], 0),
    ],
)
def test_the_first_c_by_id_are_kept_numbers_by_value_before_text(cap, kept, dropped):
    assert read(ROWS, cap) == (Counter(kept), dropped)


def test_a_trajectory_outside_the_universe_takes_no_place():
    rows = [("ann", "1", 1, "elsewhere"), ("ann", "2", 1, "b")]
    assert read(rows) == (Counter([(1,)]), 0)


def test_c_is_stored_with_the_database_and_checked():
    table = pa.table({"user_id": ["u"], "location": ["a"]})
    db = read_trajectories(table, UNIVERSE, unit="user_id", max_trajectories_per_unit=3)
    assert db.max_trajectories_per_unit == 3
    for bad in (0, -1, 1.5, True, "2", 10**6 + 1):
        with pytest.raises(ParameterError, match="trajectories per unit"):
            read_trajectories(table, UNIVERSE, unit="user_id", max_trajectories_per_unit=bad)


ids = st.one_of(
    st.integers(-20, 20).map(str),
    st.integers().map(str),
    st.text("01-+ax", min_size=1, max_size=4),
    st.text(min_size=1, max_size=3).filter(lambda text: text.isprintable()),
)


@given(st.lists(ids, unique=True, max_size=30))
@settings(max_examples=200, deadline=None)
def test_ids_are_ranked_like_the_rule_says(texts):
    rank = rank_trajectory_ids(text_buffers(pa.array(texts, pa.large_string())))
    assert sorted(range(len(texts)), key=rank.tolist().__getitem__) == sorted(
        range(len(texts)), key=lambda i: id_key(texts[i])
    )
    assert sorted(rank.tolist()) == list(range(len(texts)))


def test_ids_are_ranked_like_the_sql_that_the_docstring_gives():
    import duckdb

    texts = [
        "10",
        "9",
        "-3",
        "007",
        "7",
        "b",
        "a",
        "é",
        "+5",
        "1" * 18,
        "1" * 19,
        "-0",
        "0",
        "",
        "Z",
    ]
    rank = rank_trajectory_ids(text_buffers(pa.array(texts, pa.large_string())))
    ours = [text for _, text in sorted(zip(rank.tolist(), texts, strict=True))]
    ids = duckdb.sql("SELECT unnest($1) AS id", params=[texts])
    ordered = ids.query(
        "ids",
        "SELECT id FROM ids ORDER BY CASE WHEN regexp_matches(id, '^-?[0-9]{1,18}$') "
        "THEN CAST(id AS BIGINT) END NULLS LAST, id",
    )
    assert [text for (text,) in ordered.fetchall()] == ours


@given(
    st.lists(
        st.tuples(
            st.integers(0, 4),  # unit
            st.integers(0, 3),  # trajectory
            st.integers(-2, 2),  # whole
            st.sampled_from([0, 5, 1 << 62, (1 << 62) + 5]),  # rest
            st.integers(0, 2),  # location
        ),
        max_size=80,
    ),
    st.integers(1, 3),
    st.tuples(st.booleans(), st.booleans(), st.booleans()),
)
@settings(max_examples=300, deadline=None)
def test_bounding_is_sorting_and_cutting_per_unit(rows, cap, present):
    has_trajectory, has_order, has_rest = present
    has_rest &= has_order
    columns = list(zip(*rows, strict=True)) if rows else [[]] * 5
    unit, trajectory, integer, rest, location = (
        np.array(column, dtype=kind)
        for column, kind in zip(columns, ["i4", "i4", "i8", "u8", "i4"], strict=True)
    )
    visits = Visits(
        unit=unit,
        trajectory=trajectory if has_trajectory else None,
        integer=integer if has_order else None,
        rest=rest if has_rest else None,
        location=location,
        units=5,
    )
    expected, over = [], 0
    for u in range(5):
        own = {}
        for position, (who, t, w, r, place) in enumerate(rows):
            if who == u:
                order = (r >> 62 if has_rest else 0, w, r if has_rest else 0, place)
                key = (order if has_order else (), position)
                own.setdefault(t if has_trajectory else 0, []).append((key, place))
        expected += [[place for _, place in sorted(own[t])] for t in sorted(own)[:cap]]
        over += max(0, len(own) - cap)
    bounded = bound_contributions(visits, cap)
    starts = bounded.offsets.tolist()
    assert [bounded.codes[start:stop].tolist() for start, stop in pairwise(starts)] == expected
    assert bounded.over_the_cap == over


def test_a_unit_with_very_many_visits_is_sorted_stably():
    generator = np.random.default_rng(5)  # noqa: TID251  (test data only)
    size = 10_000
    integer = generator.integers(0, 50, size)
    location = generator.integers(0, 1000, size).astype(np.int32)
    unit = np.zeros(size, dtype=np.int32)
    by_order = bound_contributions(Visits(unit, None, integer, None, location, 1), 1)
    assert np.array_equal(by_order.codes, location[np.lexsort((location, integer))])
    by_id = bound_contributions(Visits(unit, integer.astype(np.int32), None, None, location, 1), 50)
    assert np.array_equal(by_id.codes, location[np.argsort(integer, kind="stable")])


def test_nothing_and_joining():
    nothing = bound_contributions(NO_VISITS, 1)
    assert nothing.offsets.tolist() == [0]
    visits = Visits(np.zeros(2, np.int32), None, None, None, np.array([2, 1], np.int32), 1)
    some = bound_contributions(visits, 1)
    assert join([nothing, some, nothing, some]).offsets.tolist() == [0, 2, 4]
    assert join([nothing, some, nothing, some]).codes.tolist() == [2, 1, 2, 1]
    assert join([]).offsets.tolist() == [0]


@given(st.lists(st.integers(0, 6), max_size=60))
@settings(max_examples=50, deadline=None)
def test_counting_sort_is_a_stable_sort(codes):
    starts, rows = rows_by_code(np.array(codes, dtype=np.int32), 7)
    assert rows.tolist() == sorted(range(len(codes)), key=codes.__getitem__)
    assert np.diff(starts).tolist() == [codes.count(code) for code in range(7)]


visits = st.lists(
    st.tuples(
        st.sampled_from(["ann", "bob", "cyd"]),
        st.sampled_from(["1", "2", "10", "x"]),
        st.integers(0, 3),
        st.sampled_from(["a", "b", "c", "elsewhere"]),
    ),
    min_size=1,
    max_size=25,
)


@given(visits, st.integers(1, 3))
@settings(max_examples=100, deadline=None)
def test_removing_a_unit_removes_its_trajectories_at_most_c_and_changes_no_other(rows, cap):
    """The sensitivity argument of `raw.bounding`, as a property."""
    everybody, _ = read(rows, cap)
    for unit in {row[0] for row in rows}:
        others = [row for row in rows if row[0] != unit]
        without = read(others, cap)[0] if others else Counter()
        removed = everybody - without
        assert not without - everybody
        assert removed.total() <= cap
        assert removed == read([row for row in rows if row[0] == unit], cap)[0]
