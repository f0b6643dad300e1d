"""Visits from any database give what the same visits from a CSV file give."""

import re
import traceback
from pathlib import Path

import pytest
from tests.commands import bars_of, in_a_terminal, tree_of_files
from tests.databases.visits import (
    COLUMNS,
    OPTIONS,
    PLACE,
    UNIT,
    UNIVERSE,
    as_csv,
    sequences,
)
from tests.postgresql import PASSWORD

import pathveil as pv
from pathveil.cli.run import without_addresses
from pathveil.raw.sources.databases.addresses import file_kind

QUERY = "SELECT card, seq, stop, 1 AS unused FROM visits"
NOTE = "zq7note1"


def read(source, **options):
    reports = []
    database = pv.read_trajectories(source, UNIVERSE, **(COLUMNS | options), report=reports.append)
    return sequences(database), reports[0]


def counts(report):
    return report.rows, report.malformed_rows, report.visits_outside_universe


@pytest.mark.parametrize(
    "rows",
    [
        {"table": "visits"},
        {"query": QUERY},
        {"query": f"  {QUERY} ; "},
        {"query": f"-- mine\n{QUERY} -- all"},
        {"query": f"WITH v AS ({QUERY}) SELECT * FROM v ORDER BY stop"},
    ],
    ids=["table", "query", "semicolon", "comments", "with"],
)
def test_rows_of_a_database_are_read_as_those_of_a_file(database, folder, rows):
    expected, told = read(as_csv(folder / "visits.csv"))
    found, report = read(database, **rows)
    assert found == expected
    assert counts(report) == counts(told) == (274, 2, 1)


def test_a_query_chooses_rows(database):
    found, report = read(database, query="SELECT * FROM visits WHERE card = 'c7'")
    assert found == [("S2", "S3", "S1")]
    assert report.rows == 3


def test_no_row_is_a_database_without_trajectories(database):
    assert read(database, query="SELECT * FROM visits WHERE card = 'nobody'")[0] == []


def refused(source, **options):
    """The message of a refusal, from which nothing leads to what the driver said."""
    with pytest.raises(pv.errors.PathveilError) as caught:
        read(source, **options)
    shown = "".join(traceback.format_exception(caught.value))
    for private in (UNIT, PLACE, NOTE, PASSWORD, "nowhere", "zq7", "LINE 1"):
        assert private not in shown
    assert caught.value.__cause__ is None
    assert isinstance(caught.value.__context__, FileNotFoundError | IsADirectoryError | None)
    return str(caught.value)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT * FROM nowhere", "names a table"),
        ("SELECT nowhere FROM visits", "names a column"),
        ("SELEKT 1", "one SELECT statement"),
        ("SELECT 1; SELECT 2", "one SELECT statement"),
        ("SELECT 1) AS x; DELETE FROM visits; --", "one SELECT statement"),
        ("COMMIT", "Can't read from"),  # DuckDB takes it for a table's name
        ("DELETE FROM visits", "one SELECT statement"),
        ("DELETE FROM visits RETURNING card, seq, stop", "one SELECT statement"),
        ("INSERT INTO visits SELECT * FROM visits RETURNING *", "one SELECT statement"),
        ("CREATE TABLE copied AS SELECT * FROM visits", "one SELECT statement"),
        ("DROP TABLE visits", "one SELECT statement"),
        ("COPY visits TO 'copied.csv'", "one SELECT statement"),
        ("ATTACH 'other.db' AS other", "one SELECT statement"),
        ("VACUUM INTO 'copied.db'", "one SELECT statement"),
    ],
)
def test_only_one_select_is_run(database, folder, query, message):
    before = tree_of_files(folder.parent)
    assert message in refused(database, query=query)
    assert tree_of_files(folder.parent) == before
    assert counts(read(database, table="visits")[1]) == (274, 2, 1)  # nothing was changed


def test_a_query_that_fails_on_a_row_does_not_quote_it(database):
    """SQLite has no conversions that fail, so there an overflow does."""
    number = "CASE WHEN card LIKE 'zq7%' THEN -9223372036854775808 ELSE 1 END"
    failing = f"SELECT card, abs(CAST({number} AS BIGINT)) AS seq, stop FROM visits"
    assert "Can't read from" in refused(database, query=failing)


@pytest.mark.parametrize("order", ["seq", None])
def test_an_order_column_is_required(database, order):
    query = "SELECT card, stop, seq AS place FROM visits"
    assert "order" in refused(database, query=query, order=order)
    message = refused(database, query=query, order=None)
    assert "the order column is required here" in message


