"""The ledger on the command line: charge before reading, refuse over the limit, verify, say so."""

import json
import os
import shutil
import signal
from pathlib import Path

import pyarrow as pa
import pytest
from tests.commands import (
    damage_rows,
    edit_certificate,
    environment,
    publish_arguments,
)
from tests.end_to_end.test_interrupts import hold, stop

import pathveil as pv
from pathveil.errors import InputError, LedgerError, ParameterError
from pathveil.gate import randomness

LEDGER = ("--ledger", "ledger.db")


def charged_publish(out="out", epsilon="1", dataset="taps", **changes):
    return [*publish_arguments(out=out, epsilon=epsilon, dataset=dataset, **changes), *LEDGER]


@pytest.fixture
def taps(week, pathveil):
    """A week of data, and a ledger with room for ε = 2."""
    assert pathveil("ledger", "init", "taps", "--limit", "2", *LEDGER).code == 0
    return week


def entries(place="ledger.db"):
    return [entry.event for entry in pv.Ledger.open(place).chain().entries]


def balance(pathveil):
    return pathveil("ledger", "show", "taps", "--json", *LEDGER).json()["datasets"][0]


@pytest.mark.usefixtures("taps")
def test_publish_charges_and_the_bundle_the_certificate_and_the_ledger_agree(pathveil):
    result = pathveil(*charged_publish(epsilon="3/2"))
    assert result.code == 0
    assert "Charged ε = 3/2 to 'taps', entry 2; 1/2 of 2 remains." in result.err
    assert "stays charged" not in result.err
    assert (balance(pathveil)["spent"], balance(pathveil)["remaining"]) == ("3/2", "1/2")

    certificate = json.loads(Path("out/privacy-certificate.json").read_text(encoding="utf-8"))
    assert certificate["ledger"]["dataset"] == "taps"
    assert certificate["ledger"]["entry"] == 2
    assert all(b"ledger.db" not in path.read_bytes() for path in Path("out").iterdir())

    verified = pathveil("verify", "out", *LEDGER, "--json").json()["ledger"]
    assert (verified["checked"], verified["recorded_as_published"]) == (True, True)
    assert "The ledger agrees" in pathveil("verify", "out", *LEDGER).out
    assert "not checked" in pathveil("verify", "out").out
    assert pv.read_release("out").ledger.entry == 2


def test_a_run_over_the_limit_is_refused_before_the_data_is_opened(taps, pathveil, refuses):
    pathveil(*charged_publish(epsilon="3/2"))
    (taps / "taps.csv").unlink()
    os.mkfifo(taps / "taps.csv")  # whoever opens it hangs
    message = refuses(*charged_publish("second"), says="has spent ε = 3/2 of its limit 2")
    assert "this run asks for 1, and 1/2 remains. Nothing was charged or read." in message
    assert balance(pathveil)["charges"] == 1


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"epsilon": "x"}, "Epsilon"),
        ({"height": "0"}, "height"),
        ({"universe": "nowhere.csv"}, "nowhere.csv"),
        ({"out": "taps.csv"}, "exists already"),
        ({"taps": "nowhere.csv"}, "nowhere.csv"),
        ({"dataset": "bikes"}, "no dataset 'bikes'"),
        ({"population": "north"}, "no population 'north'"),
        ({"unit_column": "nobody"}, "no column 'nobody' for the unit"),
        ({"location_column": "stop-id"}, "no column 'stop-id' for the location. Did you mean"),
        ({"latitude_column": "lat"}, "Points need both columns"),
        ({"encoding": "utf-16"}, "header"),
        ({"time_format": "%H"}, "must have a day"),
    ],
)
@pytest.mark.usefixtures("taps")
def test_a_public_mistake_costs_nothing(pathveil, refuses, changes, says):
    options = {"dataset": "taps", "epsilon": "1"} | changes
    refuses(*publish_arguments(**options), *LEDGER, says=says)
    assert balance(pathveil)["charges"] == 0


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ({"who": [1.5], "when": [1], "where": ["A"]}, "holds floats"),
        ({"who": ["1"], "when": [[1]], "where": ["A"]}, "must hold numbers"),
        ({"who": ["1"], "when": [1], "where": [{"a": 1}]}, "can't be read as text"),
    ],
)
@pytest.mark.parametrize("kind", ["parquet", "arrow", "stream", "polars", "pandas", "duckdb"])
def test_a_type_that_can_not_be_read_costs_nothing_in_python(folder, columns, says, kind):
    import duckdb
    import polars as pl
    import pyarrow.parquet as pq

    ledger = pv.Ledger.open("ledger.db")
    ledger.init("taps", "2")
    table, more = pa.table(columns), {}
    source = {
        "arrow": lambda: table,
        "stream": lambda: pa.RecordBatchReader.from_batches(table.schema, table.to_batches()),
        "polars": lambda: pl.from_arrow(table),
        "pandas": lambda: table.to_pandas(types_mapper=__import__("pandas").ArrowDtype),
    }.get(kind, lambda: folder / f"taps.{kind}")()
    if kind == "parquet":
        pq.write_table(table, source)
    if kind == "duckdb":
        more = {"table": "taps"}
        with duckdb.connect(str(source)) as connection:
            connection.register("given", table)
            connection.execute("CREATE TABLE taps AS SELECT * FROM given")
    with pytest.raises((InputError, ParameterError), match=says):
        pv.publish(
            source, epsilon="1", height=2, ledger=ledger.dataset("taps"), universe=pv.Universe("A"),
            unit="who", order="when", location="where", **more,
        )  # fmt: skip
    assert len(entries()) == 2


