"""``universe="discover"``: thresholds in integers, and nothing private outside the gate."""

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product
from math import exp, prod

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pathveil import Parameters, TimeGrid, Universe, publish, read_release, read_trajectories
from pathveil.core.budget import parse_delta
from pathveil.core.preparations import MOST_LABELS, discovery_threshold
from pathveil.errors import ParameterError
from pathveil.raw.database import TrajectoryDatabase
from pathveil.raw.observed import ObservedUniverse, restrict


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


def passes(count, threshold, epsilon):
    """P[count + X ≥ threshold] with 60 digits, by the law of the noise itself."""
    alpha = (-Decimal(epsilon.numerator) / Decimal(epsilon.denominator)).exp()
    tail = alpha ** abs(threshold - count) / (1 + alpha)
    return tail if threshold > count else 1 - tail * alpha


def excess(ours, theirs, threshold, epsilon, factor):
    """The hockey-stick divergence: Σ over all sets of names of max(0, P(set) − e^ε'·Q(set)).

    ours and theirs are the counts of each label in two databases; a label with the count 0 does
    not occur, and is never named.
    """
    here, there = (
        [passes(count, threshold, epsilon) if count else Decimal(0) for count in counts]
        for counts in (ours, theirs)
    )
    total = Decimal(0)
    for named in product([True, False], repeat=len(ours)):
        p, q = (
            prod((r if is_named else 1 - r) for r, is_named in zip(rates, named, strict=True))
            for rates in (here, there)
        )
        total += max(Decimal(0), p - factor * q)
    return total


# What one unit may add to the counts of labels: c·k in all, at most c to each.
CHANGES = {
    1: [(1, 1, 1, 1), (1, 0, 0, 0), (1, 1, 0, 0)],
    2: [(2, 2, 2, 2), (1, 1, 1, 1, 1, 1, 1, 1), (2, 0, 0, 0), (2, 2, 1, 1, 1, 1)],
}


@pytest.mark.parametrize("contribution", CHANGES)
@pytest.mark.parametrize("epsilon", [Fraction(1, 4), Fraction(1), Fraction(3)])
@pytest.mark.parametrize("delta", [Fraction(1, 10**9), Fraction(1, 10**5)])
def test_delta_is_kept_by_an_exact_computation(contribution, epsilon, delta):
    """All outputs of two neighbouring databases, their probabilities in 60 digits.

    The promise: P(S) ≤ e^ε'·Q(S) + δ for every set S of outputs, both ways.
    """
    one_count = epsilon / (contribution * MOST_LABELS)
    threshold = discovery_threshold(one_count, contribution, delta)
    largest = Decimal(0)
    with localcontext() as context:
        context.prec = 60
        factor = (Decimal(epsilon.numerator) / Decimal(epsilon.denominator)).exp()
        for added in CHANGES[contribution]:
            # The others visit the first labels: none, some, or as often as the threshold is high.
            for others in ((0,), (1, threshold - 1), (threshold, 2 * threshold), (5, 0, 1, 0)):
                before = [*others, *[0] * len(added)][: len(added)]
                after = [x + y for x, y in zip(before, added, strict=True)]
                for pair in ((before, after), (after, before)):
                    largest = max(largest, excess(*pair, threshold, one_count, factor))
        allowed = Decimal(delta.numerator) / Decimal(delta.denominator)
        assert largest <= allowed
        assert largest > allowed / 4  # not much larger than it need be
        # The figure that counts one label only, as for a unit that visits one, is not enough.
        alone = contribution + discovery_like_one_label(one_count, delta)
        every = [0] * len(CHANGES[contribution][0]), CHANGES[contribution][0]
        assert excess(every[1], every[0], alone, one_count, factor) > allowed


def discovery_like_one_label(epsilon, delta):
    """τ − c if the union over a unit's labels is forgotten."""
    from pathveil.core.thresholds import smallest_threshold

    return smallest_threshold(epsilon, 1, delta)


rows_of_pairs = st.lists(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), max_size=6), max_size=8
)


