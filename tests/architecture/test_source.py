"""What the source must not contain, and what every public name must have."""

import ast
import inspect
import runpy
from pathlib import Path

import pytest

import pathveil
from pathveil.statistics import constants as tuning

PACKAGE = Path(__file__).parents[2] / "src" / "pathveil"
FILES = sorted(PACKAGE.rglob("*.py"))
DOCS = PACKAGE.parents[1] / "docs"

# Where numpy's and Python's generators may be used: people who do not exist, experiments that are
# never published, and what is drawn behind the gate, where nothing private is decided any more
# (`publishing` seeds that from the secure generator).
MAY_USE_RANDOM = (
    "simulation.py",
    "trials/",
    "audit/",
    "methods/calibrated/",
    "publishing.py",
)

# The modules in which privacy is decided.
NO_FLOATS = ("gate/geometric.py", "gate/add_noise.py", "core/intervals.py")

MOST_LINES = 600


def name_of(path):
    return path.relative_to(PACKAGE).as_posix()


def parsed(path):
    return ast.walk(ast.parse(path.read_text(encoding="utf-8")))


def uses_of_random(nodes):
    """Lines that import or reach `random` or `numpy.random`."""
    for node in nodes:
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            names = [module, *(f"{module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            names = [f"{node.value.id}.{node.attr}"]
        else:
            continue
        wrong = ("random", "numpy.random", "np.random")
        if any(name in wrong or name.startswith("random.") for name in names):
            yield node.lineno


def test_the_scan_for_random_finds_every_way_to_get_at_it():
    for code in (
        *("import random", "from random import random", "import numpy.random"),
        *("from numpy import random", "from numpy.random import default_rng"),
        *("import numpy as np\nnp.random.default_rng()", "import numpy\nnumpy.random.seed(1)"),
    ):
        assert list(uses_of_random(ast.walk(ast.parse(code)))), code


def test_nothing_before_or_in_the_gate_uses_an_insecure_generator():
    found = {
        name_of(path): lines
        for path in FILES
        if not name_of(path).startswith(MAY_USE_RANDOM)
        and (lines := list(uses_of_random(parsed(path))))
    }
    assert found == {}


def test_nothing_is_validated_with_assert():
    """`python -O` removes asserts."""
    found = [
        (name_of(path), node.lineno)
        for path in FILES
        for node in parsed(path)
        if isinstance(node, ast.Assert)
    ]
    assert found == []


def compiled_functions(path):
    for node in parsed(path):
        if isinstance(node, ast.FunctionDef):
            decorators = " ".join(map(ast.unparse, node.decorator_list))
            if "compiled" in decorators or "njit" in decorators:
                yield node


def test_compiled_code_reads_no_tuning_constant():
    """It is kept on disk until its own file changes, so it would not see another value of one."""
    constants = {name for name in vars(tuning) if name.isupper()}
    read = {
        f"{name_of(path)}:{node.id}"
        for path in FILES
        for function in compiled_functions(path)
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and node.id in constants
    }
    assert constants
    assert any(True for path in FILES for _ in compiled_functions(path))
    assert read == set()


@pytest.mark.parametrize("name", NO_FLOATS)
def test_no_float_touches_a_privacy_decision(name):
    floats = {"float", "float16", "float32", "float64", "exp", "log", "sqrt"}
    found = [
        node.lineno
        for node in parsed(PACKAGE / name)
        if (isinstance(node, ast.Constant) and isinstance(node.value, float))
        or (isinstance(node, ast.Name) and node.id in floats)
        or (isinstance(node, ast.Attribute) and node.attr in floats)
    ]
    assert found == []


def test_a_file_is_one_idea_and_says_which():
    texts = {name_of(path): path.read_text(encoding="utf-8") for path in FILES}
    assert [name for name, text in texts.items() if len(text.splitlines()) > MOST_LINES] == []
    assert [name for name, text in texts.items() if not ast.get_docstring(ast.parse(text))] == []


def test_no_two_modules_share_a_name():
    """But for the command line's: a command is named after what it calls."""
    used_twice = runpy.run_path(str(DOCS.parent / "tools" / "floor_plan.py"))["used_twice"]
    assert used_twice([path for path in FILES if not name_of(path).startswith("cli/")]) == []
    assert "report" in used_twice(FILES)


@pytest.mark.parametrize("name", pathveil.__all__)
def test_every_public_name_resolves_and_says_what_it_is(name):
    value = getattr(pathveil, name)
    assert inspect.getdoc(value)
    assert name in dir(pathveil)
    if inspect.isclass(value):
        methods = inspect.getmembers(value, lambda m: inspect.isfunction(m) or inspect.ismethod(m))
        public = {m: method for m, method in methods if not m.startswith("_")}
        assert [m for m, method in public.items() if not inspect.getdoc(method)] == []


def test_a_name_that_is_not_public_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'publsh'"):
        _ = pathveil.publsh


def test_the_lists_of_public_names_agree():
    assert sorted(pathveil.__all__) == pathveil.__all__
    assert set(pathveil._HOMES) == set(pathveil.__all__) - {"errors"}


def test_the_error_tree_is_drawn_as_it_is():
    errors = {
        name: value
        for name, value in vars(pathveil.errors).items()
        if inspect.isclass(value) and issubclass(value, pathveil.errors.PathveilError)
    }
    for name, error in errors.items():
        assert name in pathveil.errors.__doc__
        assert error.__doc__


def test_every_public_name_is_mentioned_in_the_docs():
    pages = [DOCS.parent / "README.md", *DOCS.glob("*.md")]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    assert [name for name in pathveil.__all__ if name not in text] == []
