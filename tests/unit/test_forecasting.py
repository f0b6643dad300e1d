"""The simulated forecast: shapes, survival against an oracle, questions, and the page."""

import re
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pathveil as pv
from pathveil.errors import ParameterError
from pathveil.trials.evaluation.compared import Figures
from pathveil.trials.forecasting import data_size
from pathveil.trials.forecasting.accuracy import Asked
from pathveil.trials.forecasting.data_size import DataSize, simulated, size_of, survival
from pathveil.trials.forecasting.forecast import AROUND, forecast
from pathveil.trials.forecasting.forecast_tables import as_json, tables
from pathveil.trials.forecasting.kinds import KindForecast, what_to_ask
from pathveil.trials.forecasting.plan_page import Axes, Series, bar_chart, line_chart, plan_page


def choices(size, method="full", height=4, epsilon=2, **more):
    return lambda multiple: pv.Parameters.choose(
        epsilon=epsilon * multiple, height=height, universe_size=size, method=method, **more
    )


def generator():
    return np.random.default_rng(1)  # noqa: TID251


@pytest.fixture(scope="module")
def made():
    expected = DataSize.expected(3000, None, 30)
    return forecast(expected, choices(30, epsilon=1, height=6), generator=generator())


# Shapes


@pytest.mark.parametrize("mean", [1.5, 3, 6.7, 20])
def test_simulated_data_has_the_shape_that_was_asked_for(mean):
    """20,000 lengths of deviation below 1.2 times the mean: off by 10% once in 10³⁰."""
    found = size_of(simulated(DataSize(20_000, mean, 50), 1))
    assert (found.trajectories, found.universe_size) == (20_000, 50)
    assert found.mean_length == pytest.approx(mean, rel=0.1)


def test_the_usual_week_is_still_the_same_week():
    usual, told = (pv.simulate_week(500, 20, seed=3, **m) for m in ({}, {"mean_length": 6.7}))
    assert usual.codes.tolist() == told.codes.tolist()
    assert int(np.diff(usual.offsets).max()) <= 121


@pytest.mark.parametrize("wrong", [(0, None), (-1, 5), (10**13, 5), (5, 0.5), (5, float("nan"))])
def test_what_has_no_shape_is_refused(wrong):
    with pytest.raises(ParameterError):
        DataSize.expected(*wrong, 10)


def test_caps_are_said_and_never_scaled():
    small = DataSize.expected(1000, None, 100)
    assert small.capped() == small
    assert small.cautions() == []
    large = DataSize.expected(10**7, 20, 10**6)
    capped = large.capped()
    assert capped.trajectories <= data_size.MOST_TRAJECTORIES
    assert capped.trajectories * capped.mean_length <= data_size.MOST_VISITS
    assert capped.universe_size == data_size.MOST_LOCATIONS
    assert len(large.cautions()) == 2
    assert f"{capped.trajectories:,} of 10,000,000" in large.cautions()[0]


# Survival


def prefixes(sequences, level):
    return {tuple(s[:level]) for s in sequences if len(s) >= level}


@settings(max_examples=40)
@given(
    st.lists(st.lists(st.integers(0, 3), max_size=5), min_size=1, max_size=60),
    st.integers(0, 2**32),
)
def test_survival_agrees_with_sets_of_prefixes(sequences, seed):
    universe = pv.Universe(["a", "b", "c", "d"])
    named = [[universe.labels[code] for code in sequence] for sequence in sequences]
    database = pv.TrajectoryDatabase.from_sequences(named, universe)
    noise = np.random.default_rng(seed)  # noqa: TID251
    release = pv.publish(
        database, epsilon="3", height=3, method="full", threshold=1, generator=noise
    )
    tree, nodes = release.tree, []
    for i in range(len(tree)):
        before = nodes[tree.parent[i]] if tree.parent[i] >= 0 else ()
        nodes.append((*before, int(tree.location[i])))
    found = survival(tree, database.paths(), 4)
    assert [line.level for line in found] == list(range(1, tree.depth + 1))
    for line in found:
        there = prefixes(sequences, line.level)
        kept = {node for node in nodes if len(node) == line.level}
        expected = (len(there), len(kept & there), len(kept - there))
        assert (line.visited, line.survived, line.invented) == expected


# Questions


def test_a_release_that_is_the_data_has_no_error_and_all_patterns():
    side = Figures(simulated(DataSize(2000, 5, 20), 1))
    asked = Asked(side, questions=400)
    assert {q.journeys for q in asked.by_locations(side)} <= {0.0, None}
    assert all(line.relative_90 == 0 for line in asked.by_count(side))
    assert all(hits.found == hits.k for hits in asked.top_patterns(side))


def test_questions_are_grouped_by_their_true_answer():
    side = Figures(simulated(DataSize(2000, 5, 20), 1))
    lines = list(Asked(side, questions=400).by_count(side))
    assert sum(line.questions for line in lines) == 400  # every question has a true answer ≥ 1
    assert [line.below for line in lines] == [10 * line.least for line in lines]


# The forecast


def test_the_wanted_budget_and_some_around_it_are_tried(made):
    assert [run.parameters.budget.epsilon for run in made.runs] == list(AROUND)
    assert made.run.parameters.budget.epsilon == 1
    assert made.simulated.trajectories == 3000


def test_more_budget_is_more_accurate(made):
    """From ε/4 to 4ε the error of single locations falls; with fixed noise this is one case."""
    first, last = made.runs[0].by_locations[0], made.runs[-1].by_locations[0]
    assert last.journeys < first.journeys < first.journeys_empty * 1.2
    assert sum(line.survived for line in made.runs[-1].levels) > sum(
        line.survived for line in made.runs[0].levels
    )


