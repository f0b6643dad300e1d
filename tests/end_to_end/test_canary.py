"""The canary: a distinctive record appears in nothing that any command writes, prints or logs.

The record is planted in the raw data; then every command runs, and commands that fail at it run
too, and every byte of their output, of their files (Parquet is decoded first) and of their
temporary and home folders is searched for it.
"""

import sys
import traceback
from threading import Thread

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typer
from tests.commands import every_command
from tests.explorer.watching import look_and_stop

import pathveil as pv
from pathveil.cli.app import app
from pathveil.raw.engines import engine

UNIT, TRIP, PLACE = "zq7unit4711", "zq7trip8842", "zq7place9953"
TIME = "2031-07-19T03:14:15.926535"
CANARY = (UNIT, TRIP, PLACE, TIME, "2031-07-19", "926535")

HEADER = "card,trip,when,stop"
OTHERS = [
    f"c{card},t1,2024-01-01T0{hour}:00:00,S{1 + (card + hour) % 3}"
    for card in range(150)
    for hour in (1, 2)
]
RECORD = f"{UNIT},{TRIP},{TIME},{PLACE}"
INSIDE = f"{UNIT},{TRIP},{TIME},S1"  # the same person where the universe is
COLUMNS = [
    *("--unit-column", "card", "--trajectory-column", "trip"),
    *("--order-column", "when", "--location-column", "stop"),
]
PRIVACY = ["--epsilon", "3", "--height", "3"]


@pytest.fixture
def raw(folder):
    """A folder with the raw data, which is not searched, and the public universe beside it."""
    raw = folder / "raw"
    raw.mkdir()
    (folder / "stops.csv").write_text("location\nS1\nS2\nS3\n")
    (folder / "zones.csv").write_text("location,zone\nS1,A\nS2,A\nS3,B\n")
    lines = [HEADER, *OTHERS[:100], RECORD, INSIDE, *OTHERS[100:]]
    (raw / "taps.csv").write_text("\n".join(lines) + "\n")
    names = HEADER.split(",")
    columns = zip(*(line.split(",") for line in lines[1:]), strict=True)
    pq.write_table(
        pa.table(dict(zip(names, map(list, columns), strict=True))), raw / "taps.parquet"
    )
    return raw


def revealed(text):
    """Which parts of the record a text holds."""
    content = text if isinstance(text, bytes) else text.encode()
    return [part for part in CANARY if part.encode() in content]


def left_behind(raw):
    """All that stands in the test's folders, names included, except the raw data itself."""
    for path in sorted(raw.parent.parent.rglob("*")):
        if path == raw or raw in path.parents:
            continue
        yield path, path.name.encode()
        if path.is_file():
            yield path, path.read_bytes()
            if path.suffix == ".parquet":
                table = pq.read_table(path)
                yield path, f"{table.to_pydict()} {table.schema.metadata}".encode()


@pytest.fixture
def silent(pathveil, raw, caplog):
    """Run a command that may see the record; assert that nothing of it comes out."""

    def call(*arguments, codes):
        result = pathveil(*arguments)
        assert result.code in codes, result
        assert revealed(result.out) == []
        assert revealed(result.err) == []
        assert revealed(caplog.text) == []
        for path, content in left_behind(raw):
            assert revealed(content) == [], path
        return result

    return call


CHARGED = ["--ledger", "ledger.db", "--dataset", "taps"]


def publish(source, out="out", *more):
    return ["publish", source, "--universe", "stops.csv", *COLUMNS, *PRIVACY, "--out", out, *more]


def commands_that_exist():
    return set(every_command(typer.main.get_command(app)))