@pytest.mark.usefixtures("folder")
def test_a_stream_that_can_be_read_once_is_looked_at_and_then_read():
    ledger = pv.Ledger.open("ledger.db")
    ledger.init("taps", "2")
    table = pa.table({"who": [str(n) for n in range(400)], "when": [1] * 400, "where": ["A"] * 400})
    reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches())
    release = pv.publish(
        reader, epsilon="2", height=1, method="full", ledger=ledger.dataset("taps"),
        universe=pv.Universe("AB"), unit="who", order="when", location="where",
    )  # fmt: skip
    assert release.count({"A"}) > 300


def test_a_run_that_fails_later_stays_charged_and_says_so(taps, pathveil):
    result = pathveil(*charged_publish(taps=damage_rows(taps)))
    assert result.code == 2
    begins, said, stays, resumed, error = result.err.splitlines()
    assert begins.startswith("Charging ε = 1 to 'taps'. If not a word follows, see `pathveil")
    assert said.startswith("Charged ε = 1 to 'taps', entry 2")
    assert stays == "ε = 1 stays charged to 'taps', entry 2."
    assert resumed == "No noise was drawn: with --resume 2 the same run needs no new charge."
    assert error.startswith("error: ")
    facts = balance(pathveil)
    assert (facts["spent"], facts["charges_without_release"]) == ("1", 1)
    assert "no noise drawn" in pathveil("ledger", "history", *LEDGER).out


def test_a_run_that_failed_while_it_read_is_resumed_once(taps, pathveil):
    assert pathveil(*charged_publish(taps=damage_rows(taps))).code == 2
    result = pathveil(*charged_publish(), "--resume", "2")
    assert result.code == 0, result
    assert "Resuming on entry 2 of the ledger: nothing is charged." in result.err
    assert "Was charged before: ε = 1 to 'taps', entry 2; " in result.err
    facts = balance(pathveil)
    assert (facts["spent"], facts["charges_without_release"]) == ("1", 0)
    assert "no noise drawn" not in pathveil("ledger", "history", *LEDGER).out
    result = pathveil(*charged_publish(out="again"), "--resume", "2")
    assert result.code == 2
    assert "Entry 2 of the ledger paid for a release already." in result.err
    assert balance(pathveil)["spent"] == "1"
    result = pathveil(*publish_arguments(out="again"), "--resume", "2")
    assert result.code == 2
    assert "--dataset NAME" in result.err


@pytest.mark.parametrize("stage", ["reading", "growing", "writing"])
def test_an_interrupted_run_stays_charged_and_says_so(taps, pathveil, stage):
    pathveil("ledger", "amend", "taps", "--limit", "50", *LEDGER)
    process = hold(stage, taps, "--dataset", "taps", *LEDGER)
    result = stop(process, signal.SIGINT)
    assert result.code == 130
    assert "ε = 4 stays charged to 'taps', entry 3." in result.err.splitlines()
    assert balance(pathveil)["spent"] == "4"


