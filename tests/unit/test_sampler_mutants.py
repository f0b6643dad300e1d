"""The tests of the sampler and its arithmetic can fail: each change to the source below is caught.

A copy of the package with one line changed is put before the real one, and the tests run on it.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pathveil

ROOT = Path(__file__).resolve().parents[2]
SAMPLER, INTERVALS = "gate/geometric.py", "core/intervals.py"
GAUSSIAN = "gate/gaussian.py"
TESTS = [
    f"tests/unit/test_{name}.py"
    for name in ("intervals", "geometric", "gaussian", "sampler_exhaustively")
]
MUTANTS = {
    "a tie is decided at once": (SAMPLER, "and thresholds[low] == word:", "and False:"),
    "a threshold belongs to the next digit": (
        SAMPLER,
        "if thresholds[middle] < word:",
        "if thresholds[middle] <= word:",
    ),
    "a tie takes the same word again": (
        SAMPLER,
        "prefix << self._word_bits | word, words + 1",
        "prefix << self._word_bits | prefix, words + 1",
    ),
    "an open digit is not drawn again": (SAMPLER, "while len(more):", "while False:"),
    "a digit has the weight of another": (
        SAMPLER,
        "weight = BASE**level",
        "weight = BASE ** (level + 1)",
    ),
    "a sum wraps": (SAMPLER, "(digits > largest) | (total > SATURATED)", "digits > largest"),
    "a floor is not certified": (INTERVALS, "low if low == high else None", "low"),
    "a product is rounded inward": (
        INTERVALS,
        "high = -((-self.high * other.high) >> self.bits)",
        "high = (self.high * other.high) >> self.bits",
    ),
    "a complement is of its other end": (
        INTERVALS,
        "max(one - self.high, 0), max(one - self.low, 0)",
        "max(one - self.low, 0), max(one - self.low, 0)",
    ),
    "zero has two signs": (GAUSSIAN, "is_accepted &= (size > 0) | ~is_negative", "pass"),
    "what lies beyond the table is geometric": (
        GAUSSIAN,
        "is_accepted[at] = self._chance.take(",
        "self._chance.take(",
    ),
    "all of a block is accepted": (
        GAUSSIAN,
        "is_accepted &= self._chance.take_all(more, is_beyond, randomness)",
        "self._chance.take_all(more, is_beyond, randomness)",
    ),
    "a chance is decided by its upper bound": (
        GAUSSIAN,
        "is_undecided = (word >= least) & ~is_taken | is_open",
        "is_undecided = is_open",
    ),
    "where the walk lands is kept": (
        GAUSSIAN,
        "reaches(self._dropped, 0, 0, randomness, self._word_bits) and (",
        "True and (",
    ),
    "the sum of weights has one side": (
        INTERVALS,
        "one + total + total + rest",
        "one + total + rest",
    ),
    "a series stops early": (INTERVALS, "while term_high > 1:", "while step < 6:"),
}


def run_on_copy(folder, change):
    """The exit code of the tests on a copy of the package with one change."""
    shutil.copytree(Path(pathveil.__file__).parent, folder / "pathveil")
    file, old, new = change
    source = folder / "pathveil" / file
    text = source.read_text(encoding="utf-8")
    assert text.count(old) == 1
    source.write_text(text.replace(old, new), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-qx", "-m", "not long", "-p", "no:cacheprovider",
         "-p", "no:xdist", *TESTS],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        check=False,
    )  # fmt: skip
    return done.returncode


@pytest.mark.long
@pytest.mark.parametrize("change", MUTANTS.values(), ids=MUTANTS)
def test_a_changed_sampler_is_caught(change, tmp_path):
    assert run_on_copy(tmp_path, change) == pytest.ExitCode.TESTS_FAILED


@pytest.mark.long
def test_the_copy_itself_passes(tmp_path):
    unchanged = (SAMPLER, "DIGIT_BITS = 10", "DIGIT_BITS = 10  # as it is")
    assert run_on_copy(tmp_path, unchanged) == pytest.ExitCode.OK
