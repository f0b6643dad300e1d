"""A name that a command is given may be a pipe or a device: it is refused, not waited for.

A pipe that nobody writes to is waited for for ever, ``/dev/zero`` fills the memory, and a pipe with
rows in it (``<(zcat taps.csv.gz)``) is used up by the first look: ε was charged for nothing.
"""

import json
import os
import signal
from pathlib import Path

import pytest
from tests.commands import publish_arguments

TRAP = "trap.geojson"
LEDGER = ("--ledger", "ledger.db")
TIMED = {"order_column": None, "time_column": "tapped_at", "time_zone": "UTC"}
COMMANDS = {
    "universe": ["universe", TRAP],
    "universe of a run": publish_arguments(universe=TRAP),
    "feed": ["universe", f"gtfs:{TRAP}"],
    "codes": ["universe", f"codes:{TRAP}"],
    "area": ["universe", f"h3:7:{TRAP}"],
    "zones": publish_arguments(taxonomy=TRAP),
    "background": ["report", "release", "--background", TRAP, "--out", "page.html"],
    "words about it": publish_arguments(about=TRAP),
    "time grid": publish_arguments(**TIMED, time_grid=TRAP),
    "rows": publish_arguments(TRAP),
    "rows, for ε": [*publish_arguments(TRAP, dataset="taps", epsilon="1"), *LEDGER],
    "rows of DuckDB": publish_arguments(f"duckdb:{TRAP}", query="SELECT 1", engine="duckdb"),
    "rows of SQLite": publish_arguments(f"sqlite:{TRAP}", query="SELECT 1"),
    "rows to compare": ["evaluate", TRAP, "release", "--unit-column", "u", "--order-column", "o"],
    "private key": ["sign", "release", "--key", TRAP, "--signer", "City"],
    "public key": ["verify", "release", "--public-key", TRAP],
    "ledger to make": ["ledger", "init", "taps", "--limit", "2", "--ledger", TRAP],
    "ledger to read": ["ledger", "show", "taps", "--ledger", TRAP],
    "journal": ["ledger", "show", "taps", "--ledger", "beside.db"],
    "export": ["ledger", "import", TRAP, "--ledger", "new.db"],
    "export to check": ["ledger", "verify", "--export", TRAP],
    "witness to write": ["ledger", "witness", "--key", "key", "--to", TRAP, *LEDGER],
    "witness": ["ledger", "verify", "--witness", TRAP, "--public-key", "key.pub", *LEDGER],
}


@pytest.fixture(autouse=True)
def no_hang():
    """A command that waits must fail a test, not stop it."""

    def stop(_number, _frame):
        pytest.fail("a command waits")  # no error that a command would catch

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(300)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def trap(week, release, pathveil, kind):  # noqa: ARG001
    """A pipe or a link to a device, and all else that the commands need."""
    for name in ("ledger.db", "beside.db"):
        pathveil("ledger", "init", "taps", "--limit", "2", "--ledger", name)
    pathveil("keygen", "key")
    for name in (TRAP, "beside.db-journal"):
        os.mkfifo(name) if kind == "pipe" else Path(name).symlink_to("/dev/zero")
    return week


def what_it_takes(is_out_of_core):
    """Said beforehand: engine, passes, memory."""
    return ("Engine",) if is_out_of_core else ()


def spent(pathveil):
    (taps,) = json.loads(pathveil("ledger", "show", "--json", *LEDGER).out)["datasets"]
    return taps["spent"]


@pytest.mark.usefixtures("trap")
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_only_plain_files_are_opened(refuses, pathveil):
    said = {
        name: refuses(*arguments, says="", after=what_it_takes("duckdb" in arguments))
        for name, arguments in COMMANDS.items()
    }
    assert [name for name, message in said.items() if "plain file" not in message] == []
    assert spent(pathveil) == "0"


def test_rows_from_a_pipe_cost_nothing(week, refuses, pathveil):
    """They were charged for, and then their first line was gone."""
    pathveil("ledger", "init", "taps", "--limit", "9", *LEDGER)
    rows = Path("taps.csv").read_bytes()
    os.mkfifo("rows")
    pipe = os.open("rows", os.O_RDWR)
    os.write(pipe, rows[:4096])
    refuses(
        *publish_arguments("rows", dataset="taps"), *LEDGER, says="Can't read rows: it is a pipe"
    )
    os.close(pipe)
    assert spent(pathveil) == "0"
    assert not (week / "out").exists()


def test_a_pipe_among_the_files_of_a_folder_costs_nothing(week, refuses, pathveil):
    """It was waited for, with ε charged."""
    import pyarrow.csv
    import pyarrow.parquet

    pathveil("ledger", "init", "taps", "--limit", "9", *LEDGER)
    folder = week / "rows" / "card_id=7"
    folder.mkdir(parents=True)
    pyarrow.parquet.write_table(pyarrow.csv.read_csv("taps.csv"), week / "rows" / "a.parquet")
    os.mkfifo(folder / "b.parquet")
    for engine in ("memory", "duckdb"):
        said = refuses(
            *publish_arguments("rows", dataset="taps", engine=engine), *LEDGER,
            says="A file of rows is a pipe or a device, not a plain file.",
            after=what_it_takes(engine == "duckdb"),
        )  # fmt: skip
        assert "card_id=7" not in said  # a folder's name is a person's
    assert spent(pathveil) == "0"
    assert not (week / "out").exists()
