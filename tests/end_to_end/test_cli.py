"""The command line end to end: simulate, publish, verify, ask; and what it promises its users."""

import json
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import typer
from tests.commands import (
    environment,
    every_command,
    finish,
    in_a_terminal,
    publish_arguments,
    spawn,
)

import pathveil as pv
from pathveil.cli.app import app

ROOT = Path(__file__).parents[2]
COMMANDS = every_command(typer.main.get_command(app))


# The main job


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_simulate_publish_verify_and_ask(pathveil, folder, kind):
    flag = ["--csv"] if kind == "csv" else []
    simulated = pathveil(
        "simulate", "--riders", 3000, "--stops", 40, "--out", "week", "--json", *flag
    )
    assert simulated.json()["taps"] == f"week/taps.{kind}"

    taps, stops = f"week/taps.{kind}", "week/stops.csv"
    published = pathveil(*publish_arguments(taps, stops, "out"), "--csv", "--json")
    assert published.code == 0
    facts = published.json()
    assert facts["status"] == "PRIVATE"
    assert facts["epsilon"] == "4"
    assert {path.name for path in Path("out").iterdir()} == {
        *("trajectories.parquet", "trajectories.csv", "prefix_tree.parquet", "locations.csv"),
        *("privacy-certificate.json", "datapackage.json", "report.html"),
    }

    release = pv.read_release("out")
    assert facts["released_trajectories"] == len(release) > 2500
    assert release.universe == pv.Universe.read(stops)

    verified = pathveil("verify", "out", "--json").json()
    assert verified["valid"] is True
    assert verified["released_trajectories"] == len(release)

    patterns = pathveil("patterns", "out", "-k", 5, "--min-length", 2, "--json").json()["patterns"]
    assert [(one["locations"], one["support"]) for one in patterns] == [
        (list(pattern.locations), pattern.support)
        for pattern in release.top_patterns(5, min_length=2, different=True)
    ]
    every = pathveil("patterns", "out", "-k", 5, "--repeats", "--json").json()["patterns"]
    assert [one["support"] for one in every] == [p.support for p in release.top_patterns(5)]
    stop, other = patterns[0]["locations"]
    for options, expected in (
        ([], release.count([stop, other])),
        (["--ordered"], release.count_ordered([stop, other])),
        (["--prefix"], release.count_prefix([stop, other])),
    ):
        answer = pathveil("count", "out", stop, other, "--json", *options).json()
        assert answer["count"] == expected
        assert pathveil("count", "out", stop, other, *options).out == f"{expected:,}\n"
    assert list(folder.parent.rglob(".pathveil-*")) == []


@pytest.mark.usefixtures("week")
def test_csv_and_parquet_hold_the_same_data(pathveil):
    """At ε = 90 and h = 2 the noise is 0 but once in 10¹⁶ counts: the releases agree."""
    for kind in ("csv", "parquet"):
        arguments = publish_arguments(f"taps.{kind}", out=kind, epsilon="90", height="2")
        assert pathveil(*arguments).code == 0
    assert pv.read_release("csv").to_sequences() == pv.read_release("parquet").to_sequences()


@pytest.mark.usefixtures("week")
def test_a_release_on_disk_is_the_release_in_memory():
    universe = pv.Universe.read("stops.csv")
    database = pv.read_trajectories(
        "taps.csv", universe, unit="card_id", order="seq", location="stop_id"
    )
    release = pv.publish(database, epsilon="2", height=5)
    release.write("out")
    back = pv.read_release("out")
    assert back.is_private
    assert back.to_sequences() == release.to_sequences()
    assert back.tree.noisy_count.tolist() == release.tree.noisy_count.tolist()
    assert back.certificate == release.certificate


@pytest.mark.usefixtures("week")
def test_the_same_injected_generator_gives_the_same_bytes():
    universe = pv.Universe.read("stops.csv")
    for name in ("first", "second"):
        database = pv.read_trajectories(
            "taps.parquet", universe, unit="card_id", order="seq", location="stop_id"
        )
        generator = np.random.default_rng(1)  # noqa: TID251
        pv.publish(database, epsilon="1", height=4, generator=generator).write(name, csv=True)
    first = {path.name: path.read_bytes() for path in Path("first").iterdir()}
    second = {path.name: path.read_bytes() for path in Path("second").iterdir()}
    assert first == second


