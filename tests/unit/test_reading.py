"""Reading raw trajectories from files and tables: the same rows, the same database."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.reading_oracle import trajectories

from pathveil.errors import ParameterError
from pathveil.raw.reading import ReadingReport, read_trajectories
from pathveil.raw.sources.columns import Columns
from pathveil.raw.sources.csv_lines import BLOCK, MAX_LINE
from pathveil.universe.universe import Universe

UNIVERSE = Universe(["a", "b", "c"])
DATA = Path(__file__).parents[3] / "shared" / "data"

ROWS = {
    "card": ["u1", "u2", "u1", "u1", "u2", "u3"],
    "week": [1, 1, 1, 2, 1, 1],
    "seq": [2, 1, 1, 1, 2, 1],
    "stop": ["b", "c", "a", "c", "c", "elsewhere"],
}
ROLES = {"unit": "card", "trajectory": "week", "order": "seq", "location": "stop"}
FIRST_WEEKS = {(0, 1): 1, (2, 2): 1}


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def read(source, **options):
    """The multiset of trajectories and the report."""
    reports = []
    options = {"unit": "card", "location": "stop"} | options
    db = read_trajectories(source, UNIVERSE, report=reports.append, **options)
    (report,) = reports
    return trajectories(db), report


def csv_text(rows=ROWS, **options):
    return pd.DataFrame(rows).to_csv(index=False, **options)


@pytest.fixture(params=["csv", "parquet", "pandas", "polars", "arrow", "batches", "categories"])
def source(request, tmp_path):
    table = pa.table(ROWS)
    if request.param == "csv":
        return write(tmp_path / "taps.csv", csv_text())
    if request.param == "parquet":
        pq.write_table(table, tmp_path / "taps.parquet", row_group_size=2)
        return str(tmp_path / "taps.parquet")
    if request.param == "categories":
        return pl.DataFrame(ROWS).with_columns(pl.col("card", "stop").cast(pl.Categorical))
    return {
        "pandas": pd.DataFrame(ROWS),
        "polars": pl.DataFrame(ROWS),
        "arrow": table,
        "batches": pa.RecordBatchReader.from_batches(table.schema, table.to_batches(2)),
    }[request.param]


def test_every_source_gives_the_same_trajectories(source):
    found, report = read(source, **ROLES)
    assert found == FIRST_WEEKS
    assert report.columns == Columns("card", "week", "seq", "stop")
    assert (report.rows, report.malformed_rows) == (6, 0)
    assert (report.visits_outside_universe, report.trajectories_over_the_cap) == (1, 1)


def test_without_a_trajectory_column_a_unit_has_one_trajectory():
    found, _ = read(pa.table(ROWS), order="seq")
    assert found == {(0, 2, 1): 1, (2, 2): 1}  # the tie at seq 1 is broken by location code


def test_without_an_order_column_rows_keep_their_order():
    found, _ = read(pa.table(ROWS).drop_columns("seq"))
    assert found == {(1, 0, 2): 1, (2, 2): 1}


def test_well_known_names_need_no_naming():
    table = pa.table(
        {"uid": [1, 1], "datetime": ["2024-01-02", "2024-01-01"], "stop_id": ["a", "b"]}
    )
    db = read_trajectories(table, UNIVERSE, unit=None)
    assert trajectories(db) == {(1, 0): 1}


def test_the_report_and_the_database_show_no_numbers():
    db = read_trajectories(pa.table(ROWS), UNIVERSE, report=check_redacted, **ROLES)
    assert "6" not in repr(db)


def check_redacted(report):
    assert isinstance(report, ReadingReport)
    assert repr(report) == str(report) == "ReadingReport(<private>)"


@pytest.mark.parametrize("kind", [pa.list_, pa.large_list, pa.list_view, lambda t: pa.list_(t, 2)])
def test_list_columns_hold_a_trajectory_a_row(kind, tmp_path):
    table = pa.table({
        "card": pa.array(["u1", "u2", "u1", None, "u3"]),
        "stop": pa.array([["b", "a"], ["c", "?"], ["c", "c"], ["a", "a"], None], kind(pa.string())),
    })  # fmt: skip
    found, report = read(table)
    assert found == {(1, 0): 1, (2,): 1}  # the first row of u1
    assert (report.malformed_rows, report.visits_outside_universe) == (2, 1)
    assert read(table, max_trajectories_per_unit=2)[0] == {(1, 0): 1, (2,): 1, (2, 2): 1}
    if not pa.types.is_list_view(table.schema.field("stop").type):
        pq.write_table(table, tmp_path / "lists.parquet")
        assert read(tmp_path / "lists.parquet")[0] == found


def test_list_columns_with_ids_numbers_and_holes():
    table = pa.table({
        "card": ["u1", "u1", "u1"],
        "trip": [10, 9, 9],
        "stop": pa.array([[1], [3, None, 2], [7, 1]], pa.list_(pa.int16())),
    })  # fmt: skip
    reports = []
    db = read_trajectories(
        table, Universe(["1", "2", "3"]), unit="card", trajectory="trip", location="stop",
        report=reports.append,
    )  # fmt: skip
    assert trajectories(db) == {(2, 1, 0): 1}  # both rows of trip 9, one after the other
    assert (reports[0].malformed_rows, reports[0].visits_outside_universe) == (1, 1)


def test_list_columns_of_frames():
    columns = {"card": ["u1", "u2"], "stop": [["b", "a"], []]}
    assert read(pl.DataFrame(columns))[0] == {(1, 0): 1}
    lists = pd.ArrowDtype(pa.list_(pa.string()))
    assert read(pd.DataFrame(columns).astype({"stop": lists}))[0] == {(1, 0): 1}


def test_a_list_has_its_own_order():
    table = pa.table({"card": ["u"], "seq": [1], "stop": [["b", "a"]]})
    assert read(table)[1].columns.order is None  # the well-known name is set aside
    with pytest.raises(ParameterError, match="order of their own"):
        read(table, order="seq")


@pytest.mark.parametrize(
    "column",
    [
        pa.array([7, None, 8], pa.int8()),
        pa.array([7, None, 8], pa.uint64()),
        pa.array(["7", None, "8"], pa.string_view()),
        pa.array([b"7", b"", b"8"]),
        pa.array([7, None, 8]).dictionary_encode(),
        pa.array(["7", None, "8"]).cast(pa.dictionary(pa.uint8(), pa.large_string())),
    ],
    ids=lambda column: str(column.type),
)
def test_numbers_match_labels_by_their_decimal_text(column):
    universe = Universe(["8", "7", "7.0"])
    table = pa.table({"card": ["u", "u", "u"], "stop": column})
    db = read_trajectories(table, universe, unit="card", location="stop")
    assert trajectories(db) == {(1, 0): 1}
    as_units = pa.table({"card": column, "stop": ["7", "7", "8"]})
    db = read_trajectories(as_units, universe, unit="card", location="stop")
    assert trajectories(db) == {(1,): 1, (0,): 1}


def test_dates_can_tell_trajectories_apart():
    days = pa.array([19_000, 18_999, 19_000], pa.date32())
    table = pa.table({"card": ["u", "u", "u"], "day": days, "stop": ["a", "b", "c"]})
    assert read(table, trajectory="day")[0] == {(1,): 1}


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_csv_dialects(delimiter, newline, mark, tmp_path):
    text = csv_text(sep=delimiter, lineterminator=newline)
    assert read(write(tmp_path / "a.txt", mark + text), **ROLES)[0] == FIRST_WEEKS
    assert read(write(tmp_path / "b", mark + text.rstrip()), **ROLES)[0] == FIRST_WEEKS


def test_csv_quotes(tmp_path):
    lines = [
        '"card","the ""stop""",note',
        '"u1","a","x, ""y"""',
        'u1,"b"c,',
        'u"1,b,"',
        '"u""1",c,',
    ]
    universe = Universe(["a", "bc", "b", "c"])
    path = write(tmp_path / "quotes.csv", "\n".join(lines))
    db = read_trajectories(path, universe, unit="card", location='the "stop"')
    # The fourth line leaves a quote open. The fifth is of the unit u"1, like the fourth.
    assert trajectories(db) == {(0, 1): 1, (3,): 1}


