"""The fenced blocks of the pages, and what the pages say about them in comments.

<!-- files: transit, release -->   from here on blocks run in a new folder with these files
<!-- names: db, release -->        what the Python that follows knows beforehand
<!-- not run: the reason -->       directly above a block: it is not run
"""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RUN = {"python", "console", "sh", "bash", "sql"}
NOT_CODE = {"text", "json", "csv", "yaml", "html", "bibtex"}

_FENCE = re.compile(r"^( *)(`{3,})(\S*)[^\n]*\n(.*?)^\1\2 *$", re.DOTALL | re.MULTILINE)
_NOT_RUN = re.compile(r"<!-- not run: ([^>]+) -->\s*$")


@dataclass(frozen=True)
class Block:
    """A fenced block.

    Attributes:
        page: the page's path from the root of the project.
        line: the line of its first fence.
        language: what stands after the fence.
        text: what stands inside, without the fence's own indentation.
        not_run: why it is not run, or None.
    """

    page: str
    line: int
    language: str
    text: str
    not_run: str | None

    def __str__(self):
        return f"{self.page}:{self.line}"


def pages():
    """The pages whose blocks are run, by their paths from the root."""
    found = [ROOT / "README.md", ROOT / "examples" / "README.md", *(ROOT / "docs").rglob("*.md")]
    return sorted(path.relative_to(ROOT).as_posix() for path in found)


def blocks_of(text, page="a page"):
    """The fenced blocks of a page, in order."""
    return [_block(text, page, match) for match in _FENCE.finditer(text)]


def _block(text, page, match):
    indent, _, language, inside = match.groups()
    reason = _NOT_RUN.search(text[: match.start()])
    lines = [line.removeprefix(indent) for line in inside.splitlines(keepends=True)]
    return Block(
        page,
        text.count("\n", 0, match.start()) + 1,
        language,
        "".join(lines),
        reason and reason.group(1),
    )


def read(page):
    """The text of a page."""
    return (ROOT / page).read_text(encoding="utf-8")


@dataclass(frozen=True)
class Wish:
    """A comment: ``files`` or ``names``, and which."""

    line: int
    kind: str
    names: list[str]


def parts_of(text, page="a page"):
    """The steps of a page, anew from each wish for files; the parts do not need one another."""
    parts = [[]]
    for step in _steps_of(text, page):
        if isinstance(step, Wish) and step.kind == "files":
            parts.append([])
        parts[-1].append(step)
    return [part for part in parts if any(isinstance(step, Block) for step in part)]


def _steps_of(text, page):
    """The blocks of a page that are run, and its wishes, in their order."""
    outside = _FENCE.sub(lambda match: "\n" * match.group().count("\n"), text)
    wishes = [
        Wish(outside.count("\n", 0, match.start()) + 1, kind, [n.strip() for n in names.split(",")])
        for match in re.finditer(r"<!-- (files|names): ([^>]+) -->", outside)
        for kind, names in [match.groups()]
    ]
    run = [block for block in blocks_of(text, page) if block.language in RUN and not block.not_run]
    return sorted([*run, *wishes], key=lambda step: step.line)


def indented_commands(text):
    """Commands in blocks that are indented instead of fenced, which nobody would run."""
    outside = _FENCE.sub("", text)
    return re.findall(
        r"(?<=\n\n)(?: {4}|\t)((?:\$ |pathveil |python |pip |import |make )[^\n]*)", outside
    )
