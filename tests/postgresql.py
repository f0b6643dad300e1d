"""A real PostgreSQL server with visits in it, and roles that need a password."""

import os
import signal
from pathlib import Path

import pytest
from tests.postgresql_server import running_server

CURATOR, PASSWORD = "curator", "zq7password1357"
_HBA = f"local all {CURATOR} scram-sha-256\n"


class Server:
    """A running server.

    Attributes:
        owner: the address of its owner, who may do anything without a password.
        address: the address of a role that may read, without its password.
    """

    def __init__(self, started):
        self._folder = Path(started.pgdata)
        self.owner = started.get_uri()
        self.address = self.owner.replace("postgres:@", f"{CURATOR}@")

    def run(self, *statements):
        """Run statements as the owner; the rows of the last one."""
        import psycopg

        with psycopg.connect(self.owner, autocommit=True) as connection:
            for statement in statements:
                cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else None

    def make_roles(self):
        """A role that may read and needs a password."""
        self.run(f"CREATE ROLE {CURATOR} LOGIN PASSWORD '{PASSWORD}' IN ROLE pg_read_all_data")
        hba = self._folder / "pg_hba.conf"
        hba.write_text(_HBA + hba.read_text())
        self.run("SELECT pg_reload_conf()")

    def crash_readers(self):
        """Kill the process that serves a running COPY, as a failing machine would."""
        for (pid,) in self.run("SELECT pid FROM pg_stat_activity WHERE query LIKE 'COPY (%'"):
            os.kill(pid, signal.SIGKILL)


@pytest.fixture(scope="session")
def visits_server():
    """A server for all tests of a process; a skip if it can't start."""
    with running_server() as started:
        server = Server(started)
        server.make_roles()
        yield server


@pytest.fixture
def server(visits_server, monkeypatch):
    """The same, with the curator's password in the environment."""
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    for name in ("PGUSER", "PGHOST", "PGDATABASE", "PGPASSFILE", "PGSERVICE", "PGOPTIONS"):
        monkeypatch.delenv(name, raising=False)
    return visits_server
