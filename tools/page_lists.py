"""Write the list of pages, the navigation of mkdocs.yml, into README.md and docs/index.md.

Run it as `python tools/page_lists.py` after a change of the navigation.
"""

from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[1]
BEGIN, END = "<!-- pages -->\n", "<!-- end of pages -->\n"
# A page with a list, and how a path below docs/ is written there.
LISTS = {"README.md": "docs/", "docs/index.md": ""}


def navigation() -> list[dict[str, Any]]:
    """The sections of mkdocs.yml, and the pages of each: names and paths."""
    settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    return list(settings["nav"])


def table(folder: str) -> str:
    """A row for each section, with links to its pages."""
    rows = ["| you want to | read |", "|---|---|"]
    for section in navigation():
        for name, pages in section.items():
            if isinstance(pages, list):
                links = [f"[{n}]({folder}{path})" for one in pages for n, path in one.items()]
                rows.append(f"| {name[0].lower()}{name[1:]} | {', '.join(links)} |")
    return "\n".join(rows) + "\n"


def with_list(text: str, folder: str) -> str:
    """A page whose list is that of the navigation."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{table(folder)}\n{END}{after}"


def main() -> None:
    """Write both lists."""
    for name, folder in LISTS.items():
        path = ROOT / name
        path.write_text(with_list(path.read_text(encoding="utf-8"), folder), encoding="utf-8")


if __name__ == "__main__":
    main()
