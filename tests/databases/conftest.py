"""A server, the command line, and one small set of visits for every database."""

import pytest
from tests.databases.visits import as_duckdb, as_postgresql, as_sqlite
from tests.end_to_end.conftest import folder, pathveil, refuses
from tests.postgresql import server, visits_server

__all__ = ["folder", "pathveil", "refuses", "server", "visits_server"]


@pytest.fixture(params=["postgresql", "duckdb", "sqlite"])
def database(request, folder):
    """Where the visits are: every test runs over every database."""
    if request.param == "postgresql":
        server = request.getfixturevalue("server")
        as_postgresql(server)
        return server.address
    fill = as_duckdb if request.param == "duckdb" else as_sqlite
    (folder / "raw").mkdir()
    path = folder / "raw" / "visits"  # no ending: its first bytes say what it is
    fill(path)
    return str(path)
