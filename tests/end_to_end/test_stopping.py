"""A signal ends a command, at whatever moment it comes: with its message and its exit code."""

import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.commands import environment, finish, handle_signals, publish_arguments, spawn

LOST = """
import importlib, os, signal, sys, time, weakref
from pathveil.cli.run import run

module, name = sys.argv[1].rsplit(".", 1)
real = getattr(importlib.import_module(module), name)

class Held:
    pass

def signalled(_):
    os.kill(os.getpid(), signal.SIGTERM)
    for _ in range(1000):
        pass  # the handler runs here, and Python throws away what it raises here

def lose(*arguments, **options):
    held = Held()
    watcher = weakref.ref(held, signalled)
    del held
    for _ in range(int(sys.argv[2])):
        time.sleep(0.05)
    return real(*arguments, **options)

setattr(importlib.import_module(module), name, lose)
sys.exit(run(sys.argv[3:]))
"""


@pytest.mark.parametrize(
    ("place", "sleeps", "left"),
    [
        ("pathveil.publishing.grow", 20_000, "No half-written release was left behind."),
        ("pathveil.cli.summary.print_summary", 0, "The release in out is whole."),
    ],
)
def test_a_signal_that_is_lost_in_a_callback(week, pathveil, place, sleeps, left):
    process = subprocess.Popen(
        [sys.executable, "-c", LOST, place, str(sleeps), *publish_arguments()],
        cwd=week, env=environment(week), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    result = finish(process, timeout=300)  # it would sleep for longer
    assert result.code == 143, result
    assert "Traceback" not in result.err
    assert result.err.splitlines()[-1] == f"error: Interrupted. {left}"
    assert (week / "out").exists() == ("whole" in left)
    assert ("whole" not in left) or pathveil("verify", "out").code == 0


PATIENCE = 500  # seconds; the first plan after a change compiles, perhaps on a busy machine
PLAN = ("plan", "--epsilon", "1", "--height", "6", "--universe-size", "30", "--trajectories", "900")


def is_listening(process):
    """Whether the command has its handlers; before that, Python itself is yet starting."""
    status = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
    caught = next(line for line in status.splitlines() if line.startswith("SigCgt"))
    return int(caught.split()[1], 16) >> (signal.SIGHUP - 1) & 1


def stop_at(share, duration, number, folder):
    """Start a plan, and signal it after a share of the time that one takes."""
    process = spawn(*PLAN, cwd=folder, env=environment(folder))
    patience = time.monotonic() + PATIENCE
    while process.poll() is None and not is_listening(process):
        assert time.monotonic() < patience, "it does not start"
        time.sleep(0.001)
    time.sleep(duration * share)
    process.send_signal(number)
    return finish(process, PATIENCE)


def check_moments(folder, moments):
    begun = time.monotonic()
    assert finish(spawn(*PLAN, cwd=folder, env=environment(folder)), PATIENCE).code == 0
    duration, stopped = time.monotonic() - begun, 0
    for i in range(moments):
        number = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)[i % 3]
        result = stop_at(1.1 * i / moments, duration, number, folder)
        assert result.code in (0, 128 + number), result  # 0 if it was done, and never a raw signal
        assert "Traceback" not in result.err
        assert "ignored" not in result.err.partition("Interrupted")[2]
        assert ("Interrupted" in result.err) == (result.code != 0), result
        stopped += result.code != 0
    return stopped


def test_signals_at_six_moments(folder):
    assert check_moments(folder, 6) >= 2


@pytest.mark.long
def test_signals_at_sixty_moments_under_load(folder):
    busy = [sys.executable, "-c", "while True: pass"]
    with ExitStack() as stack:
        for _ in range(2 * (os.cpu_count() or 1)):
            load = stack.enter_context(subprocess.Popen(busy))
            stack.callback(load.kill)
        assert check_moments(folder, 60) >= 20


def test_children_of_the_tests_are_not_deaf_under_nohup():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        handle_signals()
        line = "import signal; print(signal.getsignal(signal.SIGHUP) is signal.SIG_DFL)"
        told = subprocess.run(
            [sys.executable, "-c", line], capture_output=True, timeout=60, check=True
        )
        assert told.stdout == b"True\n"
    finally:
        signal.signal(signal.SIGHUP, before)
