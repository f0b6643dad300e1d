"""DuckDB under pressure: little memory, no disk, signals. Nothing raw may stay, ε stays charged."""

import errno
import shutil
import signal
import stat
import subprocess
import sys
import time
from contextlib import suppress

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.commands import environment, finish
from tests.engines.inputs import week
from tests.engines.interrupted import looks_random, of_duckdb, write_pairs

from pathveil import publish
from pathveil.errors import InputError, ParameterError
from pathveil.raw.engines import duckdb_counter, engine
from pathveil.raw.engines.batch_counter import BatchPrefixes
from pathveil.raw.engines.duckdb_counter import DuckDbCounter
from pathveil.raw.engines.engine import Engine
from pathveil.raw.engines.memory_size import parse_memory
from pathveil.raw.engines.protocol import Survivors
from pathveil.raw.engines.run_files import RunFiles
from pathveil.raw.reading_plan import Reading, ReadingPlan
from pathveil.raw.sources.opening import open_source
from pathveil.raw.spilling import spill_folder
from pathveil.universe.universe import Universe

READING = {"unit": "who", "order": "when", "location": "where"}


@pytest.fixture(scope="module")
def taps(tmp_path_factory):
    """A folder with rows.parquet (and universe.csv), and an empty folder to spill to."""
    folder = tmp_path_factory.mktemp("taps")
    table, stops = week(3000)
    pq.write_table(table, folder / "rows.parquet")
    lines = ["location", *stops.labels]
    (folder / "stops.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder, stops


@pytest.fixture
def spill(tmp_path):
    folder = tmp_path / "spill"
    folder.mkdir()
    return folder


def arguments(folder, spill, *more):
    return [
        "publish", str(folder / "rows.parquet"), "--universe", str(folder / "stops.csv"),
        "--unit-column", "who", "--order-column", "when", "--location-column", "where",
        "--epsilon", "1", "--height", "6", "--method", "full", "--engine", "duckdb",
        "--spill", str(spill), *more,
    ]  # fmt: skip


def test_the_spill_folder_is_private_and_goes(spill):
    with spill_folder(spill) as folder:
        (folder / "raw").write_text("someone")
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert folder.parent == spill
    assert list(spill.iterdir()) == []


def test_it_goes_after_a_failure_too(spill):
    with suppress(ZeroDivisionError), spill_folder(spill) as folder:
        (folder / "raw").write_text("someone")
        raise ZeroDivisionError
    assert list(spill.iterdir()) == []


SPILLING = """
import sys, time
from pathlib import Path
from pathveil.raw.spilling import spill_folder

with spill_folder(Path(sys.argv[1])) as folder:
    (folder / "raw").write_text("someone")
    print("there", flush=True)
    time.sleep(60)
"""


def test_it_goes_when_the_process_is_killed(spill):
    process = subprocess.Popen(
        [sys.executable, "-c", SPILLING, str(spill)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "there\n"
    assert len(list(spill.iterdir())) == 1
    process.kill()
    process.communicate()
    wait_until_empty(spill)


def wait_until_empty(folder):
    for _ in range(200):
        if not list(folder.iterdir()):
            return
        time.sleep(0.05)
    pytest.fail("the folder was not removed")


def test_a_folder_that_is_not_there_is_refused_before_the_charge(taps, tmp_path):
    folder, stops = taps

    class Untouched:
        def budget(self, **asked):
            return asked

        def charge(self, *_):
            pytest.fail("charged")

    with pytest.raises(ParameterError, match="spill"):
        publish(
            folder / "rows.parquet", epsilon="1", height=4, method="full", universe=stops,
            engine="duckdb", spill=tmp_path / "missing", ledger=Untouched(), **READING,
        )  # fmt: skip


NO_ROOM = """
import resource, signal, sys
from pathveil.cli import aftermath
from pathveil.cli.run import run

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
paid = aftermath.paid

def fill():  # before the charge it would be noticed, and cost nothing
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))
    paid()

aftermath.paid = fill
sys.exit(run(sys.argv[1:]))
"""


def test_a_full_disk_leaves_the_charge_and_nothing_raw(taps, spill, tmp_path):
    """Files may not grow beyond 64 KiB, so DuckDB can't write its tables."""
    folder, _ = taps
    ledger = tmp_path / "ledger.db"
    subprocess.run(
        [sys.executable, "-m", "pathveil", "ledger", "init", "taps", "--limit", "3", "--ledger",
         str(ledger)],
        check=True, capture_output=True, env=environment(tmp_path),
    )  # fmt: skip

    out = tmp_path / "out"
    wanted = arguments(folder, spill, "--dataset", "taps", "--ledger", str(ledger), "--out", out)
    process = subprocess.Popen(
        [sys.executable, "-c", NO_ROOM, *map(str, wanted)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(tmp_path),
    )  # fmt: skip
    result = finish(process)
    assert result.code == 2, result
    assert "charged" in result.err
    assert "--spill" in result.err
    assert not out.exists()
    assert list(spill.iterdir()) == []


def temporary_files_look_random(folder, spill):
    """Whether those of DuckDB do. When it has some is its own affair: not in every run."""
    found = (_in_one_run(folder, spill) for _ in range(20))
    return next(looks for looks in found if looks is not None)


def _in_one_run(folder, spill):
    """The same, while it counts with so little memory that it has some; None if it had none."""
    stops = Universe([f"s{number}" for number in range(2000)])
    source = open_source(folder / "rows.parquet")
    plan = ReadingPlan.of(source, stops, Reading(unit="who", location="where"))
    with DuckDbCounter(source, plan, 2, memory="256MB", spill=spill) as counter:
        prefixes = BatchPrefixes(counter)
        list(prefixes.count_children(Survivors.root()))
        everywhere = np.arange(len(stops), dtype=np.int32)
        below = prefixes.count_children(Survivors(np.zeros(len(stops), np.int64), everywhere))
        next(below)
        with suppress(FileNotFoundError):  # its threads go on, and may be done with a file
            made = of_duckdb(spill)
            if sum(path.stat().st_size for path in made) > 10**5:
                return all(map(looks_random, made))
    return None


def test_what_duckdb_spills_itself_is_encrypted(spill, tmp_path, monkeypatch):
    monkeypatch.setattr(duckdb_counter, "_SHARE", 0.1)
    write_pairs(tmp_path, 400_000)
    assert temporary_files_look_random(tmp_path, spill)
    bare = [
        text.replace("encryption = true", "encryption = false") for text in duckdb_counter._SETTINGS
    ]
    monkeypatch.setattr(duckdb_counter, "_SETTINGS", tuple(bare))
    assert not temporary_files_look_random(tmp_path, spill)


def test_duckdbs_file_can_not_be_opened_without_its_key(taps, spill, tmp_path):
    folder, stops = taps
    source = open_source(folder / "rows.parquet")
    plan = ReadingPlan.of(source, stops, Reading(unit="who", order="when", location="where"))
    with DuckDbCounter(source, plan, 2, spill=spill):
        (file,) = spill.glob("*/*.duckdb")
        copy = shutil.copy(file, tmp_path / "copy.duckdb")
    with pytest.raises(duckdb.Error, match=r"(?i)key|encrypt"):
        duckdb.connect(copy)


HELD = """
import sys, time
from pathveil.cli.run import run
from pathveil.raw.engines.batch_counter import BatchPrefixes
from pathveil.raw.engines.duckdb_counter import DuckDbCounter

def hold(*arguments):
    print("reached", flush=True)
    for _ in range(1200):
        time.sleep(0.05)

DuckDbCounter.count_tables = hold
sys.exit(run(sys.argv[1:]))
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_signal_while_counting(taps, spill, tmp_path, number):
    folder, _ = taps
    out = tmp_path / "out"
    process = subprocess.Popen(
        [sys.executable, "-c", HELD, *arguments(folder, spill, "--out", str(out))],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(tmp_path),
    )  # fmt: skip
    assert process.stdout.readline() == "reached\n"
    assert len(list(spill.iterdir())) == 1
    process.send_signal(number)
    result = finish(process)
    assert result.code == (130 if number == signal.SIGINT else -signal.SIGKILL)
    wait_until_empty(spill)
    assert not out.exists()


def test_a_damaged_file_is_told_in_the_words_of_reading(taps, tmp_path):
    folder, stops = taps
    whole = (folder / "rows.parquet").read_bytes()
    middle = len(whole) // 2
    (tmp_path / "rows.parquet").write_bytes(whole[:middle] + b"\xff" * 512 + whole[middle + 512 :])
    with pytest.raises(InputError, match=r"not a readable Parquet file|can't be read"):
        publish(
            tmp_path / "rows.parquet", epsilon="1", height=4, method="full", universe=stops,
            engine="duckdb", **READING,
        )  # fmt: skip


def test_a_disk_that_fills_while_a_file_is_split(taps, monkeypatch):
    folder, stops = taps

    def full(*_):
        raise OSError(errno.ENOSPC, "SECRET")

    monkeypatch.setattr(duckdb_counter, "_FILES_IN_MEMORY", 10**8)
    monkeypatch.setattr(RunFiles, "_split", full)
    with pytest.raises(InputError, match="name a larger folder with --spill") as caught:
        publish(
            folder / "rows.parquet", epsilon="1", height=4, method="full", universe=stops,
            engine="duckdb", **READING,
        )  # fmt: skip
    assert "SECRET" not in str(caught.value)


def chosen(source):
    return Engine.choose("auto", source).name


def test_auto_goes_by_the_size_of_the_files(taps, monkeypatch):
    folder, _ = taps
    path = folder / "rows.parquet"
    assert chosen(path) == "memory"
    monkeypatch.setattr(engine, "_SHARE", 1e-9)
    assert chosen(path) == "duckdb"
    assert chosen(str(folder)) == "duckdb"
    assert chosen(folder / "stops.csv") == "duckdb"
    assert chosen(pa.table({"who": [1]})) == "memory"
    assert chosen("postgresql://user@host/database") == "memory"
    assert chosen(folder / "missing.parquet") == "memory"
    monkeypatch.setattr(engine, "_has_duckdb", lambda: False)
    assert chosen(path) == "memory"


@pytest.mark.parametrize(
    ("text", "size"), [("500MB", 5 * 10**8), ("2gb", 2 * 10**9), ("0.5 TB", 5 * 10**11)]
)
def test_amounts_of_memory(text, size):
    assert parse_memory(text) == size


@pytest.mark.parametrize("text", ["2", "2GiB", "-1GB", "1MB", "GB", None, "1e3GB"])
def test_what_is_no_amount_of_memory(text):
    with pytest.raises(ParameterError):
        parse_memory(text)
