"""Every source and every form against the oracle of `tests.reading_oracle`."""

import csv
import io
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests import reading_oracle as oracle

from pathveil.raw.reading import read_trajectories
from pathveil.raw.sources.csv_lines import line_blocks, split_fields
from pathveil.universe.universe import Universe

LABELS = ["b", "a", "é", "10", "a long label, quoted"]
UNIVERSE = Universe(LABELS)
NAMES = ["who", "trip", "when", "where"]
ROLES = dict(zip(["unit", "trajectory", "order", "location"], NAMES, strict=True))


def often(*common, rarely):
    """Few values most of the time, so that units, trajectories and ties come together."""
    weight = 1 + 4 * (len(rarely) + 1) // len(common)
    return st.sampled_from([*common * weight, *rarely, None])


units = often(
    "u",
    "v",
    rarely=["", 'w"', "x,y", "ü", "0", "00", "a\0b", " u", "v\u00a0", "-0.0", "\uff10", " "],
)
ids = often("1", "2", rarely=["", "01", "10", "-3", "t", "T", "1" * 19])
places = often(*LABELS, rarely=["", "A", "elsewhere"])
orders = often(
    "1", "2", "10", "1.5",
    rarely=["", "1e1", "x", "2024-01-01", "2023-12-31T23:00-02:00", " 3", "-2", "nan", "1,5"],
)  # fmt: skip
rows_of_text = st.lists(st.tuples(units, ids, orders, places), max_size=25)
caps = st.integers(1, 3)


def table_of(rows):
    columns = list(zip(*rows, strict=True)) if rows else [[]] * 4
    return pa.table(
        {name: pa.array(column, pa.string()) for name, column in zip(NAMES, columns, strict=True)}
    )


def csv_of(rows, **dialect):
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n", **dialect)
    writer.writerows([NAMES, *[["" if cell is None else cell for cell in row] for row in rows]])
    return text.getvalue().encode()


@pytest.fixture(scope="module")
def folder():
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def sources(rows, folder):
    """The rows as every kind of source."""
    table = table_of(rows)
    pq.write_table(table, folder / "rows.parquet", row_group_size=7)
    pq.write_table(table, folder / "plain.parquet", use_dictionary=False)
    (folder / "rows.csv").write_bytes(csv_of(rows))
    (folder / "quoted.csv").write_bytes(csv_of(rows, quoting=csv.QUOTE_ALL, delimiter=";"))
    frame = pl.from_arrow(table)
    return {
        "parquet": folder / "rows.parquet",
        "plain parquet": folder / "plain.parquet",
        "csv": folder / "rows.csv",
        "quoted csv": folder / "quoted.csv",
        "arrow": table,
        "dictionaries": pa.table(
            {name: table[name].dictionary_encode() for name in NAMES if rows} or table
        ),
        "polars": frame,
        "polars categories": frame.with_columns(pl.all().cast(pl.Categorical)),
        "pandas": table.to_pandas(),
        "pandas categories": table.to_pandas().astype("category"),
    }


@given(rows_of_text, caps)
@settings(max_examples=60, deadline=None)
@example([("u", "1", "1", "a")] * 3 + [("v", "2", "2", "b")], 1)
def test_every_source_reads_like_the_oracle(folder, rows, cap):
    expected = oracle.read(rows, LABELS, cap)
    first = None
    for kind, source in sources(rows, folder).items():
        db = read_trajectories(source, UNIVERSE, max_trajectories_per_unit=cap, **ROLES)
        assert oracle.trajectories(db) == expected, kind
        arrays = (db.offsets.tolist(), db.codes.tolist())
        first = first or arrays
        assert arrays == first, kind


@given(rows_of_text, caps, st.booleans(), st.booleans())
@settings(max_examples=60, deadline=None)
def test_optional_columns(rows, cap, has_trajectory, has_order):
    roles = {"unit": "who", "location": "where"}
    roles |= {"trajectory": "trip"} if has_trajectory else {}
    roles |= {"order": "when"} if has_order else {}
    db = read_trajectories(table_of(rows), UNIVERSE, max_trajectories_per_unit=cap, **roles)
    seen = [
        (unit, trip if has_trajectory else "one", when, where) for unit, trip, when, where in rows
    ]
    assert oracle.trajectories(db) == oracle.read(seen, LABELS, cap, has_order=has_order)


native_orders = st.one_of(
    st.lists(st.none() | st.integers(-(2**63) + 1, 2**63 - 1), min_size=1, max_size=20),
    st.lists(st.none() | st.integers(-3, 3), min_size=1, max_size=20),
    st.lists(st.none() | st.datetimes(), min_size=1, max_size=20),
    st.lists(st.none() | st.floats(-3, 3), min_size=1, max_size=20),
)