MALFORMED = {
    "too few cells": b"u1,1",
    "too many cells": b"u1,1,1,a,a",
    "no unit": b",1,1,a",
    "no trajectory": b"u1,,1,a",
    "no order": b"u1,1,,a",
    "no location": b"u1,1,1,",
    "order is text": b"u1,1,first,a",
    "invalid unit": b"u\xff1,1,1,a",
    "overlong UTF-8 in the trajectory": b"u1,\xc0\xb1,1,a",
    "a surrogate in the location": b"u1,1,1,\xed\xa0\x80",
    "invalid order": b"u1,1,1\xff,a",
    "NUL in the unit": b"u1\0,1,1,a",
    "NUL in the order": b"u1,1,1\0,a",
    "an open quote": b'u1,1,1,"a',
    "an open quote first": b'"u1,1,1,a',
    "a cell of 10 MB": b"u1,1,1," + b"a" * 10_000_000,
    "a unit of 10 MB": b"u" * 10_000_000 + b",1,1,a",
    "a quoted cell of 10 MB": b'u1,1,1,"' + b'a""' * 3_333_333 + b'"',
    "a line just too long": b"u1,1,1," + b"a" * (MAX_LINE - 6),
}


@pytest.mark.parametrize("line", MALFORMED.values(), ids=MALFORMED.keys())
@pytest.mark.parametrize("place", [1, 3, 7])
def test_a_malformed_line_is_dropped_on_its_own(line, place, tmp_path):
    lines = csv_text().encode().splitlines()
    lines.insert(place, line)
    found, report = read(write(tmp_path / "taps.csv", b"\n".join(lines)), **ROLES)
    assert found == FIRST_WEEKS
    assert (report.rows, report.malformed_rows, report.visits_outside_universe) == (7, 1, 1)


