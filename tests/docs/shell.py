"""Run the commands of a page as its reader would type them, pathveil's own in this process."""

import os
import re
import shlex
import signal
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

from tests.commands import Result, finish, spawn
from tests.docs.blocks import ROOT

from pathveil.cli.run import run

# A page shows a size that is worth having; here a small one does.
LARGEST = {"--riders": 2000, "--runs": 64, "--trajectories": 2000, "--queries": 400}
LARGEST_OF = {"reproduce": {"--runs": 1}}
# The whole audit runs in test_trust_commands.
SHORTER = {
    "demo": {"--riders": "20000"},
    "audit": {"--runs": "64", "--method": "full"},
    "reproduce": {"--queries": "400", "--workers": "1"},
}
_SHELL = re.compile(r"[|><;&]|\$\(")
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True)
class Command:
    """A command and the lines that the page shows below it."""

    text: str
    shown: tuple[str, ...] = ()

    @property
    def expected_code(self):
        """2 if the page shows that it is refused."""
        return 2 if any(line.startswith("error:") for line in self.shown) else 0


def commands_of(block):
    """The commands of a console, sh or bash block."""
    is_console = block.language == "console"
    text = block.text.replace("\\\n", " ")
    found = []
    for line in text.splitlines():
        if is_console and line.startswith("$ "):
            found.append(Command(line[2:]))
        elif is_console and found and line.strip():
            found[-1] = Command(found[-1].text, (*found[-1].shown, line))
        elif is_console and line.strip():
            raise ValueError(f"{block}: output before the first command")
        elif not is_console and shlex.split(line, comments=True):
            found.append(Command(line))
    return found


class Shell:
    """The shell of a reader: a folder and an environment that stay from command to command."""

    def __init__(self, folder, monkeypatch, capfd):
        self._folder = folder
        self._monkeypatch = monkeypatch
        self._capfd = capfd
        self._number = 0

    def begin(self):
        """Go to a new folder, and have a new home."""
        self._number += 1
        for name in ("work", "home"):
            (self._folder / f"{name}-{self._number}").mkdir()
        self._monkeypatch.chdir(self._folder / f"work-{self._number}")
        self._monkeypatch.setenv("HOME", str(self._folder / f"home-{self._number}"))
        self._monkeypatch.delenv("PATHVEIL_LEDGER", raising=False)

    def run(self, command):
        """Run it; what it said."""
        words = [_expanded(word) for word in shlex.split(command.text, comments=True)]
        own = {"pathveil": self._pathveil, "export": self._export, "pip": _pip, "make": self._make}
        if words[0] not in own or _SHELL.search(_bare(command.text)):
            return _other(command.text)
        return own[words[0]](words[1:])

    def _pathveil(self, arguments):
        if arguments[0] == "explore":
            return _visited(arguments)
        if "--master" in arguments:  # a driver of its own, as a reader's would be
            return finish(spawn(*arguments), timeout=600)
        handlers = {number: signal.getsignal(number) for number in SIGNALS}
        self._capfd.readouterr()
        code = run(_smaller(arguments))
        out, err = self._capfd.readouterr()
        for number, handler in handlers.items():
            signal.signal(number, handler)
        return Result(code, out, err)

    def _export(self, assignments):
        for assignment in assignments:
            name, _, value = assignment.partition("=")
            self._monkeypatch.setenv(name, value)
        return Result(0, "", "")

    def _make(self, targets):
        """The commands of pathveil in a target's recipe; `make setup` has been done."""
        said = [self._pathveil(words[1:]) for target in targets for words in _recipe(target)]
        if not said:
            raise ValueError(f"make {targets}: no such target, or nothing of pathveil in it")
        code = max(result.code for result in said)
        return Result(code, "".join(r.out for r in said), "".join(r.err for r in said))


def _visited(arguments):
    """Start the explorer on a free port, get its page as a browser would, and end it by Ctrl-C."""
    arguments = [word for word in arguments if word != "--port" and not word.isdigit()]
    with spawn(*arguments, "--no-open", "--port", "0") as process:
        said = process.stdout.readline()
        address = re.search(r"http://127\.0\.0\.1:\d+/?", said)
        if address:
            with urlopen(address.group()) as page:
                said += f"{page.status}"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    ended = process.returncode in {0, 128 + signal.SIGINT}
    return Result(0 if said.endswith("200") and ended else 1, said, err)


def _recipe(target):
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    body = re.search(rf"^{re.escape(target)}:[^\n]*\n((?:\t[^\n]*\n)*)", text, re.MULTILINE)
    lines = body.group(1).splitlines() if body else []
    return [shlex.split(line) for line in lines if line.startswith("\t$(BIN)/pathveil ")]


def _smaller(arguments):
    """The same with smaller sizes."""
    smaller = list(arguments)
    largest = LARGEST | LARGEST_OF.get(arguments[0], {})
    for number, argument in enumerate(arguments[:-1]):
        if argument in largest:
            smaller[number + 1] = str(min(int(arguments[number + 1]), largest[argument]))
    for option, value in SHORTER.get(arguments[0], {}).items():
        smaller += [] if option in smaller else [option, value]
    return smaller


def _pip(arguments):
    """Nothing is installed; but what it would install must be an extra that we have."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    known = set(project["optional-dependencies"])
    asked = {
        extra
        for argument in arguments
        for match in re.finditer(r"pathveil\[(.+)\]", argument)
        for extra in match.group(1).split(",")
    }
    if not asked or asked - known:
        return Result(1, "", f"not an extra of pathveil: {sorted(asked - known)}")
    return Result(0, "", "")


def _bare(text):
    """A command without what stands in quotes or after #."""
    return re.sub(r"'[^']*'|\"[^\"]*\"|(?<!\S)#.*", "", text)


def _expanded(word):
    return os.path.expandvars(re.sub(r"^~(?=/)", os.environ["HOME"], word))


def _other(text):
    """Anything else, by bash."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", text],
        capture_output=True,
        text=True,
        env=os.environ | {"PATH": path},
        timeout=60,
        check=False,
    )
    return Result(done.returncode, done.stdout, done.stderr)


def missing_lines(shown, said):
    """The lines that a page shows and the command did not say, in their order.

    Any space is like any other, also the end of a line; … stands for anything within a line.
    """
    missing, after = [], 0
    for line in shown:
        found = re.compile(_pattern(line)).search(said, after)
        missing += [] if found else [line]
        after = found.end() if found else after
    return missing


def _pattern(line):
    parts = [r"\s+".join(map(re.escape, part.split())) for part in line.split("…")]
    return r"[^\n]*?".join(parts)
