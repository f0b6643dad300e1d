"""The areas are enforced: the import contracts hold, and a wrong import breaks them."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "pathveil"
LINT_IMPORTS = [
    *(sys.executable, "-c", "from importlinter.cli import lint_imports_command as l; l()"),
    "--no-cache",
]


def contracts():
    configuration = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return configuration["tool"]["importlinter"]["contracts"]


def layers():
    (contract,) = (c for c in contracts() if c["type"] == "layers")
    return [{name.strip() for name in re.split("[|:]", line)} for line in contract["layers"]]


def lint_imports(folder, source):
    return subprocess.run(
        LINT_IMPORTS,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_contracts_hold():
    result = lint_imports(ROOT, PACKAGE.parent)
    assert result.returncode == 0, result.stdout


def test_every_module_has_a_place_in_the_layers():
    listed = set().union(*layers())
    modules = {
        f"pathveil.{path.stem}"
        for path in PACKAGE.iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert modules - {"pathveil.__init__", "pathveil.__main__"} == listed


def test_the_raw_package_says_who_imports_it():
    listed = re.search(
        r"Imported by (.*?);", (PACKAGE / "raw" / "__init__.py").read_text(), re.DOTALL
    )
    found = {
        path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        for path in PACKAGE.rglob("*.py")
        if re.search(r"^\s*(from|import) pathveil\.raw\b", path.read_text("utf-8"), re.MULTILINE)
    }
    assert set(re.findall("`(\\w+)`", listed.group(1))) == found - {"raw", "__init__"}


WRONG = [
    # (who, imports what, why it is wrong)
    ("analysis/wrong.py", "import pathveil.raw.database", "What sees releases"),
    ("core/wrong.py", "def later():\n    import pathveil.raw.reading", "What sees releases"),
    ("release/wrong.py", "from pathveil.gate import randomness", "What sees releases"),
    ("release/exports/wrong.py", "import pathveil.raw.database", "What sees releases"),
    ("raw/wrong.py", "from pathveil.release import bundle", "Raw data reads nothing"),
    ("ledger/wrong.py", "import pathveil.raw.database", "What sees releases"),
    ("ledger/wrong.py", "import pathveil.release.bundle", "The layers"),
    ("errors.py", "import pathveil.core.budget", "The layers"),
]


@pytest.mark.parametrize(("file", "code", "contract"), WRONG)
def test_a_wrong_import_breaks_a_contract(tmp_path, file, code, contract):
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    copy = tmp_path / "src" / "pathveil"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    with (copy / file).open("a", encoding="utf-8") as module:
        module.write(f"\n{code}\n")
    result = lint_imports(tmp_path, copy.parent)
    assert result.returncode == 1, result.stdout
    broken = [line for line in result.stdout.splitlines() if line.endswith("BROKEN")]
    assert any(line.startswith(contract) for line in broken), result.stdout