@pytest.mark.usefixtures("taps")
def test_nothing_is_drawn_before_the_charge(pathveil, monkeypatch):
    seen = []
    draw = randomness.Randomness.words

    def watched(self, number):
        if self.is_private:  # the noise of the rehearsal is not
            seen.append([event.kind for event in entries()])
        return draw(self, number)

    monkeypatch.setattr(randomness.Randomness, "words", watched)
    assert pathveil(*charged_publish()).code == 0
    assert seen
    assert all(kinds == ["opened", "defined", "charged", "begun"] for kinds in seen)
    assert [event.kind for event in entries()][-1] == "published"


@pytest.mark.usefixtures("taps")
def test_populations_are_declared_charged_and_written_down(pathveil, refuses):
    amend = ["ledger", "amend", "taps", "--population", "north", "--population", "south", *LEDGER]
    assert pathveil(*amend).code == 0
    for population in ("north", "south"):
        run = charged_publish(population, "3/2", population=population)
        assert pathveil(*run).code == 0
        assert pv.read_release(population).ledger.population == population
    facts = balance(pathveil)
    assert (facts["spent"], facts["populations"]["north"]["remaining"]) == ("3/2", "1/2")
    refuses(*charged_publish("more", population="north"), says="population 'north', has spent")
    refuses(*charged_publish("more"), says="this run asks for 1, and 1/2 remains")


@pytest.mark.usefixtures("taps")
def test_a_warning_comes_near_the_limit(pathveil):
    assert "warning" not in pathveil(*charged_publish("first", "3/2")).err
    warned = pathveil(*charged_publish("second", "1/4")).err
    assert "warning: 'taps' has spent ε = 7/4 of 2; 1/4 remains." in warned
    assert "warning" in pathveil("ledger", "show", *LEDGER).err


# Which ledger


@pytest.mark.usefixtures("week")
def test_the_default_ledger_is_at_home_or_where_the_environment_says(pathveil, monkeypatch):
    assert pathveil("ledger", "init", "taps", "--limit", "2").code == 0
    assert (Path.home() / ".local/share/pathveil/ledger.db").is_file()
    monkeypatch.setenv("XDG_DATA_HOME", "data")
    assert pathveil("ledger", "init", "taps", "--limit", "2").code == 0
    assert Path("data/pathveil/ledger.db").is_file()
    monkeypatch.setenv("PATHVEIL_LEDGER", "mine.db")
    assert pathveil("ledger", "init", "taps", "--limit", "2").code == 0
    assert pathveil(*publish_arguments(epsilon="1", dataset="taps")).code == 0
    assert len(entries("mine.db")) == 5


@pytest.mark.usefixtures("week")
def test_a_ledger_without_a_dataset_is_a_mistake(refuses, monkeypatch):
    refuses(*publish_arguments(), *LEDGER, says="--dataset NAME")
    refuses(*publish_arguments(population="north"), says="--dataset NAME")
    monkeypatch.setenv("PATHVEIL_LEDGER", "ledger.db")
    refuses(*publish_arguments(), says="--dataset NAME")


# Verify


@pytest.mark.usefixtures("taps")
def test_a_bundle_is_not_the_ledgers_if_either_was_changed(pathveil, refuses, folder):
    pathveil(*charged_publish())
    shutil.copytree("out", "copy")

    def cheaper(certificate):
        certificate["ledger"]["dataset"] = "bikes"

    edit_certificate(folder / "copy", cheaper)
    refuses("verify", "copy", *LEDGER, says="does not follow")
    pathveil("ledger", "init", "taps", "--limit", "2", "--ledger", "other.db")
    refuses("verify", "out", "--ledger", "other.db", says="is not the charge")
    refuses("verify", "out", "--ledger", "nowhere.db", says="There is no ledger")
    assert not Path("nowhere.db").exists()


@pytest.mark.usefixtures("taps")
def test_a_bundle_with_another_certificate_than_the_recorded_one_is_refused(
    pathveil, refuses, folder
):
    pathveil(*charged_publish())
    with (folder / "out" / "privacy-certificate.json").open("a", encoding="utf-8") as file:
        file.write(" ")
    refuses("verify", "out", says="does not follow")  # it has one spelling
    refuses("verify", "out", *LEDGER, says="does not follow")


def test_a_bundle_that_nobody_paid_for_is_refused(taps, release, refuses, pathveil):
    assert taps
    refuses("verify", release, *LEDGER, says="not charged to any ledger")
    assert "names no ledger" in pathveil("verify", release).out


