"""Every measure by hand, on the paper's sample database (Table II) and a small made-up release."""

from math import log2, sqrt

import numpy as np
import pytest
from tests.multisets import coded_multiset

from pathveil.analysis.patterns import Pattern
from pathveil.errors import InputError, ParameterError, ReleaseError
from pathveil.raw.database import TrajectoryDatabase
from pathveil.trials.evaluation.compared import EmptyRelease, Figures
from pathveil.trials.evaluation.internal import internal_path, stamped, write_internal
from pathveil.trials.evaluation.measures import evaluate
from pathveil.trials.evaluation.scores import (
    Histogram,
    PatternMatch,
    average_relative_error,
    hotspot_ndcg,
    invented_share,
    jensen_shannon,
    kendall_tau,
    match_patterns,
    support_error,
)
from pathveil.universe.universe import Universe

UNIVERSE = Universe(["1", "2", "3", "4"])
# Table II of the paper; a digit is a location.
RAW = ["123", "12", "321", "124", "123", "32", "1241", "31"]
RELEASED = {"123": 2, "12": 3, "32": 2, "4": 1}


def multiset(weighted):
    return coded_multiset(UNIVERSE, [UNIVERSE.codes(row) for row in weighted], [*weighted.values()])


@pytest.fixture
def raw():
    return TrajectoryDatabase.from_sequences(RAW, UNIVERSE)


@pytest.fixture
def released():
    return multiset(RELEASED)


def ints(*values):
    return np.array(values, dtype=np.int64)


def test_average_relative_error_has_a_sanity_bound_of_a_thousandth():
    # s = 10: |2 − 0| / 10, |5 − 5| / 10, |10 − 20| / 20.
    error = average_relative_error(ints(0, 5, 20), ints(2, 5, 10), 10_000)
    assert error == pytest.approx((0.2 + 0 + 0.5) / 3)


def test_average_relative_error_of_nothing_is_refused():
    with pytest.raises(InputError, match="no trajectory"):
        average_relative_error(ints(0), ints(0), 0)


def test_pattern_match_counts_what_is_shared_invented_and_dropped(raw, released):
    # D: 1 (7), 2 (7), 3 (5), 12 (5): the shorter first; D̃: 2 (7), 1 (5), 12 (5), 3 (4).
    truth, found = Figures(raw).patterns(3), Figures(released).patterns(3)
    assert [pattern.locations for pattern in truth] == [("1",), ("2",), ("3",)]
    assert [pattern.locations for pattern in found] == [("2",), ("1",), ("1", "2")]
    match = match_patterns(truth, found)
    assert match == PatternMatch(true_positives=2, false_positives=1, false_drops=1)
    assert match.f1 == pytest.approx(2 / 3)


def test_pattern_match_with_an_empty_side(raw):
    truth = Figures(raw).patterns(5)
    match = match_patterns(truth, Figures(EmptyRelease(UNIVERSE)).patterns(5))
    assert match == PatternMatch(0, 0, 5)
    assert match.f1 == 0
    assert match_patterns([], []).f1 == 1


def test_support_error(raw, released):
    truth = [Pattern(("1",), 7), Pattern(("1", "2"), 5), Pattern(("2", "4"), 2)]
    found = Figures(released).supports(truth)
    assert found.tolist() == [5, 5, 0]
    assert support_error(truth, found) == pytest.approx((2 / 7 + 0 + 1) / 3)
    assert support_error([], ints()) == 0
    assert Figures(raw).supports(truth).tolist() == [7, 5, 2]


def test_kendall_tau_without_ties():
    # Of the 6 pairs 4 agree; (1, 2) and (3, 4) are swapped.
    assert kendall_tau(ints(1, 2, 3, 4), ints(20, 10, 40, 30)) == pytest.approx((4 - 2) / 6)


def test_kendall_tau_b_with_ties():
    # Pairs: (0,1) tied left; (0,2) agree; (1,2) tied right. C = 1, D = 0, n₀ = 3, n₁ = n₂ = 1.
    assert kendall_tau(ints(5, 5, 9), ints(1, 2, 2)) == pytest.approx(1 / sqrt(2 * 2))


def test_kendall_tau_of_what_orders_nothing_is_zero():
    assert kendall_tau(ints(3, 1, 2), ints(0, 0, 0)) == 0
    assert kendall_tau(ints(4), ints(4)) == 0
    assert kendall_tau(ints(), ints()) == 0


