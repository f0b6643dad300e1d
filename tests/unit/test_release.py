"""A release in memory: what it says about itself, and how it is made by each method."""

import numpy as np
import pytest

import pathveil as pv
from pathveil.gate.randomness import Randomness
from pathveil.methods.paper import generate
from pathveil.publishing import publish_with

UNIVERSE = pv.Universe(["a", "b", "c"])


def database(times=200):
    rows = [["a", "b"], ["a", "b", "c"], ["c"], ["b", "a"]]
    return pv.TrajectoryDatabase.from_sequences(rows * times, UNIVERSE)


def seeded(**choices):
    generator = np.random.default_rng(1)  # noqa: TID251
    return pv.publish(database(), **{"epsilon": "6", "height": 3, "generator": generator} | choices)


def test_only_the_operating_systems_generator_makes_a_release_private():
    assert pv.publish(database(), epsilon="6", height=3).is_private
    assert not seeded().is_private


def test_an_injected_generator_is_stamped_wherever_the_release_shows_itself():
    release = seeded()
    assert "NOT PRIVATE" in repr(release)
    assert "NOT PRIVATE" in repr(release.tree)
    assert release.certificate.status == "NOT PRIVATE"
    private = pv.publish(database(), epsilon="6", height=3)
    assert "NOT PRIVATE" not in repr(private) + repr(private.tree)
    assert private.certificate.status == "PRIVATE"


def test_what_is_said_of_a_release_later_is_said_of_a_copy():
    release = seeded()
    before = release.rules
    read, paid = release.read_by(["a rule"]), release.paid_by(None)
    assert read.rules == ("a rule",)
    assert release.rules == before != read.rules
    assert read is not release
    assert paid is not release
    assert read.to_sequences() == release.to_sequences()


def test_with_a_large_budget_the_release_is_close_to_the_data():
    """At ε = 90 and h = 3 the noise is 0 with probability 1 − 2e⁻³⁰: fails once in 10¹¹ runs."""
    for method in ("basic", "full"):
        release = pv.publish(database(), epsilon="90", height=3, method=method)
        assert release.to_sequences() == sorted(
            [["a", "b"]] * 200 + [["a", "b", "c"]] * 200 + [["b", "a"]] * 200 + [["c"]] * 200
        )


def test_trajectories_are_cut_at_the_height():
    release = pv.publish(database(), epsilon="90", height=1, method="full")
    assert release.to_sequences() == [["a"]] * 400 + [["b"]] * 200 + [["c"]] * 200


def test_basic_keeps_noisy_counts_where_they_are_consistent():
    release = seeded(method="basic")
    tree = release.tree
    assert np.all(tree.estimate >= tree.noisy_count)
    leaves = np.setdiff1d(np.arange(len(tree)), tree.parent)
    assert tree.estimate[leaves].tolist() == tree.noisy_count[leaves].tolist()


def test_basic_and_full_start_from_the_same_noise():
    basic, full = seeded(method="basic"), seeded(method="full")
    assert basic.tree.noisy_count.tolist() == full.tree.noisy_count.tolist()
    assert (basic.parameters.method, full.parameters.method) == ("basic", "full")


def test_an_empty_database_is_published_like_any_other():
    empty = pv.TrajectoryDatabase.from_sequences([], UNIVERSE)
    release = pv.publish(empty, epsilon="90", height=3)
    assert (len(release), release.to_sequences(), release.count(["a"])) == (0, [], 0)


def test_questions_are_answered_from_the_released_rows():
    release = pv.publish(database(), epsilon="90", height=3, method="full")
    assert release.count(["b", "a"]) == 600
    assert release.count_ordered(["a", "b"]) == 400
    assert release.count_prefix(["a", "b"]) == 400
    assert release.count_many([["c"], ["a", "c"]]).tolist() == [400, 200]
    assert release.top_patterns(1)[0].support == 600
    with pytest.raises(pv.errors.PathveilError, match="no location 'd'"):
        release.count(["d"])


def test_parameters_of_another_database_are_refused():
    parameters = pv.Parameters.choose(epsilon="1", height=2, universe_size=4)
    with pytest.raises(pv.errors.ParameterError, match="another universe"):
        publish_with(database(), parameters, Randomness())
    parameters = pv.Parameters.choose(
        epsilon="1", height=2, universe_size=3, max_trajectories_per_unit=2
    )
    with pytest.raises(pv.errors.ParameterError, match="another bound"):
        publish_with(database(), parameters, Randomness())


def test_progress_counts_levels_and_sees_nothing_else():
    for method in ("full", "calibrated"):  # levels; stages, of which the plan may drop some
        told = []
        pv.publish(
            database(),
            epsilon="6",
            height=3,
            method=method,
            progress=lambda *what, told=told: told.append(what),
        )
        assert [done for done, _ in told] == list(range(1, len(told) + 1))
        steps = [of for _, of in told]
        assert steps == sorted(steps, reverse=True)
        assert told[-1] == (len(told), len(told))
        assert 3 <= len(told) <= 7


def test_the_offset_of_the_rounding_is_drawn_anew_for_every_release(monkeypatch):
    """A fixed offset would round the same way every time; two equal draws happen once in 2³²."""
    offsets, rounded_counts = [], generate.rounded_counts

    def watch(tree, feasible, offset):
        offsets.append(offset)
        return rounded_counts(tree, feasible, offset)

    monkeypatch.setattr(generate, "rounded_counts", watch)
    for _ in range(2):
        pv.publish(database(), epsilon="6", height=3, method="full")
    assert offsets[0] != offsets[1]
    assert all(0 <= offset < 1 for offset in offsets)