@pytest.mark.usefixtures("taps")
def test_ledger_verify_export_and_import(pathveil, refuses):
    pathveil(*charged_publish())
    result = pathveil("ledger", "export", "--out", "kept.json", "--json", *LEDGER).json()
    head = result["head"]
    assert pathveil("ledger", "export", *LEDGER).json()["head"] == head
    assert pathveil("ledger", "verify", "--expect-head", head, *LEDGER).code == 0
    assert pathveil("ledger", "verify", "--export", "kept.json", "--json").json()["entries"] == 5
    refuses("ledger", "verify", "--expect-head", "0" * 64, *LEDGER, says="the hash you kept")
    refuses("ledger", "export", "--out", "kept.json", *LEDGER, says="File exists")
    entry = pv.read_release("out").ledger.entry_sha256
    assert pathveil("ledger", "verify", "--expect-head", entry, *LEDGER).code == 0

    assert pathveil("ledger", "import", "kept.json", "--ledger", "moved.db").code == 0
    assert pathveil("verify", "out", "--ledger", "moved.db").code == 0
    refuses("ledger", "import", "kept.json", *LEDGER, says="empty ledger only")
    refuses("ledger", "import", "nowhere.json", *LEDGER, says="No such file")
    refuses("ledger", "import", "stops.csv", *LEDGER, says="not an exported ledger")


@pytest.mark.usefixtures("taps")
def test_history_is_json_too(pathveil):
    pathveil(*charged_publish())
    kinds = [
        entry["event"]["kind"]
        for entry in pathveil("ledger", "history", "taps", "--json", *LEDGER).json()["entries"]
    ]
    assert kinds == ["defined", "charged", "begun", "published"]
    shown = pathveil("ledger", "history", *LEDGER).out
    assert all(
        word in shown for word in ("opened", "limit", "charge", "noise", "release", "of entry 2")
    )


# Python


def small_database():
    universe = pv.Universe(["a", "b"])
    return pv.TrajectoryDatabase.from_sequences([["a", "b"]] * 200, universe)


@pytest.mark.usefixtures("folder")
def test_publish_from_python(pathveil):
    ledger = pv.Ledger.open("ledger.db")
    ledger.init("taps", "2")
    release = pv.publish(small_database(), epsilon="1", height=2, ledger=ledger.dataset("taps"))
    assert [event.kind for event in entries()] == ["opened", "defined", "charged", "begun"]
    release.write("out")
    release.write("again", csv=True)  # the same noise: nothing more is spent
    assert [event.kind for event in entries()][4:] == ["published", "published"]
    for bundle in ("out", "again"):
        assert pathveil("verify", bundle, *LEDGER).code == 0
    with pytest.raises(LedgerError, match="asks for 3/2, and 1 remains"):
        pv.publish(small_database(), epsilon="3/2", height=2, ledger=ledger.dataset("taps"))


@pytest.mark.usefixtures("folder")
def test_a_failure_in_python_carries_a_note(monkeypatch):
    ledger = pv.Ledger.open("ledger.db")
    ledger.init("taps", "2")
    monkeypatch.setattr("pathveil.ledger.charges.Charge.begin", lambda _: 1 / 0)
    account = ledger.dataset("taps")
    with pytest.raises(ZeroDivisionError) as caught:
        pv.publish(small_database(), epsilon="1", height=2, method="full", ledger=account)
    assert caught.value.__notes__ == ["ε = 1 stays charged to 'taps', entry 2."]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("source", ["trajectories", "a file", "a table"])
@pytest.mark.parametrize("method", ["full", "calibrated"])
def test_what_is_broken_is_found_out_before_the_charge_in_python_too(monkeypatch, source, method):
    """Made-up people are published first, whatever the source is; its rows are not looked at."""
    ledger = pv.Ledger.open("ledger.db")
    ledger.init("taps", "2")
    counted = {"full": "grow", "calibrated": "measure"}[method]
    monkeypatch.setattr(f"pathveil.publishing.{counted}", lambda *_, **__: 1 / 0)
    request = {"universe": pv.Universe("AB"), "unit": "who", "location": "where"}
    Path("people.csv").write_text("who,where\n", encoding="utf-8")
    where, reading = {
        "trajectories": (small_database(), {}),
        "a file": ("people.csv", request),
        "a table": (pa.table({"who": ["1"], "where": ["A"]}), request),
    }[source]
    asked = {"epsilon": "1", "height": 2, "method": method, "ledger": ledger.dataset("taps")}
    with pytest.raises(ZeroDivisionError) as caught:
        pv.publish(where, **asked, **reading)
    assert not hasattr(caught.value, "__notes__")
    assert len(entries()) == 2


