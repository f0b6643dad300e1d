"""Ledgers to test with: a file, or a schema of its own on a real PostgreSQL server."""

import itertools
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from urllib.parse import quote

import pytest
from tests.postgresql_server import running_server

from pathveil.ledger.ledger import Ledger
from pathveil.ledger.locating import locate

PASSWORD = "zq7password1357"
_numbers = itertools.count()


@pytest.fixture(scope="session")
def server():
    """The address of a PostgreSQL server that runs while the tests do; a skip if it can't."""
    with running_server() as started:
        yield started.get_uri()


@pytest.fixture
def postgresql(server):
    """The address of an empty schema of its own; the password in it is not needed."""
    schema = f"ledger_{next(_numbers)}"
    run_sql(server, f"CREATE SCHEMA {schema}")
    address = server.replace("postgres:@", f"postgres:{PASSWORD}@")
    return f"{address}&options={quote(f'-csearch_path={schema}')}"


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request, tmp_path):
    """Where a ledger may be: every test runs over every store."""
    if request.param == "sqlite":
        return str(tmp_path / "ledger.db")
    return request.getfixturevalue("postgresql")


def run_sql(place, *statements):
    """Change a ledger behind its back."""
    if "://" not in place:
        with closing(sqlite3.connect(place)) as connection, connection:
            for statement in statements:
                connection.execute(statement)
        return
    import psycopg

    with psycopg.connect(place, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)


class Clock:
    """A clock that the test sets."""

    def __init__(self, text="2026-03-01T12:00:00+00:00"):
        self.time = datetime.fromisoformat(text).astimezone(UTC)

    def __call__(self):
        return self.time

    def move(self, **by):
        self.time += timedelta(**by)

    def set(self, text):
        self.time = datetime.fromisoformat(text).replace(tzinfo=UTC)


def open_at(place, clock):
    return Ledger(locate(place), clock)