def test_kendall_tau_of_a_reversed_order_is_minus_one():
    many = np.arange(1000)
    assert kendall_tau(many, -many) == pytest.approx(-1)
    assert kendall_tau(many, many**2) == pytest.approx(1)


def test_popularity_and_its_correlation(raw, released):
    assert Figures(raw).popularity.tolist() == [7, 7, 5, 2]
    assert Figures(released).popularity.tolist() == [5, 7, 4, 1]
    # (1, 2) is tied in truth only; the other 5 of 6 pairs agree.
    tau = kendall_tau(Figures(raw).popularity, Figures(released).popularity)
    assert tau == pytest.approx(5 / sqrt(5 * 6))


def test_jensen_shannon_by_hand():
    # p = (1/2, 1/2, 0), q = (1/2, 0, 1/2): m = (1/2, 1/4, 1/4); each relative entropy is 1/2 bit.
    one = Histogram(ints(1, 2), ints(4, 4))
    other = Histogram(ints(1, 3), ints(10, 10))
    assert jensen_shannon(one, other) == pytest.approx(0.5)
    assert jensen_shannon(one, one) == 0


def test_jensen_shannon_of_disjoint_and_of_missing_distributions():
    one, nothing = Histogram(ints(1), ints(3)), Histogram(ints(), ints())
    assert jensen_shannon(one, Histogram(ints(2), ints(8))) == 1
    assert jensen_shannon(one, nothing) == 1
    assert jensen_shannon(nothing, one) == 1
    assert jensen_shannon(nothing, nothing) == 0
    assert jensen_shannon(one, Histogram(ints(1), ints(0))) == 1


def histogram_rows(histogram):
    return dict(zip(histogram.keys.tolist(), histogram.counts.tolist(), strict=True))


def test_the_four_distributions(released):
    side = Figures(released)
    # (first, last) as 4·first + last in codes from 0: 1→3: 2, 1→2: 3, 3→2: 2, 4→4: 1.
    assert histogram_rows(side.trips) == {2: 2, 1: 3, 9: 2, 15: 1}
    assert histogram_rows(side.lengths) == {1: 1, 2: 5, 3: 2}
    assert histogram_rows(side.visits) == {0: 5, 1: 7, 2: 4, 3: 1}
    # 1→2: 5, 2→3: 2, 3→2: 2.
    assert histogram_rows(side.transitions) == {1: 5, 6: 2, 9: 2}


def test_hotspots_in_the_true_order_score_one_and_others_less():
    raw = ints(8, 4, 2, 0)
    assert hotspot_ndcg(raw, ints(80, 40, 20, 0), 3) == 1
    # Named: locations 1, 0 and 3, with gains 4, 8 and 0.
    expected = (4 + 8 / log2(3)) / (8 + 4 / log2(3) + 2 / log2(4))
    assert hotspot_ndcg(raw, ints(5, 6, 0, 4), 3) == pytest.approx(expected)


def test_hotspots_that_are_not_released_are_not_named():
    assert hotspot_ndcg(ints(8, 4), ints(0, 0), 2) == 0
    assert hotspot_ndcg(ints(0, 0), ints(1, 0), 2) == 1
    expected = 8 / (8 + 4 / log2(3))
    assert hotspot_ndcg(ints(8, 4), ints(3, 0), 2) == pytest.approx(expected)


def test_invented_paths_begin_no_trajectory(raw, released):
    # 123, 12 and 32 begin somebody's trajectory; nobody's begins with 4.
    assert invented_share(raw, released) == pytest.approx(1 / 8)
    # 124 is a prefix of 1241, 1243 of nothing; 2 is inside trajectories but begins none.
    assert invented_share(raw, multiset({"124": 3, "1243": 2, "2": 5})) == pytest.approx(0.7)


def test_invented_paths_of_empty_sides(raw, released):
    assert invented_share(raw, EmptyRelease(UNIVERSE)) == 0
    assert invented_share(EmptyRelease(UNIVERSE), released) == 1
    # A path of weight 0 is nobody's trajectory.
    assert invented_share(multiset({"12": 0, "32": 1}), multiset({"12": 1, "32": 1})) == 0.5


def figures(raw, released, **options):
    evaluation = evaluate(raw, released, height=4, queries=400, patterns=3, **options)
    return {figure.measure.key: figure for figure in evaluation.figures}


