"""Any command line at all: no traceback, no partial output, no charge that is not told.

Flags come from what the commands themselves declare, so that a new one is tried too; values are
sensible, at a boundary, or garbage. Sensible ones dominate: a line that is refused at its first
word tests nothing behind it.
"""

import json
import os
import shutil
import sqlite3
import sys
from contextlib import closing, contextmanager
from pathlib import Path

import pyarrow.csv
import pyarrow.parquet as pq
import pytest
import typer
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.commands import Result, every_command

import pathveil as pv
from pathveil.cli.app import app
from pathveil.cli.run import run
from pathveil.explorer import server
from pathveil.ledger.export import exported
from pathveil.promise.signing_keys import make_keys, read_private_key
from pathveil.release.signature import Signer, sign_bundle

COMMANDS = every_command(typer.main.get_command(app))
UNDER_WAY = ".pathveil-"  # what a folder is called until it is whole

BUNDLES = ("plain", "timed", "calibrated")
ODD_PATHS = (
    *("", ".", "..", "~", "a\0b", "nowhere/there", "stops.csv/x", "/proc/nowhere", "-", "taken"),
    *("x" * 300, "new/" + "x" * 300, "dangling", "[bold]x[/]", "\udcff", "file:x", "a b"),
)
GARBAGE = (
    *("", " ", "0", "-1", "1", "2", "nan", "inf", "1e400", "1/0", "9" * 30, "0x1", "½", "true"),
    *("auto", "\udcff", "a\0b", "[bold]", "%s", "--json", "--", "-", "\x1b[31m", "day", "x" * 600),
)
NUMBERS = ("1", "2", "3", "10", "0", "-1", "2147483648", "9" * 20, "1.5", "ten")
BUDGETS = ("1", "4", "1/2", "0.25", "100", "1e-30", "101", "0", "-1", "1/0")
COLUMN_NAMES = ("card", "trip", "when", "at", "stop", "lat", "lon", "Card", "")
NEW_FILES = ("out", "new/out", "out.csv", "out.geojson", "out.xes", "out.html", *ODD_PATHS)
UNIVERSES = (
    *("stops.csv", "codes:1..5", "grid:3x4:45.4,-73.9,45.7,-73.5", "h3:5:45.4,-73.9,45.7,-73.5"),
    *("gtfs:stops.csv", "discover", "taps.csv", "codes:", "grid:0x0:", "h3:99:x", "codes:9..1"),
)
LEDGERS = (
    *("ledger.db", "ledger.db", "new.db", "new/deep/new.db", "stops.csv", "plain", "mysql://x"),
    *("postgresql://127.0.0.1:1/x", "new/" + "x" * 300, "stops.csv/x", "a\0b", "empty"),
)
SOURCES = (
    *("taps.csv", "taps.parquet", "taps.csv", "taps.parquet", "stops.csv", "ledger.db", "empty"),
    *("nowhere.csv", "sqlite:ledger.db", "duckdb:taps.csv", "postgresql://127.0.0.1:1/x"),
)
POOLS = {
    "directory": (*BUNDLES * 3, "stops.csv", "taken", *ODD_PATHS),
    "other": (*BUNDLES, "stops.csv", "taken", *ODD_PATHS),
    "where": UNIVERSES,
    "source": (*SOURCES, *ODD_PATHS),
    "universe": ("stops.csv", *UNIVERSES, *ODD_PATHS),
    "taxonomy": ("zones.csv", "parent:1", "gtfs:stops.csv", "grid:1x1:0,0,1,1", *ODD_PATHS),
    "out": NEW_FILES,
    "keyfile": ("new.key", "city.key", *ODD_PATHS),
    "key": ("city.key", "city.key.pub", "stops.csv", *ODD_PATHS),
    "sign_key": ("city.key", "city.key.pub", *ODD_PATHS),
    "public_key": ("city.key.pub", "city.key", *ODD_PATHS),
    "file": ("export.json", "stops.csv", *ODD_PATHS),
    "export": ("export.json", "stops.csv", *ODD_PATHS),
    "ledger": LEDGERS,
    "epsilon": BUDGETS,
    "epsilon_per_trip": BUDGETS,
    "limit": BUDGETS,
    "delta": ("1e-9", "1/1000", "0", "1", "-1"),
    "delta_limit": ("1e-8", "0", "1", "x"),
    "height": ("3", "1", "auto", "0", "1000", "1001", "2.5"),
    "method": ("full", "basic", "calibrated", "magic"),
    "threshold": ("auto", "paper", "3", "0", "9" * 30),
    "max_nodes": ("1000000", "1", "0", "-1"),
    "max_trajectories_per_unit": ("1", "2", "5", "0", "1000000", "1000001"),
    "universe_size": ("5", "1012", "0", "9" * 400, "2147483648"),
    "split": ("none", "day", "week", "gap:30min", "gap:0s", "gap:"),
    "repeats": ("auto", "keep", "collapse", "x"),
    "keep": ("first", "random", "sample", "x"),
    "time_column": ("at", "when", "stop"),
    "time_grid": ("1h", "weekday-hour", "slots.csv", "7h", "0h", "stops.csv", *ODD_PATHS),
    "time_zone": ("UTC", "America/Montreal", "Mars/Base", "../etc/passwd", "a\0b"),
    "between": ("07:00-10:00", "00:00-24:00", "Mon 07:00-Mon 08:00", "10:00-10:00", "-", "x"),
    "query": ("SELECT * FROM pathveil_ledger", "DROP TABLE x", "SELECT 1; SELECT 2"),
    "table": ("pathveil_ledger", "nothing", 'a"b'),
    "dataset": ("taps", "taps", "other", "../x", "a b"),
    "population": ("north", "south", "nowhere"),
    "name": ("taps", "new-one", "Taps of a week", "a b"),
    "per": ("year", "day", "fortnight"),
    "signer": ("City Transit", "x" * 201, "a\nb"),
    "kind": ("csv", "parquet", "geojson", "geoparquet", "xes", "doc"),
    "names": ("pathveil", "scikit-mobility", "movingpandas", "gtfs", "x"),
    "flows": ("transitions", "origin-destination", "x"),
    "locations": ("S1", "S2", "S3@07:00-10:00", "S1@", "nowhere", "@"),
    "date": ("2026-03-01", "2026-02-30", "tomorrow"),
    "k": NUMBERS,
    "patterns": NUMBERS,
    "min_length": NUMBERS,
    "max_length": NUMBERS,
    "queries": ("40", "1", "0", "-1"),
    "seed": ("0", "7", "-1", "9" * 30),
    "riders": ("1", "50", "0", "-1", "x"),
    "stops": ("1", "5", "0", "-1", "2147483648"),
    "trajectories": ("200", "1", "0", "-1", "9" * 20, "x"),
    "length": ("3", "1", "0.5", "1e400", "nan", "x"),
    "expect_head": ("0" * 64, "x", ""),
}
WHERE_IS_LEDGER = "where"  # the ledger commands call their option --ledger so