@given(rows_of_pairs, st.sets(st.integers(0, 4), min_size=1))
@settings(deadline=None)
def test_restricting_keeps_times_rules_and_the_bound(rows, kept):
    """Against lists: the visits to kept labels, with the slots they had."""
    grid = TimeGrid.parse("6h")
    rows = [sorted(row, key=lambda visit: visit[0]) for row in rows]
    labels = [f"L{i}" for i in range(5)]
    private = TrajectoryDatabase.from_arrays(
        np.cumsum([0, *map(len, rows)]),
        np.array([5 * slot + place for row in rows for slot, place in row], dtype=np.int32),
        ObservedUniverse(labels),
        max_trajectories_per_unit=3,
        time_grid=grid,
        rules=("a rule",),
    )
    named = Universe(sorted((labels[i] for i in kept), reverse=True))
    public = restrict(private, named)
    size = len(named)
    found = [
        [(int(code) // size, named.labels[code % size]) for code in public.codes[start:stop]]
        for start, stop in zip(public.offsets[:-1], public.offsets[1:], strict=True)
    ]
    assert found == [[(s, labels[p]) for s, p in row if p in kept] for row in rows]
    assert public.time_grid == grid
    assert public.rules == ("a rule",)
    assert public.max_trajectories_per_unit == 3


@pytest.mark.parametrize("method", ["basic", "full"])
def test_labels_are_discovered_with_times(method, tmp_path):
    people = 4000
    visits = [("A", "07:30"), ("B", "17:10")]
    columns = {
        "who": [f"u{i}" for i in range(people) for _ in visits] + ["last"],
        "where": [place for _ in range(people) for place, _ in visits] + ["secret"],
        "when": [f"2024-03-05T{time}:00" for _ in range(people) for _, time in visits]
        + ["2024-03-05T08:00:00"],
    }
    db = read_trajectories(
        pa.table(columns), "discover", unit="who", location="where",
        time="when", time_grid=TimeGrid.parse("1h"),
    )  # fmt: skip
    release = publish(db, epsilon="6", height=3, delta="1e-9", method=method)
    assert release.universe.labels == ("A", "B")
    assert len(release.time_grid) == 24
    assert abs(release.count_ordered([("A", "07:00-08:00"), ("B", "17:00-18:00")]) - people) < 200
    assert release.count([("A", "08:00-09:00")]) < 200
    again = read_release(release.write(tmp_path / "release"))
    assert again.to_timed_sequences() == release.to_timed_sequences()
    assert again.certificate.privacy_loss.privacy_parameters.delta == "1/1000000000"


def test_a_visit_outside_the_grid_names_nothing():
    grid = TimeGrid.of(["07:00"], ["10:00"])
    columns = {
        "who": [f"u{i}" for i in range(3000) for _ in range(2)],
        "where": ["in", "out"] * 3000,
        "when": ["2024-03-05T08:00:00", "2024-03-05T12:00:00"] * 3000,
    }
    db = read_trajectories(
        pa.table(columns), "discover", unit="who", location="where", time="when", time_grid=grid
    )
    assert publish(db, epsilon="6", height=2, delta="1e-9").universe.labels == ("in",)


def test_common_labels_are_named_and_rare_ones_are_not():
    db = read([["A", "B"]] * 5000 + [["C", "A"]] * 3000 + [["secret"]])
    release = publish(db, epsilon="4", height=3, delta="1e-9")
    assert release.universe.labels == ("A", "B", "C")  # by text, not by count
    certificate = release.certificate
    assert certificate.dp_flavor.name == "Approximate DP"
    assert certificate.privacy_loss.privacy_parameters.delta == "1/1000000000"
    assert certificate.adds_up()


@pytest.mark.parametrize(("method", "choices"), [("full", 2), ("calibrated", 1)])
def test_a_bundle_says_epsilon_and_delta_and_reads_back(tmp_path, method, choices):
    """Labels, and a height if the method has one."""
    db = read([["A", "B"]] * 5000)
    release = publish(db, epsilon="4", height="auto", delta="1e-9", method=method)
    again = read_release(release.write(tmp_path / "release"))
    assert again.parameters == release.parameters
    assert again.parameters.delta == Fraction(1, 10**9)
    assert len(again.parameters.preparations) == choices


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
    with pytest.raises(ParameterError, match="leave delta"):
        Parameters.choose(epsilon="1", height=2, universe_size=4, delta="1e-9", method="full")


@pytest.mark.parametrize("value", [1e-9, "0", "1e-3", "-1e-9", "abc", "", None, "1/0", "1e-99"])
def test_a_delta_that_means_nothing_is_refused(value):
    with pytest.raises(ParameterError):
        parse_delta(value)
