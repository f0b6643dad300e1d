"""Charts and cards for notebooks: true to the release, small, offline, and escaped."""

import builtins
import json

import numpy as np
import pytest

import pathveil as pv
from pathveil.pages.listings import length_rows

alt = pytest.importorskip("altair")

CHARTS = ("visits", "flows", "tree", "lengths")
MARKUP = ["<b>x</b>", "<script>alert(1)</script>", "محطة"]


def published(universe, sequences, **choices):
    database = pv.TrajectoryDatabase.from_sequences(sequences, universe)
    return pv.publish(database, **({"epsilon": "9", "height": 3, "method": "full"} | choices))


@pytest.fixture(scope="module")
def placed():
    week = pv.simulate_week(3000, 400, seed=4)
    database = pv.TrajectoryDatabase.from_arrays(week.offsets, week.codes, week.universe)
    return pv.publish(database, epsilon="9", height=3, method="full")


@pytest.fixture(scope="module")
def unplaced():
    return published(pv.Universe(MARKUP), [MARKUP, MARKUP[:2], MARKUP[1:]] * 200)


def rows(chart):
    """All rows that a chart carries."""
    found = chart.to_dict()
    layers = [found, *found.get("layer", [])]
    inline = [layer["data"]["values"] for layer in layers if "values" in layer.get("data", {})]
    return [row for values in inline for row in values]


@pytest.mark.parametrize("kind", CHARTS)
@pytest.mark.parametrize("which", ["placed", "unplaced"])
def test_every_chart_is_valid_small_titled_and_offline(kind, which, request):
    chart = getattr(request.getfixturevalue(which).plot, kind)()
    told = chart.to_dict()  # validates against the schema of Vega-Lite
    text = json.dumps({key: value for key, value in told.items() if key != "$schema"})
    assert '"url"' not in text
    assert "tooltip" in text
    assert told["title"]["text"]
    assert len(text) < 60_000


def test_visits_are_those_of_the_release(placed):
    found = [(row["location"], row["count"]) for row in rows(placed.plot.visits(7))]
    assert found == pv.visits(placed).to_rows(placed.universe, limit=7)
    assert rows(placed.plot.visits(1))[0]["name"] == "Central"


def test_flows_are_lines_on_a_map_or_else_a_matrix(placed, unplaced):
    lines = placed.plot.flows(5).to_dict()
    assert {layer["mark"]["type"] for layer in lines["layer"]} == {"rule", "circle"}
    moves = {(a, b): n for a, b, n in pv.transitions(placed).to_rows(placed.universe) if a != b}
    drawn = [row for row in rows(placed.plot.flows(5)) if "origin" in row]
    assert len(drawn) == 5
    assert all(moves[row["origin"], row["destination"]] == row["count"] for row in drawn)
    matrix = unplaced.plot.flows().to_dict()
    assert matrix["mark"]["type"] == "rect"
    assert "no coordinates" in json.dumps(matrix["title"])


def test_moves_that_noise_explains_are_not_drawn():
    """Of a small calibrated release hardly any move is known; the title says how many are not."""
    week = pv.simulate_week(3000, 40, seed=4)
    database = pv.TrajectoryDatabase.from_arrays(week.offsets, week.codes, week.universe)
    release = pv.publish(database, epsilon="1")
    told = [flow for flow in release.flows() if flow.origin != flow.destination][:60]
    known = {(one.origin, one.destination) for one in told if one.count.mark != "noise"}
    assert len(known) < len(told)
    chart = release.plot.flows(60)
    drawn = {(row["origin"], row["destination"]) for row in rows(chart) if "origin" in row}
    assert drawn <= known
    assert f"{60 - len(known)} of 60 can't be told from noise" in json.dumps(
        chart.to_dict()["title"]
    )


def test_places_without_coordinates_are_left_off_the_map():
    universe = pv.Universe(MARKUP, latitude=[45.0, 45.1, np.nan], longitude=[-73.0, -73.1, np.nan])
    chart = published(universe, [MARKUP] * 300).plot.flows()
    assert {row["origin"] for row in rows(chart) if "origin" in row} == set(MARKUP[:1])
    json.dumps(chart.to_dict(), allow_nan=False)


