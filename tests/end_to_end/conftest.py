"""Run the real command line in this process and look at all it leaves behind."""

import shutil
import signal
import tempfile
from pathlib import Path

import numpy as np
import pytest
from tests.commands import Result, tree_of_files

import pathveil as pv
from pathveil.cli.run import run
from pathveil.simulated_files import write_week

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty working folder, with temporary files and the home folder inside it."""
    for name in ("work", "temporary", "home"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("PATHVEIL_DEBUG", "PATHVEIL_LEDGER", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "work"


@pytest.fixture
def pathveil(folder, capfd):  # noqa: ARG001  (the folder is where it runs)
    """Run a command in this process."""
    handlers = {number: signal.getsignal(number) for number in SIGNALS}

    def call(*arguments):
        capfd.readouterr()
        code = run([str(argument) for argument in arguments])
        out, err = capfd.readouterr()
        return Result(code, out, err)

    yield call
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.fixture
def refuses(pathveil, folder):
    """Run a command that must be refused: code 2, one message, and nothing left behind."""

    def call(*arguments, says, after=()):
        before = tree_of_files(folder.parent)
        result = pathveil(*arguments)
        assert result.code == 2, result
        assert result.out == ""
        assert "Traceback" not in result.err
        *said, message = result.err.splitlines()
        assert message.startswith("error: "), result.err
        assert [line.partition(" ")[0] for line in said] == list(after)
        assert says in message
        assert "unexpectedly" not in message
        assert tree_of_files(folder.parent) == before
        return message

    return call


@pytest.fixture(scope="session")
def shared(tmp_path_factory):
    """A small simulated week as CSV and Parquet, and releases of it; copied, never changed."""
    home = tmp_path_factory.mktemp("shared")
    week = pv.simulate_week(2000, 30, seed=7)
    write_week(week, home, csv=True)
    write_week(week, home, csv=False)
    database = pv.TrajectoryDatabase.from_arrays(week.offsets, week.codes, week.universe)
    choices = {"epsilon": "4", "height": 4, "method": "full"}
    pv.publish(database, **choices).write(home / "release", csv=True)
    generator = np.random.default_rng(3)  # noqa: TID251
    pv.publish(database, **choices, generator=generator).write(home / "not-private", csv=True)
    return home


@pytest.fixture
def week(shared, folder):
    """taps.csv, taps.parquet and stops.csv in the working folder."""
    for name in ("taps.csv", "taps.parquet", "stops.csv"):
        shutil.copy(shared / name, folder / name)
    return folder


@pytest.fixture
def release(shared, folder):
    """A private bundle in the working folder."""
    return Path(shutil.copytree(shared / "release", folder / "release"))


@pytest.fixture
def not_private(shared, folder):
    """A bundle whose noise was injected."""
    return Path(shutil.copytree(shared / "not-private", folder / "not-private"))
