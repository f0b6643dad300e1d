"""The command line, and a table of each kind with its history."""

import pytest
from tests.databases.test_every_database import stops
from tests.end_to_end.conftest import folder, pathveil, refuses
from tests.lakes.tables import HISTORIES

__all__ = ["folder", "pathveil", "refuses", "stops"]


@pytest.fixture(scope="session", params=HISTORIES)
def history(request, tmp_path_factory):
    """A table with five states; read, never changed."""
    return HISTORIES[request.param](tmp_path_factory.mktemp("lake") / request.param)
