"""`pathveil evaluate`: the table, the page, the watermark, and what it refuses."""

import html
import re

import pytest

import pathveil as pv
from pathveil.trials.evaluation.measures import evaluate

pytestmark = pytest.mark.usefixtures("week", "release")

COLUMNS = ("--unit-column", "card_id", "--order-column", "seq", "--location-column", "stop_id")


def run(pathveil, *more, taps="taps.csv", bundle="release"):
    return pathveil("evaluate", taps, bundle, *COLUMNS, "--queries", "400", "-k", "20", *more)


def test_json_holds_every_measure_beside_its_baseline(week, release, pathveil):
    result = run(pathveil, "--json", "--seed", "5")
    assert result.code == 0, result
    answer = result.json()
    assert answer["internal"] is True
    assert "not differentially private" in answer["notice"]
    assert answer["page"] == "INTERNAL-evaluation.html"
    bundle = pv.read_release(release)
    raw = pv.read_trajectories(
        week / "taps.csv", bundle.universe, unit="card_id", order="seq", location="stop_id"
    )
    expected = evaluate(raw, bundle, height=4, queries=400, patterns=20, seed=5)
    assert {key: (m["release"], m["empty_release"]) for key, m in answer["measures"].items()} == {
        figure.measure.key: (figure.release, figure.empty) for figure in expected.figures
    }


@pytest.fixture
def calibrated(week):
    """A release with intervals."""
    made = pv.read_trajectories(
        week / "taps.csv",
        pv.Universe.read(week / "stops.csv"),
        unit="card_id",
        order="seq",
        location="stop_id",
    )
    pv.publish(made, epsilon="4").write(week / "calibrated")
    return "calibrated"


def test_a_verdict_on_the_intervals_comes_first(pathveil, calibrated):
    answer = run(pathveil, "--json", bundle=calibrated).json()
    assert answer["verdict"][0].startswith("The 90% intervals hold")
    kinds = {one["kind"] for one in answer["coverage"]}
    assert {"stops", "pairs", "two in order", "moves", "trips"} <= kinds
    assert {one["picked"] for one in answer["coverage"]} == {"random", "own", "top 20", "top 100"}
    assert all(0 <= one["held"] <= 1 and one["asked"] > 0 for one in answer["coverage"])
    said = run(pathveil, bundle=calibrated).out
    assert said.index("The 90% intervals hold") < said.index("empty release")


def test_a_release_without_intervals_has_no_verdict(pathveil):
    answer = run(pathveil, "--json").json()
    assert answer["verdict"] is answer["coverage"] is None


def test_the_table_names_measures_baselines_and_directions(pathveil):
    result = run(pathveil)
    assert result.code == 0, result
    for words in (
        "INTERNAL",
        "empty release",
        "better",
        "1 to 4 random locations",
        "True positives",
        "Jensen-Shannon",
        "Share of invented paths",
        "as bounded for the release",
    ):
        assert words in result.out
    assert "INTERNAL-evaluation.html" in result.out


def test_parquet_gives_the_same_figures(pathveil):
    one = run(pathveil, "--json").json()
    other = run(pathveil, "--json", taps="taps.parquet").json()
    assert one["measures"] == other["measures"]


def test_the_page_is_watermarked_self_contained_and_without_scripts(week, pathveil):
    result = run(pathveil, "--out", "deep/page.html")
    assert result.code == 0, result
    page = week / "deep" / "INTERNAL-page.html"
    text = page.read_text(encoding="utf-8")
    assert [path.name for path in (week / "deep").iterdir()] == [page.name]
    assert 'class="internal"' in text
    assert "INTERNAL: these figures were computed from the raw data" in text
    assert text.count("<svg") == 4
    # The verdict comes first, and nothing is told in the paper's letters.
    assert text.index(">Verdict<") < text.index(">Figures<") < text.index("<svg")
    assert re.search(r"better than publishing nothing in \d+ of \d+ measures", text)
    assert re.search(r"How many visit one location is off by [\d.]+% on average", text)
    assert re.search(r"most frequent patterns of the raw data it has \d+", text)
    assert "max|Q|" not in text
    (lengths,) = [one for one in text.split("<svg")[1:] if "Length of trajectories" in one]
    ticks = re.findall(r">([\d.]+)</text>", lengths)
    assert ticks
    assert not any("." in tick for tick in ticks if not tick.startswith("0."))
    assert "<script" not in text
    addresses = set(re.findall(r"(?:https?:)?//[\w.]+[^\"'\s<]*", text))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert not re.search(r"\b(?:src|href)=", text)
    assert "default-src 'none'" in text


def test_figures_are_written_for_people_and_losses_to_the_empty_release_are_named(week, pathveil):
    run(pathveil)
    text = html.unescape((week / "INTERNAL-evaluation.html").read_text(encoding="utf-8"))
    assert "at most\n1 trajectory\nper unit" in text
    assert "not better than empty" in text


def test_the_raw_data_is_bounded_as_the_release_says(folder, pathveil):
    visits = [(unit, trip, stop) for unit in range(300) for trip in range(4) for stop in "AB"]
    lines = [f"u{u},{t},{i},{s}" for i, (u, t, s) in enumerate(visits)]
    (folder / "trips.csv").write_text("\n".join(["uid,tid,seq,location", *lines, ""]))
    universe = pv.Universe("ABC")
    database = pv.read_trajectories(
        folder / "trips.csv", universe, unit="uid", max_trajectories_per_unit=2
    )
    pv.publish(database, epsilon="8", height=2, method="full").write(folder / "trips")
    result = pathveil("evaluate", "trips.csv", "trips", "--queries", "40", "--json")
    assert result.code == 0, result
    answer = result.json()
    assert answer["max_trajectories_per_unit"] == 2
    # 300 units with 2 of their 4 trajectories each, not 1,200. The root's count has noise of
    # scale 2·2/8: the ratio is off by a tenth with a probability below e^(−100).
    assert answer["measures"]["size_ratio"]["release"] == pytest.approx(1, abs=0.1)


