"""Every long step shows on a terminal that it is alive and, once something is done, the time left.

Each case fails when its bar is missing: a bar draws its last state when its step ends, however
short the step was.
"""

import pytest
from tests.commands import bars_of, in_a_terminal, publish_arguments

COLUMNS = ["--unit-column", "card_id", "--order-column", "seq", "--location-column", "stop_id"]
QUICK = ["--runs", "1", "--quick", "--queries", "40", "--workers", "1"]
TREE = "Growing the noisy prefix tree"
OPENED = "Reading the release"

# What is typed, and the steps that must tell the time left.
LINES = {
    "simulate": (
        ["simulate", "--riders", "20", "--stops", "5", "--out", "week"],
        ["Simulating 20 riders on 5 stops", "Writing"],
    ),
    "publish": (publish_arguments(), ["Reading", TREE, "Writing"]),
    "publish, calibrated": (
        publish_arguments(method="calibrated"),
        ["Reading", "Measuring and calibrating", "Writing"],
    ),
    "publish, duckdb": (
        [*publish_arguments(), "--engine", "duckdb"],
        ["Reading", TREE, "Writing"],
    ),
    "publish, duckdb, parquet": (
        [*publish_arguments("taps.parquet"), "--engine", "duckdb"],
        ["Reading", TREE, "Writing"],
    ),
    "verify": (["verify", "release"], ["Checking the bundle"]),
    "count": (["count", "release", "S0001"], [OPENED]),
    "explain": (["explain", "release"], [OPENED]),
    "patterns": (["patterns", "release"], [OPENED, "Mining"]),
    "report": (["report", "release", "--out", "page.html"], [OPENED, "Drawing"]),
    "evaluate": (
        ["evaluate", "taps.csv", "release", *COLUMNS, "--queries", "40"],
        [OPENED, "Reading", "Measuring"],
    ),
    "reproduce": (
        [
            *("reproduce", "--dataset", "taps.csv", "--universe", "stops.csv", *COLUMNS, *QUICK),
            *("--out", "results"),
        ],
        ["Reproducing"],
    ),
    "audit": (["audit", "--runs", "64", "--method", "full", "--height", "1"], ["Attacking"]),
    "plan": (
        [
            *("plan", "--epsilon", "2", "--height", "3", "--universe-size", "9"),
            *("--method", "full", "--trajectories", "200"),
        ],
        ["Publishing simulated trajectories"],
    ),
} | {
    f"export {kind}": (
        ["export", "release", "--out", f"flows.{kind}"],
        [OPENED, f"Writing {kind}"],
    )
    for kind in ("csv", "parquet", "geojson", "geoparquet", "xes")
}  # fmt: skip


@pytest.mark.usefixtures("week", "release")
@pytest.mark.parametrize("name", LINES)
def test_a_terminal_sees_the_time_left(name):
    line, steps = LINES[name]
    code, shown = in_a_terminal(*line)
    assert code == 0, shown
    bars = bars_of(shown)
    for step in steps:
        assert step in bars, shown
        assert any("left" in bar for bar in bars[step]), bars[step]


@pytest.mark.usefixtures("week", "release")
@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_the_stages_of_a_publish_are_named(engine):
    _, shown = in_a_terminal(*publish_arguments(method="calibrated"), "--engine", engine)
    bars = bars_of(shown)["Measuring and calibrating"]
    assert bars[-1].endswith("synthesis")


@pytest.mark.usefixtures("week", "release")
def test_a_step_of_unknown_length_shows_the_time_that_passed():
    _, shown = in_a_terminal(*LINES["evaluate"][0])
    assert bars_of(shown)["Drawing"]


@pytest.mark.usefixtures("week", "release")
@pytest.mark.parametrize("name", ["patterns", "report", "export geojson", "publish, duckdb"])
def test_no_bar_without_a_terminal_or_with_quiet(pathveil, name):
    line, _ = LINES[name]
    assert "━" not in pathveil(*line).err
    again = [*line, "--force"] if line[0] in {"report", "export"} else line
    if line[0] == "publish":
        again = [*publish_arguments(out="again"), "--engine", "duckdb"]
    code, shown = in_a_terminal(*again, "-q")
    assert code == 0, shown
    assert bars_of(shown) == {}
