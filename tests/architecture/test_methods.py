"""Methods are values: each is carried out, and nobody compares their names."""

import ast
from pathlib import Path

import pytest

from pathveil import publishing
from pathveil.core.methods import BASIC, CALIBRATED, EVERY_METHOD, FULL, METHODS, Method
from pathveil.methods.paper.generate import FEASIBLE

PACKAGE = Path(__file__).parents[2] / "src" / "pathveil"
# Where a name may be written out: who gives it; and the shell's words, which a test compares.
ALLOWED = {
    "core/methods.py": {*METHODS},
    "cli/completion.py": {*METHODS},
    "cli/options/shared.py": {CALIBRATED.name},
    "promise/registry_entry.py": {BASIC.name},  # a heading of the registry's schema
    "trials/evaluation/charts.py": {CALIBRATED.name},  # what a curve is called
    "trials/reproduction/exhibits.py": {CALIBRATED.name},
}


def written_out(source):
    """The names of methods among the texts of a module, docstrings and words aside."""
    texts = (node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant))
    return {text for text in texts if isinstance(text, str) and text in METHODS}


def test_every_method_is_carried_out_and_has_its_post_processing():
    assert tuple(method.name for method in EVERY_METHOD) == METHODS
    assert set(publishing.PUBLISHED_BY) == set(EVERY_METHOD)
    assert set(FEASIBLE) == {method for method in EVERY_METHOD if not method.has_tables}
    assert [Method.named(name) for name in METHODS] == [BASIC, FULL, CALIBRATED]


def test_no_module_writes_out_the_name_of_a_method():
    found = {
        path.relative_to(PACKAGE).as_posix(): written_out(path.read_text(encoding="utf-8"))
        for path in PACKAGE.rglob("*.py")
    }
    assert {file: names for file, names in found.items() if names} == ALLOWED


@pytest.mark.parametrize("line", ["x == 'full'", "'basic' in x", "names['calibrated']"])
def test_a_comparison_would_be_found(line):
    assert written_out(line)
