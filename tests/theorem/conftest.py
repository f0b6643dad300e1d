"""Servers for the combinations that need one."""

import pytest
from tests.lakes.store import running_store
from tests.postgresql import server, visits_server

__all__ = ["server", "store", "visits_server"]


@pytest.fixture(scope="session")
def _store(tmp_path_factory):
    with running_store(tmp_path_factory.mktemp("store")) as started:
        yield started


@pytest.fixture
def store(_store, monkeypatch):
    """An S3 server, which the environment names."""
    for name, value in _store.environment.items():
        monkeypatch.setenv(name, value)
    return _store
