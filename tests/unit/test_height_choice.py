"""``height="auto"``: the rule by hand, and what it costs."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathveil import Parameters, TrajectoryDatabase, Universe, publish
from pathveil.core.preparations import (
    LEAST_HEIGHT,
    MOST,
    height_for,
    height_preparation,
)
from pathveil.errors import ParameterError
from pathveil.gate.prepare import choose_height
from pathveil.gate.randomness import Randomness

UNIVERSE = Universe("abcd")


def database(lengths, contribution=1):
    offsets = np.cumsum([0, *lengths])
    return TrajectoryDatabase.from_arrays(
        offsets,
        np.zeros(offsets[-1], dtype=np.int32),
        UNIVERSE,
        max_trajectories_per_unit=contribution,
    )


def bins(**counts):
    return np.array([counts.get(f"of_{length}", 0) for length in range(1, MOST + 1)])


def test_half_is_enough_where_every_level_has_a_share_of_epsilon():
    assert height_for(bins(of_7=50, of_9=50)) == 7
    assert height_for(bins(of_7=49, of_9=51)) == 9
    assert height_for(bins(of_2=100)) == 6
    assert height_for(bins(of_20=100)) == MOST
    assert height_for(bins(of_7=50, of_9=50, of_20=-500)) == 7  # noise on nobody
    assert height_for(bins()) == LEAST_HEIGHT


@given(st.lists(st.integers(-50, 1000), min_size=MOST, max_size=MOST))
def test_it_is_always_in_range(counts):
    assert LEAST_HEIGHT <= height_for(np.array(counts)) <= MOST


def test_the_longest_trajectory_is_never_seen():
    """Lengths from MOST on are one bin: however long the longest is, the choice is the same."""
    budget = Parameters.choose(epsilon="1", height=4, universe_size=4, method="full").budget
    chosen = {
        choose_height(
            database([3] * 50 + [longest]),
            height_preparation(budget, 1),
            Randomness(np.random.default_rng(7)),  # noqa: TID251
        )
        for longest in (MOST, MOST + 1, 10 * MOST)
    }
    assert len(chosen) == 1


@pytest.mark.parametrize("choice", [{}, {"height": None}, {"height": "auto"}, {"height": 40}])
def test_calibrated_needs_no_height_and_pays_for_none(choice):
    parameters = Parameters.choose(epsilon="3", universe_size=4, method="calibrated", **choice)
    assert parameters == Parameters.choose(epsilon="3", universe_size=4, method="calibrated")
    assert not parameters.height_is_open
    assert parameters.main_budget == Fraction(3)


@pytest.mark.parametrize("method", ["basic", "full"])
def test_the_papers_methods_need_one(method):
    with pytest.raises(ParameterError, match="needs a height"):
        Parameters.choose(epsilon="3", universe_size=4, method=method)


@pytest.mark.parametrize("method", ["basic", "full"])
def test_a_release_pays_for_the_choice(method, tmp_path):
    db = database([7] * 4000 + [15] * 100, contribution=2)
    release = publish(db, epsilon="3", height="auto", method=method)
    parameters, certificate = release.parameters, release.certificate
    assert parameters.height == 7
    assert not parameters.height_is_open
    assert parameters.main_budget == Fraction(3) * 19 / 20
    assert certificate.adds_up()
    line = certificate.accounting.budget[0]
    assert (line.epsilon, line.sensitivity) == ("3/20", 2)
    assert "height" in certificate.implementation.pre_processing_eda_hyperparameter_tuning
    from pathveil import read_release

    assert read_release(release.write(tmp_path / "release")).parameters == parameters


def test_parameters_that_are_too_large_at_the_largest_height_are_refused_before_reading():
    with pytest.raises(ParameterError):
        Parameters.choose(
            epsilon="1", height="auto", universe_size=10**6, max_nodes=1000, method="full"
        )
    with pytest.raises(ParameterError, match="height"):
        Parameters.choose(epsilon="1", height="tall", universe_size=4, method="full")
