"""Settings for every test."""

import gc
from collections import Counter

import pytest
from hypothesis import HealthCheck, settings
from tests.commands import handle_signals
from tests.noise import Noise

NOISE = pytest.StashKey[Noise]()

# The first example of a test may have to compile; how long that takes says nothing. The examples
# of `make test` are always the same ones; with --noise real, hypothesis looks for new ones.
COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("same", derandomize=True, **COMMON)
settings.register_profile("new", **COMMON)


def pytest_addoption(parser):
    parser.addoption(
        "--noise",
        default="1",
        help="a seed for the noise drawn in the tests' process; 'real': the operating system's",
    )


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """What importing all tests leaves stays till the end: no use in looking through it for garbage.

    Python would do so again and again, for a tenth of the time of all tests.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_configure(config):
    seed = config.getoption("noise")
    settings.load_profile("new" if seed == "real" else "same")
    config.stash[NOISE] = Noise(seed)
    config.stash[NOISE].inject()
    handle_signals()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    from tests.schedule import ByFile

    return ByFile(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef, request):
    # By a name of its own: which test needs a shared fixture first is the schedule's choice.
    name = f"{fixturedef.baseid}::{fixturedef.argname}[{request.param_index}]"
    with request.config.stash[NOISE].of(name):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    with item.config.stash[NOISE].of(item.nodeid):
        return (yield)


def pytest_terminal_summary(terminalreporter):
    """How many combinations of sources, universes, rules and engines `tests.theorem` tried."""
    told = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            if getattr(report, "when", None) == "call":
                for name, numbers in report.user_properties:
                    told.update(numbers if name == "combinations" else ())
    if told:
        terminalreporter.write_line(
            f"Combinations of source, universe, rules and engine: {told['read']:,} read, with "
            f"{told['neighbours']:,} neighbours; {told['refused']:,} refused for a stated reason."
        )
