"""Comfort on the command line: JSON that stays, completion, suggestions, loudness, exit codes."""

import json
import os
import re
import shlex
import signal
import time
from pathlib import Path

import pytest
import typer
from tests.commands import environment, every_command, finish, publish_arguments, spawn

import pathveil as pv
from pathveil.audit.software import CHOICES as AUDITED
from pathveil.cli import completion
from pathveil.cli.app import app
from pathveil.cli.run import ALARM, BUG, MEANINGS, OK, SIGNALLED, UNUSABLE
from pathveil.core.methods import METHODS
from pathveil.ledger.periods import PERIODS
from pathveil.raw.engines.engine import ENGINES
from pathveil.release.exports.flow_tables import TABLES
from pathveil.release.exports.published import NAMES
from pathveil.release.exports.writing import FORMATS
from pathveil.trials.reproduction.datasets import SHARED, SIMULATED
from pathveil.trials.reproduction.plan import CHOICES as REPRODUCED

ROOT = Path(__file__).parents[2]
COMMANDS = every_command(typer.main.get_command(app))
ANSI = "\x1b["


# JSON

PLAN = ["plan", "--epsilon", "2", "--height", "3"]
COLUMNS = [
    *("--unit-column", "card_id", "--order-column", "seq", "--location-column", "stop_id"),
]
QUICK = ["--runs", "1", "--quick", "--queries", "40", "--workers", "1"]
LINES = {
    "demo": [["demo", "--riders", "200", "--stops", "5"]],
    "plan": [
        [*PLAN, "--universe-size", "9"],
        [*PLAN, "--universe-size", "9", "--method", "full", "--trajectories", "200"],
        [*PLAN, "--universe", "discover", "--delta", "1e-9"],
    ],
    "universe": [["universe", "stops.csv"], ["universe", "stops.csv", "--out", "same.csv"]],
    "publish": [publish_arguments(), publish_arguments(out="two", method="calibrated")],
    "keygen": [["keygen", "new.key"]],
    "sign": [["sign", "release", "--key", "city.key", "--signer", "City Transit"]],
    "verify": [["verify", "release"]],
    "explain": [["explain", "release"], ["explain", "--plan", *PLAN[1:], "--universe-size", "9"]],
    "registry": [
        [
            *("registry", "release", "--name", "Taps", "--curator", "City", "--author", "Me"),
            *("--intended-use", "Planning", "--region", "Here", "--date", "2026-03-01"),
        ]
    ],
    "count": [["count", "release", "S0001"], ["count", "release", "S0001", "--ordered"]],
    "patterns": [["patterns", "release"]],
    "flows": [["flows", "release"]],
    "compare": [["compare", "release", "release"]],
    "export": [["export", "release", "--out", "visits.csv"]],
    "report": [["report", "release", "--out", "page.html"]],
    "evaluate": [["evaluate", "taps.csv", "release", *COLUMNS, "--queries", "40"]],
    "reproduce": [
        [
            *("reproduce", "--dataset", "taps.csv", "--universe", "stops.csv", *COLUMNS, *QUICK),
            *("--out", "results"),
        ]
    ],
    "simulate": [["simulate", "--riders", "20", "--stops", "5", "--out", "week"]],
    "audit": [["audit", "--runs", "64", "--method", "full", "--height", "1"]],
    "ledger init": [["ledger", "init", "other", "--limit", "1"]],
    "ledger amend": [["ledger", "amend", "taps", "--limit", "9"]],
    "ledger import": [["ledger", "import", "export.json", "--ledger", "moved.db"]],
    "ledger require": [["ledger", "require", "--off", "--reason", "tried"]],
    "ledger series": [
        ["ledger", "series"],
        ["ledger", "series", "all", "--dataset", "taps", "--releases", "2", "--epsilon", "1"],
    ],
    "ledger withdraw": [["ledger", "withdraw", "2", "--reason", "tried"]],
    "ledger correct": [["ledger", "correct", "2", "--by", "4", "--reason", "tried"]],
    "ledger show": [["ledger", "show"]],
    "ledger history": [["ledger", "history"]],
    "ledger verify": [["ledger", "verify"]],
    "ledger witness": [["ledger", "witness", "--key", "city.key", "--to", "elsewhere.jsonl"]],
    "ledger export": [["ledger", "export"], ["ledger", "export", "--out", "new.json"]],
}
SERVES = {"explore"}  # it does not end by itself; tests/explorer looks at its JSON