EVERY_COMMAND = {
    "demo": ["demo", "--riders", "200", "--stops", "5", "--out", "demo"],
    "simulate": ["simulate", "--riders", "20", "--stops", "5", "--out", "week"],
    "plan": [
        *("plan", "--universe", "stops.csv", *PRIVACY, "--trajectories", "300"),
        *("--out", "plan.html"),
    ],
    "universe": ["universe", "stops.csv", "--out", "same-stops.csv"],
    "publish": publish("raw/taps.parquet", "other", "--csv", "--json"),
    "verify": ["verify", "out", "--ledger", "ledger.db"],
    "count": ["count", "out", "S1"],
    "patterns": ["patterns", "out"],
    "flows": ["flows", "out", "--all"],
    "compare": ["compare", "out", "out", "S1"],
    "export": ["export", "out", "--out", "visits.xes"],
    "report": ["report", "out", "--out", "page.html"],
    "ledger init": ["ledger", "init", "other", "--limit", "1", *CHARGED[:2]],
    "ledger amend": ["ledger", "amend", "taps", "--limit", "9", *CHARGED[:2]],
    "ledger require": ["ledger", "require", "--reason", "tried", *CHARGED[:2]],
    "ledger series": [
        *("ledger", "series", "all", "--dataset", "taps", "--releases", "2", "--epsilon", "1"),
        *CHARGED[:2],
    ],
    "ledger withdraw": ["ledger", "withdraw", "out", "--reason", "tried", *CHARGED[:2]],
    "ledger correct": ["ledger", "correct", "2", "--by", "5", "--reason", "tried", *CHARGED[:2]],
    "ledger show": ["ledger", "show", *CHARGED[:2]],
    "ledger history": ["ledger", "history", "--json", *CHARGED[:2]],
    "ledger verify": ["ledger", "verify", *CHARGED[:2]],
    "ledger export": ["ledger", "export", "--out", "ledger.json", *CHARGED[:2]],
    "ledger import": ["ledger", "import", "export.json", "--ledger", "moved.db"],
    "ledger witness": [
        *("ledger", "witness", "--key", "city.key", "--to", "witness.jsonl", *CHARGED[:2]),
    ],
    "explain": ["explain", "out"],
    "explore": ["explore", "out", "--no-open", "--port", "0"],
    "keygen": ["keygen", "new.key"],
    "sign": ["sign", "out", "--key", "city.key", "--signer", "City Transit"],
    "registry": [
        *("registry", "out", "--name", "Taps", "--curator", "City", "--intended-use", "Planning"),
        *("--region", "Here", "--date", "2026-03-01", "--author", "Me"),
    ],
    "audit": ["audit", "--runs", "64", "--method", "full", "--height", "1", "--out", "audit.html"],
    # Their figures are exact, but even they do not name a person's record.
    "evaluate": ["evaluate", "raw/taps.csv", "out", *COLUMNS, "--queries", "40"],
    "reproduce": [
        *("reproduce", "--dataset", "raw/taps.csv", "--universe", "stops.csv", *COLUMNS),
        *("--runs", "1", "--quick", "--queries", "40", "--workers", "1", "--out", "results"),
    ],
}


def test_every_command_is_here():
    assert commands_that_exist() == set(EVERY_COMMAND)


@pytest.mark.parametrize("name", EVERY_COMMAND)
@pytest.mark.usefixtures("raw")
def test_no_command_lets_the_record_out(silent, name, monkeypatch):
    seen = look_and_stop(monkeypatch)  # of the explorer, which does not end by itself
    silent("ledger", "init", "taps", "--limit", "9", *CHARGED[:2], codes=[0])
    silent(*publish("raw/taps.csv", "out", "--csv", "--verbose", *CHARGED), codes=[0])
    if name == "ledger correct":
        silent(*publish("raw/taps.csv", "again", *CHARGED), codes=[0])
    silent("ledger", "export", "--out", "export.json", *CHARGED[:2], codes=[0])
    silent("keygen", "city.key", codes=[0])
    silent(*EVERY_COMMAND[name], "--verbose", codes=[0])
    assert revealed(" ".join(seen)) == []
    assert bool(seen) == (name == "explore")


