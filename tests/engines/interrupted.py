"""A charged run that does not end well, as users run it: what must be true afterwards."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.commands import environment, finish, spawn

from pathveil import simulate_week
from pathveil.ledger.ledger import Ledger

UNIT = "zq7card"  # in every unit's id, so that what is left of the data can be found


def write_taps(folder, riders):
    """rows.parquet and stops.csv."""
    made = simulate_week(riders, 40, seed=5)
    rider = np.repeat(np.arange(riders), np.diff(made.offsets))
    cards = pa.array([f"{UNIT}{number}" for number in range(riders)])
    table = pa.table(
        {
            "who": cards.take(pa.array(rider)),
            "when": pa.array(np.arange(len(rider)) - made.offsets[rider]),
            "where": pa.array(made.universe.labels).take(pa.array(made.codes)),
        }
    )
    pq.write_table(table, folder / "rows.parquet", row_group_size=1 << 16)
    lines = ["location", *made.universe.labels]
    (folder / "stops.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


class ChargedRun:
    """``pathveil publish --dataset taps`` in a process group of its own, with a new ledger.

    Args:
        taps: a folder of `write_taps`.
        folder: an empty one, for all that it makes.
        options: more of them.
        spill: where to spill; else a new folder.
        env: variables to add.
    """

    def __init__(self, taps, folder, *options, spill=None, env=None):
        self.spill, self.out, self.ledger = folder / "spill", folder / "out", folder / "ledger.db"
        self.temporary = folder / "tmp"
        self.temporary.mkdir()
        if spill is None:
            self.spill.mkdir()
        else:
            self.spill = spill
        variables = environment(folder) | (env or {}) | {"TMPDIR": str(self.temporary)}
        subprocess.run(
            [sys.executable, "-m", "pathveil", "ledger", "init", "taps", "--limit", "3",
             "--ledger", self.ledger],
            check=True, capture_output=True, env=variables,
        )  # fmt: skip
        self.process = spawn(
            *("publish", taps / "rows.parquet", "--universe", taps / "stops.csv"),
            *("--unit-column", "who", "--order-column", "when", "--location-column", "where"),
            *("--epsilon", "1", "--height", "12", "--method", "full", "--out", self.out),
            *("--dataset", "taps", "--ledger", self.ledger, "--spill", self.spill, *options),
            env=variables,
            start_new_session=True,
        )

    def signal(self, number):
        """To all of the group, as a terminal does it."""
        os.killpg(self.process.pid, number)

    def finish(self, timeout=240):
        try:
            return finish(self.process, timeout)
        except subprocess.TimeoutExpired:
            self.signal(signal.SIGKILL)
            pytest.fail("the run hangs")

    def end(self):
        """If a test did not get that far."""
        if self.process.poll() is None:
            self.signal(signal.SIGKILL)
            self.process.communicate()

    def check_charged_for_nothing(self):
        """ε is charged once, nothing is published, and no raw data is left."""
        (payment,) = Ledger.open(str(self.ledger)).books().charges.values()
        assert payment.certificates == []
        assert not self.out.exists()
        wait_until(lambda: not list(self.spill.iterdir()), "the spill folder is not empty")
        assert holding(self.temporary, UNIT.encode()) == []

    def check_said(self, result, code):
        """And the message says so."""
        assert result.code == code, result
        assert "stays charged to 'taps', entry 2" in result.err
        assert "Traceback" not in result.err
        assert UNIT not in result.err


def files_in(folder):
    return [path for path in folder.rglob("*") if path.is_file()]


def holding(folder, text):
    """The files in which a text can be read."""
    return [path for path in files_in(folder) if text in path.read_bytes()]


def wait_until(is_so, problem, seconds=300):
    for _ in range(20 * seconds):
        if is_so():
            return
        time.sleep(0.05)
    pytest.fail(problem)


@contextmanager
def small_disk(folder, size):
    """A file system of its own that is soon full."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("only root can make a small disk here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)
