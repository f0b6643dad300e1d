"""`pathveil count` tells how far the answer may be off."""

import csv
import re
from types import SimpleNamespace

import numpy as np
import pytest
from tests.explorer.releases import Caller

from pathveil import TimeGrid, TrajectoryDatabase, Universe, publish, read_release, simulate_week
from pathveil.analysis.patterns import Pattern
from pathveil.cli import summary
from pathveil.core.error_table import KINDS, LEVELS, MOVE, Estimate


@pytest.fixture(scope="module")
def bundles(tmp_path_factory):
    """A calibrated release and one by `full` of the same week."""
    folder = tmp_path_factory.mktemp("bundles")
    week = simulate_week(2000, 20, seed=1)
    database = TrajectoryDatabase.from_arrays(week.offsets, week.codes, week.universe)
    for method in ("calibrated", "full"):
        noise = np.random.default_rng(2)  # noqa: TID251  (reproducible; nothing is published)
        release = publish(database, epsilon="1", height=6, method=method, generator=noise)
        release.write(folder / method)
    return folder, week.universe.labels[:2]


def test_as_text(bundles, pathveil):
    folder, labels = bundles
    said = pathveil("count", folder / "calibrated", *labels).out
    assert " to " in said
    assert "90%)" in said
    assert "%" not in pathveil("count", folder / "full", *labels).out


def test_as_json(bundles, pathveil):
    folder, labels = bundles
    answer = pathveil("count", folder / "calibrated", *labels, "--json").json()
    assert answer["low"] <= answer["count"] <= answer["high"]
    assert answer["level"] == 0.9
    answer = pathveil("count", folder / "full", *labels, "--json").json()
    assert [answer[key] for key in ("low", "high", "level", "best", "mark")] == [None] * 5


@pytest.mark.parametrize("how", ["--ordered", "--prefix"])
def test_an_order_has_an_interval_too(bundles, pathveil, how):
    folder, labels = bundles
    answer = pathveil("count", folder / "calibrated", *labels, "--json", how).json()
    assert answer["low"] <= answer["best"] <= answer["high"]
    assert answer["low"] <= answer["count"] <= answer["high"]
    assert answer["mark"] in ("reliable", "rough", "noise")


@pytest.mark.parametrize("command", ["patterns", "flows"])
def test_lists_leave_out_what_noise_explains(bundles, pathveil, command):
    folder, _ = bundles
    asked = (command, folder / "calibrated", "-k", 30)
    shown = pathveil(*asked, "--json").json()
    everything = pathveil(*asked, "--all", "--json").json()
    assert shown["left_out"] + len(shown[command]) == len(everything[command]) == 30
    assert everything["left_out"] == 0
    assert shown[command] == [row for row in everything[command] if row["mark"] != "noise"]
    assert all(row["low"] <= row["best"] <= row["high"] for row in everything[command])
    said = pathveil(*asked).out
    assert "Marks: reliable" in said
    left_out = shown["left_out"]
    told = "None of 30 can be told" if left_out == 30 else f"{left_out:,} of 30 were left out"
    assert (told in said) == (left_out > 0)


def test_a_list_of_a_release_without_intervals_leaves_nothing_out(bundles, pathveil):
    folder, _ = bundles
    found = pathveil("flows", folder / "full", "-k", 5, "--json").json()
    assert len(found["flows"]) == 5
    assert {row["mark"] for row in found["flows"]} == {None}