def test_a_page_is_never_written_into_a_bundle(refuses, pathveil):
    for out in ("release/page.html", "release/deep/INTERNAL-page.html"):
        refuses(
            "evaluate", "taps.csv", "release", *COLUMNS, "--out", out, says="is a release bundle"
        )
    assert pathveil("verify", "release").code == 0


@pytest.mark.parametrize("out", ["", ".", "/"])
@pytest.mark.usefixtures("release")
def test_a_page_needs_a_name(refuses, out):
    refuses("evaluate", "taps.csv", "release", *COLUMNS, "--out", out, says="name of a file")


def test_a_bundle_with_an_internal_file_is_refused(release, refuses):
    (release / "INTERNAL-evaluation.html").write_text("smuggled in")
    refuses("evaluate", "taps.csv", "release", *COLUMNS, says="must not be published")


def test_what_is_no_release_is_refused_before_the_data_is_read(week, refuses):
    refuses("evaluate", "taps.csv", "elsewhere", *COLUMNS, says="is not a release")
    refuses("evaluate", "taps.csv", "taps.csv", *COLUMNS, says="taps.csv is a file; a release")
    (week / "elsewhere").mkdir()
    refuses("evaluate", "missing.csv", "elsewhere", *COLUMNS, says="is not a release")


def test_data_without_a_trajectory_is_refused(week, pathveil):
    (week / "taps.csv").write_text("card_id,seq,stop_id\n")
    result = run(pathveil)
    assert result.code == 2
    assert "no trajectory" in result.err.lower()
    assert not (week / "INTERNAL-evaluation.html").exists()


def test_a_release_that_is_not_private_says_so(week, not_private, pathveil):
    answer = run(pathveil, "--json", bundle=not_private).json()
    assert answer["status"] == "NOT PRIVATE"
    assert "NOT PRIVATE" in (week / "INTERNAL-evaluation.html").read_text(encoding="utf-8")


def test_points_and_stations_find_the_universe_that_a_release_was_made_with(folder, pathveil):
    """The bundle has the locations, not the cells and aliases that raw rows are found by."""
    rows = "".join(f"{uid},{seq},0.5,{seq}.5\n" for uid in range(60) for seq in range(2))
    (folder / "points.csv").write_text(f"uid,seq,lat,lng\n{rows}")
    (folder / "stops.txt").write_text(
        "stop_id,stop_name,stop_lat,stop_lon,location_type,parent_station\n"
        "S,Station,1,1,1,\nP,Platform,1,1,0,S\nQ,Other,2,2,0,\n"
    )
    taps = "".join(f"{uid},{seq},P\n" for uid in range(60) for seq in range(2))
    (folder / "taps.csv").write_text(f"uid,seq,stop\n{taps}")
    points = ("points.csv", "--order-column", "seq")
    stations = ("taps.csv", "--order-column", "seq", "--location-column", "stop")
    made = {"cells": (*points, "--universe", "grid:1x2:0,0,1,2"),
            "rail": (*stations, "--universe", "gtfs-stations:stops.txt")}  # fmt: skip
    for out, asked in made.items():
        done = pathveil("publish", *asked, "--epsilon", "9", "--out", out)
        assert done.code == 0, done.err
    asked = ("--queries", "200", "--patterns", "5")
    assert pathveil("evaluate", *points[:1], "cells", *points[1:], *asked).code == 0
    # A feed is a file, of which the bundle has no copy.
    refused = pathveil("evaluate", *stations[:1], "rail", *stations[1:], *asked)
    assert refused.code == 2
    assert "--universe gtfs-stations:stops.txt" in refused.err
    assert "rehears" not in refused.err
    assert "the release is empty" not in refused.err
    given = (*stations[1:], "--universe", "gtfs-stations:stops.txt", *asked)
    assert pathveil("evaluate", "taps.csv", "rail", *given).code == 0


def test_other_rules_than_those_of_the_release_are_told(folder, pathveil):
    """Whole histories beside days: without a word the release would look hundreds of % off."""
    (folder / "stops.csv").write_text("location\nA\nB\n")
    rows = (f"c{n},2026-03-0{day}T08:00,{'AB'[n % 2]}" for n in range(60) for day in (1, 2))
    (folder / "taps.csv").write_text("\n".join(["card,at,stop", *rows]) + "\n")
    columns = ("--unit-column", "card", "--order-column", "at", "--location-column", "stop")
    made = ("--universe", "stops.csv", "--epsilon", "9", "--method", "full", "--height", "2")
    days = ("--split", "day", "--protect", "person-day")
    assert pathveil("publish", "taps.csv", *columns, *made, *days, "--out", "days").code == 0
    asked = ("evaluate", "taps.csv", "days", *columns, "--queries", "40", "--patterns", "2")
    says = "by other rules than those of the release"
    told = pathveil(*asked)
    assert says in told.err
    assert "a unit is one day of a person" in told.err
    assert says not in pathveil(*asked, *days).err
