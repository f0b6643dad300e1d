"""What is special about PostgreSQL: rights, credentials, and how it fails."""

import subprocess
import sys
from urllib.parse import quote

import psycopg
import pytest
from tests.ledgers import PASSWORD, run_sql

import pathveil as pv
from pathveil.errors import LedgerError
from pathveil.ledger import postgresql_store

ONE = pv.Budget.parse("1")


@pytest.fixture
def ledger(postgresql):
    opened = pv.Ledger.open(postgresql)
    opened.init("taps", "4")
    return opened


def schema_of(place):
    return place.rpartition("search_path%3D")[2]


@pytest.fixture
def clerk(ledger, postgresql):
    """The same ledger as somebody who may only read and append: the rights that docs advise."""
    assert len(ledger.chain()) == 2
    schema = schema_of(postgresql)
    role = f"clerk_{schema}"
    run_sql(
        postgresql,
        f"CREATE ROLE {role} LOGIN PASSWORD '{PASSWORD}'",
        f"GRANT USAGE ON SCHEMA {schema} TO {role}",
        f"GRANT SELECT, INSERT ON {schema}.pathveil_ledger TO {role}",
    )
    return postgresql.replace("postgres:", f"{role}:", 1).replace("//postgres", f"//{role}", 1)


def test_publishers_need_no_right_to_change_what_they_wrote(clerk):
    opened = pv.Ledger.open(clerk)
    charge = opened.dataset("taps").charge(ONE)
    charge.published("a" * 64)
    assert len(opened.chain()) == 4
    for statement in ("DELETE FROM", "UPDATE", "TRUNCATE"):
        change = " SET number = 7" if statement == "UPDATE" else ""
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            run_sql(clerk, f"{statement} pathveil_ledger{change}")


def test_the_totals_are_used_by_who_has_rights_to_them(clerk, postgresql, ledger):
    schema = schema_of(postgresql)
    opened = pv.Ledger.open(clerk)
    opened.dataset("taps").charge(ONE)  # without rights to the totals, which are old now
    assert opened._store.glance().totals is None
    rights = f"SELECT, INSERT, UPDATE ON {schema}.pathveil_totals"
    run_sql(postgresql, f"GRANT {rights} TO clerk_{schema}")
    assert opened._store.glance().totals != opened.books().text()
    opened.dataset("taps").charge(ONE)
    assert opened._store.glance().totals == opened.books().text() == ledger.books().text()


def test_without_the_right_to_append_nothing_is_charged(clerk, postgresql):
    schema = schema_of(postgresql)
    run_sql(postgresql, f"REVOKE INSERT ON {schema}.pathveil_ledger FROM clerk_{schema}")
    with pytest.raises(LedgerError, match="may not do this"):
        pv.Ledger.open(clerk).dataset("taps").charge(ONE)


def test_two_entries_never_get_one_number_even_without_the_lock(ledger, postgresql):
    with pytest.raises(psycopg.errors.UniqueViolation):
        run_sql(postgresql, "INSERT INTO pathveil_ledger VALUES (1, 'x', 'y')")
    assert len(ledger.chain()) == 2


@pytest.mark.parametrize(
    "change",
    [("/postgres?", "/nowhere?"), ("//postgres:", "//nobody:"), ("?host=", "?host=/nowhere")],
)
def test_failures_are_told_without_the_address(postgresql, change):
    place = postgresql.replace(*change)
    for use in (pv.Ledger.open(place).chain, lambda: pv.Ledger.open(place).init("taps", "1")):
        with pytest.raises(LedgerError, match="can't be reached, or it does not acc") as caught:
            use()
        shown = str(caught.value) + repr(caught.value.__cause__)
        assert PASSWORD not in shown
        assert "host" not in shown


def test_a_table_of_that_name_with_other_columns_is_refused(postgresql):
    run_sql(postgresql, "CREATE TABLE pathveil_ledger (x TEXT)")
    for use in (pv.Ledger.open(postgresql).chain, lambda: pv.Ledger.open(postgresql).init("a", 1)):
        with pytest.raises(LedgerError, match="not a ledger's"):
            use()


def test_a_busy_ledger_is_not_waited_for_for_ever(ledger, postgresql, monkeypatch):
    settings = ("SET LOCAL lock_timeout = '100ms'",)
    monkeypatch.setattr(postgresql_store, "_SETTINGS", settings)
    with psycopg.connect(postgresql) as other:
        other.execute("SELECT pg_advisory_xact_lock(%s)", [postgresql_store._LOCK])
        with pytest.raises(LedgerError, match="busy"):
            ledger.dataset("taps").charge(ONE)
    ledger.dataset("taps").charge(ONE)


def test_a_read_only_server_is_said_to_be_one(ledger, postgresql):
    frozen = f"{postgresql}{quote(' -cdefault_transaction_read_only=on')}"
    with pytest.raises(LedgerError, match="read-only"):
        pv.Ledger.open(frozen).dataset("taps").charge(ONE)
    assert len(ledger.chain()) == 2


def test_the_password_is_nowhere_in_what_is_printed_or_written(ledger, postgresql, tmp_path):
    assert len(ledger.chain()) == 2
    universe = pv.Universe(["a", "b"])
    database = pv.TrajectoryDatabase.from_sequences([["a", "b"]] * 200, universe)
    account = pv.Ledger.open(postgresql).dataset("taps")
    pv.publish(database, epsilon="1", height=2, ledger=account).write(tmp_path / "out", csv=True)
    for command in (
        ["ledger", "history", "--json"],
        ["ledger", "show"],
        ["ledger", "export"],
        ["ledger", "show", "nothing"],
        ["verify", str(tmp_path / "out")],
    ):
        call = [sys.executable, "-m", "pathveil", *command, "--ledger", postgresql]
        done = subprocess.run(call, capture_output=True, text=True, check=False)
        assert done.returncode == (2 if "nothing" in command else 0), done.stderr
        assert PASSWORD not in done.stdout + done.stderr
        assert schema_of(postgresql) not in done.stdout + done.stderr
    for path in (tmp_path / "out").iterdir():
        assert PASSWORD.encode() not in path.read_bytes()
        assert b"postgresql" not in path.read_bytes()


def test_without_the_driver_the_message_says_what_to_install(monkeypatch, postgresql):
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    with pytest.raises(LedgerError, match=r"pathveil\[postgresql\]"):
        pv.Ledger.open(postgresql)
