"""The README's first screen and its Python are true as they stand."""

import re
from pathlib import Path

from tests.commands import environment, finish, spawn

ROOT = Path(__file__).resolve().parents[2]


def test_the_first_screen_of_the_readme_is_what_the_demo_shows(tmp_path):
    """Line by line and in order; … stands for anything, and the demo may show more lines."""
    text = (ROOT / "README.md").read_text()
    (screen,) = re.findall(r"```console\n\$ make demo\n(.*?)```", text, re.DOTALL)
    shown = finish(spawn("demo", cwd=tmp_path, env=environment(tmp_path))).out
    rest = iter(" ".join(line.split()) for line in shown.splitlines())
    for line in screen.splitlines():
        wanted = re.escape(" ".join(line.split())).replace("…", ".+")
        assert any(re.fullmatch(wanted, found) for found in rest), line


def test_python_blocks_of_the_readme_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})
    assert (tmp_path / "release" / "privacy-certificate.json").is_file()


def test_every_page_that_the_readme_links_exists():
    links = re.findall(r"\]\(([^)#]+)\)", (ROOT / "README.md").read_text())
    missing = [link for link in links if "://" not in link and not (ROOT / link).is_file()]
    assert not missing
