"""`pathveil count` tells how far the answer may be off."""

import re

import numpy as np
import pytest

from pathveil import TrajectoryDatabase, publish, simulate_week


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
