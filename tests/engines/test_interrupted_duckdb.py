"""DuckDB, interrupted in mid-run: charged, nothing published, nothing raw left, and it is said."""

import os
import signal
import stat
from pathlib import Path

import pytest
from tests.engines.interrupted import (
    UNIT,
    files_in,
    holding,
    looks_random,
    of_duckdb,
    small_disk,
    wait_until,
    write_pairs,
    write_taps,
)

from pathveil.ledger.ledger import Ledger

OPTIONS = ("--engine", "duckdb", "--memory", "300MB")


@pytest.fixture(scope="module")
def taps(tmp_path_factory):
    return write_taps(tmp_path_factory.mktemp("taps"), 200_000)


def wait_for_raw_data(run):
    """Until it is charged (before that they are made up) and on the disk, for nobody else."""

    def is_there():
        charged = Ledger.open(str(run.ledger)).books().charges
        return (
            charged
            and sum(path.stat().st_size for path in files_in(run.spill) if path.exists()) > 10**5
        )

    wait_until(lambda: is_there() or run.process.poll() is not None, "it did not spill")
    (private,) = run.spill.iterdir()
    assert stat.S_IMODE(private.stat().st_mode) == 0o700


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal(taps, tmp_path, begin, number):
    run = begin(taps, tmp_path, *OPTIONS)
    wait_for_raw_data(run)
    run.signal(number)
    run.check_said(run.finish(), 128 + number)
    run.check_charged_for_nothing()


def test_a_killed_process(taps, tmp_path, begin):
    """It can say nothing; the ledger's history does, and the watcher cleans up."""
    run = begin(taps, tmp_path, *OPTIONS)
    wait_for_raw_data(run)
    run.signal(signal.SIGKILL)
    assert run.finish().code == -signal.SIGKILL
    run.check_charged_for_nothing()


def watcher_of(run):
    """The process that removes the spill folder."""
    children = Path(f"/proc/{run.process.pid}/task/{run.process.pid}/children")
    wait_until(lambda: children.read_text().split(), "it has no watcher", 60)
    return int(children.read_text().split()[0])


def test_a_killed_process_and_its_watcher_leave_nothing_that_can_be_read(taps, tmp_path, begin):
    run = begin(taps, tmp_path, *OPTIONS)
    wait_for_raw_data(run)
    os.kill(watcher_of(run), signal.SIGKILL)
    wait_until(lambda: len(files_in(run.spill)) > 50, "it does not spill", 120)
    run.signal(signal.SIGKILL)
    assert run.finish().code == -signal.SIGKILL
    left = files_in(run.spill)
    assert sum(path.stat().st_size for path in left) > 10**5
    assert holding(run.spill, UNIT.encode()) == []
    assert holding(run.spill, b"visits") == []  # nor the name of a column


# Stops while DuckDB's counts are sorted on the disk: it gets little memory, and the rest is held.
SPILLED = """
import sys, time
from pathlib import Path
from pathveil.cli.run import run
from pathveil.raw.engines import duckdb_counter

spill = Path(sys.argv[sys.argv.index("--spill") + 1])
as_block = duckdb_counter.as_block

def held(*columns):
    if any(path.stat().st_size for path in spill.glob("*/sorting/*.tmp")):
        print("spilled", flush=True)
        time.sleep(600)
    return as_block(*columns)

duckdb_counter._SHARE = 0.1
duckdb_counter.as_block = held
sys.exit(run(sys.argv[1:]))
"""


@pytest.mark.long
def test_what_duckdb_spills_itself_can_not_be_read(tmp_path, begin):
    rows = tmp_path / "rows"
    rows.mkdir()
    options = ("--engine", "duckdb", "--memory", "256MB", "--epsilon", "3", "--height", "2")
    run = begin(write_pairs(rows, 400_000), tmp_path, *options, program=("-c", SPILLED), order=None)
    assert run.process.stdout.readline() == "spilled\n"
    os.kill(watcher_of(run), signal.SIGKILL)
    run.signal(signal.SIGKILL)
    assert run.finish().code == -signal.SIGKILL
    left = of_duckdb(run.spill)
    assert sum(path.stat().st_size for path in left) > 10**5
    assert [path for path in left if not looks_random(path)] == []
    assert holding(run.spill, UNIT.encode()) == []


def test_a_full_disk(taps, tmp_path, begin):
    with small_disk(tmp_path / "disk", "2m") as disk:
        run = begin(taps, tmp_path, *OPTIONS, spill=disk)
        result = run.finish()
        run.check_said(result, 2)
        assert "--spill" in result.err
        run.check_charged_for_nothing()


def test_a_disk_without_room_is_found_out_before_the_charge(taps, tmp_path, begin):
    with small_disk(tmp_path / "disk", "1m") as disk:
        run = begin(taps, tmp_path, *OPTIONS, spill=disk)
        result = run.finish()
        assert result.code == 2, result
        assert "Name a larger folder with --spill (spill=…). Nothing was charged." in result.err
        assert Ledger.open(str(run.ledger)).books().charges == {}
        assert list(disk.iterdir()) == []


def test_what_is_looked_for_would_be_found(taps):
    assert holding(taps, UNIT.encode()) == [taps / "rows.parquet"]
