"""Every example runs as it stands, by itself, and says something."""

import runpy
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples"
SHARED = {"simulated_release", "simulated_taps", "timed_release"}
EXAMPLES = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem not in SHARED)


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_runs(example, tmp_path, request, monkeypatch, capsys):
    if example == "postgresql_visits":
        monkeypatch.setenv("DATABASE_URL", request.getfixturevalue("server").owner)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(FOLDER))
    runpy.run_path(str(FOLDER / f"{example}.py"), run_name="__main__")
    assert capsys.readouterr().out.strip()


def test_the_page_lists_every_example():
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert [example for example in EXAMPLES if f"`{example}.py`" not in page] == []
