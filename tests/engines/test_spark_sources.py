"""What Spark's readers read otherwise, or not at all: one worker reads it as the other engines do.

On the cluster of two workers, through `publish`, from files on disk.
"""

import gzip
import sqlite3
from contextlib import nullcontext

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from tests.engines.inputs import Input
from tests.engines.test_every_engine import CHOICES, MADE_UP, UNITS, released

from pathveil import publish
from pathveil.errors import InputError, ParameterError
from pathveil.raw.engines import spark_rows, spark_session
from pathveil.universe.universe import Universe

pytestmark = [
    pytest.mark.long,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support:FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # py4j's sockets
]

ROLES = {"unit": "who", "order": "when", "location": "where"}


@pytest.fixture(autouse=True)
def on_cluster(cluster, monkeypatch):
    """A session "of our own" is that of the cluster."""
    monkeypatch.setattr(spark_session, "_session", lambda *_: nullcontext(cluster.session))


def by_spark(source, given, method="full", **more):
    return released(source, given, "spark", method, master="local[2]", **more)


def csv_of(table, path):
    pa.csv.write_csv(table, path)
    return path


@pytest.mark.parametrize("name", ["week", "texts", "days", "points", "times"])
@pytest.mark.parametrize("method", ["full", "calibrated"])
def test_a_csv_file(tmp_path, name, method):
    given = MADE_UP[name]
    path = csv_of(given.table, tmp_path / "rows.csv")
    assert by_spark(path, given, method) == released(path, given, "memory", method)


@pytest.mark.parametrize("choice", ["a universe that is discovered", "zones"])
def test_choices(tmp_path, choice):
    given = MADE_UP["texts"]
    path = csv_of(given.table, tmp_path / "rows.csv")
    expected = released(path, given, "memory", **CHOICES[choice])
    assert by_spark(path, given, **CHOICES[choice]) == expected


def test_a_unit_of_time(tmp_path):
    given = UNITS["a chosen number of a week's days"]
    path = csv_of(given.table, tmp_path / "rows.csv")
    expected = released(path, given, "memory", "calibrated")
    assert by_spark(path, given, "calibrated") == expected


def messy(tmp_path):
    """Semicolons, quotes, a line break in a cell, a damaged line; in Windows' letters, packed."""
    text = 'who;when;where\n1;2;"Müns;ter"\n1;1;"two\nlines"\n2;1;"x""y"\n2;;\n"3;1;x""y"\n'
    path = tmp_path / "rows.csv.gz"
    path.write_bytes(gzip.compress(text.encode("windows-1252") * 1 + b"4;1;two\n" * 40))
    labels = ["Müns;ter", "two\nlines", 'x"y', "two"]
    return path, Input(
        None, Universe(labels[:1] + labels[2:]), {**ROLES, "encoding": "windows-1252"}
    )


def test_text_means_what_it_means_everywhere(tmp_path):
    path, given = messy(tmp_path)
    assert by_spark(path, given) == released(path, given, "memory")


def test_a_file_without_a_known_name(tmp_path):
    given = MADE_UP["week"]
    path = csv_of(given.table, tmp_path / "rows.dat")
    assert by_spark(path, given) == released(path, given, "memory")


def unordered():
    """Nobody's visits are together, and only their order in the file tells what came first."""
    rows = [(person, stop) for stop in "cabbac" for person in range(60)]
    table = pa.table({"who": [row[0] for row in rows], "where": [row[1] for row in rows]})
    return Input(table, Universe("abc"), {"unit": "who", "location": "where"})


def parquet_of(table, path):
    """A folder of two files: visits of everybody are in both."""
    path.mkdir()
    half = len(table) // 2
    pq.write_table(table.slice(0, half), path / "a.parquet")
    pq.write_table(table.slice(half), path / "b.parquet")
    return path


