"""A ledger that can't be used: one clear message, exit code 2, nothing charged, nothing written."""

import os
import sqlite3
from contextlib import closing, suppress
from datetime import datetime

import pytest
from tests.commands import publish_arguments

import pathveil as pv
from pathveil.errors import LedgerError
from pathveil.folders import Reserved
from pathveil.ledger import sqlite_store

LEDGER = ("--ledger", "ledger.db")


@pytest.fixture
def ledger(week):
    """A ledger of some 200 entries, so that it has pages to damage."""
    opened = pv.Ledger.open("ledger.db")
    opened.init("taps", "100")
    account = opened.dataset("taps")
    for _ in range(100):
        account.charge(pv.Budget.parse("1/2"))
    return week / "ledger.db"


def charged_publish(**changes):
    return [*publish_arguments(epsilon="1", dataset="taps", **changes), *LEDGER]


COMMANDS = (
    ["ledger", "show", *LEDGER],
    ["ledger", "history", *LEDGER],
    ["ledger", "verify", *LEDGER],
    ["ledger", "export", *LEDGER],
    ["ledger", "amend", "taps", "--limit", "3", *LEDGER],
    charged_publish(),
)


def overwrite(path, at, content):
    with path.open("r+b") as file:
        file.seek(at)
        file.write(content)


DAMAGE = {
    "not a database": lambda path: path.write_bytes(b"hello, I am a text file\n" * 100),
    "a damaged header": lambda path: overwrite(path, 0, b"SQLite format 4"),
    "a damaged page": lambda path: overwrite(path, 12_288, b"\xff" * 4096),
    "zeros": lambda path: overwrite(path, 4096, bytes(8192)),
    "a cut end": lambda path: os.truncate(path, 12_288 + 100),
    "a cut header": lambda path: os.truncate(path, 50),
    "a damaged page between": lambda path: overwrite(path, 16_384, b"\xff" * 4096),
    "one letter": lambda path: path.write_bytes(
        path.read_bytes().replace(b'"epsilon":"1/2"', b'"epsilon":"1/9"', 1)
    ),
}


IN_THE_MIDDLE = {"a damaged page between", "one letter"}
"""A charge looks at both ends only: it does not see these, and they give nothing back."""


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_ledger_is_refused_by_every_command(ledger, refuses, name):
    DAMAGE[name](ledger)
    before = ledger.read_bytes()
    for command in COMMANDS[: -1 if name in IN_THE_MIDDLE else None]:
        refuses(*command, says="ledger")
    too_much = publish_arguments(epsilon="60", dataset="taps")  # 50 of 100 are spent
    says = "has spent ε = 50 of its limit 100" if name in IN_THE_MIDDLE else "ledger"
    refuses(*too_much, *LEDGER, says=says)
    assert ledger.read_bytes() == before


def test_another_programs_database_is_refused_and_left_alone(week, refuses):
    with closing(sqlite3.connect(week / "ledger.db")) as connection, connection:
        connection.execute("CREATE TABLE customers (name TEXT)")
    before = (week / "ledger.db").read_bytes()
    refuses("ledger", "show", *LEDGER, says="something else")
    refuses(*charged_publish(), says="something else")
    refuses("ledger", "init", "taps", "--limit", "1", *LEDGER, says="something else")
    with closing(sqlite3.connect(week / "ledger.db")) as connection:
        names = connection.execute("SELECT name FROM sqlite_master").fetchall()
    assert names == [("customers",)]
    assert len(before) == (week / "ledger.db").stat().st_size


def test_a_table_of_that_name_with_other_columns_is_refused(week, refuses):
    with closing(sqlite3.connect(week / "ledger.db")) as connection, connection:
        connection.execute("CREATE TABLE pathveil_ledger (x TEXT)")
    for command in COMMANDS:
        refuses(*command, says="it is not a ledger, or somebody added to it")


