"""bench/attack.py: it starts from files, reads bundles, and notices a breach."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from bench.attack import Line, attack_mode
from bench.attack_events import attack, loss_bound
from bench.attack_files import BEYOND, TIES, UNIT, write_files
from bench.attack_modes import METHODS, modes
from bench.attack_workers import workers
from scipy import stats

CERTAIN = 1e-6  # the probability with which the right software fails a test
FEW = 24
SOME, ENOUGH = 64, 160
MANY = 1200


def mode_of(method, name, epsilon):
    return next(mode for mode in modes(method, epsilon) if mode.name == name)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("attacked")
    write_files(found)
    return found


@pytest.mark.parametrize("files", [UNIT, TIES])
def test_the_files_differ_in_one_unit_whose_rows_come_first(folder, files):
    with_unit, without = ((folder / name).read_text().splitlines() for name in files)
    more = len(with_unit) - len(without)
    assert more > 1
    assert all(row.startswith("unit,") for row in with_unit[1 : 1 + more])
    assert with_unit[:1] + with_unit[1 + more :] == without
    assert not any(row.startswith("unit,") for row in without[1:])


def test_beyond_c_the_files_differ_in_second_trips_only(folder):
    one, other = ((folder / name).read_text().splitlines() for name in BEYOND)
    differing = [pair for pair in zip(one, other, strict=True) if len(set(pair)) > 1]
    assert len(differing) > 100
    for pair in differing:
        (unit, trip, *_), (same_unit, same_trip, *_) = (row.split(",") for row in pair)
        assert (unit, trip) == (same_unit, same_trip) == (unit, "1")
        assert any(row.startswith(f"{unit},0,") for row in one)


@pytest.fixture(scope="module")
def silent():
    """Processes whose gate adds no noise."""
    with workers("no-noise") as pool:
        yield pool


def test_software_without_noise_is_caught_in_a_few_runs(silent, folder):
    """The claim is small, so that few runs prove more; without noise every run is the same."""
    line = attack_mode(silent, folder, "basic", mode_of("basic", "plain", "1/4"), FEW)
    assert line.claim == Fraction(1, 4)
    assert line.is_alarm
    assert [finding.runs for finding in line.findings] == [FEW, FEW]
    assert line.cells()[-1] == "ALARM"


def test_a_mode_that_the_command_refuses_is_listed_as_refused(silent, folder):
    plain = mode_of("full", "plain", "1")
    refused = replace(plain, name="a purpose of full", options=(*plain.options, "--for", "flows"))
    line = attack_mode(silent, folder, "full", refused, FEW)
    assert line == Line("full", refused.name, None)
    assert not line.is_alarm
    assert line.cells()[-1] == "refused"


@pytest.mark.parametrize(("hits", "misses"), [(90, 10), (100, 0), (50, 50), (0, 3)])
def test_the_bound_is_that_of_clopper_and_pearson(hits, misses):
    runs, error = 100, 0.02
    least = stats.binomtest(hits, runs).proportion_ci(1 - error).low
    most = stats.binomtest(misses, runs).proportion_ci(1 - error).high
    expected = np.log(least / most) if hits else -np.inf
    assert loss_bound(np.array([hits]), np.array([misses]), runs, 0.0, error)[0] == pytest.approx(
        expected
    )


def numbers(draw, runs, shift):
    """Releases of ten numbers, each a little larger by ``shift``."""
    table = draw.laplace(size=(runs, 10)) + shift
    return [{f"number {i}": value for i, value in enumerate(row)} for row in table]


def test_a_loss_that_is_spread_over_many_numbers_is_found_together():
    """Ten numbers of loss 1/2 each: no single one can prove more than that."""
    draw = np.random.default_rng(3)  # noqa: TID251
    first, second = attack(numbers(draw, 4000, 0.5), numbers(draw, 4000, 0.0), 0.0, 0.01)
    assert first.event.startswith("a combination")
    assert min(first.loss, second.loss) > 0.6


def test_the_same_law_twice_proves_nothing():
    draw = np.random.default_rng(4)  # noqa: TID251
    found = attack(numbers(draw, 2000, 0.0), numbers(draw, 2000, 0.0), 0.0, CERTAIN)
    assert all(finding.loss <= 0 for finding in found)


@pytest.mark.long
@pytest.mark.parametrize("method", METHODS)
def test_no_mode_proves_more_than_it_claims(folder, method):
    with workers() as pool:
        for mode in modes(method, "2"):
            line = attack_mode(pool, folder, method, mode, 200, CERTAIN)
            assert line.claim is not None, mode.name
            assert not line.is_alarm, line.cells()


@pytest.mark.long
@pytest.mark.parametrize("injection", ["doubled-cap", "half-noise"])
@pytest.mark.parametrize(
    ("method", "name"),
    [
        ("basic", "plain"),
        ("full", "plain"),
        ("calibrated", "number of trajectories"),
    ],
)
def test_a_doubled_cap_and_half_the_noise_raise_an_alarm(folder, injection, method, name):
    with workers(injection) as pool:
        line = attack_mode(pool, folder, method, mode_of(method, name, "2"), MANY)
    assert line.is_alarm, line.cells()


@pytest.mark.long
@pytest.mark.parametrize("method", METHODS)
def test_trips_beyond_a_doubled_cap_raise_an_alarm(folder, method):
    with workers("doubled-cap") as pool:
        line = attack_mode(pool, folder, method, mode_of(method, "beyond c", "2"), SOME)
    assert line.claim == 0
    assert line.is_alarm, line.cells()


@pytest.mark.long
@pytest.mark.parametrize("method", METHODS)
def test_an_order_that_one_unit_decides_raises_an_alarm(folder, method):
    with workers("ties-by-appearance") as pool:
        line = attack_mode(pool, folder, method, mode_of(method, "discovered, ties", "2"), ENOUGH)
    assert line.is_alarm, line.cells()
