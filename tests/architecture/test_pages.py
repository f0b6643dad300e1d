"""The pages for whoever carries on: what they name exists, and one list is one list."""

import ast
import re
import runpy
import tomllib
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "pathveil"
# Ours or that of a test: `core/budget.py`, `raw/engines/`, `tests/theorem/`, `bench/publish.py`.
A_PATH = re.compile(r"`((?:[\w.-]+/)+(?:[\w-]+\.\w+)?|\w+\.py)`")
# `gate.measure.measure_stage`: modules, and a name that the last one defines.
A_NAME = re.compile(r"`((?:[a-z_0-9]+\.)+\w+)`")


def page(name):
    return (ROOT / name).read_text(encoding="utf-8")


def exists(path):
    return any((folder / path).exists() for folder in (PACKAGE, ROOT))


@cache
def defined(path):
    """The names that a module defines, and those of its classes as `Class.name`."""
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{m.name}" for m in node.body if isinstance(m, ast.FunctionDef)}
        targets = node.targets if isinstance(node, ast.Assign) else []
        targets = [node.target] if isinstance(node, ast.AnnAssign) else targets
        found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return found


def is_defined(name):
    """Whether a dotted name is a package or module of ours, or something that one defines."""
    parts = name.removeprefix("pathveil.").split(".")
    for length in range(len(parts), 0, -1):
        folder = PACKAGE.joinpath(*parts[:length])
        rest = ".".join(parts[length:])
        if folder.with_suffix(".py").is_file():
            return not rest or rest in defined(folder.with_suffix(".py"))
        if folder.is_dir():
            return not rest
    return False


@pytest.mark.parametrize("name", ["docs/paper-map.md", "docs/architecture.md", "CONTRIBUTING.md"])
def test_every_path_that_a_page_names_exists(name):
    paths = set(A_PATH.findall(page(name)))
    assert len(paths) > 3
    assert sorted(path for path in paths if not exists(path)) == []


def test_every_function_that_the_architecture_names_is_defined_there():
    names = set(A_NAME.findall(page("docs/architecture.md"))) - set(
        A_PATH.findall(page("docs/architecture.md"))
    )
    ours = {name for name in names if (PACKAGE / name.split(".")[0]).is_dir()} | {
        name for name in names if (PACKAGE / f"{name.split('.')[0]}.py").is_file()
    }
    assert len(ours) > 30
    assert sorted(name for name in ours if not is_defined(name)) == []


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("gate.measure.measure_stage", True),
        ("gate.measure", True),
        ("statistics.statistic.Statistic.oracle", True),
        ("statistics.all_statistics.STATISTICS", True),
        ("gate.measure.no_such", False),
        ("gate.no_such.measure", False),
    ],
)
def test_a_name_that_is_not_defined_is_missed(name, found):
    assert is_defined(name) == found


@pytest.mark.parametrize(("name", "folder"), [("README.md", "docs/"), ("docs/index.md", "")])
def test_the_lists_of_pages_are_the_navigation(name, folder):
    """If this fails, run ``python tools/page_lists.py``."""
    lists = runpy.run_path(str(ROOT / "tools" / "page_lists.py"))
    assert page(name) == lists["with_list"](page(name), folder)
    for path in (ROOT / "docs").glob("*.md"):
        assert path.name == "index.md" or f"]({folder}{path.name})" in lists["table"](folder)


def test_the_changelog_has_sections_and_begins_with_this_version():
    version = tomllib.loads(page("pyproject.toml"))["project"]["version"]
    versions = page("CHANGELOG.md").split("\n## ")[1:]
    assert versions[0].startswith(f"{version} ")
    for text in versions:
        before, *sections = text.split("\n### ")
        assert "\n- " not in before
        names = [section.partition("\n")[0] for section in sections]
        order = ["Added", "Changed", "Fixed", "Security"]
        assert names == [name for name in order if name in names]
        assert all("\n- " in section for section in sections)
