"""``pathveil plan --trajectories``: a picture that reads nothing, spends nothing and is refused
where it would mislead.
"""

import json
import subprocess
import sys
from fractions import Fraction

import pytest
from tests.commands import tree_of_files

PLAN = ["plan", "--epsilon", "2", "--height", "4", "--universe-size", "30"]
PICTURE = [*PLAN, "--trajectories", "2000", "--length", "5"]


@pytest.mark.parametrize("method", ["calibrated", "full", "basic"])
def test_a_plan_as_tables_as_json_and_as_a_page(folder, pathveil, method):
    result = pathveil(*PICTURE, "--method", method, "--out", "plan.html")
    assert result.code == 0
    assert "What different budgets buy" in result.out
    assert "2 (this plan)" in result.out
    assert "Real data differ" in result.out
    assert "Nothing was read or spent" in result.out
    assert "nobody made in just this way" in result.out
    page = (folder / "plan.html").read_text(encoding="utf-8")
    assert "<svg" in page
    assert "nobody made in just this way" in page
    assert f"method {method}" in page
    values = pathveil(*PICTURE, "--method", method, "--json").json()
    simulation = values["simulation"]
    assert [run["epsilon"] for run in simulation["runs"]] == ["1/2", "1", "2", "4", "8"]
    assert simulation["simulated"]["trajectories"] == 2000
    assert simulation["page"] is None


def test_a_plan_spends_nothing_and_touches_no_ledger(folder, pathveil):
    pathveil("ledger", "init", "taps", "--limit", "4")
    before = pathveil("ledger", "export").out
    files = tree_of_files(folder.parent)
    assert pathveil(*PICTURE).code == 0
    assert pathveil("ledger", "export").out == before
    assert tree_of_files(folder.parent) == files


def test_a_plan_can_be_drawn_again(folder, pathveil):
    for _ in range(2):
        assert pathveil(*PICTURE, "--out", "plan.html").code == 0
    assert [path.name for path in folder.iterdir()] == ["plan.html"]


def test_what_was_capped_is_said(pathveil, monkeypatch):
    from pathveil.trials.forecasting import data_size

    monkeypatch.setattr(data_size, "MOST_TRAJECTORIES", 500)
    result = pathveil(*PICTURE, "--method", "full")
    assert "Simulated with 500 of 2,000 trajectories" in result.out
    assert pathveil(*PICTURE, "--method", "full", "--json").json()["simulation"]["cautions"]


REFUSED = {
    "no number of trajectories": ([*PLAN, "--out", "plan.html"], "--trajectories N"),
    "a length without them": ([*PLAN, "--length", "5"], "--trajectories N"),
    "no trajectories": ([*PLAN, "--trajectories", "0"], "from 1"),
    "an impossible length": ([*PICTURE, "--length", "0.5"], "mean length"),
    "times": ([*PICTURE, "--time-grid", "1h"], "does not know times"),
    "an unknown universe": (
        [*PLAN[:5], "--universe", "discover", "--delta", "1e-9", "--trajectories", "9"],
        "--universe-size N",
    ),
    "another kind of page": ([*PICTURE, "--out", "plan.pdf"], "ends in .html"),
    "a page nowhere": ([*PICTURE, "--out", "nowhere/plan.html"], "its folder must exist"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_can_not_be_drawn_is_refused_before_anything_is_simulated(refuses, name):
    arguments, says = REFUSED[name]
    refuses(*arguments, says=says)


def test_a_page_is_not_put_into_a_release(release, refuses):
    refuses(*PICTURE, "--out", release / "plan.html", says="inside a release")


@pytest.mark.usefixtures("folder")
def test_a_discovered_universe_of_expected_size_can_be_simulated(pathveil):
    arguments = [*PLAN, "--universe", "discover", "--delta", "1e-9", "--trajectories", "500"]
    assert pathveil(*arguments, "--method", "full", "--json").json()["simulation"]["runs"]


def test_zones_are_planned_but_not_simulated(week, pathveil, refuses):
    stops = (week / "stops.csv").read_text().splitlines()[1:]
    zones = [f"{line.split(',')[0].strip(chr(34))},{i % 3}" for i, line in enumerate(stops)]
    (week / "zones.csv").write_text("location,zone\n" + "\n".join(zones) + "\n")
    plan = ["plan", "--epsilon", "2", "--height", "4", "--universe", "stops.csv"]
    zoned = [*plan, "--method", "full", "--taxonomy", "zones.csv"]
    text = pathveil(*zoned).out
    assert "3 zones" in text
    assert "1/2 counts zones" in text
    facts, plain = (
        pathveil(*line, "--json").json() for line in (zoned, [*plan, "--method", "full"])
    )
    assert facts["zones"] == 3
    assert facts["levels"][0]["noise"] > plain["levels"][0]["noise"]  # half of the budget
    refuses(*zoned, "--trajectories", "100", says="does not know zones")
    refuses(*PLAN, "--taxonomy", "zones.csv", says="--universe FILE")


def test_a_plan_without_a_picture_loads_no_mechanism():
    code = f"""
import sys
from pathveil.cli.run import run
assert run({PLAN!r}) == 0
heavy = ["numba", "pyarrow", "altair", "pathveil.gate", "pathveil.trials.forecasting.forecast"]
print("loaded:", [name for name in heavy if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "loaded: []"


def test_the_json_of_a_plan_with_a_picture_has_one_more_key_and_what_the_planner_chose(pathveil):
    plain, drawn = (pathveil(*line, "--json").json() for line in (PLAN, PICTURE))
    assert drawn.pop("simulation")
    assert (plain.pop("is_planned"), drawn.pop("is_planned")) == (False, True)
    begun, planned = (facts.pop("measurements") for facts in (plain, drawn))
    assert planned[:3] == begun[:3] != planned[3:6]
    assert sum(Fraction(line["budget"]) for line in planned) == Fraction(drawn["epsilon"])
    # The plan that was simulated leaves tables out, and passes with them.
    most, fewer = (facts.pop("takes") and facts.pop("passes") for facts in (plain, drawn))
    assert fewer <= most
    assert json.dumps(drawn) == json.dumps(plain)
