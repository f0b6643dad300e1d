"""What only a server can do: refuse a password, stop a query, die in the middle."""

import os
import signal
import subprocess
import sys
import threading
import time
import uuid

import pytest
from tests.databases.test_every_database import publish, read, refused, revealed
from tests.databases.visits import UNIVERSE, as_postgresql
from tests.postgresql import CURATOR, PASSWORD

import pathveil as pv
from pathveil.raw.sources.databases.postgresql import Postgresql

BIG = (
    "SELECT (g / 7)::text AS card, g AS seq, 'S' || (1 + g % 3) AS stop, repeat('x', 40) AS more "
    "FROM generate_series(1, {rows}) AS g"
)


@pytest.fixture
def visits(server):
    as_postgresql(server)
    return server


def test_the_password_may_stand_in_the_address(visits, monkeypatch):
    monkeypatch.delenv("PGPASSWORD")
    address = visits.address.replace(f"{CURATOR}@", f"{CURATOR}:{PASSWORD}@")
    assert read(address, table="visits")[1].rows == 274


def test_the_user_and_the_place_may_come_from_the_environment(visits, monkeypatch, tmp_path):
    host = visits.address.split("host=")[1]
    monkeypatch.setenv("PGHOST", host)
    monkeypatch.setenv("PGUSER", CURATOR)
    monkeypatch.setenv("PGDATABASE", "postgres")
    assert read("postgresql://", table="visits")[1].rows == 274
    file = tmp_path / "passwords"
    file.write_text(f"*:*:*:{CURATOR}:{PASSWORD}\n")
    file.chmod(0o600)
    monkeypatch.delenv("PGPASSWORD")
    monkeypatch.setenv("PGPASSFILE", str(file))
    assert read("postgresql:///postgres", table="visits")[1].rows == 274


@pytest.mark.parametrize("given", ["in the environment", "in the address", "not at all"])
def test_a_wrong_password(visits, monkeypatch, given):
    address = visits.address
    monkeypatch.setenv("PGPASSWORD", "zq7wrong")
    if given == "in the address":
        address = address.replace(f"{CURATOR}@", f"{CURATOR}:zq7wrong@")
    if given == "not at all":
        monkeypatch.delenv("PGPASSWORD")
    assert "does not accept the user or the password" in refused(address, table="visits")


def test_a_server_that_is_not_there(visits, tmp_path):
    assert "can't be reached" in refused("postgresql://zq7@127.0.0.1:1/x", table="visits")
    assert "can't be reached" in refused(f"postgresql:///x?host={tmp_path}", table="visits")
    missing = visits.owner.replace("/postgres?", "/nowhere?")
    assert "no such database" in refused(missing, table="visits")
    assert "is not one that PostgreSQL" in refused("postgresql://[zq7", table="visits")


def test_the_server_enforces_that_nothing_is_written(visits):
    visits.run("CREATE SEQUENCE IF NOT EXISTS numbers")
    visits.run(
        "CREATE OR REPLACE FUNCTION sweep() RETURNS int LANGUAGE sql AS "
        "'DELETE FROM visits; SELECT 1'"
    )
    for query in (
        "SELECT card, nextval('numbers') AS seq, stop FROM visits",
        "SELECT card, sweep() AS seq, stop FROM visits",
        "SELECT card, set_config('transaction_read_only', 'off', false) AS seq, stop FROM visits",
        "WITH gone AS (DELETE FROM visits RETURNING *) SELECT * FROM gone",
    ):
        # As the owner, whom no missing right would stop.
        assert "not read-only" in refused(visits.owner, query=query)
    assert read(visits.address, table="visits")[1].rows == 274


def test_a_table_that_the_role_may_not_read(visits):
    visits.run("DROP ROLE IF EXISTS stranger", "CREATE ROLE stranger LOGIN")
    stranger = visits.address.replace(CURATOR, "stranger")
    assert "may not read that table" in refused(stranger, table="visits")


