"""The README's Python runs as it stands."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


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