# What would take long with its defaults is always given a small value.
SMALL = {
    "demo": {"riders": POOLS["riders"], "stops": POOLS["stops"][:4]},
    "simulate": {"riders": POOLS["riders"], "stops": POOLS["stops"][:4]},
    "evaluate": {"queries": POOLS["queries"], "patterns": ("5", "0", "-1", "x")},
    "audit": {"runs": ("64", "63", "x"), "height": ("0", "13", "1"), "method": ("magic", "")},
    "reproduce": {"dataset": ("nowhere.csv", "magic", "", "plain", "a\0b"), "workers": ("1", "0")},
}


# What makes a line work; most lines have it, and differ elsewhere.
READS = {"source": "taps.csv", "unit_column": "card", "location_column": "stop"}
USUAL = {
    "publish": {**READS, "order_column": "when", "universe": "stops.csv", "epsilon": "1"}
    | {"height": "3", "out": "out", "dataset": "taps", "ledger": "ledger.db"},
    "evaluate": {**READS, "order_column": "when", "directory": "plain", "out": "out"},
    "plan": {"epsilon": "1", "height": "3", "universe_size": "5"},
    "explain": {"directory": "plain"},
    "count": {"directory": "plain", "locations": "S1"},
    "export": {"directory": "timed", "out": "out.csv"},
    "sign": {"directory": "plain", "key": "city.key", "signer": "City Transit"},
    "registry": {"directory": "plain", "name": "Taps", "curator": "City", "region": "Here"}
    | {"intended_use": "Planning", "date": "2026-03-01", "author": "Me"},
    "ledger init": {"where": "ledger.db", "limit": "4", "name": "new-one"},
    "ledger amend": {"where": "ledger.db", "name": "taps"},
    "ledger import": {"file": "export.json", "where": "new.db"},
}


