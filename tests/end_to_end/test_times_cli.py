"""Times from the command line: publish, verify, ask about windows, evaluate."""

import pytest

from pathveil.release.bundle import read_release

UNIT = "zq7unit4711"
LABELS = ("Park", "Mall", "a@b")
PUBLISH = [
    *("publish", "taps.csv", "--universe", "stops.csv", "--unit-column", "card"),
    *("--time-column", "when", "--location-column", "stop", "--epsilon", "8", "--height", "2"),
    *("--method", "full"),
]
TIMED = ["--time-grid", "1h", "--time-zone", "America/Montreal"]


@pytest.fixture
def taps(folder):
    """200 people at Park at 08:xx and at Mall at 17:xx, in UTC; one leaves a strange trace."""
    (folder / "stops.csv").write_text("location\n" + "\n".join(LABELS) + "\n")
    rows = [
        f"c{card},2024-01-15T{hour}:{card % 60:02}:00Z,{stop}"
        for card in range(200)
        for hour, stop in (("13", "Park"), ("22", "Mall"))
    ]
    strange = [f"{UNIT},2031-07-19T03:14:15.926535Z,Park", f"{UNIT},when?,Mall"]
    (folder / "taps.csv").write_text("\n".join(["card,when,stop", *rows, *strange]) + "\n")
    return folder


@pytest.fixture
def timed(taps, pathveil):
    result = pathveil(*PUBLISH, *TIMED, "--out", "out", "--csv", "--json")
    assert result.code == 0, result
    assert result.json()["time_slots"] == 24
    return taps / "out"


def test_a_timed_release_verifies_and_answers(timed, pathveil):
    assert pathveil("verify", timed).code == 0
    release = read_release(timed)
    assert release.time_grid.time_zone == "America/Montreal"

    def count(*arguments):
        result = pathveil("count", timed, *arguments, "--json")
        assert result.code == 0, result
        return result.json()["count"]

    morning = count("Park@07:00-10:00", "Mall", "--ordered")
    assert morning == release.count_ordered([("Park", "07:00-10:00"), "Mall"])
    assert abs(morning - 200) < 60
    assert count("Park@18:00-24:00", "Mall", "--ordered") < 20
    assert count("Park", "--between", "07:00-10:00") == release.during("07:00", "10:00").count(
        ["Park"]
    )
    assert count("Mall", "--between", "07:00-10:00") < 20
    assert count("a@b") >= 0  # a label that holds an @
    afternoon = ("patterns", timed, "--between", "16:00-19:00", "-k", "1")
    patterns = pathveil(*afternoon, "--json").json()
    assert patterns["patterns"][0]["locations"] == ["Mall"]
    assert "16:00-19:00" in pathveil(*afternoon).out


def test_nothing_of_one_persons_times_is_left(timed, pathveil):
    pathveil("explain", timed)
    for path in timed.rglob("*"):
        content = path.read_bytes()
        for part in (UNIT, "2031-07-19", "926535", "when?"):
            assert part.encode() not in content, path


def test_evaluate_compares_locations(timed, pathveil):
    columns = ["--unit-column", "card", "--location-column", "stop", "--queries", "40"]
    result = pathveil("evaluate", "taps.csv", timed, *columns, "--time-column", "when", "--json")
    assert result.code == 0, result
    measures = result.json()["measures"]
    assert measures["query_error_single"]["release"] < 0.5


def test_evaluate_needs_the_time_column_exactly_if_there_are_times(timed, pathveil):
    columns = ["--unit-column", "card", "--location-column", "stop"]
    result = pathveil("evaluate", "taps.csv", timed, *columns)
    assert (result.code, "--time-column" in result.err) == (2, True)
    order = [*columns, "--order-column", "when", "--epsilon", "8", "--height", "2"]
    pathveil("publish", "taps.csv", "--universe", "stops.csv", *order, "--out", "plain")
    result = pathveil("evaluate", "taps.csv", "plain", *columns, "--time-column", "when")
    assert (result.code, "no times" in result.err) == (2, True)
    result = pathveil("count", "plain", "Park@07:00-10:00")
    assert (result.code, "no times" in result.err) == (2, True)
    result = pathveil("patterns", "plain", "--between", "07:00-10:00")
    assert (result.code, "no times" in result.err) == (2, True)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ([], "both --time-column and --time-grid"),
        (["--time-grid", "7h"], "divide the day"),
        (["--time-grid", "1h", "--time-zone", "Mars/Olympus"], "no time zone"),
        (["--time-grid", "nowhere.csv"], "weekday-hour"),
        (["--time-grid", "fine.csv", "--method", "calibrated"], "2,048 slots"),
        (["--time-grid", "1h", "--order-column", "card"], "leave the order column out"),
    ],
)
@pytest.mark.usefixtures("taps")
def test_what_publish_refuses(pathveil, folder, options, says):
    starts = [f"2024-01-{day:02}T{hour:02}:00" for day in range(1, 32) for hour in range(24)]
    starts = [f"{start[:-2]}{minute:02}" for start in starts for minute in range(0, 60, 20)]
    (folder / "fine.csv").write_text("start\n" + "\n".join(starts) + "\n")
    result = pathveil(*PUBLISH, *options, "--out", "out")
    assert (result.code, says in result.err) == (2, True), result
    assert not (folder / "out").exists()


def test_a_grid_from_a_file_and_a_plan_that_knows_it(taps, pathveil):
    (taps / "rush.csv").write_text("start,end\n07:00,10:00\n16:00,19:00\n")
    plan = ["plan", "--universe", "stops.csv", "--epsilon", "8", "--height", "2"]
    plan += ["--method", "full", "--json"]
    plain = pathveil(*plan).json()
    timed = pathveil(*plan, "--time-grid", "rush.csv").json()
    assert (plain["time_slots"], timed["time_slots"]) == (None, 2)
    assert timed["invented_per_node"] <= 0.1
    zone = ["--time-zone", "America/Montreal"]
    result = pathveil(*PUBLISH, "--time-grid", "rush.csv", *zone, "--out", "rush")
    assert result.code == 0, result
    assert pathveil("verify", "rush").code == 0
    assert "|T| = 24" in pathveil(*plan[:-1], "--time-grid", "1h").out
    assert abs(read_release("rush").count_ordered([("Park", "07:00-10:00"), "Mall"]) - 200) < 60


@pytest.mark.usefixtures("taps")
def test_the_time_column_may_be_named_as_the_order_column_too(pathveil):
    assert pathveil(*PUBLISH, *TIMED, "--order-column", "when", "--out", "out").code == 0


def test_an_unsafe_question_is_refused(timed, pathveil):
    for step in ("Park@07:30-10:00", "Park@morning", "Nowhere@07:00-10:00"):
        result = pathveil("count", timed, step)
        assert (result.code, "Traceback" in result.err) == (2, False)
