"""Shares and differences: intervals that hold whatever two answers have to do with each other."""

import numpy as np
import pytest

import pathveil as pv
from pathveil.core.error_table import Estimate
from pathveil.errors import QueryError
from pathveil.release.differences import Difference, differences_of_visits

UNIVERSE = pv.Universe(["A", "B", "C"])


def release(paths, seed):
    database = pv.TrajectoryDatabase.from_sequences(paths, UNIVERSE)
    return pv.publish(
        database,
        epsilon="1",
        generator=np.random.default_rng(seed),  # noqa: TID251
    )


@pytest.fixture(scope="module")
def two():
    return release([["A", "B"]] * 3000 + [["C"]] * 1000, 1), release([["A", "B"]] * 9000, 2)


def test_a_difference_spans_what_both_95_intervals_allow(two):
    first, second = (one.count(["A"], level=0.95) for one in two)
    found = two[0].difference(two[1], ["A"])
    assert found.value == second - first
    assert (found.low, found.high) == (second.low - first.high, second.high - first.low)
    assert found.level == 0.9
    assert found.low <= 6000 <= found.high
    assert found.is_certain


def test_a_difference_of_two_equal_answers_is_not_certain():
    same = Estimate(100, 80, 120, 0.95)
    assert Difference.of(same, same).value == 0
    assert not Difference.of(same, same).is_certain


def test_no_interval_without_both():
    assert Difference.of(Estimate(3), Estimate(5, 1, 9, 0.95)).level is None
    assert Difference.of(None, Estimate(5, 1, 9, 0.95)).value is None


def test_a_share_spans_what_both_intervals_allow(two):
    part, whole = two[0].count(["C"], level=0.95), two[0].count([], level=0.95)
    found = two[0].share(["C"])
    assert found.value == pytest.approx(part / whole)
    assert found.low == pytest.approx(part.low / whole.high)
    assert found.high == pytest.approx(min(part.high / whole.low, 1.0))
    assert found.low <= 0.25 <= found.high


@pytest.mark.parametrize("how", ["ordered", "prefix"])
def test_in_an_order_and_at_the_beginning(two, how):
    found = two[0].difference(two[1], ["A", "B"], how=how)
    assert found.low <= 6000 <= found.high


def test_questions_are_asked_in_known_ways(two):
    with pytest.raises(QueryError, match="any, ordered, prefix"):
        two[0].share(["A"], how="sideways")


def test_stops_whose_visits_differ_most_come_first(two):
    found = differences_of_visits(*two)
    sizes = [abs(one.value) for _, one in found]
    assert sizes == sorted(sizes, reverse=True)
    assert {label for label, _ in found} == {"A", "B", "C"}
