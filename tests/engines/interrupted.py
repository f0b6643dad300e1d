"""A charged run that does not end well, as users run it: what must be true afterwards."""

import os
import signal
import subprocess
import sys
import time
import zlib
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.commands import environment, finish, spawn

from pathveil import simulate_week
from pathveil.ledger.ledger import Ledger

PATHVEIL = ("-m", "pathveil")
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


def write_pairs(folder, riders=100_000, stops=2_000):
    """Trajectories of two visits, nearly all of them different: counting them takes room."""
    labels = [f"s{number}" for number in range(stops)]
    visits = np.random.default_rng(1).integers(0, stops, 2 * riders)  # noqa: TID251  (made up)
    starts = pa.array(np.arange(0, 2 * riders + 1, 2), pa.int32())
    where = pa.ListArray.from_arrays(starts, pa.array(labels).take(pa.array(visits)))
    who = pa.array([f"{UNIT}{number}" for number in range(riders)])
    pq.write_table(pa.table({"who": who, "where": where}), folder / "rows.parquet")
    lines = ["location", *labels]
    (folder / "stops.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def of_duckdb(spill):
    """DuckDB's own temporary files: sorted and grouped counts that did not fit into memory."""
    return [path for path in files_in(spill) if path.match("sorting/*.tmp")]


def looks_random(path):
    """Whether nothing can be said about a file's bytes: then it can't be made any smaller."""
    content = path.read_bytes()
    return len(zlib.compress(content)) > 0.99 * len(content)


class ChargedRun:
    """``pathveil publish --dataset taps`` in a process group of its own, with a new ledger.

    Args:
        taps: a folder of `write_taps`.
        folder: an empty one, for all that it makes.
        options: more of them; a later one counts.
        order: the column that orders the visits; None for lists.
        program: Python instead of the command, for one that is stopped at a chosen moment.
        spill: where to spill; else a new folder.
        env: variables to add.
    """

    def __init__(
        self, taps, folder, *options, spill=None, env=None, order="when", program=PATHVEIL
    ):
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
            *("--unit-column", "who", "--location-column", "where"),
            *(() if order is None else ("--order-column", order)),
            *("--epsilon", "1", "--height", "12", "--method", "full", "--out", self.out),
            *("--dataset", "taps", "--ledger", self.ledger, "--spill", self.spill, *options),
            program=program,
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