def value_of(command, parameter):
    """Texts for one parameter: mostly from its own pool, at times anything."""
    name = parameter.name
    if name in SMALL.get(command, {}):
        return st.sampled_from(SMALL[command][name])
    if name.endswith("_column") and name not in POOLS:
        pool = COLUMN_NAMES
    elif name == WHERE_IS_LEDGER and command.startswith("ledger"):
        pool = LEDGERS
    else:
        pool = POOLS.get(name, GARBAGE)
    usual = USUAL.get(command, {}).get(name, pool[0])
    anything = st.sampled_from(GARBAGE) | st.text(max_size=12)
    choices = [anything, *[st.sampled_from(pool)] * 4, *[st.just(usual)] * 15]
    return st.integers(0, len(choices) - 1).flatmap(choices.__getitem__)


@st.composite
def lines(draw, command):
    """The arguments of one command: a line that works with few changes, or many at once."""
    parameters = {parameter.name: parameter for parameter in COMMANDS[command].params}
    usual, always = USUAL.get(command, {}), SMALL.get(command, {})
    needed = {name for name, parameter in parameters.items() if parameter.required}
    names = [*parameters]
    if draw(st.integers(0, 2)):
        changed = draw(st.sets(st.sampled_from(names), max_size=3))
        given_names = (needed | usual.keys() | always.keys() | changed) & parameters.keys()
        missing = set()
    else:
        changed = set(names)
        given_names = draw(st.sets(st.sampled_from(names), max_size=12)) | always.keys()
        missing = draw(st.sets(st.sampled_from(names), max_size=1)) - always.keys()
        given_names |= needed
    options, positional = [], []
    for name in (name for name in names if name in given_names - missing):
        parameter = parameters[name]
        is_usual = name in usual and name not in changed
        times = draw(st.integers(1, 3)) if parameter.nargs == -1 or parameter.multiple else 1
        one = st.just(usual[name]) if is_usual else value_of(command, parameter)
        values = [draw(one) for _ in range(times)]
        if parameter.param_type_name == "argument":
            positional += values
        elif parameter.is_flag:
            options.append(parameter.opts[0])
        else:
            flag = draw(st.sampled_from(parameter.opts))
            options += [text for value in values for text in (flag, value)]
    strays = draw(st.sampled_from([*[[]] * 12, ["--nonsense"], ["stray"], ["--help"]]))
    # A dash at its front makes an argument an option, as it does in a shell.
    return [*command.split(), *positional, *options, *strays]


@pytest.fixture(scope="session")
def stock(tmp_path_factory):
    """Small files of every kind that a command can be given."""
    home = tmp_path_factory.mktemp("stock")
    rows = [
        f"c{unit},t{unit % 2},{step},2024-03-0{1 + step}T0{7 + step}:15,S{1 + (unit + step) % 3},"
        f"45.5{unit % 9},-73.{60 + step}"
        for unit in range(60)
        for step in range(3)
    ]
    (home / "taps.csv").write_text("card,trip,when,at,stop,lat,lon\n" + "\n".join(rows) + "\n")
    pq.write_table(pyarrow.csv.read_csv(home / "taps.csv"), home / "taps.parquet")
    (home / "stops.csv").write_text("location,lat,lon\nS1,45.5,-73.6\nS2,45.6,-73.7\nS3,,\n")
    (home / "zones.csv").write_text("location,zone\nS1,a\nS2,a\nS3,b\n")
    (home / "slots.csv").write_text("start,end\n07:00,10:00\n12:00,24:00\n")
    (home / "empty").touch()
    (home / "dangling").symlink_to("no-such-place")
    (home / "taken").mkdir()
    (home / "taken" / "file").touch()
    make_keys(home / "city.key")
    _make_ledger(home)
    _make_bundles(home)
    return home


def _make_ledger(home):
    ledger = pv.Ledger.open(home / "ledger.db")
    ledger.init("taps", "9", per="year", populations=["north", "south"], delta_limit="1e-6")
    (home / "export.json").write_text(json.dumps(exported(ledger.chain())))


def _make_bundles(home):
    universe = pv.Universe.read(home / "stops.csv")
    columns = {"unit": "card", "location": "stop"}
    plain = pv.read_trajectories(home / "taps.csv", universe, order="when", **columns)
    grid = pv.TimeGrid.parse("1h")
    timed = pv.read_trajectories(home / "taps.csv", universe, time="at", time_grid=grid, **columns)
    choices = {"epsilon": "9", "height": 3}
    charge = pv.Ledger.open(home / "ledger.db").dataset("taps")
    pv.publish(plain, epsilon="2", height=3, ledger=charge).write(home / "plain", csv=True)
    pv.publish(timed, **choices).write(home / "timed")
    pv.publish(plain, method="calibrated", **choices).write(home / "calibrated")
    signer = Signer("City Transit", read_private_key(home / "city.key"))
    sign_bundle(home / "calibrated", signer, pv.read_release)


