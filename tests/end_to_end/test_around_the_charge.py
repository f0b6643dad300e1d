"""What can fail is tried before ε is charged; what fails later says whether there is a release."""

import resource
import signal
import subprocess
import sys

import pytest
from tests.commands import damage_rows, environment, finish, publish_arguments
from tests.warm_processes import WarmParent

import pathveil as pv
from pathveil.release.bundle import verify_bundle

LEDGER = ("--ledger", "ledger.db")


def charged_publish(out="out", **changes):
    return [*publish_arguments(out=out, dataset="taps", **changes), *LEDGER]


@pytest.fixture
def taps(week):
    """A week of data, and a ledger with room for all that follows."""
    pv.Ledger.open("ledger.db").init("taps", "99")
    return week


def charges():
    return pv.Ledger.open("ledger.db").books().dataset("taps").payments


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def run_in(folder, script, *arguments):
    """A script that runs the command line in a process of its own."""
    process = subprocess.Popen(
        [sys.executable, "-c", script, *arguments],
        cwd=folder,
        env=environment(folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    return finish(process)


# Standard output and error


@pytest.mark.parametrize("where", [">&-", "2>&-", ">/dev/full", "2>/dev/full", ">&- 2>&-"])
def test_a_run_whose_words_nobody_could_read_is_refused_before_the_charge(taps, where):
    before = names(taps)
    line = f'exec "$0" -m pathveil "$@" {where}'
    result = subprocess.run(
        ["/bin/sh", "-c", line, sys.executable, *charged_publish()],
        cwd=taps, env=environment(taps.parent), capture_output=True, text=True, timeout=120,
        check=False,
    )  # fmt: skip
    assert result.returncode == 2, result
    assert charges() == []
    assert names(taps) == before
    if where != ">&- 2>&-":
        assert "Nothing was charged." in result.stdout + result.stderr


FULL = """
import importlib, os, sys
from pathveil.cli import aftermath
from pathveil.cli.run import run

number, place = int(sys.argv[1]), sys.argv[2]
module, name = place.rsplit(".", 1)
real = getattr(importlib.import_module(module), name)

def fill(*arguments, **options):
    if aftermath._is_paid:
        os.dup2(os.open("/dev/full", os.O_WRONLY), number)
    return real(*arguments, **options)

setattr(importlib.import_module(module), name, fill)
sys.exit(run(sys.argv[3:]))
"""


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_summary_that_can_not_be_printed_says_that_the_release_is_whole(taps, options):
    arguments = [*charged_publish(), *options]
    result = run_in(taps, FULL, "1", "pathveil.cli.summary.print_summary", *arguments)
    assert result.code == 2
    error = result.err.splitlines()[-1]
    assert error.endswith("No space left on device. The release in out is whole and paid for.")
    assert verify_bundle(taps / "out").ledger.entry == charges()[0].entry


def test_messages_that_can_not_be_printed_are_no_failure(taps):
    result = run_in(taps, FULL, "2", "pathveil.raw.engines.engine.read", *charged_publish())
    assert result.code == 0
    assert "The bundle is in out" in result.out
    verify_bundle(taps / "out")


def test_a_failure_that_stderr_does_not_take_is_said_on_stdout(taps):
    arguments = charged_publish(taps=damage_rows(taps))
    result = run_in(taps, FULL, "2", "pathveil.raw.engines.engine.read", *arguments)
    assert result.code == 2
    assert "stays charged to 'taps', entry 2." in result.out
    assert result.out.endswith("No half-written release was left behind.\n")


# The place, the disk, the installation


def test_of_four_that_publish_to_one_folder_three_are_refused_before_they_pay(taps):
    variables = environment(taps.parent / "home")
    with WarmParent(taps, variables) as warm:
        children = [warm.start(*charged_publish()) for _ in range(4)]
        codes = [child.wait() for child in children]
    assert sorted(codes) == [0, 2, 2, 2], [child.said() for child in children]
    for code, child in zip(codes, children, strict=True):
        refused = "Another run is writing to out" in child.said() or "exists" in child.said()
        assert refused == (code == 2)
        assert ("Charged" in child.said()) == (code == 0)
    assert len(charges()) == 1
    verify_bundle(taps / "out")


def test_a_disk_without_room_is_found_before_the_charge(taps, pathveil):
    before = names(taps)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, hard))
    try:
        result = pathveil(*charged_publish())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)
    assert result.code == 2
    assert "Can't write to out: File too large." in result.err
    assert charges() == []
    assert names(taps) == before


