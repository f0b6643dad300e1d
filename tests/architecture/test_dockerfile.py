"""The Dockerfile, as far as it can be checked without Docker: what it names is there, and safe."""

import re
import shlex
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "Dockerfile").read_text(encoding="utf-8")


def steps(text=TEXT):
    """(instruction, arguments), continued lines joined, comments left out."""
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    for line in "\n".join(lines).replace("\\\n", " ").splitlines():
        word, _, rest = line.partition(" ")
        yield word, rest.strip()


def copied():
    """What is copied from the repository."""
    return [
        name
        for word, rest in steps()
        if word == "COPY" and not rest.startswith("--from=")
        for name in shlex.split(rest)[:-1]
    ]


@pytest.mark.parametrize("name", copied())
def test_what_is_copied_is_there_and_reaches_the_builder(name):
    assert (ROOT / name).exists()
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert f"!{name}" in ignored


def test_nothing_else_reaches_the_builder():
    """Raw data that lies in the folder must not get into an image."""
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    kept = [line[1:] for line in lines if line.startswith("!")]
    assert "*" in lines
    assert sorted(kept) == sorted(copied())
    assert not any(fnmatch("taps.csv", pattern) for pattern in kept)


def test_it_ends_as_an_ordinary_user_who_runs_pathveil():
    last = dict(steps())  # the last of each instruction
    assert last["USER"] not in ("root", "0")
    assert f" {last['USER']} " in last["RUN"] + " "
    assert last["ENTRYPOINT"] == '["pathveil"]'
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "pathveil" in scripts["project"]["scripts"]


def test_packages_are_pinned_and_no_registry_is_named():
    installs = [rest for word, rest in steps() if word == "RUN" and "pip install" in rest]
    assert len(installs) == 2
    assert all("--require-hashes" in rest or "--no-deps" in rest for rest in installs)
    # A name before the first slash with a dot, a colon or "localhost" would be a registry.
    for word, rest in steps():
        if word in ("FROM", "ARG"):
            image = rest.partition("=")[2] or rest.split()[0]
            assert not re.match(r"[\w-]*([.:][\w.:-]*|localhost)/", image)
    assert "://" not in TEXT
    assert "--index-url" not in TEXT


def test_it_is_for_a_python_that_pathveil_runs_on():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    version = re.search(r"^ARG PYTHON=python:(3\.\d+)-", TEXT, re.MULTILINE)[1]
    assert f"Programming Language :: Python :: {version}" in project["classifiers"]


def test_it_is_run_without_a_network():
    assert "--network none" in TEXT
    readme = (ROOT / "docs" / "start.md").read_text(encoding="utf-8")
    assert "docker run --rm --interactive --tty --network none" in readme