def test_empty_lines_are_no_rows(tmp_path):
    text = csv_text().replace("\n", "\n\n\r\n")
    found, report = read(write(tmp_path / "taps.csv", text), **ROLES)
    assert (found, report.rows, report.malformed_rows) == (FIRST_WEEKS, 6, 0)


def test_a_long_line_in_bounds_is_read(tmp_path):
    line = "u1,1,0,c," + "x" * (MAX_LINE - 9)
    text = "card,week,seq,stop,note\n" + "".join(f"u1,1,{i},a,\n" for i in (1, 2)) + line
    assert read(write(tmp_path / "taps.csv", text), **ROLES)[0] == {(2, 0, 0): 1}


def test_blocks_may_end_anywhere(tmp_path, monkeypatch):
    """Pieces are cut by size: where must not matter."""
    from pathveil.raw.sources import arrow_table, csv_lines

    rows = {name: column * 5 for name, column in ROWS.items()}
    text = csv_text(rows, lineterminator="\r\n", quoting=1)
    path = write(tmp_path / "taps.csv", text)
    whole = read(path, max_trajectories_per_unit=2, **ROLES)[0]
    for size in [1, 2, 3, 7, 50, 51, 52, 53]:
        monkeypatch.setattr(csv_lines, "BLOCK", size)
        monkeypatch.setattr(arrow_table, "PIECE_ROWS", size)
        assert read(path, max_trajectories_per_unit=2, **ROLES)[0] == whole
        assert read(pa.table(rows), max_trajectories_per_unit=2, **ROLES)[0] == whole


