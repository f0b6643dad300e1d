"""``universe="discover"``: thresholds in integers, and nothing private outside the gate."""

from fractions import Fraction
from math import exp

import pyarrow as pa
import pytest

from pathveil import Parameters, publish, read_release, read_trajectories
from pathveil.errors import ParameterError
from pathveil.model.label_discovery import MOST_LABELS, discovery_threshold, parse_delta


def table(rows):
    return pa.table(
        {
            "uid": [str(i) for i, row in enumerate(rows) for _ in row],
            "place": [label for row in rows for label in row],
        }
    )


def read(rows, **options):
    return read_trajectories(table(rows), "discover", unit="uid", location="place", **options)


@pytest.mark.parametrize("contribution", [1, 3])
@pytest.mark.parametrize("epsilon", [Fraction(1, 4), Fraction(2)])
@pytest.mark.parametrize("delta", [Fraction(1, 10**9), Fraction(1, 10**6)])
def test_the_threshold_is_the_smallest_that_keeps_delta(contribution, epsilon, delta):
    alpha = exp(-epsilon)

    def betrayal(threshold):
        """c·k labels of one unit, each with its largest count."""
        return contribution * MOST_LABELS * alpha ** (threshold - contribution) / (1 + alpha)

    threshold = discovery_threshold(epsilon, contribution, delta)
    assert betrayal(threshold) <= float(delta) * (1 + 1e-9)
    assert betrayal(threshold - 1) > float(delta)


def test_common_labels_are_named_and_rare_ones_are_not():
    db = read([["A", "B"]] * 5000 + [["C", "A"]] * 3000 + [["secret"]])
    release = publish(db, epsilon="4", height=3, delta="1e-9")
    assert release.universe.labels == ("A", "B", "C")  # by text, not by count
    certificate = release.certificate
    assert certificate.dp_flavor.name == "Approximate DP"
    assert certificate.privacy_loss.privacy_parameters.delta == "1/1000000000"
    assert certificate.adds_up()


def test_a_bundle_says_epsilon_and_delta_and_reads_back(tmp_path):
    db = read([["A", "B"]] * 5000)
    release = publish(db, epsilon="4", height="auto", delta="1e-9", method="calibrated")
    again = read_release(release.write(tmp_path / "release"))
    assert again.parameters == release.parameters
    assert again.parameters.delta == Fraction(1, 10**9)
    assert len(again.parameters.preparations) == 2


def test_nothing_about_the_observed_labels_is_shown():
    db = read([["secret"]])
    assert "secret" not in repr(db) + repr(db.universe)
    assert "1" not in repr(db) + repr(db.universe)


def test_unprintable_labels_are_never_named():
    db = read([["ok", "bell\x07", "x" * 501, " "]] * 5000)
    assert publish(db, epsilon="9", height=2, delta="1e-9").universe.labels == ("ok",)


@pytest.mark.parametrize("rows", [[], [["once"]]])
def test_no_label_at_all_is_said_without_saying_why(rows):
    with pytest.raises(ParameterError, match="No label's noisy count"):
        publish(read(rows), epsilon="1", height=2, delta="1e-9")


def test_a_delta_is_needed_and_only_then():
    db = read([["A"]])
    with pytest.raises(ParameterError, match="delta"):
        publish(db, epsilon="1", height=2)
    with pytest.raises(ParameterError, match="'auto'"):
        publish(db, epsilon="1", height=2, delta="1e-9", threshold="paper")
    with pytest.raises(ParameterError, match="Delta is for"):
        Parameters.choose(epsilon="1", height=2, universe_size=4, delta="1e-9")


@pytest.mark.parametrize("value", [1e-9, "0", "1e-3", "-1e-9", "abc", "", None, "1/0", "1e-99"])
def test_a_delta_that_means_nothing_is_refused(value):
    with pytest.raises(ParameterError):
        parse_delta(value)
