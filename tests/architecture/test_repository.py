"""What the repository must not carry: paths of one machine, download addresses, loose pins."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# At the start of a path, so not after a letter, a dot or a closing bracket.
MACHINE_PATH = re.compile(r"(?<![\w.~*)}\]>-])/(work|tmp|root|home|Users)/[\w.-]+")


def tracked_texts():
    """The files that git tracks or would track, if they are text."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if listed.returncode:
        pytest.skip("not a git checkout")
    for name in listed.stdout.decode().split("\0"):
        path = ROOT / name
        if name and path.is_file():
            content = path.read_bytes()
            if b"\0" not in content:
                # Inputs of the fuzzers need not be UTF-8.
                is_input = name.startswith(("fuzz/corpus/", "fuzz/findings/"))
                yield name, content.decode("utf-8", errors="replace" if is_input else "strict")


def test_no_file_names_a_folder_of_one_machine():
    found = [
        f"{name}: {match.group()}"
        for name, text in tracked_texts()
        for match in MACHINE_PATH.finditer(text)
    ]
    assert found == []


@pytest.mark.parametrize("before", ["", "(", " ", '"', "'", "=", "file://"])
def test_the_scan_for_paths_finds_them(before):
    assert MACHINE_PATH.search(f"{before}/{'tmp'}/folder")
    assert not MACHINE_PATH.search(f"../{'work'}/folder and some/{'home'}/page")


def requirements():
    """The logical lines: a pin and its hashes."""
    text = (ROOT / "requirements.txt").read_text(encoding="utf-8").replace(" \\\n", "")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def test_requirements_are_pinned_with_hashes_and_carry_no_addresses():
    """If this fails, run ``make pin``."""
    pin = re.compile(r"[A-Za-z0-9_.-]+==[A-Za-z0-9_.]+( +--hash=sha256:[0-9a-f]{64})+")
    assert [line[:60] for line in requirements() if not pin.fullmatch(line)] == []


def test_the_pins_stand_in_order_and_once():
    names = [re.sub(r"[-_.]+", "-", line.split("==")[0]).lower() for line in requirements()]
    assert names == sorted(set(names))


def test_every_dependency_is_pinned():
    pinned = {line.split("==")[0].lower().replace("_", "-") for line in requirements()}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = {re.match(r"[\w-]+", dependency).group() for dependency in project["dependencies"]}
    assert needed <= pinned


def test_no_file_carries_an_unfinished_note():
    pattern = re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "X" + "XX"]) + r")\b")
    found = [
        f"{name}: {match.group()}"
        for name, text in tracked_texts()
        if name.endswith((".py", ".md", ".toml", ".html"))
        for match in pattern.finditer(text)
    ]
    assert found == []


def test_the_code_cites_nothing_that_is_not_in_the_repository():
    pattern = re.compile(r"\b(DESIGN|ACCURACY\.md|STYLE\.md)\b")
    found = [
        name for name, text in tracked_texts() if name.startswith("src/") and pattern.search(text)
    ]
    assert found == []
