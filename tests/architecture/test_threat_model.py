"""docs/threat-model.md and docs/sampler-proof.md name tests; each of them exists.

Every line of the threat model has some.
"""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "threat-model.md").read_text(encoding="utf-8")
PROOF = (ROOT / "docs" / "sampler-proof.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE + PROOF)))
ROWS = re.findall(r"^\| (\d+) \| (.+?) \| (.+?) \| (.+) \|$", PAGE, flags=re.MULTILINE)


@cache
def functions_of(file):
    path = ROOT / file
    if not path.is_file():
        return set()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def missing(named):
    return [f"{file}::{test}" for file, test in named if test not in functions_of(file)]


def test_every_named_test_exists():
    assert missing(NAMED) == []


def test_a_test_that_does_not_exist_is_missed():
    here = Path(__file__).relative_to(ROOT).as_posix()
    assert missing([(here, "test_every_named_test_exists")]) == []
    assert len(missing([(here, "test_no_such"), ("tests/no_such.py", "test_it")])) == 2


def test_every_line_has_a_rule_and_a_test_and_nothing_else_is_in_its_last_cell():
    assert [int(number) for number, *_ in ROWS] == list(range(1, len(ROWS) + 1))
    assert len(ROWS) >= 12
    for number, leak, rule, tests in ROWS:
        assert len(leak) > 15, number
        assert len(rule) > 20, number
        assert re.fullmatch(r"(`tests/[\w/]+\.py::test_\w+` ?)+", tests), number


def test_every_line_of_the_shared_list_has_one_here():
    shared = ROOT.parent / "shared" / "PRIVACY.md"
    if not shared.is_file():
        pytest.skip("the shared list is not here")
    listed = shared.read_text(encoding="utf-8").partition("## Threat list")[2]
    lines = [line for line in listed.splitlines() if line.startswith("| ")][1:]
    assert len(ROWS) >= len(lines) > 0
