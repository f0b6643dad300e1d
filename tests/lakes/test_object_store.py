"""Parquet files, Delta and Iceberg tables in an object store: a real S3 server on loopback."""

import pyarrow.parquet as pq
import pytest
from tests.databases.visits import ROWS, UNIT
from tests.lakes import tables
from tests.lakes.store import SECRET, running_store
from tests.lakes.tables import HALF, STATES, as_table
from tests.lakes.test_tables import (
    charged,
    publish,
    read,
    refused,
    released,
    released_by_spark,
)


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    with running_store(tmp_path_factory.mktemp("store")) as store:
        for day, rows in (("2026-03-02", ROWS[:HALF]), ("2026-03-03", ROWS[HALF:])):
            path = f"city/taps/day={day}/part.parquet"
            pq.write_table(as_table(rows), path, filesystem=store.files)
        for path in ("city/taps/_temporary/half.parquet", "city/taps/notes.txt"):
            with store.files.open_output_stream(path) as stream:
                stream.write(b"zq7")
        yield store


@pytest.fixture
def store(server, monkeypatch):
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)
    return server


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(
    "address", ["s3://city/taps", "s3://city/taps/", "s3://city/taps/day=*/*.parquet"]
)
def test_a_folder_or_a_pattern_is_read_as_its_rows_are(address):
    assert read(address) == read(as_table(ROWS))


@pytest.mark.usefixtures("store")
def test_a_part_of_it():
    first = "s3://city/taps/day=2026-03-02"
    expected = read(as_table(ROWS[:HALF]))
    assert read(f"{first}/part.parquet") == read(f"{first}") == expected
    assert read("s3://city/taps/day=2026-03-0[2]/*") == expected


@pytest.mark.usefixtures("store")
def test_a_folders_name_is_a_column():
    days = read("s3://city/taps", order=None, unit="day", trajectory="card")
    assert len(days[0]) == 2


@pytest.mark.usefixtures("store")
def test_every_engine_releases_the_same():
    expected = released(as_table(ROWS), "memory")
    for engine in ("auto", "duckdb"):
        assert released("s3://city/taps", engine) == expected


@pytest.mark.long
@pytest.mark.usefixtures("store")
def test_spark_without_a_reader_for_stores_releases_the_same():
    """One worker reads them, through Arrow's file systems."""
    assert released_by_spark("s3://city/taps") == released(as_table(ROWS), "memory")


@pytest.mark.usefixtures("store")
def test_a_delta_table_in_a_store():
    import deltalake

    place = "s3://city/delta"
    deltalake.write_deltalake(place, as_table(STATES[0]))
    deltalake.write_deltalake(place, as_table(ROWS[HALF:]), mode="append")
    assert read(f"delta:{place}") == read(as_table(ROWS))
    assert read(f"delta:{place}", snapshot=0) == read(as_table(STATES[0]))


@pytest.mark.long
def test_an_iceberg_table_in_a_store(store, tmp_path):
    from pyiceberg.catalog.sql import SqlCatalog

    place = {"uri": f"sqlite:///{tmp_path}/catalog.db", "warehouse": "s3://city/warehouse"}
    where = {"s3.endpoint": store.endpoint, "s3.region": "us-east-1"}
    catalog = SqlCatalog("default", **place, **where)
    catalog.create_namespace("of")
    table = catalog.create_table("of.taps", schema=tables.SCHEMA)
    table.append(as_table(ROWS))
    source = f"iceberg:{table.metadata_location}"
    catalog.close()
    assert source.startswith("iceberg:s3://city/warehouse")
    assert read(source) == read(as_table(ROWS))


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("s3://city/nothing", "Can't read from the object store"),
        ("s3://no-such-bucket/taps", "Can't read from the object store"),
        ("s3://city/taps/day=*/*.pq", "There is no Parquet file"),
        ("s3://city/taps/notes.txt", "reads Parquet files"),
        ("s3://", "An address in an object store is"),
        ("gs://city/taps", "does not read addresses of that kind"),
    ],
)
def test_what_is_not_there(address, message):
    assert message in refused(address)


@pytest.mark.usefixtures("store", "stops")
def test_a_wrong_key_is_refused_before_the_charge_and_not_quoted(monkeypatch, pathveil):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "zq7wrongsecret")
    message, spent = charged(pathveil, "s3://city/taps")
    assert "does not accept the keys" in message
    assert spent == "0"
    assert [text for text in ("zq7", SECRET, UNIT, "127.0.0.1") if text in message] == []


@pytest.mark.usefixtures("stops")
def test_the_command_line_reads_a_store(store, pathveil):
    result = pathveil(*publish("s3://city/taps", "--out", "out"))
    assert result.code == 0, result
    assert SECRET not in result.out + result.err
    assert store.endpoint not in result.out + result.err
    query = publish("s3://city/taps", "--out", "more", "--table", "x")
    assert "for databases only" in pathveil(*query).err