def test_two_runs_draw_different_noise(week, pathveil):
    """Level 1 alone has some 30 counts of deviation 1.4: equal runs happen once in 10¹⁵."""
    trees = []
    for name in ("first", "second"):
        pathveil(*publish_arguments(out=name))
        trees.append((week / name / "prefix_tree.parquet").read_bytes())
    assert trees[0] != trees[1]


@pytest.mark.usefixtures("folder")
def test_several_trajectories_per_unit(pathveil):
    Path("stops.csv").write_text("location\na\nb\n")
    rows = [f"u{u},t{t},1,a\nu{u},t{t},2,b\n" for u in range(100) for t in range(5)]
    Path("taps.csv").write_text("user_id,trajectory_id,seq,location\n" + "".join(rows))
    arguments = [
        *("publish", "taps.csv", "--universe", "stops.csv", "--epsilon", "90", "--height", "2"),
        *("--out", "out", "-c", "3", "--method", "full"),
    ]
    result = pathveil(*arguments)
    assert result.code == 0
    # ε̄ = 90/(2·3): the noise is 0 but once in 10⁶ counts.
    assert pv.read_release("out").to_sequences() == [["a", "b"]] * 300
    assert "200 trajectories over the cap per unit" in result.err
    certificate = json.loads(Path("out/privacy-certificate.json").read_text())
    assert certificate["implementation"]["max_trajectories_per_unit"] == 3


GOOD_ROWS = "user_id,seq,location\n" + "".join(f"u{i},1,a\n" for i in range(200))
DROPPED_ROWS = "u1,soon,a\nu2,2,nowhere\nu3,3,nowhere\n"


@pytest.mark.usefixtures("folder")
def test_what_was_dropped_is_told_to_the_curator(pathveil):
    Path("stops.csv").write_text("location\na\nb\n")
    Path("taps.csv").write_text(GOOD_ROWS + DROPPED_ROWS)
    result = pathveil(
        *("publish", "taps.csv", "--universe", "stops.csv", "--epsilon", "2", "--height", "2"),
        *("--out", "out"),
    )
    assert "1 malformed row of 203 rows" in result.err
    assert "2 visits outside the universe of 203 rows" in result.err
    assert "1 row: 'seq' is neither a number nor an ISO 8601 time" in result.err
    assert "Most visits" not in result.err
    assert "No visit is left" not in result.err
    assert "malformed" not in result.out


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("row", "advice"),
    [
        ("u{},02.03.2026 07:58,a", "'seq' is neither a number nor an ISO 8601 time"),
        ("u{},1,A", "Most visits are outside the universe"),
    ],
)
def test_a_file_that_leaves_nothing_says_what_to_look_at_and_a_rehearsal_is_free(
    pathveil, row, advice
):
    Path("stops.csv").write_text("location\na\nb\n")
    rows = [row.format(number) for number in range(40)]
    Path("taps.csv").write_text("\n".join(["user_id,seq,location", *rows]))
    pathveil("ledger", "init", "taps", "--limit", "1", "--ledger", "book.db")
    result = pathveil(
        *("publish", "taps.csv", "--universe", "stops.csv", "--epsilon", "1", "--height", "2"),
        *("--dataset", "taps", "--ledger", "book.db", "--dry-run", "--json"),
    )
    assert result.code == 0
    assert result.json() == {"dry_run": True, "charged": False}
    assert advice in result.err
    assert "No visit is left: a run would be charged for an empty release." in result.err
    assert sorted(path.name for path in Path.cwd().iterdir()) == [
        "book.db",
        "stops.csv",
        "taps.csv",
    ]
    shown = pathveil("ledger", "show", "taps", "--ledger", "book.db", "--json").json()
    assert shown["datasets"][0]["spent"] == "0"


@pytest.mark.usefixtures("folder")
def test_what_was_dropped_leaves_no_trace_in_the_bundle():
    bundles = []
    for name, rows in (("clean", GOOD_ROWS), ("dirty", GOOD_ROWS + DROPPED_ROWS)):
        Path("taps.csv").write_text(rows)
        database = pv.read_trajectories("taps.csv", pv.Universe(["a", "b"]), unit="user_id")
        generator = np.random.default_rng(1)  # noqa: TID251
        bundle = pv.publish(database, epsilon="2", height=2, generator=generator).write(name)
        bundles.append({path.name: path.read_bytes() for path in bundle.iterdir()})
    assert bundles[0] == bundles[1]


