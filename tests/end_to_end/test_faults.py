"""Whatever call fails during a publish: charged at most once, no half bundle, no row, true words.

`bench/fault_trials.py` says how: a shim before libc fails the n-th call in a real process.
"""

import shutil
import signal
from dataclasses import replace

import pytest
from bench.fault_trials import KINDS, MODES, Trial, open_trials
from bench.faults import chosen, spread, tried

pytestmark = [
    pytest.mark.skipif(shutil.which("gcc") is None, reason="the shim is compiled with gcc"),
]

FEW = {"open": 8, "write": 8, "sync": 40, "rename": 2, "allocate": 10}
FILE_KINDS = [kind for kind in KINDS if kind != "allocate"]


@pytest.fixture(scope="module")
def trials():
    with open_trials() as ready:
        yield ready


def assert_nothing_broken(row):
    assert row.outcomes
    assert any(outcome.failed for outcome in row.outcomes.values())
    told = [f"call {n}: {found.broken}\n{found.said}" for n, found in row.broken.items()]
    assert not told, "\n".join(told)  # whole: such a failure may not come again


def test_without_a_fault_it_publishes_and_no_invariant_is_broken(trials):
    for mode in MODES:
        outcome = trials.run(Trial("open", *mode, 0))
        assert (outcome.code, outcome.failed, outcome.broken) == (0, 0, ())
        assert outcome.counted > 50


@pytest.mark.parametrize("kind", KINDS)
def test_a_call_that_fails_once(trials, kind):
    row = tried([trials], Trial(kind, "memory", "full", 0), FEW[kind])
    assert_nothing_broken(row)
    assert any(outcome.code == 2 for outcome in row.outcomes.values())


@pytest.mark.parametrize("kind", FILE_KINDS)
def test_calls_that_fail_ever_after(trials, kind):
    row = tried([trials], Trial(kind, "memory", "full", 0, lasting=True), min(FEW[kind], 6))
    assert_nothing_broken(row)


def test_allocations_that_fail_from_the_charge_on(trials):
    """In a run that waits there and forks: what follows is all that its trials count."""
    whole = trials.run(Trial("allocate", "memory", "full", 0)).counted
    row = tried([trials], Trial("allocate", "memory", "full", 0, is_held=True), 24)
    assert_nothing_broken(row)
    assert 1000 < row.counted < 0.8 * whole
    stopped = [outcome for outcome in row.outcomes.values() if outcome.code]
    assert any("stays charged" in outcome.said for outcome in stopped)
    twice = Trial("allocate", "memory", "full", 0, is_held=True, breach="charged twice")
    assert tried([trials], twice, 1).broken


@pytest.mark.parametrize(("engine", "method"), MODES[1:])
@pytest.mark.parametrize("kind", ["write", "sync", "allocate"])
def test_other_methods_and_engines(trials, kind, engine, method):
    assert_nothing_broken(tried([trials], Trial(kind, engine, method, 0), 4))


def test_no_file_can_be_opened_from_the_start_or_at_the_very_end(trials):
    """There was a traceback: the message's own way out needed a file."""
    last = trials.run(Trial("open", "memory", "full", 0)).counted
    for n in (1, 8, last):
        outcome = trials.run(Trial("open", "memory", "full", n, lasting=True))
        assert (outcome.code, outcome.broken) == (2, ())


def test_a_library_that_aborts_the_process_leaves_no_core_file_with_rows(trials):
    outcome = trials.run(Trial("open", "memory", "full", 0, breach="aborted"))
    assert outcome.code == -signal.SIGABRT
    assert "Charged ε" in outcome.said
    assert outcome.broken == ()


def test_a_library_that_aborts_the_process_just_after_the_charge(trials):
    """It can't say that it charged; that it was about to was said before."""
    outcome = trials.run(Trial("open", "memory", "full", 0, breach="aborted at once"))
    assert outcome.code == -signal.SIGABRT
    assert "Charging ε = 4 to 'taps'" in outcome.said
    assert "Charged" not in outcome.said
    assert outcome.broken == ()
    unheard = trials.run(Trial("open", "memory", "full", 0, breach="aborted unheard"))
    assert unheard.broken == ("does not say that it charged",)


@pytest.mark.long
@pytest.mark.parametrize("lasting", [False, True])
@pytest.mark.parametrize(("engine", "method"), MODES)
@pytest.mark.parametrize("kind", FILE_KINDS)
def test_every_call(trials, kind, engine, method, lasting):
    row = tried([trials], Trial(kind, engine, method, 0, lasting), 10**6)
    assert_nothing_broken(row)


@pytest.mark.long
@pytest.mark.parametrize(("engine", "method"), MODES)
def test_many_allocations(trials, engine, method):
    for is_held in (False, True):
        first = Trial("allocate", engine, method, 0, is_held=is_held)
        assert_nothing_broken(tried([trials], first, 300))


# The trials themselves


@pytest.mark.parametrize(
    ("breach", "says"),
    [
        ("charged twice", "charged 2 times"),
        ("rows left", "rows left in temporary/copy.csv"),
        ("half a bundle", "half a bundle"),
        ("charge not told", "does not say that it charged"),
        ("release not told", "does not say whether the bundle is whole"),
    ],
)
def test_a_broken_invariant_is_noticed(trials, breach, says):
    """A publish that is broken on purpose, at calls that fail after its charge."""
    first = Trial("write", "memory", "full", 0, breach=breach)
    row = tried([trials], first, 4)
    at_the_end = trials.run(replace(first, n=row.counted))
    assert any(says in outcome.broken for outcome in (*row.outcomes.values(), at_the_end))


def test_calls_are_chosen_evenly():
    assert list(chosen(3, 12)) == [1, 2, 3]
    calls = chosen(100, 4, seed=5)
    assert (len(calls), calls.step) == (4, 25)
    assert calls != chosen(100, 4, seed=6)
    assert list(spread(range(1, 9))) == [1, 5, 3, 7, 2, 6, 4, 8]
    assert sorted(spread(calls)) == list(calls)
