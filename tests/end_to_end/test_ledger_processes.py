"""Real processes against one ledger: eight at once never over-spend, and kill -9 breaks nothing."""

import os
import secrets
import signal
import stat
import subprocess
import sys
import time
from contextlib import suppress
from fractions import Fraction

import pytest
from tests.commands import edit_certificate, environment, publish_arguments
from tests.end_to_end.test_interrupts import HELD
from tests.ledgers import place, postgresql, server
from tests.warm_processes import WarmParent

import pathveil as pv
from pathveil.ledger.books import Books
from pathveil.ledger.export import recorded
from pathveil.release.bundle import certificate_sha256, verify_bundle

__all__ = ["place", "postgresql", "server"]

CARD = "zq7card4711"


@pytest.fixture
def files(shared):
    """The names of a bundle's files."""
    return {path.name for path in (shared / "release").iterdir()} - {"trajectories.csv"}


@pytest.fixture
def warm(week):
    """A parent that starts commands at once, in a folder whose data has a distinctive card."""
    with (week / "taps.csv").open("a", encoding="utf-8") as file:
        file.writelines(f"{CARD},{i},S0001\n" for i in range(3))
    variables = environment(week.parent / "home", TMPDIR=str(week.parent / "temporary"))
    with WarmParent(week, variables) as parent:
        yield parent


def charged_publish(place, out, epsilon="1"):
    return [*publish_arguments(out=out, epsilon=epsilon, dataset="taps"), "--ledger", place]


def charges(place):
    return pv.Ledger.open(place).books().dataset("taps").payments


# Concurrency


def test_eight_processes_publish_at_once_and_never_over_spend(warm, week, place):
    pv.Ledger.open(place).init("taps", "3")
    children = [warm.start(*charged_publish(place, f"out{i}")) for i in range(8)]
    codes = [child.wait() for child in children]
    assert sorted(codes) == [0] * 3 + [2] * 5, [child.said() for child in children]
    for i, (code, child) in enumerate(zip(codes, children, strict=True)):
        assert (week / f"out{i}").is_dir() == (code == 0)
        assert ("has spent ε = 3 of its limit 3" in child.said()) == (code == 2)
    assert [payment.epsilon for payment in charges(place)] == [Fraction(1)] * 3
    chain = pv.Ledger.open(place).chain()
    paid = {paid_by(chain, week / f"out{i}") for i, code in enumerate(codes) if code == 0}
    assert len(paid) == 3


HAMMER = """
import sys
from pathveil.errors import LedgerError
from pathveil.ledger.ledger import Ledger
from pathveil.core.budget import Budget

account, made = Ledger.open(sys.argv[1]).dataset("taps"), 0
for _ in range(12):
    try:
        account.charge(Budget.parse("1/7"))
        made += 1
    except LedgerError as error:
        assert "Nothing was charged" in str(error), error
print(made)
"""


def test_eight_processes_charge_as_fast_as_they_can(place):
    """96 charges of 1/7 are tried, and there is room for 61: no more, and no fewer."""
    pv.Ledger.open(place).init("taps", "62/7")
    pv.Ledger.open(place).dataset("taps").charge(pv.Budget.parse("1/7"))
    command = [sys.executable, "-c", HAMMER, place]
    children = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(8)]
    made = [int(child.communicate(timeout=120)[0]) for child in children]
    assert sum(made) == 61
    assert len(charges(place)) == 62


def test_eight_processes_set_up_one_dataset_and_one_of_them_wins(warm, place):
    command = ["ledger", "init", "taps", "--limit", "1", "--ledger", place]
    codes = [child.wait() for child in [warm.start(*command) for _ in range(8)]]
    assert sorted(codes) == [0] + [2] * 7
    assert len(pv.Ledger.open(place).chain()) == 2


# Crashes


def paid_by(chain, bundle):
    """The entry that paid for a bundle, after everything about it was verified."""
    release = verify_bundle(bundle)
    epsilon = release.parameters.budget.epsilon
    recorded(chain, release.ledger, epsilon, certificate_sha256(bundle))
    return release.ledger.entry


def assert_nothing_raw(folder):
    """No file but the input holds the card; the temporary folder and the home are empty."""
    for path in sorted(folder.parent.rglob("*")):
        if path.is_file() and path.name != "taps.csv":
            assert CARD.encode() not in path.read_bytes(), path
    # The tests' own PostgreSQL server may have put its lock there.
    left = {path.name for path in (folder.parent / "temporary").iterdir()}
    assert left <= {".lockfile"}
    assert list((folder.parent / "home").iterdir()) == []


def leftovers(folder):
    return [path for path in folder.iterdir() if path.name.startswith(".pathveil-")]


def files_of(staging):
    """What is in such a folder, but for the room that is kept and the rehearsal."""
    names = {file.name for file in staging.iterdir()} - {"room"}
    return {name for name in names if not name.startswith("rehearsal-")}


def assert_leftovers_are_harmless(folder, files):
    """What a killed writer leaves is known by its name, private, and part of a release at most."""
    for path in leftovers(folder):
        names = files_of(path)
        assert names <= files
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == 0o700 or (mode == 0o755 and names == files)


# A run is killed a random while after it reached one of these, so that slow machines are hit
# everywhere too: the while lasts at most this share of the time that a run takes from its charge to
# its end (before it, there is the rehearsal).
REACHED = {
    "started": (lambda _child, _bundle, _old: True, 0.3),
    "charged": (lambda child, _bundle, _old: "Charged" in child.said(), 0.6),
    "writing": (lambda _child, bundle, old: is_writing(bundle.parent, old), 0.1),
    "appeared": (lambda _child, bundle, _old: bundle.exists(), 0.05),
}


