"""Ctrl-C, kill and a closed terminal, at every stage: one message, no partial bundle.

Real processes and real signals. A stage is held open so that the signal can't miss it, by a
function that says it was reached and then sleeps.
"""

import signal
import subprocess
import sys

import pytest
from tests.commands import environment, finish, publish_arguments, spawn

# Reached by `publish` while it reads, grows the tree, writes the bundle, and sums up.
STAGES = {
    "reading": "pathveil.raw.sources.csv_lines.line_blocks",
    "growing": "pathveil.gate.add_noise.discrete_laplace",
    "writing": "pathveil.release.bundle.render_report",
    "summing up": "pathveil.cli.summary._facts",
}

HELD = """
import importlib, sys, time
from pathveil.cli import aftermath
from pathveil.cli.run import run

module, name = sys.argv[1].rsplit(".", 1)
real = getattr(importlib.import_module(module), name)

def hold(*arguments, **options):
    if "--dataset" in sys.argv and not aftermath._is_paid:  # the rehearsal comes by, too
        return real(*arguments, **options)
    print("reached", flush=True)
    for _ in range(1200):  # short sleeps: a signal just before a long one would wait for its end
        time.sleep(0.05)

setattr(importlib.import_module(module), name, hold)
sys.exit(run(sys.argv[2:]))
"""


def hold(stage, folder, *more, **popen):
    """Start a publish that stops at a stage, and wait until it is there."""
    process = subprocess.Popen(
        [sys.executable, "-c", HELD, STAGES[stage], *publish_arguments(), *more],
        cwd=folder,
        env=environment(folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **popen,
    )
    assert process.stdout.readline() == "reached\n"
    return process


def stop(process, number):
    """Signal it, once, and wait."""
    process.send_signal(number)
    return finish(process)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def assert_one_message(result, code, left="No half-written release was left behind."):
    assert result.code == code, result
    assert result.out == ""
    assert "Traceback" not in result.err
    *curator, message = result.err.splitlines()
    assert message == f"error: Interrupted. {left}"
    assert all(line.startswith(("Columns: ", "No row was dropped.")) for line in curator)


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_a_signal_while_reading(week, number, code):
    before = names(week)
    assert_one_message(stop(hold("reading", week), number), code)
    assert names(week) == before


@pytest.mark.parametrize("stage", ["growing", "writing"])
def test_ctrl_c_half_way(week, stage):
    before = names(week)
    process = hold(stage, week)
    staged = [name for name in names(week) if name.startswith(".pathveil-")]
    assert len(staged) == 1  # the place is reserved from the start
    assert_one_message(stop(process, signal.SIGINT), 130)
    assert names(week) == before


def test_a_signal_while_writing_then_another_does_not_stop_the_cleaning_up(week):
    before = names(week)
    process = hold("writing", week)
    process.send_signal(signal.SIGTERM)
    for _ in range(20):
        process.send_signal(signal.SIGINT)
    result = finish(process)
    assert_one_message(result, 130 if result.code == 130 else 143)  # whichever came through first
    assert names(week) == before


def test_ctrl_c_after_the_bundle_was_written_leaves_it_whole(week, pathveil):
    process = hold("summing up", week)
    assert_one_message(stop(process, signal.SIGINT), 130, "The release in out is whole.")
    assert pathveil("verify", "out").code == 0
    assert not [name for name in names(week) if name.startswith(".pathveil-")]


def test_a_run_under_nohup_does_not_mind_a_closed_terminal(week):
    def ignore_hangup():
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    process = hold("reading", week, preexec_fn=ignore_hangup)
    process.send_signal(signal.SIGHUP)
    assert stop(process, signal.SIGTERM).code == 143


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_reader_that_goes_away_is_no_error(release, options):
    process = spawn("patterns", release, "-k", "500", *options)
    process.stdout.close()  # as `| head` does
    assert process.stderr.read() == ""
    assert process.wait(60) == 0
    process.stderr.close()
