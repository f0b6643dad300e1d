"""Commands started in a folder that somebody else filled: no code of it runs.

The folder holds a file for every module that Python or a dependency has, each of which leaves a
mark when it runs, and whatever else tools take code or settings from: packages that register
plug-ins, `.pth` files, templates, programs of usual names. Commands run as people run them, by the
script that an installation makes.
"""

import importlib.metadata
import json
import os
import signal
import subprocess
import sys
import time
from urllib.request import urlopen

import pyarrow.csv
import pyarrow.parquet
import pytest
from tests.commands import environment
from tests.end_to_end.test_canary import CHARGED, EVERY_COMMAND, HEADER, OTHERS, publish

from pathveil.own_code import leave_out_current_folder

DEPENDENCIES = {name for name in importlib.metadata.packages_distributions() if name.isidentifier()}
MODULES = DEPENDENCIES | sys.stdlib_module_names | {"sitecustomize", "usercustomize"}
PROGRAMS = ("sh", "rm", "cat", "sleep", "xdg-open", "www-browser", "java", "python", "python3")
SCRIPT = "from pathveil.cli import main\nif __name__ == '__main__':\n    main()\n"
# As if the release were large: a large one is mined in a process of its own.
LARGE = "import pathveil.explorer.mining_beside as beside\nbeside.MOST_VISITS_IN_A_THREAD = 0\n"
COMMANDS = EVERY_COMMAND | {
    "reproduce": [*EVERY_COMMAND["reproduce"], "--workers", "2"],
}
# One of each way to start code: our own imports, pages, a compiler, another process, more of them.
QUICK = ("verify", "report", "patterns", "explore", "ledger show")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """The folder, with a release and raw data in it, and a mark beside it if anything ran."""
    home = tmp_path_factory.mktemp("downloads")
    folder = home / "work"
    (folder / "raw").mkdir(parents=True)
    (home / "bin").mkdir()
    (home / "bin" / "pathveil").write_text(SCRIPT)
    (home / "bin" / "pathveil-large").write_text(LARGE + SCRIPT)
    (folder / "stops.csv").write_text("location\nS1\nS2\nS3\n")
    (folder / "raw" / "taps.csv").write_text("\n".join([HEADER, *OTHERS]) + "\n")
    taps = pyarrow.csv.read_csv(folder / "raw" / "taps.csv")
    pyarrow.parquet.write_table(taps, folder / "raw" / "taps.parquet")
    made = (
        ["ledger", "init", "taps", "--limit", "9", *CHARGED[:2]],
        publish("raw/taps.csv", "out", "--csv", *CHARGED),
        ["ledger", "export", "--out", "export.json", *CHARGED[:2]],
        ["keygen", "city.key"],
    )
    several = f"from pathveil.cli.run import run\nassert not any(map(run, {made!r}))"
    subprocess.run(
        [sys.executable, "-c", several],
        cwd=folder, env=environment(folder), check=True, capture_output=True,
    )  # fmt: skip
    fill(folder, home / "mark")
    return folder


def fill(folder, mark):
    """Whatever code could be taken from a folder."""
    code = f"import sys\nopen({str(mark)!r}, 'a').write(__name__ + '\\n')\n"
    for name in MODULES - {"sys"}:
        (folder / f"{name}.py").write_text(code)
    for name in ("pathveil", "multiprocessing"):
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text(code)
    (folder / "evil.pth").write_text(f"import sys; exec({code!r})\n")
    (folder / "evil_plugin.py").write_text(code)
    plugins = folder / "evil-1.0.dist-info"
    plugins.mkdir()
    (plugins / "METADATA").write_text("Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n")
    (plugins / "entry_points.txt").write_text(
        "[pydantic]\nevil = evil_plugin\n[numba_extensions]\ninit = evil_plugin:x\n"
        "[pathveil]\nevil = evil_plugin\n"
    )
    (folder / "templates").mkdir()
    for name in ("report.html", "audit.html", "plan.html"):
        (folder / "templates" / name).write_text("{{ cycler.__init__.__globals__.os.getpid() }}")
    for name in PROGRAMS:
        program = folder / name
        program.write_text(f"#!/bin/sh\necho {name} >>{mark}\n")
        program.chmod(0o755)