def test_a_budget_that_can_not_be_used_is_left_out():
    result = forecast(DataSize.expected(200, 3, 5), choices(5, epsilon=30), generator=generator())
    assert [run.parameters.budget.epsilon for run in result.runs] == [Fraction(15, 2), 15, 30, 60]
    assert result.run.parameters.budget.epsilon == 30


def test_the_wanted_budget_itself_must_be_usable():
    with pytest.raises(ParameterError):
        forecast(DataSize.expected(200, 3, 5), choices(5, epsilon=101))


def test_a_larger_universe_is_simulated_on_a_smaller_one(monkeypatch):
    monkeypatch.setattr(data_size, "MOST_LOCATIONS", 10)
    result = forecast(DataSize.expected(300, 3, 40), choices(40), generator=generator())
    assert result.simulated.universe_size == 10
    assert {run.parameters.universe_size for run in result.runs} == {10}


def test_several_trajectories_per_unit_make_more_noise():
    few, many = (
        forecast(
            DataSize.expected(2000, 4, 20),
            choices(20, max_trajectories_per_unit=c),
            generator=generator(),
        ).run
        for c in (1, 20)
    )
    assert sum(line.survived for line in many.levels) < sum(line.survived for line in few.levels)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"time_grid": pv.TimeGrid.parse("1h")}, "times"),
        ({"universe_size": None, "delta": "1e-6"}, "size of the universe"),
    ],
)
def test_what_is_not_simulated_is_refused(more, says):
    def choose(multiple):
        options = {"epsilon": multiple, "height": 3, "universe_size": 5, "method": "full"} | more
        return pv.Parameters.choose(**options)

    with pytest.raises(ParameterError, match=says):
        forecast(DataSize.expected(100, 3, 5), choose)


def test_progress_rises_to_one():
    told = []
    forecast(
        DataSize.expected(300, 3, 5),
        choices(5, method="calibrated"),
        generator=generator(),
        progress=told.append,
    )
    assert told == sorted(told)
    assert told[-1] == 1


# What one may ask


def kind(name, reliable, rough, noise):
    return KindForecast(name, reliable + rough + noise, reliable, rough, noise, 20, 10)


def test_one_sentence_says_what_to_ask():
    found = [kind("stops", 60, 40, 0), kind("moves", 10, 50, 40), kind("trips", 0, 3, 97)]
    assert what_to_ask(found) == (
        "Ask such a release about stops; take what it says about moves as rough; do not ask it "
        "about trips, most of which can't be told from noise."
    )
    assert what_to_ask([kind("stops", 0, 0, 9)]).startswith("Do not ask it about stops")
    assert "no intervals" in what_to_ask([kind("stops", 0, 0, 0)])


def test_kinds_are_those_of_the_release_against_the_truth():
    small = DataSize.expected(300, 3, 5)
    made = forecast(small, choices(5, method="calibrated"), generator=generator())
    for one in made.run.kinds:
        assert one.reliable + one.rough + one.noise == one.looked_at <= 100
        assert 0 <= one.right <= one.top <= 20
    stops = made.run.kinds[0]
    assert (stops.kind, stops.top) == ("stops", 5)
    assert stops.right > 0


# Tables and the page


def test_tables_and_json_tell_the_same(made):
    values = as_json(made)
    assert [run["epsilon"] for run in values["runs"]] == ["1/4", "1/2", "1", "2", "4"]
    assert [run["is_this_plan"] for run in values["runs"]] == [False, False, True, False, False]
    by_kind, by_epsilon, by_locations, *_ = tables(made)
    assert [row[0] for row in by_kind.rows] == [k["kind"] for k in values["runs"][2]["kinds"]]
    assert values["what_to_ask"] == what_to_ask(made.run.kinds)
    assert [row[0] for row in by_epsilon.rows] == ["1/4", "1/2", "1 (this plan)", "2", "4"]
    assert len(by_locations.rows) == len(values["runs"][2]["error_by_locations"])
    assert all(len(row) == len(t.columns) for t in tables(made) for row in t.rows)


def test_the_page_works_offline_and_says_what_it_is_not(made):
    page = plan_page(replace(made, expected=DataSize(10**9, 6.7, 30)))
    assert "What this is not" in page
    assert "Real data differ" in page
    assert "of 1,000,000,000 trajectories" in page
    assert "default-src 'none'" in page
    assert "prefers-color-scheme: dark" in page
    assert not re.search(r"<script|https?://|\bsrc=|\burl\(", page)
    counts = Counter(re.findall(r"<(svg|table|h1)\b", page))
    assert counts == {"svg": 4, "table": 5, "h1": 1}
    assert what_to_ask(made.run.kinds) in page
    assert page.count('role="img"') == len(re.findall(r'<svg[^>]* aria-label="[^"]+', page)) == 4


def test_charts_leave_out_what_is_not_there_and_escape_words():
    axes = Axes(["<1>", "2"], "x & y", "share", percent=True, title='a "title"')
    series = [Series("<one>", [0.5, None], "wanted", [0.9, None]), Series("two", [0, 0.1], "kept")]
    for draw in (line_chart, bar_chart):
        svg = draw(axes, series)
        assert "<one>" not in svg
        assert "&lt;1&gt;" in svg
        assert "nan" not in svg
    assert line_chart(axes, series).count("<circle") == 3
    assert bar_chart(axes, series).count("whisker") == 1
    assert "<svg" in bar_chart(Axes([], "x", "y", percent=False, title="t"), [])