@pytest.mark.parametrize(
    "broken",
    [
        "pathveil.pages.report.templates",
        "pathveil.raw.engines.engine.read",
        "pathveil.methods.paper.generate.lower_children",
        "pathveil.release.bundle_tables.write_tree",
    ],
)
def test_a_broken_installation_is_found_before_the_charge(taps, pathveil, monkeypatch, broken):
    def fail(*_arguments, **_options):
        raise ImportError

    from pathveil.pages import report

    report._environment.cache_clear()
    monkeypatch.setattr(broken, fail)
    before = names(taps)
    assert pathveil(*charged_publish()).code == 70
    assert charges() == []
    assert names(taps) == before


LATE = """
import sys
from pathveil.cli import aftermath
from pathveil.cli.run import run

def kernels(loaded):
    from numba.core.dispatcher import Dispatcher
    for name, kernel in vars(loaded).items():
        ready = getattr(kernel, "kernel", None)  # of what is compiled when it is first called
        if ready is not None and hasattr(ready, "cache_info") and ready.cache_info().currsize:
            kernel = ready()
        if isinstance(kernel, Dispatcher):
            yield name, kernel

def overloads():
    return {
        (module, name, signature)
        for module, loaded in list(sys.modules.items()) if module.startswith("pathveil")
        for name, kernel in kernels(loaded)
        for signature in kernel.overloads
    }

paid, before = aftermath.paid, {}

def note():
    before.update(modules=set(sys.modules), overloads=overloads())
    paid()

aftermath.paid = note
code = run(sys.argv[1:])
for late in (set(sys.modules) - before["modules"]) | (overloads() - before["overloads"]):
    print("LATE", late)
sys.exit(code)
"""


@pytest.mark.parametrize("method", ["full", "calibrated"])
@pytest.mark.parametrize("taps_file", ["taps.csv", "taps.parquet"])
@pytest.mark.usefixtures("taps")
def test_nothing_is_imported_or_compiled_after_the_charge(folder, taps_file, method):
    arguments = [*publish_arguments(taps_file, dataset="taps", method=method, csv=None), *LEDGER]
    result = run_in(folder, LATE, *arguments)
    assert result.code == 0
    assert [line for line in result.out.splitlines() if line.startswith("LATE ")] == []


def test_what_a_killed_run_reserved_can_be_reserved_again(taps, pathveil):
    left = taps / f".pathveil-{'0' * 32}"
    left.mkdir()
    with pv_reserved(taps / "out") as place:
        staging = place.staging
        assert names(staging) == ["room"]
    staging.mkdir()
    (staging / "half").write_text("of a release")
    assert pathveil(*charged_publish()).code == 0
    assert not left.exists()
    assert not staging.exists()


def pv_reserved(out):
    from pathveil.folders import reserve

    return reserve(out, 30)


# Memory


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]) * 10**6,) * 2)
from pathveil.cli.run import run
sys.exit(run(sys.argv[2:]))
"""


@pytest.mark.parametrize("megabytes", [400, 560, 1000, 1200, 1500])
def test_too_small_an_address_space_is_refused_before_the_charge(taps, megabytes):
    """Or there is a release, whole and recorded: a charge alone is never what is left."""
    before = names(taps)
    result = run_in(taps, LIMITED, str(megabytes), *charged_publish())
    if megabytes < 1200:
        assert result.code == 2, result
        assert f"may use {megabytes} MB of addresses" in result.err
        assert result.err.endswith("Nothing was charged.\n")
    if result.code == 0:
        (payment,) = charges()
        assert len(payment.certificates) == 1
        verify_bundle(taps / "out")
    else:  # threads may need more than the least, on a machine with many processors
        assert charges() == []
        assert names(taps) == before


NO_MEMORY = """
import builtins, sys
from pathveil.cli.run import run
from pathveil import publishing

real = builtins.__import__

def refuse(name, *arguments, **options):
    if name not in sys.modules or name.startswith(("rich", "pathveil.cli.console")):
        raise MemoryError
    return real(name, *arguments, **options)

def exhausted(*_arguments, **_options):
    builtins.__import__ = refuse
    raise MemoryError

publishing.grow = exhausted
sys.exit(run(sys.argv[1:]))
"""


@pytest.mark.usefixtures("taps")
def test_a_message_needs_no_memory_for_imports(folder):
    result = run_in(folder, NO_MEMORY, *publish_arguments())
    assert result.code == 2
    assert result.err.endswith(
        "error: Out of memory. No half-written release was left behind.\n"
    ), result
