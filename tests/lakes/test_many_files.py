"""Folders of very many small Parquet files, partitioned as Hive does: they are one table."""

import traceback
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.databases.visits import COLUMNS, ROWS, UNIT
from tests.lakes.tables import as_table
from tests.lakes.test_tables import read, refused, released

import pathveil as pv
from pathveil.raw.sources.columns import Columns
from pathveil.raw.sources.opening import open_source

PLAIN = Columns(unit="card", trajectory=None, order="seq", location="stop")


def written(folder, rows, size=3, change=lambda table, _number: table):
    """A file for every few rows, in folders of ten."""
    for number, start in enumerate(range(0, len(rows), size)):
        below = folder / f"part={number // 10}"
        below.mkdir(parents=True, exist_ok=True)
        table = change(as_table(rows[start : start + size]), number)
        pq.write_table(table, below / f"{number:06d}.parquet")
    return str(folder)


def test_many_small_files_are_read_together(tmp_path):
    folder = written(tmp_path / "taps", ROWS)
    assert read(folder) == read(as_table(ROWS))
    assert released(folder, "duckdb") == released(as_table(ROWS), "memory")
    assert len(list(open_source(folder).pieces(PLAIN))) == 1


def test_without_an_order_column_the_order_of_the_paths_decides(tmp_path):
    rows = sorted((row for row in ROWS if None not in row), key=lambda row: (row[1], row[0]))
    folder = written(tmp_path / "taps", rows)
    named = {"order": None, "trajectory": "part"}  # else the column seq would be recognised
    backwards = as_table(rows).append_column(
        "part", pa.array([str(i // 30) for i in range(len(rows))])
    )
    backwards = backwards.drop_columns("seq")
    for file in Path(folder).rglob("*.parquet"):
        pq.write_table(pq.read_table(file, partitioning=None).drop_columns("seq"), file)
    assert read(folder, **named) == read(backwards, **named)


def test_types_may_differ_from_file_to_file(tmp_path):
    """Not from row to row: each file says its own. Neighbours of one type are read together."""

    def change(table, number):
        if number // 10 % 2:
            table = table.set_column(1, "seq", table["seq"].cast(pa.int16()))
        if number // 20 % 2:
            table = table.set_column(2, "stop", table["stop"].dictionary_encode())
        return table

    folder = written(tmp_path / "taps", ROWS, change=change)
    assert read(folder) == read(as_table(ROWS))
    assert 4 <= len(list(open_source(folder).pieces(PLAIN))) <= 10


def test_the_dictionaries_of_many_files_do_not_fill_each_other(tmp_path):
    """Each has as many values as codes of one byte can number; together they have more."""
    coded = pa.dictionary(pa.int8(), pa.string())
    for file in range(8):
        cards = [f"{file}-{n}" for n in range(120)]
        table = pa.table(
            {
                "card": pa.array(cards).dictionary_encode().cast(coded),
                "seq": pa.array([1] * 120),
                "stop": pa.array(["S1"] * 120),
            }
        )
        pq.write_table(table, tmp_path / f"{file}.parquet")
    assert read(str(tmp_path)) == ([("S1",)] * 960, 960)


def test_lists_in_many_files(tmp_path):
    for file in range(5):
        lists = pa.array([["S1", "S2"], None, [], ["S3", None]], pa.list_(pa.string()))
        who = pa.array([f"{file}{n}" for n in range(4)])
        pq.write_table(pa.table({"card": who, "stop": lists}), tmp_path / f"{file}.parquet")
    found = read(str(tmp_path), order=None)
    assert found[0] == sorted([("S1", "S2"), ("S3",)] * 5)
    assert found[1] == 20


def test_files_without_rows_and_folders_with_a_files_name(tmp_path):
    folder = tmp_path / "taps"
    written(folder / "day1.parquet", ROWS[:100])
    written(folder / "day2.parquet", ROWS[100:])
    for part in ("day1.parquet", "day2.parquet"):
        pq.write_table(as_table(ROWS).slice(0, 0), folder / part / "part=0" / "nobody.parquet")
    assert read(str(folder)) == read(as_table(ROWS))


def test_a_damaged_file_in_a_persons_folder_is_not_named(tmp_path):
    """The folder of a partition is a value of the rows below it."""
    for row in [*ROWS[:5], (UNIT, 1, "S2")]:
        below = tmp_path / "taps" / f"card={quote(row[0])}"
        below.mkdir(parents=True, exist_ok=True)
        pq.write_table(as_table([row]).drop_columns("card"), below / "part.parquet")
    assert read(str(tmp_path / "taps"))[1] == 6
    damaged = tmp_path / "taps" / f"card={UNIT}" / "part.parquet"
    whole = damaged.read_bytes()
    for content in (b"zq", whole[:-20], b"PAR1" + b"\xff" * (len(whole) - 204) + whole[-200:]):
        damaged.write_bytes(content)
        message = refused(str(tmp_path / "taps"))
        assert "A file of" in message or "can't be read" in message
    damaged.unlink()
    damaged.mkdir()
    assert read(str(tmp_path / "taps"))[1] == 5


def test_files_that_differ_in_their_columns_are_not_named(tmp_path):
    for name, table in (
        (UNIT, as_table(ROWS[:3])),
        ("c1", as_table(ROWS[:3]).drop_columns("seq")),
    ):
        (tmp_path / f"who={name}").mkdir()
        pq.write_table(table, tmp_path / f"who={name}" / "part.parquet")
    with pytest.raises(pv.errors.InputError, match="do not all have the same columns") as caught:
        read(str(tmp_path))
    assert UNIT not in "".join(traceback.format_exception(caught.value))


@pytest.mark.long
def test_twenty_thousand_files(tmp_path):
    rows = [(f"c{n % 9000}", n, f"S{1 + n % 3}") for n in range(60_000)]
    folder = written(tmp_path / "taps", rows)
    expected = read(as_table(rows))
    assert read(folder) == expected
    assert released(folder, "duckdb", **COLUMNS) == released(as_table(rows), "memory")