def documented():
    """The table of docs/json.md: {command: (keys always there, keys at times)}."""
    found = {}
    for line in (ROOT / "docs" / "json.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("| `"):
            commands, always, at_times = (
                set(re.findall("`([^`]+)`", cell)) for cell in line.strip("|").split("|")
            )
            found |= dict.fromkeys(commands, (always, at_times))
    return found


def test_the_json_of_every_command_is_documented_and_tried():
    assert set(documented()) == set(COMMANDS)
    assert set(LINES) == set(COMMANDS) - SERVES


@pytest.mark.parametrize("name", LINES)
@pytest.mark.usefixtures("week", "release")
def test_json_stands_alone_on_stdout_with_the_keys_that_are_documented(pathveil, name):
    pathveil("keygen", "city.key")
    pathveil("ledger", "init", "taps", "--limit", "4")
    if name in ("ledger withdraw", "ledger correct"):
        for digest in "ab":
            pv.Ledger.open().dataset("taps").charge(pv.Budget.parse(1)).published(digest * 64)
    Path("export.json").write_text(pathveil("ledger", "export").out)
    always, at_times = documented()[name]
    for line in LINES[name]:
        result = pathveil(*line, "--json")
        assert result.code == 0, result
        keys = set(json.loads(result.out))
        assert always <= keys <= always | at_times, line
        assert "\x1b" not in result.out


@pytest.mark.parametrize("line", [["count", "nowhere", "S1"], ["publish"], ["coutn"]])
def test_an_error_leaves_stdout_empty(pathveil, line):
    result = pathveil(*line, "--json")
    assert (result.code, result.out) == (UNUSABLE, "")
    assert result.err.startswith("error: ")


# Help


@pytest.mark.parametrize("name", COMMANDS)
def test_the_example_of_every_command_is_one_that_parses(name):
    """It may need files that are not here, but no option of it may be unknown or miss."""
    text = " ".join(COMMANDS[name].help.split())
    (example,) = re.findall(r"Example: `(pathveil [^`]+)`", text)
    words = shlex.split(example.removeprefix("pathveil "))
    arguments = words[len(name.split()) :]
    context = COMMANDS[name].make_context(name, arguments)
    assert context.params


@pytest.mark.parametrize("name", COMMANDS)
def test_the_same_thing_has_the_same_option_everywhere(name):
    """What is called --out here is not called --output there, and -o is always --out."""
    meanings = {
        "-o": "--out",
        "-e": "--epsilon",
        "-u": "--universe",
        "-f": "--format",
        "-c": "--max-trajectories-per-unit",
        "-q": "--quiet",
        "-v": "--verbose",
    }
    banned = {"--output", "--eps", "--verbosity", "--silent", "--overwrite", "--file"}
    for parameter in COMMANDS[name].params:
        assert not banned & set(parameter.opts)
        for short, long in meanings.items():
            if short in parameter.opts:
                assert long in parameter.opts


@pytest.mark.parametrize("place", ["before", "after"])
@pytest.mark.parametrize("name", ["--quiet", "-q", "--verbose", "-v"])
def test_loudness_is_taken_before_and_after_the_command(pathveil, release, name, place):
    line = [name, "verify", release] if place == "before" else ["verify", release, name]
    result = pathveil(*line)
    assert result.code == 0
    assert (result.err == "") == (name in {"--quiet", "-q"})


# Quiet and verbose


@pytest.mark.usefixtures("week")
def test_quiet_leaves_nothing_on_stderr_and_the_result_on_stdout(pathveil):
    usual = pathveil(*publish_arguments(out="usual"))
    quiet = pathveil(*publish_arguments(out="quiet"), "--quiet")
    assert usual.err != ""
    assert quiet.err == ""
    assert "The bundle is in quiet" in quiet.out
    assert "Top 3 sequential patterns" in pathveil("-q", "patterns", "quiet", "-k", "3").out


@pytest.mark.usefixtures("week")
def test_quiet_still_says_errors_and_what_stays_charged(pathveil, monkeypatch):
    pathveil("ledger", "init", "taps", "--limit", "9")
    monkeypatch.setattr("pathveil.ledger.charges.Charge.begin", _broken)
    result = pathveil(*publish_arguments(), "--dataset", "taps", "--quiet")
    assert result.code == BUG
    assert "stays charged" in result.err
    assert "error: " in result.err


def _broken(*_arguments):
    raise LookupError


@pytest.mark.usefixtures("week")
def test_verbose_says_the_steps(pathveil):
    usual, verbose = (
        pathveil(*publish_arguments(out=name), *more).err
        for name, more in (("usual", []), ("verbose", ["-v"]))
    )
    for step in (
        "Public choices: ε = 4",
        "Reading …",
        "Growing the noisy prefix tree …",
        "Writing …",
    ):
        assert step in verbose
        assert step not in usual


def test_one_run_does_not_quieten_the_next(pathveil, release):
    pathveil("verify", release, "-q")
    assert pathveil("verify", release, "-v").err != ""
    assert pathveil("verify", release).err == ""


def test_quiet_and_verbose_contradict_each_other(refuses, release):
    refuses("verify", release, "-q", "-v", says="one of --quiet and --verbose")


# Suggestions


@pytest.mark.usefixtures("week", "release")
@pytest.mark.parametrize(
    ("line", "meant"),
    [
        (["coutn", "release"], "'count'"),
        (["ledger", "shwo"], "'show'"),
        (["count", "release", "S0001", "--orderd"], "--ordered"),
        (["count", "release", "s0001"], "'S0001'"),
        (["count", "release", "S00001"], "'S0001'"),
        (publish_arguments(unit_column="cardid"), "'card_id'"),
        (publish_arguments(method="ful"), "'full'"),
        ([*publish_arguments(), "--engine", "duckbd"], "'duckdb'"),
        ([*publish_arguments(), "--split", "day", "--time-zone", "America/Montral"], "Montreal'"),
        ([*publish_arguments(), "--dataset", "tabs"], "'taps'"),
        (["ledger", "show", "tap"], "'taps'"),
        (["ledger", "init", "new", "--limit", "1", "--per", "yaer"], "'year'"),
        (["export", "release", "--out", "x", "--format", "geojsn"], "'geojson'"),
        (["export", "release", "--out", "x.parqet"], "'parquet'"),
        (["export", "release", "--out", "x.csv", "--names", "moving-pandas"], "'movingpandas'"),
        (["reproduce", "--dataset", "msnb", "--out", "results"], "'msnbc'"),
    ],
)
def test_a_typing_error_is_answered_with_what_was_meant(pathveil, line, meant):
    pathveil("ledger", "init", "taps", "--limit", "9")
    result = pathveil(*line)
    assert result.code == UNUSABLE
    assert re.search(rf"Did you mean \S*{re.escape(meant)}", result.err), result.err


def test_a_word_that_resembles_nothing_is_not_answered_with_a_guess(pathveil, release):
    assert "Did you mean" not in pathveil("count", release, "Zanzibar").err


# Completion


def completed(line, folder, **variables):
    words = line.split(" ")
    settings = environment(folder, _PATHVEIL_COMPLETE="complete_bash", **variables) | {
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
    }
    result = finish(spawn(env=settings, cwd=folder))
    return result.out.split()


@pytest.mark.usefixtures("week", "release")
def test_the_shell_completes_values(folder, pathveil):
    pathveil("ledger", "init", "taps", "--limit", "9", "--ledger", "ledger.db")
    for line, expected in {
        "pathveil publish --method ca": ["calibrated"],
        "pathveil publish --engine d": ["duckdb"],
        "pathveil export --format geo": ["geojson", "geoparquet"],
        "pathveil plan --time-grid week": ["weekday-hour"],
        "pathveil ledger show --ledger ledger.db t": ["taps"],
        "pathveil count release S000": [f"S000{i}" for i in range(10)],
        "pathveil count nowhere S000": [],
        "pathveil verify --qu": ["--quiet"],
    }.items():
        assert completed(line, folder) == expected, line
    assert "America/Montreal" in completed("pathveil publish --time-zone America/M", folder)


def test_no_shell_is_offered_what_it_would_run(folder):
    """A label of somebody else's bundle goes into the command line as it is; zsh evaluates it."""
    hostile = ["$(id)", "`id`", r"\$(id)", "a;id", "a|id", "a&id", "a>b", "'", '"', "*", "~root"]
    unseen = ["A\u202eB", "A\x1b[2J", "-A", "A\u200b", "(A)", "A{b,c}", "A!b", "A=b", "A#"]
    (folder / "bundle").mkdir()
    lines = ["location", *(f'"{one.replace(chr(34), chr(34) * 2)}"' for one in hostile + unseen)]
    text = "\n".join([*lines, "Älvsjö", "S-1/2"])
    (folder / "bundle" / "locations.csv").write_text(text + "\n", encoding="utf-8")
    assert completed("pathveil count bundle ", folder) == ["Älvsjö", "S-1/2"]
    named = "location,name\n17,Berri-UQAM\n18,$(id)\n"
    (folder / "bundle" / "locations.csv").write_text(named, encoding="utf-8")
    assert completed("pathveil count bundle B", folder) == ["Berri-UQAM"]
    assert completed("pathveil count bundle ", folder) == ["17", "Berri-UQAM", "18"]


def test_the_words_of_the_completer_are_those_of_the_code():
    for ours, theirs in (
        (completion.METHODS, METHODS),
        (completion.AUDITED_METHODS, AUDITED),
        (completion.REPRODUCED_METHODS, REPRODUCED),
        (completion.ENGINES, ENGINES),
        (completion.FORMATS, FORMATS),
        (completion.NAMES, [*NAMES, "kepler", "flowmap"]),
        (completion.FLOWS, TABLES),
        (completion.PERIODS, PERIODS),
        (completion.DATASETS, (SIMULATED, *SHARED)),
    ):
        assert set(ours) == set(theirs)


# Colours


@pytest.mark.parametrize("line", [["--help"], ["verify", "release"], ["verify", "nowhere"]])
def test_no_colour_in_a_pipe_or_with_no_color(release, line):
    for more in ({}, {"NO_COLOR": "1"}, {"TERM": "dumb"}):
        result = finish(spawn(*line, env=environment(release.parent, **more), cwd=release.parent))
        assert ANSI not in result.out + result.err


# Exit codes


def test_the_exit_codes_are_documented(pathveil):
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    told = " ".join(pathveil("--help").out.split())
    numbers = {int(number) for codes in MEANINGS for number in codes.split(", ")}
    stopped = {SIGNALLED + number for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)}
    assert numbers == {OK, ALARM, UNUSABLE, BUG} | stopped
    for codes, meaning in MEANINGS.items():
        assert f"| {codes} | {meaning} |" in page
    for number in numbers:
        assert re.search(rf"\b{number}\b", told.partition("Exit codes:")[2])


def test_the_exit_codes_are_these(pathveil, release, monkeypatch):
    assert pathveil("verify", release).code == OK
    assert pathveil("verify", "nowhere").code == UNUSABLE
    monkeypatch.setattr("pathveil.release.bundle.verify_bundle", _broken)
    assert pathveil("verify", release).code == BUG


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT, signal.SIGTERM])
def test_a_plan_that_is_stopped_says_so_with_its_code_and_leaves_nothing(folder, number):
    line = ["plan", "--epsilon", "1", "--height", "12", "--universe-size", "1012"]
    process = spawn(
        *line, "--trajectories", "300000", "--out", "plan.html", "-v",
        env=environment(folder), cwd=folder,
    )  # fmt: skip
    said = process.stderr.readline()  # the first step
    assert "Publishing simulated trajectories" in said
    time.sleep(0.2)
    os.kill(process.pid, number)
    result = finish(process)
    assert result.code == SIGNALLED + number
    assert "Interrupted" in result.err
    assert list(folder.iterdir()) == []