@pytest.mark.parametrize("kind", ["csv", "held", "parquet"])
def test_rows_in_the_order_of_their_source(tmp_path, kind):
    given = unordered()
    write = {"csv": csv_of, "parquet": parquet_of, "held": lambda table, _: table}[kind]
    source = write(given.table, tmp_path / "rows")
    expected = released(given.table, given, "memory")
    assert by_spark(source, given) == expected
    assert len(expected[0]) > 5


def test_rows_that_are_sorted_otherwise_are_noticed(tmp_path, monkeypatch):
    """The comparison above would see if the order of the source were lost."""
    given = unordered()
    path = csv_of(given.table, tmp_path / "rows.csv")
    expected = released(given.table, given, "memory")
    backwards = property(lambda _: ("unit", "visits"))
    monkeypatch.setattr(spark_rows.RunForm, "sort_keys", backwards)
    assert by_spark(path, given) != expected


def test_nobody_elses_rows_change_the_order_of_ones_own(tmp_path):
    """Rows are numbered over everybody's; a trajectory is a function of its unit's own."""
    from pathveil.raw.engines.engine import Engine, table_counter
    from pathveil.raw.reading_plan import Reading

    def visits_of(rows):
        lines = "".join(f"{person},{stop}\n" for person, stop in rows)
        path = tmp_path / "rows.csv"
        path.write_text("who,where\n" + lines, encoding="utf-8")
        reading = Reading(unit="who", location="where")
        with Engine("spark", master="local[2]").open(path, Universe("abc"), None, reading) as found:
            batches = found._kept.where("batch IS NOT NULL").collect()
            rows = [table_counter(found)._view.rows(memoryview(row.batch)) for row in batches]
        return sorted(
            tuple(part.codes[start:stop].tolist())
            for part in rows
            for start, stop in zip(part.offsets[:-1], part.offsets[1:], strict=True)
        )

    one = [("1", stop) for stop in "cab"]
    others = [(f"x{number}", "ab"[number % 2]) for number in range(40)]
    mixed = [*others[:20], one[0], *others[20:33], one[1], one[2], *others[33:]]
    for rows in (one, mixed):
        assert (2, 0, 1) in visits_of(rows)


def test_lists_above_the_bound_in_the_order_of_their_source():
    table = pa.table({"who": [1, 2] * 20, "where": [["b"]] * 20 + [["a", "b"]] * 20})
    given = Input(table, Universe("ab"), {"unit": "who", "location": "where"})
    assert by_spark(table, given) == released(table, given, "memory")


@pytest.mark.parametrize("method", ["full", "calibrated"])
@pytest.mark.parametrize("name", ["week", "days", "lists"])
def test_a_table_that_this_process_holds(name, method):
    given = MADE_UP[name]
    expected = released(given.table, given, "memory", method)
    assert by_spark(given.table, given, method) == expected


def test_a_stream_that_can_be_read_once_and_labels_that_are_discovered():
    given = MADE_UP["texts"]
    choice = CHOICES["a universe that is discovered"]
    expected = released(given.table, given, "memory", **choice)
    stream = pa.RecordBatchReader.from_batches(given.table.schema, given.table.to_batches(50))
    assert by_spark(stream, given, **choice) == expected


def test_a_database(tmp_path):
    given = MADE_UP["week"]
    rows = given.table.select(["who", "when", "where"]).to_pylist()
    with sqlite3.connect(tmp_path / "taps.db") as database:
        database.execute("CREATE TABLE taps (who, 'when', 'where')")
        database.executemany(
            "INSERT INTO taps VALUES (?, ?, ?)", [tuple(row.values()) for row in rows]
        )
    database.close()
    source = f"sqlite:{tmp_path / 'taps.db'}"
    assert by_spark(source, given, table="taps") == released(given.table, given, "memory")
    with pytest.raises(ParameterError, match="query"):
        by_spark(source, given)