def contents(folder):
    """Everything below a folder, by path; of a ledger its entries, whatever its pages."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink() or path.is_dir():
            found[name] = path.readlink() if path.is_symlink() else "folder"
        elif path.suffix == ".db":
            found[name] = entries(path)
        else:
            found[name] = path.read_bytes()
    return found


def entries(path):
    with closing(sqlite3.connect(f"file:{path}?immutable=1", uri=True)) as connection:
        return connection.execute("SELECT number, entry FROM pathveil_ledger").fetchall()


@contextmanager
def caught(beside):
    """Standard output and error in files: the command line may close what it writes to."""
    kept = sys.stdout, sys.stderr
    # As Python opens them: what can't be encoded is escaped in messages.
    out, err = (beside / "out").open("w"), (beside / "err").open("w", errors="backslashreplace")
    with out, err:
        sys.stdout, sys.stderr = out, err
        try:
            yield
        finally:
            sys.stdout, sys.stderr = kept


class Bench:
    """A working folder that is set up anew when a command changed it."""

    def __init__(self, stock, folder, beside):
        self._stock, self.folder, self._beside = stock, folder, beside
        self._restore()

    def _restore(self):
        os.chdir(self.folder.parent)
        for place in self.folder.parent.iterdir():  # where it works, its home, its temporary files
            if place.is_dir():
                shutil.rmtree(place)
                place.mkdir()
            else:  # what was written to ".."
                place.unlink()
        shutil.copytree(self._stock, self.folder, symlinks=True, dirs_exist_ok=True)
        os.chdir(self.folder)
        self.before = contents(self.folder.parent)

    def run(self, arguments):
        """Run a command: what it said, and all that was there before and after."""
        before = self.before
        with caught(self._beside):
            code = run(arguments)
        out, err = ((self._beside / name).read_text(errors="replace") for name in ("out", "err"))
        after = contents(self.folder.parent)
        if after != before:
            self._restore()
        return Result(code, out, err), before, after


def serve_nobody(releases, listener, started):
    started()
    listener.close()
    for indexed in releases:
        indexed.mining.stop()


@pytest.fixture
def bench(stock, folder, tmp_path_factory, pathveil, monkeypatch):  # noqa: ARG001  (puts the signals back)
    # The explorer ends as soon as it has begun, and nothing opens a browser.
    monkeypatch.setattr(server, "serve", serve_nobody)
    monkeypatch.setattr("webbrowser.open", lambda _address: True)
    return Bench(stock, folder, tmp_path_factory.mktemp("said"))


def asks_for_json(arguments):
    """Whether --json is an option here; after another option it may be that one's value."""
    before = ["", *arguments]
    return any(
        word == "--json" and not previous.startswith("-")
        for previous, word in zip(before, arguments, strict=False)
    )


def check(bench, arguments):
    """What holds for every command line."""
    result, before, after = bench.run(arguments)
    assert result.code in (0, 2), (arguments, result)
    for said in (result.out, result.err):
        assert "Traceback" not in said, (arguments, result)
        assert "unexpectedly" not in said, (arguments, result)
    assert not any(Path(name).name.startswith(UNDER_WAY) for name in after), arguments
    if result.code == 0:
        if asks_for_json(arguments) and "--help" not in arguments:
            json.loads(result.out)
        return
    assert "error: " in result.err, (arguments, result)
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    told = "stays charged" in result.err or "whole and paid for" in result.err
    allowed = {"work/ledger.db"} if told else set()
    assert changed == allowed, (arguments, result, changed)


def explored(examples):
    return settings(
        max_examples=examples,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
        deadline=None,
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_line_ends_in_a_traceback_or_a_partial_output(bench, command):
    @explored(15)
    @given(lines(command))
    def holds(arguments):
        check(bench, arguments)

    holds()


@pytest.mark.long
@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_line_of_many_ends_in_a_traceback_or_a_partial_output(bench, command):
    @explored(600)
    @given(lines(command))
    def holds(arguments):
        check(bench, arguments)

    holds()