def test_tables_tell_names_beside_labels(bundles, pathveil, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    folder, _ = bundles
    for command in (("patterns", "-k", "3", "--min-length", "2"), ("flows", "-k", "3")):
        told = pathveil(command[0], folder / "full", *command[1:]).out
        assert re.search(r"Central \(S\d+\)", told), told


def test_what_publish_ends_with_is_what_patterns_shows(bundles, pathveil, capfd):
    """No figure without a mark, none that noise explains; if no journey is left, it says so."""
    folder, _ = bundles
    release = read_release(folder / "calibrated")
    few = pathveil("patterns", folder / "calibrated", "-k", 5, "--min-length", 2, "--json").json()
    stops, (shown, of) = summary.busiest(release), summary.journeys(release)
    assert len(shown) == len(few["patterns"])
    assert of == few["left_out"] + len(few["patterns"])
    assert all(one.support.mark in ("reliable", "rough") for one in [*stops, *shown])
    summary.print_summary(release, folder, json=False)
    said = " ".join(capfd.readouterr().out.split())
    assert said.count("90% interval ┃") == bool(stops) + bool(shown)
    assert "Marks: reliable" in said
    assert (f"None of the {of} most frequent journeys" in said) == (not shown)
    assert "90% interval" not in _summary_of(folder / "full", capfd)


def test_what_noise_explains_is_neither_a_busy_stop_nor_a_journey():
    def mined(_, **how):
        mark = "noise" if how.get("min_length") == 2 else "reliable"
        support = Estimate(9, 8, 10, 0.9, mark=mark)
        return [Pattern(("a", "b")[: how.get("min_length", 1)], support)]

    release = SimpleNamespace(top_patterns=mined)
    assert [one.locations for one in summary.busiest(release)] == [("a",)]
    assert summary.journeys(release) == ([], 1)


def _summary_of(folder, capfd):
    summary.print_summary(read_release(folder), folder, json=False)
    return capfd.readouterr().out


def test_patterns_of_some_hours_have_bounds(tmp_path, pathveil):
    """Nothing tells how far a part of a day is off: no figure is shown without a mark."""
    universe, grid = Universe(["a", "b", "c"]), TimeGrid.parse("1h")
    codes = np.tile([8 * 3 + 0, 9 * 3 + 1], 900)  # a at 8, b at 9
    database = TrajectoryDatabase.from_arrays(
        np.arange(0, len(codes) + 1, 2), codes, universe, time_grid=grid
    )
    publish(database, epsilon="1").write(tmp_path / "timed")
    asked = ("patterns", tmp_path / "timed", "--between", "07:00-12:00", "-k", 2)
    shown, everything = (pathveil(*asked, *how, "--json").json() for how in ([], ["--all"]))
    assert (shown["patterns"], shown["left_out"]) == ([], 2)
    assert all(row["bound_only"] and row["mark"] == "noise" for row in everything["patterns"])
    assert "None of 2 can be told from noise" in " ".join(pathveil(*asked).out.split())


def test_a_move_that_a_table_lists_has_one_interval_everywhere(bundles, pathveil):
    """In the list, as a pattern, in the API of the page, in a file, in Python: its own."""
    folder, _ = bundles
    release = read_release(folder / "calibrated")
    listed, labels = release.error_table.listed, release.universe.labels
    of_moves = np.flatnonzero(listed.kind == KINDS.index(MOVE))
    best = listed.best[of_moves]
    row = of_moves[np.argmax(best)]
    origin, destination = labels[listed.first[row]], labels[listed.second[row]]
    (flow,) = [f for f in release.flows() if (f.origin, f.destination) == (origin, destination)]
    expected = (flow.count.low, flow.count.best, flow.count.high, flow.count.mark)
    assert expected[0] == min(listed.bounds[row, LEVELS.index(90), 0], flow.count)
    asked = ("flows", folder / "calibrated", "-k", 400, "--all", "--json")
    flows = pathveil(*asked).json()["flows"]
    rows = [r for r in flows if (r["origin"], r["destination"]) == (origin, destination)]
    caller = Caller(release)
    rows += [
        r
        for r in caller.ask("/flows", kind="steps", limit=1000)["rows"]
        if (r["origin"], r["destination"]) == (origin, destination)
    ]
    assert [(r["low"], r["best"], r["high"], r["mark"]) for r in rows] == [expected] * 2
    table = release.export(folder / "flows.csv", flows="transitions")
    with table.open(newline="", encoding="utf-8") as file:
        told = [
            r
            for r in csv.DictReader(file)
            if (r["origin"], r["destination"]) == (origin, destination)
        ]
    assert [(r["low"], r["high"]) for r in told] == [(str(expected[0]), str(expected[2]))]
    asked = pathveil("count", folder / "calibrated", origin, destination, "--json").json()
    api = caller.ask("/count", location=[origin, destination])
    own = release.count([origin, destination])
    for answer in (asked, api):
        assert (answer["low"], answer["high"]) == (own.low, own.high)