@pytest.mark.usefixtures("folder")
def test_the_demo_never_overwrites(pathveil):
    small = ["demo", "--riders", 500, "--stops", 10, "--json"]
    assert pathveil(*small).json()["bundle"] == "pathveil-demo"
    assert pathveil(*small).json()["bundle"] == "pathveil-demo-2"
    assert pathveil("verify", "pathveil-demo-2").code == 0


@pytest.mark.usefixtures("folder")
def test_the_demo_says_where_the_bundle_is_and_what_to_type_next(pathveil):
    result = pathveil("demo", "--riders", 3000, "--stops", 10, "--epsilon", 8)
    assert "The bundle is in pathveil-demo" in result.out
    line = next(line for line in result.err.splitlines() if line.startswith("Try: pathveil "))
    assert pathveil(*shlex.split(line.removeprefix("Try: pathveil "))).code == 0


@pytest.mark.usefixtures("folder")
def test_the_simulated_week_says_how_to_publish_it(pathveil):
    result = pathveil("simulate", "--riders", 300, "--stops", 10, "--seed", 1, "--out", "week [b]")
    line = next(line for line in result.out.splitlines() if line.startswith("Try: pathveil "))
    assert "week [b]/taps.parquet" in line
    words = line.removeprefix("Try: pathveil ").replace("week [b]", "week_[b]").split()
    assert pathveil(*(word.replace("week_[b]", "week [b]") for word in words)).code == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "at most 10 passes over the trajectories; "),
        (("--input", "rows.csv"), "engine memory, which goes through the trajectories at most 10 "),
        (("--input", "rows.csv"), "times and uses about 32 MB of memory for them"),
        (
            ("--input", "rows.csv", "--engine", "duckdb", "--memory", "1GB"),
            "at most 10 times, uses about 1GB of memory and spills 1 to 8 MB, encrypted",
        ),
        (
            ("--input", "postgresql://nowhere/city", "--engine", "duckdb"),
            "spills as much as the rows need (how large they are is not known beforehand)",
        ),
    ],
)
def test_a_plan_says_how_many_passes_how_much_memory_and_spill_a_run_takes(pathveil, options, said):
    Path("rows.csv").write_bytes(bytes(8 * 10**6))
    asked = ("plan", "--universe-size", "50", "--epsilon", "1", *options)
    facts = json.loads(pathveil(*asked, "--json").out)
    assert facts["passes"] == 10
    assert said in facts["takes"]
    assert said in pathveil(*asked).out.replace("\n", " ")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("tpas.csv", "Can't read tpas.csv"),
        ("delta:tpas", "Can't read the Delta table tpas"),
        ("iceberg:tpas.metadata.json", "Can't read the Iceberg table"),
    ],
)
def test_a_plan_for_an_input_that_is_not_there_is_refused(refuses, source, said):
    asked = ("plan", "--universe-size", "50", "--epsilon", "1", "--input", source)
    refuses(*asked, says=said)


@pytest.mark.usefixtures("week")
def test_a_plan_reads_nothing_and_says_what_a_run_would_do(pathveil):
    plan = ["plan", "--epsilon", "1", "--height", "3", "--method", "full"]
    by_size = pathveil(*plan, "--universe-size", "30", "--json").json()
    assert by_size == pathveil(*plan, "--universe", "stops.csv", "--json").json()
    assert [level["budget"] for level in by_size["levels"]] == ["1/3"] * 3
    assert by_size["invented_per_node"] <= 0.1
    text = pathveil(*plan, "--universe-size", "30").out
    assert f"A path needs about {by_size['smallest_count_likely_to_survive']} trajectories" in text


@pytest.mark.usefixtures("week")
def test_the_calibrated_method_is_what_you_get(pathveil):
    """From data to an answer with an interval, with nothing but the defaults."""
    assert pathveil(*publish_arguments(method=None)).code == 0
    release = pv.read_release("out")
    assert release.parameters.method == "calibrated"
    answer = pathveil("count", "out", "S0001", "--json").json()
    assert answer["low"] <= answer["count"] <= answer["high"]
    plan = pathveil("plan", "--epsilon", "1", "--height", "3", "--universe-size", "30", "--json")
    assert {line["name"] for line in plan.json()["measurements"]} >= {"visits", "pairs"}