@pytest.mark.parametrize(
    ("place", "says"),
    [
        (".", "ledger ."),
        ("stops.csv", "not a ledger"),
        ("stops.csv/ledger.db", "Not a directory"),
        ("a\0b", "NUL"),
        ("x" * 300, "too long"),
        ("mysql://root:zq7password@host/db", "a file or a PostgreSQL database"),
        ("https://example.org/ledger", "a file or a PostgreSQL database"),
        ("postgresql://user:zq7password@host:port/db", "not the address"),
        ("postgresql://user:zq7password@127.0.0.1:1/db", "can't be reached"),
        ("postgres://user:zq7password@127.0.0.1:1/db?sslmode=zq7password", "can't be reached"),
        ("postgresql://user:zq7password@127.0.0.1:1/db?nonsense=zq7password", "can't be reached"),
    ],
)
@pytest.mark.usefixtures("week")
def test_a_place_that_can_not_be_a_ledger(refuses, place, says):
    show = ["ledger", "show", "--ledger", place]
    init = ["ledger", "init", "taps", "--limit", "1", "--ledger", place]
    publish = [*publish_arguments(epsilon="1", dataset="taps"), "--ledger", place]
    for command in (show, init, publish):
        assert "zq7" not in refuses(*command, says=says)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["init", "a b", "--limit", "1"], "name of a dataset"),
        (["init", "new", "--limit", "0"], "Epsilon"),
        (["init", "new", "--limit", "nan"], "Epsilon"),
        (["init", "new", "--limit", "1", "--per", "decade"], "The period"),
        (["init", "new", "--limit", "1", "--population", "[b]"], "name of a population"),
        (["init", "taps", "--limit", "1"], "already"),
        (["amend", "taps"], "what to change"),
        (["amend", "bikes", "--limit", "1"], "no dataset 'bikes'"),
        (["amend", "taps", "--limit", "1", "--reason", "x" * 501], "reason"),
        (["amend", "taps", "--limit", "1", "--reason", "a\nb"], "reason"),
        (["show", "bikes"], "no dataset 'bikes'"),
        (["history", "bikes"], "no dataset 'bikes'"),
        (["verify", "--expect-head", "hello"], "hash you kept"),
        (["verify", "--export", "a\0b"], "null byte"),
        (["export", "--out", "nowhere/x.json"], "Can't write"),
        (["import", "."], "Is a directory"),
    ],
)
@pytest.mark.usefixtures("ledger")
def test_a_request_that_can_not_be_met(refuses, arguments, says):
    refuses("ledger", *arguments, *LEDGER, says=says)


@pytest.mark.parametrize("command", ["show", "verify"])
def test_a_home_that_nobody_has(refuses, command):
    refuses("ledger", command, "--ledger", "~nobody-here/ledger.db", says="Nobody has the home")


class FarFuture(datetime):
    """What a clock says whose battery is empty."""

    @classmethod
    def now(cls, tz=None):
        return cls(9999, 12, 31, 23, 59, 59, tzinfo=tz)


@pytest.mark.usefixtures("ledger")
def test_a_clock_at_the_end_of_the_calendar(refuses, monkeypatch):
    monkeypatch.setattr("pathveil.ledger.ledger.datetime", FarFuture)
    for command in (["ledger", "show", *LEDGER], COMMANDS[-2], charged_publish()):
        refuses(*command, says="The computer's clock says that it is the year 9999")


def limited(monkeypatch, setting):
    monkeypatch.setattr(sqlite_store, "_SETTINGS", [*sqlite_store._SETTINGS, setting])


CONDITIONS = {
    "a full disk": ("PRAGMA max_page_count = 1", "the disk is full"),
    "a read-only disk": ("PRAGMA query_only = ON", "can't be written"),
}


@pytest.mark.parametrize("name", CONDITIONS)
def test_a_disk_that_takes_no_more(ledger, pathveil, refuses, monkeypatch, name):
    setting, says = CONDITIONS[name]
    account = pv.Ledger.open(ledger).dataset("taps")
    with monkeypatch.context() as patch:
        limited(patch, setting)
        with suppress(LedgerError):
            for _ in range(60):  # the last page has room for a few entries
                account.charge(pv.Budget.parse("1/9"))
        before = account.ledger.chain()
        assert "No entry was added" in refuses(*charged_publish(), says=says, after=["Charging"])
    assert account.ledger.chain() == before
    assert pathveil(*charged_publish()).code == 0


def test_a_ledger_that_others_keep_busy(ledger, refuses, monkeypatch):
    monkeypatch.setattr(sqlite_store, "_WAIT_SECONDS", 0.1)
    with closing(sqlite3.connect(ledger, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        refuses(*charged_publish(), says="busy")
    assert len(pv.Ledger.open(ledger).chain()) == 102


def test_a_ledger_that_fails_after_the_bundle_was_written(week, pathveil, monkeypatch):
    pathveil("ledger", "init", "taps", "--limit", "9", *LEDGER)
    write = pv.Release.write

    def fill_the_disk(self, *arguments, **options):
        if isinstance(arguments[0], Reserved):  # not what the rehearsal writes
            limited(monkeypatch, "PRAGMA query_only = ON")
        return write(self, *arguments, **options)

    monkeypatch.setattr(pv.Release, "write", fill_the_disk)
    result = pathveil(*charged_publish())
    monkeypatch.undo()
    monkeypatch.chdir(week)
    assert result.code == 2
    assert "The release is written, whole and paid for" in result.err
    verified = pathveil("verify", "out", *LEDGER)
    assert verified.code == 0
    assert "That it was published is not recorded" in verified.out