UNKNOWN = [*COLUMNS, "--universe", "discover", "--delta", "1e-9", "--epsilon", "20"]
FULL = ["--method", "full"]
OTHER_WAYS = {
    "a discovered universe": [*UNKNOWN, "--height", "auto"],
    "a discovered universe, calibrated": [*UNKNOWN, "--height", "3", "--method", "calibrated"],
    "a discovered universe that nobody reaches": [*UNKNOWN, "--epsilon", "1", "--height", "2"],
    "a sample of trips": [
        *COLUMNS, "--universe", "stops.csv", "--epsilon-per-trip", "1", "-c", "3",
        "--keep", "sample", "--height", "auto",
    ],
    "zones": [*COLUMNS, "--universe", "stops.csv", "--taxonomy", "zones.csv", *PRIVACY, *FULL],
    "out of core": [*COLUMNS, "--universe", "stops.csv", *PRIVACY, *FULL, "--engine", "duckdb"],
    "whole histories": [
        *COLUMNS[:2], *COLUMNS[4:], "--universe", "stops.csv", *PRIVACY, "--split", "whole",
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", OTHER_WAYS)
@pytest.mark.usefixtures("raw")
def test_no_way_of_choosing_from_the_data_lets_the_record_out(silent, name):
    code = 2 if "nobody" in name else 0
    silent("publish", "raw/taps.csv", *OTHER_WAYS[name], "--out", "out", "--csv", codes=[code])
    if code == 0:
        silent("explain", "out", codes=[0])


@pytest.mark.usefixtures("silent")
def test_the_search_finds_a_record_that_is_released(raw, pathveil):
    """The test can fail: with the record in the universe and the data, publishing shows it."""
    (raw.parent / "stops.csv").write_text(f"location\nS1\n{PLACE}\n")
    assert pathveil(*publish("raw/taps.csv")).code == 0
    found = {path.name for path, content in left_behind(raw) if revealed(content)}
    assert {"locations.csv", "stops.csv"} <= found


BAD_ROWS = {
    "an order that is none": f"{UNIT},{TRIP},{TIME}?,{PLACE}".encode(),
    "an order in the unit": f"{TIME},{TRIP},{UNIT},{PLACE}".encode(),
    "no order": f"{UNIT},{TRIP},,{PLACE}".encode(),
    "no unit": f",{TRIP},{TIME},{PLACE}".encode(),
    "no location": f"{UNIT},{TRIP},{TIME},".encode(),
    "too few cells": f"{UNIT},{PLACE}".encode(),
    "too many cells": f"{RECORD},{RECORD}".encode(),
    "an open quote": f'"{RECORD}'.encode(),
    "a quote inside": f'{UNIT}",{TRIP},{TIME},"{PLACE}'.encode(),
    "a unit that is not UTF-8": RECORD.encode().replace(b"zq7unit4711", b"zq7unit4711\xff"),
    "a place that is not UTF-8": RECORD.encode().replace(b"zq7place", b"\xffzq7place"),
    "a NUL": RECORD.encode().replace(b",2031", b",\x002031"),
    "a line of 3 MB": RECORD.encode() + b"x" * 3_000_000,
    "a formula": f"=cmd|{UNIT},{TRIP},{TIME},={PLACE}".encode(),
    "markup": f"[bold]{UNIT}[/],{TRIP},{TIME},<b>{PLACE}".encode(),
}


@pytest.mark.parametrize("name", BAD_ROWS)
def test_a_malformed_record_is_dropped_in_silence(raw, silent, name):
    with (raw / "taps.csv").open("ab") as file:
        file.write(BAD_ROWS[name] + b"\n")
    silent(*publish("raw/taps.csv", "out", "--csv"), codes=[0])


def lose_header(raw):
    (raw / "taps.csv").write_text("\n".join([RECORD, INSIDE, *OTHERS]))


def as_utf_16(raw):
    (raw / "taps.csv").write_bytes((raw / "taps.csv").read_text().encode("utf-16-le"))


def only_the_record(raw):
    (raw / "taps.csv").write_text(RECORD)


def record_in_front(raw):
    (raw / "taps.csv").write_bytes(RECORD.encode() + b"\xff\n" + (raw / "taps.csv").read_bytes())


REFUSED_FILES = {
    "no header": lose_header,
    "UTF-16": as_utf_16,
    "nothing but the record": only_the_record,
    "a damaged first line": record_in_front,
}


@pytest.mark.parametrize("name", REFUSED_FILES)
@pytest.mark.parametrize("columns", [COLUMNS, ["--unit-column", "card"], []])
def test_a_file_that_is_refused_is_not_quoted(raw, silent, name, columns):
    REFUSED_FILES[name](raw)
    options = ["--universe", "stops.csv", *columns, *PRIVACY, "--out", "out"]
    silent("publish", "raw/taps.csv", *options, codes=[2])


def as_columns(**changes):
    columns = {
        "card": ["c1", UNIT],
        "trip": ["t", TRIP],
        "when": ["1", TIME],
        "stop": ["S1", PLACE],
    }
    return pa.table(columns | changes)


REFUSED_TABLES = {
    "a struct of locations": as_columns(stop=[{"x": "S1"}, {"x": PLACE}]),
    "lists of structs": as_columns(stop=[[{"x": "S1"}], [{"x": PLACE}]]),
    "lists of units": as_columns(card=[["c1"], [UNIT]]),
    "structs of orders": as_columns(when=[{"x": "1"}, {"x": TIME}]),
    "maps of trips": as_columns(
        trip=pa.array([[("a", "t")], [("b", TRIP)]], pa.map_(pa.string(), pa.string()))
    ),
}


@pytest.mark.parametrize("name", REFUSED_TABLES)
def test_a_table_that_is_refused_is_not_quoted(raw, silent, name):
    pq.write_table(REFUSED_TABLES[name], raw / "taps.parquet", compression="none")
    silent(*publish("raw/taps.parquet"), codes=[2])


@pytest.mark.parametrize("cut", [8, 200, 1200])
def test_a_truncated_file_is_not_quoted(raw, silent, cut):
    pq.write_table(as_columns(), raw / "taps.parquet", compression="none")
    content = (raw / "taps.parquet").read_bytes()
    (raw / "taps.parquet").write_bytes(content[:cut])
    silent(*publish("raw/taps.parquet"), codes=[2])
    (raw / "taps.parquet").write_bytes(content[:40] + bytes(160) + content[200:])
    silent(*publish("raw/taps.parquet"), codes=[2])


MISTAKES = {
    "the data as a stop list": ["plan", "--universe", "gtfs:raw/taps.csv", *PRIVACY],
    "the data as a polygon": ["plan", "--universe", "h3:5:raw/taps.csv", *PRIVACY],
    "the data as a code list": ["universe", "codes:raw/taps.parquet"],
    "times that can't be split": [*publish("raw/taps.csv"), "--split", "day"],
    "the data as the universe": ["plan", "--universe", "raw/taps.csv", *PRIVACY],
    "Parquet data as the universe": ["plan", "--universe", "raw/taps.parquet", *PRIVACY],
    "the data as a bundle": ["verify", "raw/taps.csv"],
    "the raw folder as a bundle": ["verify", "raw"],
    "an unknown unit column": [*publish("raw/taps.csv"), "--unit-column", "person"],
    "no threshold": [*publish("raw/taps.csv"), "--threshold", "0"],
    "a taken place": publish("raw/taps.csv", "raw"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_on_the_command_line_does_not_show_the_data(silent, name):
    silent(*MISTAKES[name], codes=[2])


def test_the_data_as_the_universe_by_location_is_not_quoted(raw, silent):
    (raw / "stops.csv").write_text(f"location\n{PLACE}\n{PLACE}\n")
    silent("plan", "--universe", "raw/stops.csv", *PRIVACY, codes=[2])


class PanicException(BaseException):
    """No Exception, as PyO3's."""


@pytest.mark.parametrize("kind", [LookupError, PanicException])
def test_a_bug_of_ours_does_not_show_the_data(silent, monkeypatch, kind):
    def broken(*_arguments, **_options):
        raise kind(RECORD)

    monkeypatch.setattr(engine, "read", broken)
    result = silent(*publish("raw/taps.csv"), codes=[70])
    assert kind.__name__ in result.err


def test_a_library_that_panics_for_want_of_memory_prints_no_traceback(silent, monkeypatch):
    """As PyO3 does where an object can't be made: the error is printed, and it panics."""

    def broken(*_arguments, **_options):
        sys.excepthook(MemoryError, MemoryError(RECORD), None)  # all that PyErr_Print does
        raise PanicException(RECORD)

    monkeypatch.setattr(engine, "read", broken)
    result = silent(*publish("raw/taps.csv"), codes=[2])
    assert "Out of memory" in result.err
    assert "Traceback" not in result.err


class Unlucky:
    def __del__(self):
        raise MemoryError(RECORD)


def unlucky():
    raise MemoryError(RECORD)


@pytest.mark.parametrize("place", ["a destructor", "a thread"])
def test_an_error_that_nobody_can_catch_prints_no_traceback(silent, monkeypatch, place):
    """It goes to nobody, and Python would print it."""

    def broken(*_arguments, **_options):
        if place == "a destructor":
            Unlucky()
        else:
            thread = Thread(target=unlucky)
            thread.start()
            thread.join()
        raise MemoryError(RECORD)

    monkeypatch.setattr(engine, "read", broken)
    result = silent(*publish("raw/taps.csv"), codes=[2])
    assert "Out of memory" in result.err
    assert "Traceback" not in result.err


# Python


def read(source, **columns):
    universe = pv.Universe(["S1", "S2", "S3"])
    names = {"unit": "card", "trajectory": "trip", "order": "when", "location": "stop"} | columns
    reports = []
    database = pv.read_trajectories(source, universe, **names, report=reports.append)
    return database, reports[0]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_database_and_its_report_do_not_show_themselves(raw, kind):
    database, report = read(raw / f"taps.{kind}")
    for private in (database, report, database.paths()):
        for shown in (repr(private), str(private), f"{private}"):
            assert revealed(shown) == []
            assert "151" not in shown  # how many people there are
    assert report.visits_outside_universe == 1  # the record was there to be seen


@pytest.mark.parametrize("name", REFUSED_TABLES)
def test_an_exception_and_all_that_led_to_it_do_not_quote_the_data(raw, name):
    pq.write_table(REFUSED_TABLES[name], raw / "taps.parquet")
    typed = REFUSED_TABLES[name].to_pandas(types_mapper=pd.ArrowDtype)
    for source in (REFUSED_TABLES[name], raw / "taps.parquet", typed):
        with pytest.raises(pv.errors.PathveilError) as refused:
            read(source)
        assert revealed("".join(traceback.format_exception(refused.value))) == []


@pytest.mark.parametrize("name", REFUSED_FILES)
def test_an_exception_about_a_file_does_not_quote_it(raw, name):
    REFUSED_FILES[name](raw)
    with pytest.raises(pv.errors.PathveilError) as refused:
        read(raw / "taps.csv")
    assert revealed("".join(traceback.format_exception(refused.value))) == []


def test_a_release_of_the_record_does_not_show_it(raw):
    database, _ = read(raw / "taps.csv")
    release = pv.publish(database, epsilon="3", height=3)
    shown = f"{release!r} {release.tree!r} {release.certificate!r} {release.to_sequences()}"
    assert revealed(shown) == []
