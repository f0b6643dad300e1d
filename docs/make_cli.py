"""Write docs/cli.md from the commands themselves: ``python docs/make_cli.py``."""

import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from pathveil.cli.app import app
from pathveil.cli.run import MEANINGS
from pathveil.cli.verbosity import EVERYWHERE

PAGE = Path(__file__).with_name("cli.md")

# What lies in the folder where an example is tried (tests/docs/files.py).
FILES = {
    "publish": "transit",
    "compare": "transit, march, april",
    "sign": "transit, release, key",
    "verify": "transit, ledger file, charged release",
    "ledger amend": "ledger",
    "ledger require": "ledger",
    "ledger series": "ledger",
    "ledger withdraw": "transit, ledger, two releases",
    "ledger correct": "transit, ledger, two releases",
    "ledger show": "ledger",
    "ledger history": "ledger",
    "ledger verify": "ledger",
    "ledger witness": "ledger, key",
    "ledger export": "ledger",
    "ledger import": "ledger copy, server",
}

INTRODUCTION = """\
# The command line

<!-- Written by `python docs/make_cli.py` from the commands themselves; a test compares them. -->

`pathveil --help` and `pathveil COMMAND --help` say the same. Results go to stdout, messages and
progress to stderr. Every command has `--json` for scripts, with keys that [stay](json.md). Colours
are off when the output is not a terminal, and when `NO_COLOR` is set. Most long steps show the time
that is left (not mining, flows, databases, DuckDB and Spark, which can't tell).

`--quiet` (`-q`) leaves nothing on stderr but errors; `--verbose` (`-v`) says every step, in words
that tell nothing of the data. Both may stand before or after the command's name.
`pathveil --install-completion` makes the shell complete commands, options and values: methods,
engines, formats, time zones, datasets of the ledger, locations of a release. A word that is
mistyped is answered with the one that was perhaps meant.

## Exit codes

| exit code | meaning |
|---|---|
"""

AFTER = """
A signal that comes while Python itself is starting, before the first line of pathveil, ends it in
Python's own way: nothing was read or charged by then.

Whatever happens, a release folder appears whole or not at all, and no message quotes a row of the
raw data. `PATHVEIL_DEBUG=1` shows tracebacks on your own terminal, which may.
"""


def page() -> str:
    """The whole page."""
    group: Any = typer.main.get_command(app)
    sections = [_section(name, command) for name, command in _commands(group, "")]
    codes = "".join(f"| {code} | {meaning} |\n" for code, meaning in MEANINGS.items())
    return "\n".join([INTRODUCTION + codes + AFTER, *sections])


def _commands(group: Any, before: str) -> Iterator[tuple[str, Any]]:
    """Every command by what one types, those of sub-commands too."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _commands(command, f"{before}{name} ")
        else:
            yield f"{before}{name}", command


def _section(name: str, command: Any) -> str:
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [
        p for p in command.params if p.param_type_name == "option" and p.name not in EVERYWHERE
    ]
    usage = " ".join(["pathveil", name, *(_placeholder(p) for p in arguments), "[OPTIONS]"])
    text, _, rest = command.help.partition("Example:")
    _, example, more = rest.split("`", 2)
    lines = [f"## pathveil {name}", "", f"`{usage}`", "", *_filled(text), ""]
    lines += [f"<!-- files: {FILES.get(name, 'transit, release')} -->", ""]
    lines += ["```sh", *_shell(example), "```", ""]
    if more.strip():
        lines += [*_filled(more), ""]
    lines += ["| argument or option | default | what it is |", "|---|---|---|"]
    lines += [_row(_placeholder(p), p) for p in arguments]
    lines += [_row(", ".join(p.opts), p) for p in options]
    return "\n".join(lines) + "\n"


def _placeholder(argument: Any) -> str:
    return str(argument.metavar or argument.name.upper())


def _filled(text: str) -> list[str]:
    paragraphs = text.strip().split("\n\n")
    filled = [textwrap.fill(text, 99, break_on_hyphens=False) for text in paragraphs]
    return "\n\n".join(filled).splitlines()


def _shell(example: str) -> list[str]:
    one_line = " ".join(example.split())
    lines = textwrap.wrap(one_line, 76, subsequent_indent="    ", break_on_hyphens=False)
    return [f"{line} \\" for line in lines[:-1]] + lines[-1:]


def _row(name: str, parameter: Any) -> str:
    if parameter.required:
        default = "required"
    elif parameter.default is None or parameter.default is False:
        default = ""
    else:
        default = f"`{parameter.default}`"
    explained = " ".join((parameter.help or "").split()).replace("|", "\\|")
    return f"| `{name}` | {default} | {explained} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
