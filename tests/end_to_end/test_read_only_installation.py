"""An installation that nobody may write, run by somebody without a home."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.commands import publish_arguments

import pathveil

CANT_BE_KEPT = "Compiled code can't be kept"
KERNEL = """
import numpy as np
from pathveil.raw.trajectory_ids import rank_trajectory_ids
from pathveil.raw.bounding import rows_by_code
print(rows_by_code(np.array([1, 0], np.int32), 2)[1].tolist())
"""


@pytest.fixture
def installation(tmp_path):
    """A copy of the package beside which nothing can be kept, not even by root."""
    place = tmp_path / "installation"
    source = Path(pathveil.__file__).parent
    shutil.copytree(source, place / "pathveil", ignore=shutil.ignore_patterns("__pycache__"))
    for folder in [path for path in place.rglob("*") if path.is_dir()]:
        (folder / "__pycache__").touch()  # where a folder would have to be
    return place


def run(installation, work, *arguments):
    """Run Python with the copy and without a home."""
    hidden = ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")
    variables = {name: value for name, value in os.environ.items() if name not in hidden}
    variables |= {"PYTHONPATH": str(installation), "HOME": "/proc/nobody"}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=work, env=variables, capture_output=True, text=True, timeout=500, check=False,
    )  # fmt: skip


def test_kernels_are_compiled_in_memory_and_it_is_said_once(installation, tmp_path):
    result = run(installation, tmp_path, "-c", KERNEL)
    assert result.returncode == 0, result
    assert result.stdout == "[1, 0]\n"
    assert result.stderr.count(CANT_BE_KEPT) == 1


@pytest.mark.long
def test_a_release_is_published(installation, week):
    result = run(installation, week, "-m", "pathveil", *publish_arguments())
    assert result.returncode == 0, result
    assert result.stderr.count(CANT_BE_KEPT) == 1
    assert (week / "out" / "report.html").is_file()