@pytest.mark.usefixtures("folder")
def test_injected_noise_is_not_charged():
    ledger = pv.Ledger.open("ledger.db")
    ledger.init("taps", "2")
    account = ledger.dataset("taps")
    with pytest.raises(ParameterError, match="protects nobody"):
        pv.publish(small_database(), epsilon="1", height=2, ledger=account, generator=object())
    assert len(entries()) == 2


# A ledger that is there, and a run that does not use it


def usual_ledger(pathveil):
    assert pathveil("ledger", "init", "taps", "--limit", "2").code == 0


@pytest.mark.usefixtures("week")
def test_a_run_that_charges_nothing_though_there_is_a_ledger_says_so(pathveil):
    assert "Nothing is charged" not in pathveil(*publish_arguments(out="before")).err
    usual_ledger(pathveil)
    result = pathveil(*publish_arguments())
    assert result.code == 0
    assert "warning: Nothing is charged: --dataset is missing, though the ledger" in result.err
    assert "has 'taps'" in result.err
    assert "Nothing is charged:" not in pathveil(*publish_arguments(out=None), "--dry-run").err


@pytest.mark.usefixtures("week")
def test_a_ledger_that_requires_it_refuses_a_run_without_a_dataset(pathveil, refuses):
    usual_ledger(pathveil)
    assert pathveil("ledger", "require", "--reason", "board").code == 0
    message = refuses(*publish_arguments(), says="requires that releases are charged")
    assert "it has 'taps'" in message
    assert pathveil(*publish_arguments(out=None), "--dry-run").code == 0
    assert pathveil(*publish_arguments(epsilon="1", dataset="taps")).code == 0  # and still so
    refuses(*publish_arguments(out="second"), says="requires that releases are charged")
    assert "board" in pathveil("ledger", "history", "--json").out
    assert "rule" in pathveil("ledger", "history").out
    assert pathveil("ledger", "verify").code == 0
    assert pathveil("ledger", "require", "--off").code == 0
    assert pathveil(*publish_arguments(out="second")).code == 0


# On a terminal


def on_a_terminal(folder, answers, *arguments):
    """Run a command whose stdin and stderr are a terminal, and type; what it showed."""
    import pty
    import subprocess
    import sys

    ours, theirs = pty.openpty()
    os.write(ours, answers.encode())
    command = [sys.executable, "-m", "pathveil", *map(str, arguments)]
    with subprocess.Popen(
        command, stdin=theirs, stderr=theirs, stdout=subprocess.PIPE, cwd=folder,
        env=environment(folder, TERM="dumb"),
    ) as process:  # fmt: skip
        os.close(theirs)
        shown = b""
        try:
            while piece := os.read(ours, 4096):
                shown += piece
        except OSError:  # how a terminal says that the other side is gone
            pass
        out = process.stdout.read().decode()
    os.close(ours)
    return process.returncode, shown.decode() + out


@pytest.mark.parametrize(
    ("answers", "charges"), [("\nn\n", 0), ("n\n", 1), ("y\ny\n", 1), ("\n\x04", 0)]
)
def test_on_a_terminal_a_rehearsal_is_offered_and_the_charge_asked_for(
    taps, pathveil, answers, charges
):
    code, shown = on_a_terminal(taps, answers, *charged_publish())
    assert code == 0
    assert "Rehearse first, for nothing" in shown
    assert ("Publish it, and charge ε = 1 to 'taps'?" in shown) == (answers != "n\n")
    assert balance(pathveil)["charges"] == charges
    assert (taps / "out").exists() == bool(charges)
    assert ("nothing was charged" in shown) == (not charges)


def test_a_rehearsal_that_keeps_nothing_proposes_not_to_publish(taps, pathveil):
    publish = [*charged_publish(), "--time-format", "de"]  # of no row: all are dropped
    code, shown = on_a_terminal(taps, "\n\n", *publish)
    assert code == 0
    assert "No visit is left: a run would be charged for an empty release." in shown
    assert "Publish it, and charge ε = 1 to 'taps'? [y/N]" in shown
    assert "nothing was charged" in shown
    assert balance(pathveil)["charges"] == 0
    assert not (taps / "out").exists()


def test_with_yes_nothing_is_asked(taps):
    code, shown = on_a_terminal(taps, "", *charged_publish(), "--yes")
    assert code == 0
    assert "Rehearse first" not in shown