# NOT PRIVATE


@pytest.mark.parametrize("options", [[], ["--json"]])
@pytest.mark.parametrize("command", [["count", "S0001"], ["patterns", "-k", "3"], ["verify"]])
def test_every_answer_from_an_injected_release_says_not_private(
    not_private, release, pathveil, command, options
):
    name, *more = command
    assert "NOT PRIVATE" in pathveil(name, not_private, *more, *options).out
    assert "NOT PRIVATE" not in pathveil(name, release, *more, *options).out


# Comfort


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(pathveil, name):
    result = pathveil(*name.split(), "--help")
    assert result.code == 0
    assert result.err == ""
    assert f"Example: pathveil {name}" in " ".join(result.out.split())


def test_no_command_at_all_shows_the_help(pathveil):
    assert pathveil() == pathveil("--help")
    assert all(name.split()[0] in pathveil().out for name in COMMANDS)


def test_the_version(pathveil):
    assert pathveil("--version").out.startswith("pathveil ")


def test_every_command_and_option_is_documented():
    """If this fails, run ``python docs/make_cli.py``."""
    make = runpy.run_path(str(ROOT / "docs" / "make_cli.py"))
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert page == make["page"]()
    for name, command in COMMANDS.items():
        assert f"## pathveil {name}\n" in page
        for parameter in command.params:
            assert parameter.help, (name, parameter.name)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_json_for_scripts(name):
    assert any("--json" in parameter.opts for parameter in COMMANDS[name].params)


def test_colours_are_off_when_the_output_is_not_a_terminal(release):
    for arguments in (
        ["verify", release],
        ["patterns", release],
        ["--help"],
        ["verify", "nowhere"],
    ):
        result = finish(spawn(*arguments))
        assert "\x1b" not in result.out + result.err


@pytest.mark.usefixtures("week")
def test_a_terminal_gets_colours_and_progress_unless_it_asks_for_none():
    code, shown = in_a_terminal(*publish_arguments())
    assert code == 0
    assert "\x1b[1m" in shown
    assert "Growing the noisy prefix tree" in shown
    code, shown = in_a_terminal("verify", "out", NO_COLOR="1")
    assert code == 0
    assert "\x1b[3" not in shown


def test_a_terminal_that_can_not_show_epsilon_still_gets_an_answer():
    settings = environment(Path.cwd(), PYTHONIOENCODING="ascii")
    arguments = ["plan", "--epsilon", "1", "--height", "2", "--universe-size", "5"]
    result = finish(spawn(*arguments, env=settings))
    assert result.code == 0
    assert "Forecast for ? = 1" in result.out


def test_help_loads_nothing_heavy():
    """The cold start: what a data officer waits for when typing --help."""
    code = """
import sys
from pathveil.cli.run import run
assert run(["--help"]) == 0
heavy = {"numpy", "numba", "pyarrow", "pydantic", "pandas", "scipy", "altair", "jinja2", "duckdb"}
print("loaded:", sorted(heavy & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "loaded: []"


def test_importing_the_package_loads_nothing_heavy():
    code = "import sys, pathveil; print(sorted({'numpy', 'numba', 'pyarrow'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_what_a_command_imported_is_no_garbage_to_look_for():
    """Python would look through all of it, again and again: a third of a short command."""
    code = """
import atexit, gc, sys
from pathveil import cli
atexit.register(lambda: print(gc.get_freeze_count() > 10_000, gc.get_threshold()[0] > 10_000))
sys.argv = ["pathveil", "--help"]
cli.main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "True True"


def test_the_shell_completes_commands():
    settings = environment(
        Path.cwd(), _PATHVEIL_COMPLETE="complete_bash", COMP_WORDS="pathveil ver", COMP_CWORD="1"
    )
    assert finish(spawn(env=settings)).out.split() == ["verify"]


def test_a_failure_shows_its_traceback_only_when_asked(pathveil, monkeypatch):
    assert "Traceback" not in pathveil("verify", "nowhere").err
    monkeypatch.setenv("PATHVEIL_DEBUG", "1")
    assert "Traceback" in pathveil("verify", "nowhere").err