def is_writing(folder, old):
    """Whether a new folder beside the target has files already."""
    with suppress(FileNotFoundError):  # renamed while we look
        return any(files_of(path) for path in leftovers(folder) if path not in old)
    return True


def kill_at_random_moments(warm, folder, place, files, kills):
    """Kill ``kills`` publishing processes, each at a moment of its own; how far they had come."""
    pv.Ledger.open(place).init("taps", "100")
    child, begun = warm.start(*charged_publish(place, "whole", "1/3")), time.monotonic()
    while "Charged" not in child.said() and time.monotonic() < begun + 300:
        time.sleep(0.001)
    charged = time.monotonic()
    assert child.wait() == 0
    duration = time.monotonic() - charged
    states = {"nothing": 0, "charged": 0, "written": 0, "recorded": 0}
    for i in range(kills):
        has_reached, share = list(REACHED.values())[i % len(REACHED)]
        before, old, bundle = len(charges(place)), leftovers(folder), folder / f"out{i}"
        child = warm.start(*charged_publish(place, bundle.name, "1/3"))
        patience = time.monotonic() + 300
        while not has_reached(child, bundle, old) and time.monotonic() < patience:
            time.sleep(0.001)
        time.sleep(duration * share * secrets.randbelow(1000) / 1000)
        os.kill(child.pid, signal.SIGKILL)
        assert child.wait() in (-signal.SIGKILL, 0), child.said()
        states[state(bundle, place, before)] += 1
        assert_leftovers_are_harmless(folder, files)
    assert_nothing_raw(folder)
    assert warm.start(*charged_publish(place, "after", "1/3")).wait() == 0  # no lock is left
    assert leftovers(folder) == []  # and no folder
    return states


def state(bundle, place, before):
    """How far a killed run came, after checking that what it left is whole and paid for."""
    chain = pv.Ledger.open(place).chain()
    payments = Books.of(chain).dataset("taps").payments
    assert len(payments) - before in (0, 1)
    if not bundle.exists():
        return "charged" if len(payments) > before else "nothing"
    assert paid_by(chain, bundle) == payments[-1].entry
    assert len(payments) == before + 1
    return "recorded" if payments[-1].certificates else "written"


def test_kill_9_at_12_random_moments(warm, week, place, files):
    states = kill_at_random_moments(warm, week, place, files, 12)
    assert states["charged"] > 0, states
    assert states["written"] + states["recorded"] >= 3, states


@pytest.mark.long
def test_kill_9_at_200_random_moments(warm, week, place, files):
    states = kill_at_random_moments(warm, week, place, files, 200)
    print(states)  # noqa: T201  (pytest -s shows how far they had come)
    assert min(states["nothing"], states["charged"]) > 0, states
    assert states["written"] + states["recorded"] >= 50, states


# The narrow moments, held open


MOMENTS = {
    "before the data is opened": ("pathveil.raw.reading.open_source", False),
    "while the noise is drawn": ("pathveil.gate.add_noise.discrete_laplace", False),
    "half way through the bundle": ("pathveil.release.bundle.render_report", False),
    "just before the bundle appears": ("pathveil.folders._sync", False),
    "before it is recorded as published": ("pathveil.release.bundle.certificate_sha256", True),
}


@pytest.mark.parametrize("moment", MOMENTS)
def test_kill_9_at_a_narrow_moment(week, pathveil, files, moment):
    held, has_bundle = MOMENTS[moment]
    pv.Ledger.open("ledger.db").init("taps", "9")
    command = [sys.executable, "-c", HELD, held, *charged_publish("ledger.db", "out")]
    variables = environment(week.parent / "home", TMPDIR=str(week.parent / "temporary"))
    with subprocess.Popen(command, cwd=week, env=variables, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"reached\n"
        process.kill()
    assert_leftovers_are_harmless(week, files)
    assert_nothing_raw(week)
    (payment,) = charges("ledger.db")
    assert payment.certificates == []
    assert (week / "out").exists() == has_bundle
    if has_bundle:
        words = pathveil("verify", "out", "--ledger", "ledger.db").out
        assert "That it was published is not recorded" in words
    assert pathveil(*charged_publish("ledger.db", "after")).code == 0
    assert leftovers(week) == []


def test_a_live_run_keeps_its_folder_while_another_cleans_up(week, pathveil):
    """What is locked is somebody's work; only what nobody holds is removed."""
    held, _ = MOMENTS["half way through the bundle"]
    abandoned = week / f".pathveil-{'0' * 32}"
    abandoned.mkdir()
    (abandoned / "report.html").write_text("half")
    command = [sys.executable, "-c", HELD, held, *publish_arguments(out="slow")]
    with subprocess.Popen(
        command, cwd=week, env=environment(week), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout.readline() == b"reached\n"
        (live,) = leftovers(week)
        assert live != abandoned
        assert pathveil(*publish_arguments(out="fast")).code == 0
        assert leftovers(week) == [live]
        process.kill()


def test_the_checks_can_fail(week, pathveil):
    """A release without its charge is found."""
    pv.Ledger.open("ledger.db").init("taps", "9")
    assert pathveil(*charged_publish("ledger.db", "out")).code == 0
    chain = pv.Ledger.open("ledger.db").chain()
    assert paid_by(chain, week / "out") == 2
    edit_certificate(week / "out", lambda certificate: certificate.pop("ledger"))
    with pytest.raises(pv.errors.PathveilError):
        paid_by(chain, week / "out")