@given(native_orders, st.data())
@settings(max_examples=100, deadline=None)
def test_natively_typed_columns_read_like_text(orders, data):
    size = len(orders)
    unit = data.draw(st.lists(st.none() | st.integers(0, 2), min_size=size, max_size=size))
    where = data.draw(st.lists(st.sampled_from([7, 8, 9]), min_size=size, max_size=size))
    typed = pa.table({"who": pa.array(unit, pa.int16()), "when": orders, "where": where})
    text = pa.table({
        "who": [None if value is None else str(value) for value in unit],
        "when": pa.array([None if value is None else str(value) for value in orders], pa.string()),
        "where": [str(value) for value in where],
    })  # fmt: skip
    universe = Universe(["9", "8"])
    first, second = (
        read_trajectories(table, universe, unit="who", order="when", location="where")
        for table in (typed, text)
    )
    assert np.array_equal(first.offsets, second.offsets)
    assert np.array_equal(first.codes, second.codes)


lists = st.lists(st.tuples(units, ids, st.none() | st.lists(places, max_size=4)), max_size=15)


@given(lists, caps, st.booleans())
@settings(max_examples=100, deadline=None)
def test_list_form_is_long_form_in_the_order_of_the_lists(folder, rows, cap, has_ids):
    table = pa.table({
        "who": pa.array([row[0] for row in rows], pa.string()),
        "trip": pa.array([row[1] for row in rows], pa.string()),
        "where": pa.array([row[2] for row in rows], pa.list_(pa.string())),
    })  # fmt: skip
    roles = {"unit": "who", "location": "where"} | ({"trajectory": "trip"} if has_ids else {})
    flat = [
        (unit, trip if has_ids else f"{number}", None, place)
        for number, (unit, trip, places) in enumerate(rows)
        for place in places or []
    ]
    expected = oracle.read(flat, LABELS, cap, has_order=False)
    pq.write_table(table, folder / "lists.parquet")
    for source in (table, folder / "lists.parquet", pl.from_arrow(table)):
        db = read_trajectories(source, UNIVERSE, max_trajectories_per_unit=cap, **roles)
        assert oracle.trajectories(db) == expected


csv_lines = st.lists(
    st.one_of(
        st.binary(max_size=20).map(lambda line: line.translate(None, b"\r\n")),
        st.text('",ab1 é\0', max_size=12).map(str.encode),
        st.sampled_from([b"u,1,1,a", b'"u",1,2,"b"', b'v,1,1,"a', b'"v",1,"1"x,b', b"u,1,1,a,"]),
    ),
    max_size=12,
)  # fmt: skip


@given(csv_lines, st.sampled_from([b"\n", b"\r\n", b"\r"]))
@settings(max_examples=300, deadline=None)
@example([b'"u""",1,1,a', b'u"",1,1,a', b'"u"",1,1,a', b'"u""",1,1,a'], b"\n")
def test_a_line_is_read_as_if_it_were_alone(folder, lines, newline):
    """Arbitrary bytes, against Python's csv module on one line at a time."""
    rows, malformed = [], 0
    for line in lines:
        cells = oracle.cells_of_line(line) if line else []
        if cells is not None and len(cells) == 4:
            rows.append(tuple(map(oracle.text_of_cell, cells)))
        else:
            malformed += bool(line)
    path = folder / "lines.csv"
    path.write_bytes(newline.join([b"who,trip,when,where", *lines]))
    reports = []
    db = read_trajectories(path, UNIVERSE, report=reports.append, **ROLES)
    assert oracle.trajectories(db) == oracle.read(rows, LABELS)
    unreadable = [row for row in rows if oracle.read([row], [row[3]]).total() == 0]
    assert reports[0].malformed_rows == malformed + len(unreadable)


@given(st.binary(max_size=200), st.integers(1, 20))
@settings(max_examples=200, deadline=None)
def test_blocks_are_the_file_cut_at_line_ends(content, size):
    from pathveil.raw.sources import csv_lines as module

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BLOCK", size)
        blocks = list(line_blocks(io.BytesIO(content)))
    assert b"".join(block for block, _ in blocks) == content
    assert all(block[-1:] in b"\r\n" for block, _ in blocks[:-1])
    split = [cell for block, _ in blocks for cell in cells(block)]
    assert split == cells(content)


def cells(block):
    """The cells of the lines that have two."""
    (first, second), _ = split_fields(block, ",", 2, [0, 1])
    return [
        bytes(texts.data[texts.starts[i] : texts.stops[i]])
        for i in range(len(first))
        for texts in (first, second)
    ]


@given(rows_of_text, rows_of_text)
@settings(max_examples=60, deadline=None)
def test_other_units_rows_change_nothing(rows, others):
    """A unit's trajectories are a function of its own rows, wherever the others' rows stand."""
    mine = [("me", *row[1:]) for row in rows]
    theirs = [row for row in others if row[0] != "me"]
    mixed = [row for pair in zip(theirs, mine, strict=False) for row in pair]
    mixed += theirs[len(mine) :] + mine[len(theirs) :]
    everybody, alone, without = (
        oracle.trajectories(read_trajectories(table_of(some), UNIVERSE, **ROLES))
        for some in (mixed, mine, theirs)
    )
    assert everybody == alone + without


def test_pandas_and_categories_agree_on_missing_values():
    frame = pd.DataFrame({"who": ["u", None, "u"], "when": [1] * 3, "where": ["a", "b", None]})
    for some in (frame, frame.astype("category"), frame.astype("string"), frame.astype(object)):
        db = read_trajectories(some, UNIVERSE, unit="who", order="when", location="where")
        assert oracle.trajectories(db) == {(1,): 1}
