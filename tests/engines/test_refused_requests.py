"""What an engine can't do is refused before anything is charged; there is little of it."""

import importlib.util
import signal

import pytest

import pathveil as pv
from pathveil.cli.run import run
from pathveil.errors import ParameterError
from pathveil.ledger.ledger import Ledger
from pathveil.universe.universe import Universe

ENGINES = {"duckdb": ["--engine", "duckdb"], "spark": ["--engine", "spark", "--master", "local[1]"]}


@pytest.fixture
def pathveil(tmp_path, monkeypatch, capfd):
    """Runs a command in a folder with taps; its exit code, and what it said on stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "400")
    (tmp_path / "taps.csv").write_text("who,when,where\n1,1,A\n")
    (tmp_path / "stops.csv").write_text("location\nA\nB\n")
    (tmp_path / "zones.csv").write_text("location,zone\nA,X\nB,X\n")
    handled = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.getsignal(number) for number in handled}

    def command(*arguments):
        code = run(list(arguments))
        said = capfd.readouterr()
        return code, said.out, said.err

    yield command
    for number, handler in before.items():
        signal.signal(number, handler)


def publish(pathveil, source, *options):
    """With a ledger; options that are given twice count as they were given last."""
    pathveil("ledger", "init", "taps", "--limit", "3", "--ledger", "ledger.db")
    return pathveil(
        *("publish", source, "--universe", "stops.csv", "--epsilon", "1", "--height", "3"),
        *("--method", "full", "--unit-column", "who", "--order-column", "when"),
        *("--location-column", "where", "--dataset", "taps", "--ledger", "ledger.db"),
        *("--out", "out", *options),
    )


def check_nothing_charged():
    assert not Ledger.open("ledger.db").books().charges


@pytest.mark.skipif(importlib.util.find_spec("pyspark") is None, reason="pyspark is not installed")
@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        ("missing.csv", [], "Can't read"),
        ("taps.csv", ["--unit-column", "whom"], "'whom'"),
        ("taps.csv", ["--table", "taps"], "for databases only"),
        ("taps.csv", ["--snapshot", "1"], "delta:PLACE and iceberg:NAME"),
        ("postgresql://user@host/database", [], "query"),
        ("taps", ["--master", "host:7077"], "spark://host:7077"),
        ("taps", ["--encoding", "latin-1"], "for CSV files only"),
        ("taps", ["--spill", "missing"], "--spill"),
        ("taps", ["--engine", "duckdb"], "'spark' only"),
    ],
)
def test_what_spark_does_not_read(pathveil, monkeypatch, source, options, message):
    monkeypatch.setenv("JAVA_HOME", "somewhere")
    code, _, said = publish(pathveil, source, *ENGINES["spark"], *options)
    assert code == 2
    assert message in said
    check_nothing_charged()


TIMED = ["--time-column", "when", "--time-grid", "1h"]
CONTRADICTIONS = {
    "The time column orders the visits": [*TIMED, "--order-column", "who"],
    "split into trajectories by time or": ["--split", "day", "--trajectory-column", "trip"],
    "Points need both columns": ["--latitude-column", "lat"],
    "by a location or by coordinates": ["--latitude-column", "lat", "--longitude-column", "lng"],
}


@pytest.mark.parametrize("message", CONTRADICTIONS)
def test_a_reading_that_contradicts_itself_costs_nothing(pathveil, message):
    """No row is needed to see that it can't be; it was seen after the charge."""
    code, _, said = publish(pathveil, "taps.csv", *CONTRADICTIONS[message])
    assert code == 2
    assert message in said
    check_nothing_charged()


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"unit": "who", "locations": "where"}, "no choice 'locations' .* mean 'location'"),
        ({"location": "where"}, "Name the unit column"),
        ({"unit": "who", "order": "a", "time": "b"}, "both a time column and a time grid"),
        ({"unit": "who", "keep": "last"}, "Keep the 'first'"),
    ],
)
@pytest.mark.usefixtures("pathveil")
def test_a_choice_that_there_is_not_costs_nothing_in_python_either(choices, message):
    ledger = Ledger.open("ledger.db")
    ledger.init("taps", "3")
    request = {"universe": Universe("AB"), "epsilon": "1", "height": 3, **choices}
    with pytest.raises(ParameterError, match=message):
        pv.publish("taps.csv", ledger=ledger.dataset("taps"), **request)
    check_nothing_charged()
    with pytest.raises(ParameterError, match=message):
        pv.read_trajectories("nowhere.csv", Universe("AB"), **choices)


@pytest.mark.parametrize("engine", ENGINES)
def test_an_engine_that_is_not_installed(pathveil, monkeypatch, engine):
    """Found out before the charge, too."""
    find = importlib.util.find_spec
    hidden = ("duckdb", "pyspark")
    monkeypatch.setattr(importlib.util, "find_spec", lambda n: None if n in hidden else find(n))
    code, _, said = publish(pathveil, "taps", *ENGINES[engine])
    assert code == 2
    assert f"pathveil[{engine}]" in said
    check_nothing_charged()


def test_java_that_is_not_installed(pathveil, monkeypatch):
    pytest.importorskip("pyspark")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "")
    code, _, said = publish(pathveil, "taps", *ENGINES["spark"])
    assert code == 2
    assert "Java 17" in said
    check_nothing_charged()