def start(folder, *arguments, script="pathveil"):
    """Start a command there; PATH has an empty entry, as many profiles leave it."""
    settings = environment(folder)
    settings["PATH"] = f":{settings['PATH']}"
    return subprocess.Popen(
        [sys.executable, str(folder.parent / "bin" / script), *arguments],
        cwd=folder, env=settings, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def ran(folder):
    """What left a mark."""
    mark = folder.parent / "mark"
    found = mark.read_text().split() if mark.exists() else []
    mark.unlink(missing_ok=True)
    return found


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in QUICK else pytest.mark.long)
        for name in COMMANDS
        if name != "explore"
    ],
)
def test_no_command_runs_code_of_the_current_folder(hostile, name):
    process = start(hostile, *COMMANDS[name])
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, out + err
    assert ran(hostile) == []


def test_exploring_a_large_release_runs_no_code_of_the_current_folder(hostile):
    """It is mined in another process of Python, which took modules from there."""
    process = start(hostile, *COMMANDS["explore"], "--json", script="pathveil-large")
    try:
        lines = iter(process.stdout.readline, "")
        address = json.loads("".join([*iter(lambda: next(lines), "}\n"), "}"]))["address"]
        for _ in range(600):
            with urlopen(f"{address}api/patterns?k=5") as reply:
                found, status = json.load(reply), reply.status
            if status == 200:
                break
            time.sleep(0.2)
        assert found["rows"]
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert ran(hostile) == []


def test_python_m_pathveil_takes_no_dependency_from_the_current_folder(hostile, tmp_path):
    """Python itself looks there before any line of ours runs; from then on nothing is taken."""
    for name in DEPENDENCIES:
        (tmp_path / f"{name}.py").write_text((hostile / f"{name}.py").read_text())
    (tmp_path / "pathveil.py").unlink(missing_ok=True)
    process = subprocess.Popen(
        [sys.executable, "-m", "pathveil", "verify", str(hostile / "out")],
        cwd=tmp_path, env=environment(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert ran(hostile) == []


def test_settings_of_the_compiler_are_not_taken_from_the_current_folder(pathveil, folder):
    """They say where compiled code is kept, and that is loaded without a question."""
    (folder / ".numba_config.yaml").write_text("cache_dir: here\n")
    result = pathveil("universe", "codes:1..3")
    assert result.code == 2
    assert ".numba_config.yaml" in result.err
    (folder / ".numba_config.yaml").unlink()
    assert pathveil("universe", "codes:1..3").code == 0


def test_a_relative_place_for_compiled_code_is_refused(pathveil, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", "cache")
    result = pathveil("universe", "codes:1..3")
    assert (result.code, "NUMBA_CACHE_DIR" in result.err) == (2, True)


def test_an_empty_entry_of_a_path_is_not_the_current_folder(folder, monkeypatch):
    monkeypatch.setenv("PATH", "/bin::.:node_modules/.bin:/usr/bin:./bin:")
    monkeypatch.setenv("PYTHONPATH", ":/elsewhere:lib")
    monkeypatch.setenv("PYTHONSAFEPATH", "")
    ours = ["", str(folder), str(folder.parent / "work"), str(folder / "lib")]
    monkeypatch.setattr(sys, "path", [*ours, "/elsewhere"])
    leave_out_current_folder()
    assert sys.path == ["/elsewhere"]
    settings = [os.environ[name] for name in ("PATH", "PYTHONPATH", "PYTHONSAFEPATH")]
    assert settings == ["/bin:/usr/bin", "/elsewhere", "1"]


def test_the_folder_is_hostile(hostile):
    """The test can fail: Python run in the ordinary way takes modules from there."""
    subprocess.run([sys.executable, "-c", "import json"], cwd=hostile, check=True, timeout=60)
    assert ran(hostile) == ["json"]
    assert os.access(hostile / "sh", os.X_OK)
