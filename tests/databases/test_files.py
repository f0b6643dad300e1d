"""DuckDB and SQLite files: how they are recognised, and what each does in its own way."""

import shutil
import sqlite3
from contextlib import closing

import duckdb
import pyarrow as pa
import pytest
from tests.commands import tree_of_files
from tests.databases.test_every_database import counts, read, refused, revealed
from tests.databases.visits import as_csv, as_duckdb, as_sqlite

from pathveil.raw.sources.databases import duckdb_file

FILL = {"duckdb": as_duckdb, "sqlite": as_sqlite}


@pytest.mark.parametrize("kind", FILL)
def test_a_file_is_known_by_its_prefix_its_ending_and_its_first_bytes(kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    FILL[kind](tmp_path / "visits")
    shutil.copy("visits", "week.db")
    for source in ("visits", tmp_path / "visits", f"{kind}:visits", "week.db", f"{kind}:week.db"):
        assert counts(read(source, table="visits")[1]) == (274, 2, 1)
    other = {"duckdb": "sqlite", "sqlite": "duckdb"}[kind]
    assert "Can't" in refused(f"{other}:visits", table="visits")


@pytest.mark.parametrize("name", ["x.duckdb", "x.sqlite", "x.db", "duckdb:x", "sqlite:x"])
def test_files_that_are_no_databases(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "No such file" in refused(name, table="visits")
    as_csv(tmp_path / name.rpartition(":")[2])
    assert "is not a" in refused(name, table="visits")
    (tmp_path / name.rpartition(":")[2]).unlink()
    (tmp_path / name.rpartition(":")[2]).mkdir()
    message = refused(name, table="visits")
    assert "is a folder" in message or "Is a directory" in message


@pytest.mark.parametrize("kind", FILL)
def test_a_damaged_file_is_not_quoted(kind, tmp_path):
    path = tmp_path / "visits"
    FILL[kind](path)
    content = bytearray(path.read_bytes())
    for size in (100, 5000):
        path.write_bytes(content[:size])
        assert "Can't" in refused(path, table="visits")


# DuckDB


def test_duckdb_types(tmp_path):
    with duckdb.connect(str(tmp_path / "v.duckdb")) as connection:
        connection.execute("CREATE TYPE place AS ENUM ('S1', 'S2', 'S3')")
        connection.execute(
            "CREATE TABLE v AS SELECT uuid() AS who, i AS n, i::HUGEINT AS huge, "
            "i::DECIMAL(9, 2) AS tenth, TIMESTAMP '2024-01-01' + INTERVAL (i) HOUR AS moment, "
            "TIMESTAMPTZ '2024-01-01 00:00+02' + INTERVAL (i) HOUR AS zoned, 'me' AS me, "
            "(CASE i WHEN 2 THEN 'S3' WHEN 1 THEN 'S2' ELSE 'S1' END)::place AS stop "
            "FROM range(2, -1, -1) AS r(i)"
        )
    source = tmp_path / "v.duckdb"
    for order in ("n", "huge", "tenth", "moment", "zoned"):
        assert read(source, table="v", unit="me", order=order)[0] == [("S1", "S2", "S3")]
    assert read(source, table="v", unit="who", order="n")[0] == [("S1",), ("S2",), ("S3",)]
    lists = "SELECT 'me' AS card, 1 AS seq, ['S1', 'S2'] AS stop"
    assert "one row per visit" in refused(source, query=lists, order=None)


def test_duckdb_reads_no_other_file_and_no_python_variable(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    as_duckdb(tmp_path / "v.duckdb")
    as_csv(tmp_path / "visits.csv")
    in_python = pa.table({"card": ["me"], "seq": [1], "stop": ["S1"]})
    assert in_python.num_rows == 1
    for query in (
        "SELECT * FROM 'visits.csv'",
        "SELECT * FROM read_csv('visits.csv')",
        "SELECT * FROM in_python",
    ):
        assert "Can't read from" in refused("v.duckdb", query=query)


def test_duckdb_does_not_spill_to_disk(tmp_path, monkeypatch):
    """A sort that does not fit into memory fails instead."""
    with duckdb.connect(str(tmp_path / "v.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE v AS SELECT hash(i)::TEXT || repeat('x', 60) AS card, i AS seq, "
            "'S1' AS stop FROM range(2_000_000) AS r(i)"
        )
    opening = duckdb_file._OPENING | {"memory_limit": "60MB", "threads": "1"}
    monkeypatch.setattr(duckdb_file, "_OPENING", opening)
    monkeypatch.chdir(tmp_path)
    before = tree_of_files(tmp_path)
    query = "SELECT * FROM v ORDER BY card LIMIT 1_900_000"
    assert "more memory" in refused("v.duckdb", query=query)
    assert tree_of_files(tmp_path) == before
    # It can fail: with a folder for it, the same query spills and succeeds.
    monkeypatch.setattr(duckdb_file, "_OPENING", opening | {"temp_directory": "spilled"})
    assert read("v.duckdb", query=query)[1].rows == 1_900_000


# SQLite


def test_sqlite_values_are_what_their_text_says(tmp_path):
    path = tmp_path / "v.sqlite"
    rows = [
        (7, 3, "S3"),
        ("7", "2.5", "S2"),
        (7.0, 1.0, b"S1"),
        (b"7", "1", "S2"),  # a tie: the place in the universe decides
        (1e-7, 1, "S1"),
        ("1e-7", 2, "S2"),
        (1.5, 1, "S1"),
        ("1.5", 2, "S2"),
        (2**60, 1, "S1"),
        (str(2**60), 2, "S1"),
        (float("inf"), 1, "S1"),
        (None, 1, "S1"),
        ("", 1, "S1"),
        (b"\xff", 1, "S1"),
        ("u", "soon", "S1"),
    ]
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE v (card, seq, stop)")
        connection.executemany("INSERT INTO v VALUES (?, ?, ?)", rows)
        connection.execute("INSERT INTO v VALUES (CAST(x'ff61' AS TEXT), 1, 'S1')")
    found, report = read(path, table="v")
    assert found == [("S1", "S1"), ("S1", "S2"), ("S1", "S2"), ("S1", "S2", "S2", "S3")]
    assert report.malformed_rows == 6


def test_sqlite_with_a_write_ahead_log_leaves_no_row_behind(tmp_path):
    as_sqlite(tmp_path / "v.sqlite")
    with closing(sqlite3.connect(tmp_path / "v.sqlite")) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    whole = (tmp_path / "v.sqlite").read_bytes()
    assert counts(read(tmp_path / "v.sqlite", table="visits")[1]) == (274, 2, 1)
    for path in tmp_path.iterdir():
        if path.name != "v.sqlite":
            assert revealed(path.read_bytes()) == []
    assert (tmp_path / "v.sqlite").read_bytes() == whole


def test_sqlite_that_somebody_writes_to(tmp_path, monkeypatch):
    from pathveil.raw.sources.databases import sqlite_file

    monkeypatch.setattr(sqlite_file, "_BUSY_SECONDS", 0.1)
    as_sqlite(tmp_path / "v.sqlite")
    with closing(sqlite3.connect(tmp_path / "v.sqlite")) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        assert "another process" in refused(tmp_path / "v.sqlite", table="visits")
    assert counts(read(tmp_path / "v.sqlite", table="visits")[1]) == (274, 2, 1)


def test_a_path_with_marks_of_an_address(tmp_path):
    path = tmp_path / "a?mode=rw#b%20.sqlite"
    as_sqlite(path)
    assert counts(read(path, table="visits")[1]) == (274, 2, 1)