def test_lengths_and_the_tree_are_those_of_the_release(placed):
    lengths = [(row["length"], row["count"]) for row in rows(placed.plot.lengths())]
    assert lengths == length_rows(placed)
    first = [row for row in rows(placed.plot.tree()) if row["level"] == 0]
    assert sum(row["count"] for row in first) == len(placed)


def test_hours_need_times(placed):
    with pytest.raises(pv.errors.QueryError, match="no times"):
        placed.plot.hours()


def test_hours_are_the_visits_by_time():
    import pyarrow as pa

    times = np.datetime64("2026-03-02T07:30", "s") + np.arange(600) % 2 * np.timedelta64(1, "h")
    taps = pa.table({"uid": np.arange(600), "time": times, "location": ["a"] * 600})
    database = pv.read_trajectories(
        taps, pv.Universe(["a", "b"]), unit="uid", time="time", location="location",
        time_grid=pv.TimeGrid.parse("1h"),
    )  # fmt: skip
    release = pv.publish(database, epsilon="9", height=1, method="full")
    found = {(row["row"], row["time"]): row["count"] for row in rows(release.plot.hours())}
    # ± 20 at ε = 9: exceeded with a probability below e^(−9·20).
    assert found["a", "07:00"] == pytest.approx(300, abs=20)
    assert found["a", "08:00"] == pytest.approx(300, abs=20)
    assert sum(found.values()) == len(release)


@pytest.mark.parametrize("most", [0, -1, True, 1.5, "9", None])
def test_how_many_is_checked(placed, most):
    for kind in (placed.plot.visits, placed.plot.flows, placed.plot.lengths):
        with pytest.raises(pv.errors.ParameterError, match="whole number"):
            kind(most)


def test_without_altair_the_message_names_what_to_install(placed, monkeypatch):
    known = builtins.__import__

    def without(name, *arguments, **options):
        if name == "altair":
            raise ImportError
        return known(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(pv.errors.ParameterError, match=r"pathveil\[plot\]"):
        placed.plot.visits()


def test_the_accessor_is_made_once_and_says_what_it_has(placed):
    assert placed.plot is placed.plot
    assert all(f"{kind}()" in repr(placed.plot) for kind in (*CHARTS, "hours"))


def test_a_chart_becomes_a_picture(placed):
    vl_convert = pytest.importorskip("vl_convert")
    picture = vl_convert.vegalite_to_png(placed.plot.flows().to_dict())
    assert picture.startswith(b"\x89PNG")
    assert len(picture) > 5000


def test_what_is_not_private_says_so_on_every_chart_and_card():
    generator = np.random.default_rng(1)  # noqa: TID251
    made = published(pv.Universe(MARKUP), [MARKUP] * 300, generator=generator)
    for kind in CHARTS:
        assert "NOT PRIVATE" in json.dumps(getattr(made.plot, kind)().to_dict()["title"])
    assert "NOT PRIVATE" in made._repr_html_()
    assert "NOT PRIVATE" in made.certificate._repr_html_()


# Cards


def test_cards_are_short_escaped_and_say_the_main_thing(unplaced):
    cards = {
        "release": unplaced._repr_html_(),
        "universe": unplaced.universe._repr_html_(),
        "certificate": unplaced.certificate._repr_html_(),
    }
    for card in cards.values():
        assert len(card) < 2500
        assert "<b>" not in card
        assert "<script" not in card
        assert "color" not in card  # the notebook's own, light or dark
        assert "NOT PRIVATE" not in card
    assert "&lt;b&gt;x&lt;/b&gt;" in cards["universe"]
    assert "3 locations" in cards["universe"]
    assert f"{len(unplaced):,} on" in cards["release"]
    assert ">PRIVATE<" in cards["certificate"]
    assert len(repr(unplaced)) < 200


def test_a_card_of_a_large_universe_shows_a_few(placed):
    assert len(placed.universe._repr_html_()) < 1500
    assert "400 locations" in placed.universe._repr_html_()
