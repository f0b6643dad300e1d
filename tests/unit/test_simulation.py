"""The simulated week is what its docstring says."""

import itertools

import numpy as np
import pytest

import pathveil as pv
from pathveil.simulated_files import write_week


@pytest.fixture(scope="module")
def week():
    return pv.simulate_week(100_000, seed=7)


def test_size_and_lengths_are_those_of_a_transit_week(week):
    lengths = np.diff(week.offsets)
    assert len(lengths) == 100_000
    assert len(week.universe) == 1012
    assert lengths.min() >= 1
    # The mean's standard error is about 0.02: five of them.
    assert lengths.mean() == pytest.approx(6.7, abs=0.1)
    assert 60 < lengths.max() <= 121


def test_riders_commute_and_stops_differ_in_popularity(week):
    lengths = np.diff(week.offsets)
    first = week.offsets[:-1][lengths >= 3]
    returns = week.codes[first] == week.codes[first + 2]
    # Most riders are back where they began after two taps; independent taps would be so in 2%.
    assert returns.mean() > 0.5
    share = np.sort(np.bincount(week.codes, minlength=1012))[::-1] / len(week.codes)
    assert share[:10].sum() > 0.2
    assert share[-500:].sum() < 0.2


def test_a_seed_repeats_the_week_and_none_does_not():
    again = [pv.simulate_week(1000, seed=3).codes for _ in range(2)]
    assert np.array_equal(*again)
    fresh = [pv.simulate_week(1000) for _ in range(2)]
    assert not np.array_equal(fresh[0].offsets, fresh[1].offsets)


@pytest.mark.parametrize("csv", [False, True])
def test_files_read_back_as_the_same_week(tmp_path, csv):
    week = pv.simulate_week(500, 40, seed=1)
    taps, stops = write_week(week, tmp_path / "week", csv=csv)
    universe = pv.Universe.read(stops)
    assert universe == week.universe
    assert universe.names == week.universe.names
    read = pv.read_trajectories(taps, universe, unit="card_id", order="seq", location="stop_id")
    rows = [sorted(_rows(d.offsets, d.codes)) for d in (week, read)]
    assert rows[0] == rows[1]


def _rows(offsets, codes):
    return [codes[a:b].tolist() for a, b in itertools.pairwise(offsets)]


@pytest.mark.parametrize(("riders", "stops"), [(0, 10), (-1, 10), (10, 0)])
def test_impossible_weeks_are_refused(riders, stops):
    with pytest.raises(pv.errors.ParameterError, match="riders"):
        pv.simulate_week(riders, stops)
