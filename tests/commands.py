"""The command line in another process, and bundles to tamper with."""

import hashlib
import json
import os
import pty
import re
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from threading import Timer


@dataclass(frozen=True)
class Result:
    """What a command said."""

    code: int
    out: str
    err: str

    def json(self):
        return json.loads(self.out)


def every_command(group, before=""):
    """All commands by what one types, those of sub-commands too: {"ledger init": …}."""
    found = {}
    for name, command in group.commands.items():
        typed = f"{before}{name}"
        inner = getattr(command, "commands", None)
        found |= every_command(command, f"{typed} ") if inner else {typed: command}
    return found


def tree_of_files(folder):
    """Every path below a folder."""
    return {str(path) for path in folder.rglob("*")}


def handle_signals():
    """Let children have the usual signals, even if we were started by nohup.

    What is ignored stays ignored in a child, and the tests that stop one would wait in vain. A
    handler of ours does not pass on to it, and keeps us alive like nohup does.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, lambda _number, _frame: None)


def spawn(*arguments, program=("-m", "pathveil"), **options):
    """Start a command in another process."""
    return subprocess.Popen(
        [sys.executable, *program, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def finish(process, timeout=120):
    """Wait for it, not for ever, and collect what it said."""
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise
    return Result(process.returncode, out, err)


def edit_certificate(bundle, change):
    """Apply a change to the certificate's JSON."""
    path = bundle / "privacy-certificate.json"
    certificate = json.loads(path.read_text(encoding="utf-8"))
    change(certificate)
    text = json.dumps(certificate, indent=2, ensure_ascii=False)  # spelled as a bundle spells it
    path.write_text(text + "\n", encoding="utf-8")


def rehash(bundle):
    """Make the certificate's hashes fit the files again, so that only deeper checks can object."""

    def change(certificate):
        for name in certificate["files"]:
            content = (bundle / name).read_bytes()
            digest = hashlib.sha256(content).hexdigest()
            certificate["files"][name] = {"sha256": digest, "bytes": len(content)}

    edit_certificate(bundle, change)


def publish_arguments(taps="taps.csv", universe="stops.csv", out="out", **changes):
    """The arguments of a publish that works; ``changes`` replace options, None removes one."""
    options = {
        "universe": universe,
        "unit-column": "card_id",
        "order-column": "seq",
        "location-column": "stop_id",
        "epsilon": "4",
        "height": "4",
        "method": "full",  # what the paper's method gives, a test can say beforehand
        "out": out,
    }
    options |= {name.replace("_", "-"): value for name, value in changes.items()}
    given = [(f"--{name}", value) for name, value in options.items() if value is not None]
    return ["publish", taps, *(argument for pair in given for argument in pair)]


def damage_rows(folder, name="damaged.parquet"):
    """The taps of a folder as Parquet whose schema is whole and whose rows can't be read."""
    import pyarrow.csv
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.csv.read_csv(folder / "taps.csv"), folder / name)
    with (folder / name).open("r+b") as file:
        file.seek(4)
        file.write(b"\xff" * 64)
    return name


def environment(folder, **more):
    """The environment of another process: as ours, but at home in the test's folder."""
    ours = ("PATHVEIL_DEBUG", "PATHVEIL_LEDGER", "XDG_DATA_HOME")
    variables = {name: value for name, value in os.environ.items() if name not in ours}
    return variables | {"HOME": str(folder), "COLUMNS": "200"} | more


def in_a_terminal(*arguments, **variables):
    """Run a command with stdout and stderr on a terminal; what it showed.

    Where no variable may change how Python itself starts, a process is forked that has imported
    everything, so that a command takes a tenth of a second instead of two.
    """
    ours, theirs = pty.openpty()
    settings = environment(Path.cwd(), TERM="xterm-256color", **variables)
    if variables:
        command = [sys.executable, "-m", "pathveil", *map(str, arguments)]
        process = subprocess.Popen(command, stdout=theirs, stderr=theirs, env=settings)
        kill, wait = process.kill, process.wait
    else:
        from tests.warm_processes import forked_in

        child = forked_in(os.ttyname(theirs), Path.cwd(), settings, arguments)
        kill, wait = child.kill, child.wait
    hanging = Timer(600, kill)
    hanging.start()
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 4096):
            shown += piece
    except OSError:  # how a terminal says that the other side is gone
        pass
    code = wait()
    hanging.cancel()
    os.close(ours)
    return code, shown.decode()


def bars_of(shown):
    """The progress bars in what a terminal showed: {step: [what stood beside its bar, …]}."""
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown)
    found = {}
    for step, beside in re.findall(
        r"^(\w[^━╸╺]*?) [━╸╺]+ (\d+:\d\d:\d\d.*?) *$", plain.replace("\r", "\n"), re.MULTILINE
    ):
        found.setdefault(step, []).append(beside)
    return found
