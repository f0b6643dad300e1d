"""Real processes that start at once: a warm parent has imported everything, and forks for each.

Every child is an operating system's process of its own that runs the real command line; only the
time that Python needs to import is saved. The parent starts no threads before it forks.
"""

import atexit
import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_PARENT = """
import importlib, json, os, pkgutil, sys
import pathveil
from pathveil.cli import stopping
from pathveil.cli.run import run

for found in pkgutil.walk_packages(pathveil.__path__, "pathveil."):
    if not found.name.startswith(("pathveil.trials", "pathveil.audit", "pathveil.__main__")):
        importlib.import_module(found.name)
import sqlalchemy.dialects.postgresql.psycopg, pyarrow.csv, pyarrow.parquet, psycopg

def start(arguments, output):
    child = os.fork()
    if child:
        return child
    file = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(file, 1)
    os.dup2(file, 2)
    code = 99
    try:
        code = run(arguments)
        sys.stdout.flush()
    finally:
        os._exit(code)

def start_in(terminal, folder, environment, arguments):
    shown = os.open(terminal, os.O_RDWR | os.O_NOCTTY)  # who asks closes it, once we answer
    child = os.fork()
    if child:
        os.close(shown)
        return child
    code = 99
    try:
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        for number, file in enumerate((os.open(os.devnull, os.O_RDONLY), shown, shown)):
            os.dup2(file, number)
        os.close(shown)
        sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w", buffering=1)
        sys.argv = ["pathveil", *arguments]
        stopping.listen()
        code = run(arguments)
        sys.stdout.flush()
    finally:
        os._exit(code)

print("ready", flush=True)
for line in sys.stdin:
    task, *values = json.loads(line)
    if task == "start":
        print(start(*values), flush=True)
    elif task == "start in":
        print(start_in(*values), flush=True)
    else:
        print(os.waitstatus_to_exitcode(os.waitpid(values[0], 0)[1]), flush=True)
"""


@dataclass
class Child:
    """A running command."""

    parent: "WarmParent"
    pid: int
    output: Path

    def wait(self):
        """Its exit code; the negative number of the signal that ended it."""
        return self.parent.ask("wait", self.pid)

    def kill(self):
        """End it at once."""
        os.kill(self.pid, signal.SIGKILL)

    def said(self):
        """All it printed so far."""
        return self.output.read_text(encoding="utf-8") if self.output.exists() else ""


class WarmParent:
    """The parent; use it in a ``with`` block."""

    def __init__(self, folder, env):
        self._process = subprocess.Popen(
            [sys.executable, "-c", _PARENT],
            cwd=folder,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._outputs = folder.parent / "outputs"
        self._number = 0

    def __enter__(self):
        if self._process.stdout.readline() != "ready\n":
            raise RuntimeError("the warm parent did not start")
        return self

    def __exit__(self, *_):
        self._process.stdin.close()
        if self._process.wait(timeout=60):
            self._process.send_signal(signal.SIGKILL)
        self._process.stdout.close()

    def ask(self, *task):
        self._process.stdin.write(json.dumps(task) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def start(self, *arguments):
        """Start a command."""
        self._number += 1
        self._outputs.mkdir(exist_ok=True)
        output = self._outputs / f"{self._number}.txt"
        pid = self.ask("start", [str(argument) for argument in arguments], str(output))
        return Child(self, pid, output)

    def start_in(self, terminal, folder, environment, arguments):
        """Start a command in a folder and with an environment, on a terminal."""
        asked = [str(terminal), str(folder), environment, [str(each) for each in arguments]]
        return Child(self, self.ask("start in", *asked), None)


@cache
def _shared():
    """One parent for all terminals of this process, which ends with it."""
    parent = WarmParent(Path("/"), os.environ | {"COLUMNS": "200"}).__enter__()
    atexit.register(parent.__exit__)
    return parent


def forked_in(terminal, folder, environment, arguments):
    """A command on a terminal, at once."""
    return _shared().start_in(terminal, folder, environment, arguments)