def test_a_schema_and_letters_of_both_cases(visits):
    visits.run(
        'CREATE SCHEMA IF NOT EXISTS "My Taps"',
        'DROP TABLE IF EXISTS "My Taps"."Week"',
        'CREATE TABLE "My Taps"."Week" AS SELECT card, seq AS "Seq", stop FROM visits',
    )
    assert read(visits.address, table="My Taps.Week", order="Seq")[1].rows == 274
    assert "names a table" in refused(visits.address, table="nowhere.Week")


def test_a_statement_timeout(server, monkeypatch):
    monkeypatch.setenv("PGOPTIONS", "-c statement_timeout=300")
    slow = "SELECT '1' AS card, 1 AS seq, pg_sleep(20)::text AS stop"
    assert "statement timeout" in refused(server.address, query=slow)
    streaming = BIG.format(rows=5000).replace("repeat(", "pg_sleep(0.001)::text || repeat(")
    wanted = streaming.replace("'S' ||", "pg_sleep(0.001)::text || 'S' ||")
    assert "statement timeout" in refused(server.address, query=wanted)


@pytest.mark.parametrize(
    "kind",
    ["uuid", "integer", "bigint", "text", "varchar(9)", "numeric(9)", "date",
     "timestamp", "timestamptz"],
)  # fmt: skip
def test_ids_of_every_type(server, kind):
    """A unit or a trajectory is what its text says, of whatever type; so are orders by value."""
    values = {
        "uuid": [str(uuid.UUID(int=3)), str(uuid.UUID(int=2**127))],
        "date": ["2024-02-29", "2024-03-01"],
        "timestamp": ["2024-02-29 10:00:00", "2024-02-29 10:00:01.5"],
        "timestamptz": ["2024-02-29 10:00:00+01", "2024-02-29 10:00:01+00"],
    }.get(kind, ["7", "10"])
    rows = ", ".join(
        f"('{person}'::{kind}, {seq}, '{stop}')"
        for person in values
        for seq, stop in ((2, "S2"), (1, "S1"))
    )
    query = f"SELECT * FROM (VALUES {rows}, (NULL, 3, 'S3')) AS v(card, seq, stop)"
    found, report = read(server.address, query=query)
    assert found == [("S1", "S2")] * 2
    assert report.malformed_rows == 1
    trips = query.replace("AS v(card, seq, stop)", "AS v(trip, seq, stop)")
    trips = trips.replace("SELECT *", "SELECT 'me' AS card, *")
    kept, _ = read(server.address, query=trips, trajectory="trip", max_trajectories_per_unit=2)
    assert kept == found


def test_ids_that_are_floats_are_refused_by_their_type(server):
    query = "SELECT 7::double precision AS card, 1 AS seq, 'S1' AS stop"
    assert "holds floats" in refused(server.address, query=query)


@pytest.mark.parametrize("kind", ["timestamp", "timestamptz", "date", "numeric", "text"])
def test_orders_of_every_type(server, kind):
    early, late = ("9", "10.5") if kind in {"numeric", "text"} else ("2024-02-29", "2024-03-01")
    query = (
        f"SELECT 'me' AS card, seq::{kind}, stop FROM (VALUES ('{late}', 'S2'), ('{early}', 'S1'))"
        " AS v(seq, stop)"
    )
    assert read(server.address, query=query)[0] == [("S1", "S2")]


def test_lists_are_refused_because_rows_have_no_order(server):
    query = "SELECT 'me' AS card, 1 AS seq, ARRAY['S1', 'S2'] AS stop"
    assert "one row per visit" in refused(server.address, query=query, order=None)
    unnested = (
        "SELECT card, seq, stop FROM (VALUES ('me', ARRAY['S2', 'S1'])) AS v(card, stops), "
        "unnest(stops) WITH ORDINALITY AS s(stop, seq)"
    )
    assert read(server.address, query=unnested)[0] == [("S2", "S1")]


def test_a_server_that_dies_in_the_middle(server):
    tables = Postgresql(server.address).tables(BIG.format(rows=1_000_000))
    assert next(tables).num_rows < 1_000_000
    server.crash_readers()
    with pytest.raises(pv.errors.InputError, match="connection to the server was lost"):
        list(tables)
    wait_for(lambda: server.run("SELECT 1"))