def test_a_perfect_release_has_perfect_figures_and_beats_the_empty_one(raw):
    for key, figure in figures(raw, raw).items():
        best = {"lower": 0, "higher": 1, "near 1": 1}[figure.measure.better]
        assert figure.release == pytest.approx(3 if key == "true_positives" else best), key
        assert figure.beats_empty == (key not in {"false_positives", "invented_share"}), key


def test_an_empty_release_scores_as_its_own_baseline(raw):
    for key, figure in figures(raw, EmptyRelease(UNIVERSE)).items():
        assert figure.release == figure.empty, key
        assert not figure.beats_empty, key


def test_the_table_holds_the_hand_computed_figures(raw, released):
    table = figures(raw, released)
    assert table["size_ratio"].release == 1
    assert table["size_ratio"].empty == 0
    assert table["invented_share"].release == pytest.approx(1 / 8)
    assert table["true_positives"].release == 2
    assert table["false_drops"].empty == 3
    # Every location once, s below 1: 2/7, 0, 1/5, 1/2; an empty release misses all.
    expected = (2 / 7 + 0 + 1 / 5 + 1 / 2) / 4
    assert table["query_error_single"].release == pytest.approx(expected)
    assert table["query_error_single"].empty == 1
    # Lengths: raw 2: 3, 3: 4, 4: 1; released 1: 1, 2: 5, 3: 2.
    m = np.array([1 / 16, 8 / 16, 6 / 16, 1 / 16])
    p, q = np.array([0, 3, 4, 1]) / 8, np.array([1, 5, 2, 0]) / 8
    entropy = sum(
        side[i] * log2(side[i] / m[i]) for side in (p, q) for i in range(4) if side[i] > 0
    )
    assert table["divergence_lengths"].release == pytest.approx(entropy / 2)
    assert table["divergence_lengths"].empty == 1


def test_queries_of_length_one_have_the_error_of_single_locations(raw, released):
    # With h = 4 the first subset asks for one random location each.
    table = figures(raw, released)
    assert table["query_error_1"].measure.name == "1 random location"
    single = [2 / 7, 0, 1 / 5, 1 / 2]
    assert min(single) <= table["query_error_1"].release <= max(single)
    # The mean of 100 draws of values within [0, 1/2] is within 0.25 of their mean but for a
    # probability below 2·exp(−2·100·0.25²/0.5²) < 10⁻²¹; and the seed is fixed.
    assert table["query_error_1"].release == pytest.approx(np.mean(single), abs=0.25)


def test_other_seeds_ask_other_queries(raw, released):
    one, other = figures(raw, released, seed=1), figures(raw, released, seed=2)
    assert one["query_error_4"].release != other["query_error_4"].release
    again = figures(raw, released, seed=1)
    assert one["query_error_4"].release == again["query_error_4"].release


def test_two_universes_are_refused(raw):
    with pytest.raises(ParameterError, match="same universe"):
        evaluate(raw, EmptyRelease(Universe(["1", "2"])), height=4)


def test_an_empty_database_is_refused(released):
    with pytest.raises(InputError, match="no trajectory"):
        evaluate(EmptyRelease(UNIVERSE), released, height=4)


def test_internal_files_are_named_so_and_readable_by_their_owner_only(tmp_path):
    written = write_internal(tmp_path / "page.html", "text\n")
    assert written == tmp_path / "INTERNAL-page.html"
    assert written.read_text() == "text\n"
    assert written.stat().st_mode & 0o077 == 0
    assert write_internal(written, "more") == written
    assert [path.name for path in tmp_path.iterdir()] == ["INTERNAL-page.html"]


def test_internal_files_are_refused_inside_a_bundle(tmp_path):
    bundle = tmp_path / "release"
    (bundle / "inside").mkdir(parents=True)
    (bundle / "privacy-certificate.json").write_text("{}")
    (tmp_path / "link").symlink_to(bundle)
    for folder in (bundle, bundle / "inside", bundle / "new", tmp_path / "link"):
        with pytest.raises(ReleaseError, match="release bundle"):
            internal_path(folder / "page.html")
    assert internal_path(tmp_path / "page.html").name == "INTERNAL-page.html"


def test_internal_json_says_so():
    assert stamped({"a": 1})["internal"] is True
    assert "not differentially private" in str(stamped({})["notice"])