def test_lists_keep_their_place_across_pieces(monkeypatch):
    from pathveil.raw.sources import arrow_table

    units = [f"u{i % 3}" for i in range(12)]
    stops = [["a", "b", "c"][i // 4 : i // 4 + 1] * (1 + i % 4) for i in range(12)]
    table = pa.table({"card": units, "stop": stops})
    firsts = {(0,): 1, (0, 0): 1, (0, 0, 0): 1}
    for size in (1, 2, 5, 100):
        monkeypatch.setattr(arrow_table, "PIECE_ROWS", size)
        assert read(table)[0] == firsts
        assert read(table, max_trajectories_per_unit=4)[1].trajectories_over_the_cap == 0
        assert read(table, max_trajectories_per_unit=3)[1].trajectories_over_the_cap == 3


def test_rows_of_a_unit_may_be_far_apart(tmp_path):
    """More than one block: the first and the last line belong to one unit."""
    filler = "".join(f"x{i},1,1,b\n" for i in range(2 * BLOCK // 10))
    text = f"card,week,seq,stop\nu1,1,2,a\n{filler}u1,1,1,c\n"
    assert len(text) > 2 * BLOCK
    found, _ = read(write(tmp_path / "taps.csv", text), **ROLES)
    assert found == {(2, 0): 1, (1,): 2 * BLOCK // 10}


def test_header_only_is_an_empty_database(tmp_path):
    for text in ("card,week,seq,stop", "card,week,seq,stop\n", "card,week,seq,stop\r\n\r\n"):
        found, report = read(write(tmp_path / "empty.csv", text), **ROLES)
        assert (found, report.rows) == ({}, 0)
    pq.write_table(pa.table(ROWS).slice(0, 0), tmp_path / "empty.parquet")
    assert read(tmp_path / "empty.parquet", **ROLES)[0] == {}
    assert read(pa.table(ROWS).slice(0, 0), **ROLES)[0] == {}
    assert read(pd.DataFrame(ROWS).iloc[:0], **ROLES)[0] == {}


def test_null_columns_have_no_visits():
    table = pa.table({"card": ["u"], "stop": pa.nulls(1)})
    found, report = read(table)
    assert (found, report.malformed_rows) == ({}, 1)


def test_unused_columns_are_left_alone(tmp_path):
    frame = pd.DataFrame(ROWS | {"mixed": [1, "x", None, [], 2.5, b""]})
    assert read(frame, **ROLES)[0] == FIRST_WEEKS
    latin = b"card,nom,stop\nu1,Ren\xe9,a\nu1,\0,b\n"
    assert read(write(tmp_path / "latin.csv", latin))[0] == {(0, 1): 1}


def test_labels_are_matched_as_bytes():
    universe = Universe(["é", "e\u0301", "=1+1", "<b>", " x"])
    table = pa.table({"card": ["u"] * 6, "stop": ["=1+1", "e\u0301", "é", "x", " x", "<b>"]})
    db = read_trajectories(table, universe, unit="card", location="stop")
    assert trajectories(db) == {(2, 1, 0, 4, 3): 1}


def test_a_large_universe_and_very_many_units_are_coded_exactly():
    size = 50_000
    labels = [f"stop {i:07}" for i in range(size)]  # more than 7 bytes: compared as bytes
    generator = np.random.default_rng(1)  # noqa: TID251  (test data only)
    order = generator.permutation(size)
    table = pa.table({"card": [f"{i}" for i in order], "stop": [labels[i] for i in order]})
    db = read_trajectories(table, Universe(labels), unit="card", location="stop")
    assert trajectories(db) == dict.fromkeys(((i,) for i in range(size)), 1)


def test_importing_is_cheap():
    code = (
        "import sys, pathveil.raw.reading\n"
        "print([name for name in ('numba', 'pyarrow', 'pandas') if name in sys.modules])"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("folder", "expected"), [("nycflights13", 4_043), ("mibici", 7_166), ("msnbc", 989_818)]
)
def test_the_shared_data_reads_without_naming_a_column(folder, expected):
    path = DATA / folder / "trajectories.parquet"
    if not path.exists():
        pytest.skip("the shared data is not here")
    reports = []
    universe = Universe.read(DATA / folder / "universe.csv")
    db = read_trajectories(path, universe, unit=None, report=reports.append)
    assert len(db) == expected
    assert (reports[0].malformed_rows, reports[0].visits_outside_universe) == (0, 0)


def test_no_unit_fills_the_dictionaries_of_others():
    """Two chunks of a dictionary with 8-bit codes may have more values than 8 bits can number."""
    small = pa.dictionary(pa.int8(), pa.string())

    def frame(*chunks):
        columns = {
            name: pa.chunked_array(
                [
                    pa.array([row[i] for row in rows]).dictionary_encode().cast(small)
                    for rows in chunks
                ]
            )
            for i, name in enumerate(["who", "where"])
        }
        return pa.table(columns).to_pandas(types_mapper=pd.ArrowDtype)

    people = [("p", "a"), ("q", "b")]
    junk = [("x", f"junk {i}") for i in range(200)]
    alone, neighbour = (
        trajectories(read_trajectories(some, UNIVERSE, unit="who", location="where"))
        for some in (frame(people, people), frame([*people, *junk[:100]], [*people, *junk[100:]]))
    )
    assert alone == neighbour == {(0, 0): 1, (1, 1): 1}