def two_versions(place, given):
    import deltalake

    half = given.table.num_rows // 2
    deltalake.write_deltalake(place, given.table.slice(0, half))
    deltalake.write_deltalake(place, given.table.slice(half), mode="append")
    return half


def test_snapshots_of_a_delta_table_without_javas_readers(tmp_path):
    pytest.importorskip("deltalake")
    given = MADE_UP["week"]
    half = two_versions(tmp_path / "taps", given)
    source = f"delta:{tmp_path / 'taps'}"
    old = released(given.table.slice(0, half), given, "memory")
    assert by_spark(source, given, snapshot=0) == old
    assert by_spark(source, given) == released(given.table, given, "memory") != old


def test_the_newest_state_is_that_of_the_beginning(tmp_path, cluster):
    """A worker that reads again, because another was lost, does not read another state."""
    pytest.importorskip("deltalake")
    from pathveil.raw.sources.opening import open_source

    two_versions(tmp_path / "taps", MADE_UP["week"])
    source = f"delta:{tmp_path / 'taps'}"
    rows = spark_rows.AddressRows(cluster.session, open_source(source), source, {})
    assert rows._place.whereabouts["snapshot"] == 1


def test_an_address_means_the_same_in_every_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for given, expected in {
        "taps.csv": f"{tmp_path}/taps.csv",
        "sqlite:taps.db": f"sqlite:{tmp_path}/taps.db",
        "delta:taps": f"delta:{tmp_path}/taps",
        "delta:s3://bucket/taps": "delta:s3://bucket/taps",
        "iceberg:city.taps": "iceberg:city.taps",
        "postgresql://user@host/city": "postgresql://user@host/city",
        "s3://bucket/taps": "s3://bucket/taps",
    }.items():
        assert spark_rows.absolute(given) == expected


def test_what_is_dropped_is_told_as_by_the_others(tmp_path, cluster):
    """Each task once, whatever was tried again: of a table, a file and what is held here."""
    from pathveil.raw.engines.engine import Engine
    from pathveil.raw.reading_plan import Reading

    def told(engine, source, given):
        reports = []
        with Engine(engine, master="local[2]").open(
            source, given.universe, 4, Reading.of(given.reading), reports.append
        ):
            return reports[0]

    for name in ("texts", "days", "times", "trips", "sampled trips"):
        given = MADE_UP[name]
        path = csv_of(given.table, tmp_path / f"{name}.csv")
        parts = cluster.session.createDataFrame(given.table).repartition(3)
        for source in (path, given.table, parts):
            expected = told("memory", given.table if source is parts else source, given)
            assert told("spark", source, given) == expected
        assert expected.rows == given.table.num_rows


def test_a_file_that_workers_do_not_find(tmp_path, monkeypatch):
    given = MADE_UP["week"]
    path = csv_of(given.table, tmp_path / "rows.csv")
    monkeypatch.setattr(spark_rows, "absolute", lambda _: "/nowhere/rows.csv")
    with pytest.raises(InputError, match="can they read the input"):
        by_spark(path, given)


def test_what_is_not_there_is_refused_before_the_charge(tmp_path):
    """As on the other engines: by the header."""
    path = csv_of(MADE_UP["week"].table, tmp_path / "rows.csv")
    choices = {"universe": Universe("ab"), "epsilon": "1", "engine": "spark", "master": "local[2]"}
    with pytest.raises(ParameterError, match="'whom'"):
        publish(path, **choices, **{**ROLES, "unit": "whom"}, ledger=_Untouched())
    pq.write_table(MADE_UP["week"].table, tmp_path / "rows.parquet")
    with pytest.raises(ParameterError, match="encoding"):
        publish(
            tmp_path / "rows.parquet", **choices, **ROLES, encoding="latin-1", ledger=_Untouched()
        )


class _Untouched:
    def budget(self, **asked):
        return asked

    def check_affords(self, *_):
        pass

    def charge(self, *_):
        raise AssertionError("charged")