@pytest.mark.parametrize(
    "rows", [{}, {"query": "SELECT 1", "table": "visits"}, {"query": " "}, {"table": ""}]
)
def test_which_rows_must_be_said(database, rows):
    assert "query" in refused(database, **rows)


def test_a_table_of_an_odd_name_is_quoted(database):
    assert "names a table" in refused(database, table='visits"; DROP TABLE visits; --')
    assert counts(read(database, table="visits")[1])[0] == 274


def publish(database, *rows, out="out"):
    privacy = ["--universe", "stops.csv", "--epsilon", "3", "--height", "3", "--out", out]
    return ["publish", database, *rows, *OPTIONS, *privacy]


@pytest.fixture
def stops(folder):
    (folder / "stops.csv").write_text("location\nS1\nS2\nS3\n")


@pytest.mark.usefixtures("stops")
def test_a_terminal_sees_that_a_database_is_read(database):
    """How many rows there are is not asked: the time that passed, then (bounding) the time left."""
    code, shown = in_a_terminal(*publish(database, "--table", "visits"))
    assert code == 0, shown
    first, *_, last = bars_of(shown)["Reading"]
    assert "left" not in first
    assert "left" in last


def revealed(content):
    private = (UNIT, PLACE, NOTE, PASSWORD)
    return [text for text in private if text.encode() in content]


@pytest.mark.usefixtures("stops")
def test_publish_and_evaluate_leave_no_raw_row_and_no_password_behind(database, folder, pathveil):
    before = tree_of_files(folder.parent)
    published = pathveil(*publish(database, "--query", QUERY), "--json")
    assert published.code == 0, published
    evaluated = pathveil(
        "evaluate", database, "out", "--table", "visits", *OPTIONS, "--queries", 40, "--json"
    )
    assert evaluated.code == 0, evaluated
    for result in (published, evaluated):
        assert revealed((result.out + result.err).encode()) == []
        assert "postgresql://" not in result.out + result.err
    new = {Path(name) for name in tree_of_files(folder.parent) - before}
    assert {path.relative_to(folder).parts[0] for path in new} == {
        "out",
        "INTERNAL-evaluation.html",
    }
    for path in new:
        if path.is_file():
            assert revealed(path.read_bytes()) == []
            assert b"SELECT" not in path.read_bytes()


@pytest.mark.usefixtures("stops")
def test_a_mistake_is_refused_before_anything_else(database, refuses):
    refuses(*publish(database), says="Say which rows")
    refuses(*publish(database, "--query", "x", "--table", "y"), says="Say which rows")
    refuses(*publish(database, "--query", "SELECT * FROM nowhere"), says="names a table")
    refuses(*publish(database, "--query", "DELETE FROM visits"), says="one SELECT statement")
    refuses("evaluate", database, "out", says="Say which rows")


def test_a_query_for_something_else_is_refused(folder):
    file = as_csv(folder / "visits.csv")
    assert "for databases only" in refused(file, query="SELECT 1")
    assert "for databases only" in refused(pv.Universe(["a"]), table="visits")
    assert re.search("does not read addresses", refused("mysql://me:zq7@nowhere/x", table="t"))


@pytest.mark.usefixtures("stops")
def test_a_ledger_is_charged_for_rows_of_a_database(database, pathveil):
    charged = ["--ledger", "ledger.db", "--dataset", "taps"]
    assert pathveil("ledger", "init", "taps", "--limit", "9", "--ledger", "ledger.db").code == 0
    named = database if "://" in database else f"{file_kind(Path(database))}:{database}"
    refused = pathveil(*publish(named), *charged)
    assert (refused.code, "Charged" in refused.err) == (2, False)  # no rows named: nothing spent
    done = pathveil(*publish(database, "--table", "visits"), *charged)
    assert (done.code, "Charged ε = 3" in done.err) == (0, True), done


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("Can't read postgresql://me:zq7@db/x: no.", "Can't read … no."),
        ("Can't read postgresql:/me:zq7@db/x, no.", "Can't read … no."),
        ("postgres:///x?password=zq7 is wrong", "… is wrong"),
        ("(POSTGRESQL://h/?user=a&password=zq7)", "(…"),
        ("mysql://me:z/q7@db/x", "…"),
        ("as postgresql://user@host/database.", "as postgresql://user@host/database."),
        ("only (postgresql://…, duckdb:FILE)", "only (postgresql://…, duckdb:FILE)"),
        ("See https://example.org/page", "See https://example.org/page"),
    ],
)
def test_no_message_shows_an_address(message, shown):
    assert without_addresses(message) == shown