def wait_for(call):
    """After a crash the server recovers for a moment."""
    for _ in range(200):
        try:
            return call()
        except Exception:  # noqa: BLE001
            time.sleep(0.05)
    return call()


@pytest.mark.usefixtures("visits")
def test_no_bundle_of_half_the_rows(server, folder, refuses, monkeypatch):
    (folder / "stops.csv").write_text("location\nS1\nS2\nS3\n")
    all_tables = Postgresql.tables

    def dying(self, statement):
        tables = all_tables(self, statement)
        yield next(tables)
        server.crash_readers()
        yield from tables

    monkeypatch.setattr(Postgresql, "tables", dying)
    query = BIG.format(rows=1_000_000)
    refuses(*publish(server.address, "--query", query), says="connection to the server was lost")
    wait_for(lambda: server.run("SELECT 1"))


@pytest.mark.usefixtures("visits")
def test_the_address_is_never_shown(server, folder, pathveil, monkeypatch):
    """Wherever somebody puts it by mistake."""
    monkeypatch.delenv("PGPASSWORD")
    (folder / "stops.csv").write_text("location\nS1\n")
    address = server.address.replace(f"{CURATOR}@", f"{CURATOR}:{PASSWORD}@")
    keyword = f"{server.address}&password={PASSWORD}"
    rows = ["--table", "visits"]
    for wrong in (address, keyword):
        for arguments in (
            publish(wrong, "--table", "nowhere"),
            publish(wrong),
            publish("stops.csv", "extra", wrong),
            ["evaluate", "out", wrong, *rows],
            ["verify", wrong],
            ["export", wrong, "--out", "x.csv"],
            ["export", "stops.csv", "--out", wrong],
            ["plan", "--universe", wrong, "--epsilon", "1", "--height", "3"],
            [wrong],
            ["publish", "x.csv", "--epsilon", wrong],
            publish("stops.csv", out=wrong),
        ):
            result = pathveil(*arguments)
            assert result.code == 2, result
            assert revealed((result.out + result.err).encode()) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_a_query_that_would_take_long(server, folder, pathveil, number):
    (folder / "stops.csv").write_text("location\nS1\n")
    slow = "SELECT '1' AS card, 1 AS seq, pg_sleep(300)::text AS stop"
    running = "SELECT 1 FROM pg_stat_activity WHERE query LIKE 'COPY (%pg_sleep(300)%'"

    def stop():
        wait_for(lambda: server.run(running)[0])
        os.kill(os.getpid(), number)

    stopper = threading.Thread(target=stop)
    stopper.start()
    result = pathveil(*publish(server.address, "--query", slow))
    stopper.join()
    assert result.code == 128 + number
    assert "Interrupted" in result.err
    assert server.run(running) == []  # the server was told


_PEAK = """
import sys
from pathveil.raw.sources.databases.postgresql import Postgresql

def peak():
    (line,) = (line for line in open("/proc/self/status") if line.startswith("VmHWM"))
    return int(line.split()[1]) // 1024

for rows in (1_000_000, 4_000_000):
    query = sys.argv[2].format(rows=rows)
    assert sum(table.num_rows for table in Postgresql(sys.argv[1]).tables(query)) == rows
    print(peak())
"""


def test_rows_are_streamed(server):
    """Four times the rows, some 340 MB of them, need no more memory than a part of that."""
    result = subprocess.run(
        [sys.executable, "-c", _PEAK, server.address, BIG],
        capture_output=True,
        text=True,
        check=True,
    )
    small, large = map(int, result.stdout.split())
    assert large - small < 60, (small, large)


def test_a_missing_driver_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "adbc_driver_postgresql.dbapi", None)
    with pytest.raises(pv.errors.ParameterError, match=r"pathveil\[databases\]"):
        pv.read_trajectories("postgresql://x", UNIVERSE, unit="card", table="visits")
