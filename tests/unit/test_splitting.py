"""Splitting a unit's visits into trajectories, by public rules, and collapsing repeats."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from tests.reading_oracle import trajectories

from pathveil.errors import ParameterError
from pathveil.raw.bounding import BoundedTrajectories
from pathveil.raw.reading import read_trajectories
from pathveil.raw.splitting import collapse_repeats
from pathveil.times.trip_rules import Split, TripRules
from pathveil.universe.universe import Universe

LABELS = "abcdefgh"
MIBICI = Path(__file__).parents[3] / "shared" / "data" / "mibici" / "trajectories.parquet"


def split(times, rule, time_zone="UTC", cap=100, **options):
    """The trajectories of one unit that is at a, b, c … at these times."""
    table = pa.table(
        {"who": ["u"] * len(times), "when": times, "where": list(LABELS[: len(times)])}
    )
    database = read_trajectories(
        table, Universe(LABELS), unit="who", order="when", location="where",
        split=rule, time_zone=time_zone, max_trajectories_per_unit=cap, **options,
    )  # fmt: skip
    found = trajectories(database)
    assert set(found.values()) <= {1}
    return sorted("".join(LABELS[code] for code in path) for path in found)


def test_without_a_rule_a_unit_has_one_trajectory():
    assert split(["2024-01-01", "2024-06-01"], "none") == ["ab"]


def test_whole_histories_whatever_trajectories_the_data_has():
    table = pa.table(
        {
            "user_id": ["u", "u", "v", "u"],
            "trajectory_id": ["2", "1", "1", "2"],
            "when": ["2024-01-03", "2024-01-02", "2024-01-05", "2024-01-01"],
            "location": ["a", "b", "c", "d"],
        }
    )

    def read(**options):
        return read_trajectories(table, Universe(LABELS), unit="user_id", order="when", **options)

    history = read(split="whole")
    assert trajectories(history) == {(3, 1, 0): 1, (2,): 1}
    assert any("one trajectory" in rule for rule in history.rules)
    # A column of a well-known name is taken otherwise, and the first trip of each is kept.
    assert trajectories(read()) == {(1,): 1, (2,): 1}
    with pytest.raises(ParameterError, match="choose one"):
        read(split="whole", trajectory="trajectory_id")


def test_midnight_belongs_to_the_day_that_begins():
    times = ["2024-01-01T23:59:59.999", "2024-01-02T00:00:00", "2024-01-02T23:59:59"]
    assert split(times, "day") == ["a", "bc"]


def test_a_day_is_the_wall_clocks():
    times = ["2024-01-02T04:59:59Z", "2024-01-02T05:00:00Z"]
    assert split(times, "day", "America/Montreal") == ["a", "b"]
    assert split(times, "day", "UTC") == ["ab"]
    assert split(times, "day", "Asia/Kathmandu") == ["ab"]


def test_times_without_an_offset_are_readings_of_the_wall_clock():
    times = ["2024-01-01T23:30:00", "2024-01-02T00:30:00", "2024-01-02T04:30:00Z"]
    # 04:30 UTC is 23:30 of the day before in Montreal.
    assert split(times, "day", "America/Montreal") == ["ac", "b"]


def test_the_day_of_23_hours():
    # In Montreal 2024-03-10 runs from 05:00 UTC to 04:00 UTC of the next day.
    times = ["2024-03-10T04:59:59Z", "2024-03-10T05:00:00Z", "2024-03-11T03:59:59Z",
             "2024-03-11T04:00:00Z"]  # fmt: skip
    assert split(times, "day", "America/Montreal") == ["a", "bc", "d"]


def test_the_day_of_25_hours():
    # In Montreal 2024-11-03 runs from 04:00 UTC to 05:00 UTC of the next day.
    times = ["2024-11-03T03:59:59Z", "2024-11-03T04:00:00Z", "2024-11-04T04:59:59Z",
             "2024-11-04T05:00:00Z"]  # fmt: skip
    assert split(times, "day", "America/Montreal") == ["a", "bc", "d"]


def test_a_gap_is_measured_in_real_time_when_the_clock_is_set():
    # From 01:30 to 03:15 on the wall clock, only 45 minutes pass on the night of 2024-03-10.
    forward = ["2024-03-10T01:30:00", "2024-03-10T03:15:00"]
    assert split(forward, "gap:1h", "America/Montreal") == ["ab"]
    assert split(forward, "gap:1h", "UTC") == ["a", "b"]
    # From 00:30 to 02:00 on the night of 2024-11-03, two and a half hours pass.
    back = ["2024-11-03T00:30:00", "2024-11-03T02:00:00"]
    assert split(back, "gap:2h", "America/Montreal") == ["a", "b"]
    assert split(back, "gap:2h", "UTC") == ["ab"]


def test_weeks_run_from_monday_to_sunday_and_week_53_is_one():
    # Week 53 of 2020 runs from Monday 2020-12-28 to Sunday 2021-01-03.
    times = ["2020-12-27T23:59", "2020-12-28T00:00", "2020-12-31T23:59", "2021-01-01T00:00",
             "2021-01-03T23:59", "2021-01-04T00:00"]  # fmt: skip
    assert split(times, "week") == ["a", "bcde", "f"]


def test_weeks_and_days_before_1970():
    assert split(["1969-12-28T12:00", "1969-12-29T00:00", "1970-01-04T23:00"], "week") == [
        "a",
        "bc",
    ]
    assert split(["1969-12-31T23:00", "1970-01-01T00:00"], "day") == ["a", "b"]


def test_a_leap_day_is_a_day():
    times = ["2024-02-28T12:00", "2024-02-29T12:00", "2024-03-01T12:00"]
    assert split(times, "day") == ["a", "b", "c"]


def test_a_gap_of_exactly_the_limit_does_not_end_a_trajectory():
    times = ["2024-01-01T00:00:00", "2024-01-01T00:30:00", "2024-01-01T01:00:01"]
    assert split(times, "gap:30min") == ["ab", "c"]
    times = ["2024-01-01T00:00:00.5", "2024-01-01T00:30:00.5", "2024-01-01T01:00:00.500001"]
    assert split(times, "gap:30min") == ["ab", "c"]
    times = ["2024-01-01T00:00:00.9", "2024-01-01T00:30:00.1"]
    assert split(times, "gap:30min") == ["ab"]


def test_gaps_are_found_whatever_the_order_of_the_rows():
    times = ["2024-01-01T05:00", "2024-01-01T00:10", "2024-01-01T00:00", "2024-01-01T05:10"]
    assert split(times, "gap:1h") == ["ad", "cb"]


def test_a_chain_of_short_gaps_is_one_trajectory():
    times = [f"2024-01-01T{hour:02}:00" for hour in range(8)]
    assert split(times, "gap:1h") == ["abcdefgh"]
    assert split(times, "gap:59min") == list("abcdefgh")


def test_numbers_are_seconds_since_1970():
    assert split([0, 86_399, 86_400], "day") == ["ab", "c"]
    assert split([0, 1800, 3601], "gap:30min") == ["ab", "c"]
    assert split([0, 10**18, -(10**18)], "day") == ["a", "b", "c"]
    assert split([2**63 - 1, -(2**63) + 1, 0], "gap:1d") == ["a", "b", "c"]


def test_a_visit_outside_the_universe_does_not_bridge_a_gap():
    table = pa.table({
        "who": ["u"] * 3, "where": ["a", "elsewhere", "b"],
        "when": ["2024-01-01T00:00", "2024-01-01T00:20", "2024-01-01T00:40"],
    })  # fmt: skip
    database = read_trajectories(
        table, Universe(LABELS), unit="who", order="when", location="where", split="gap:30min",
        max_trajectories_per_unit=5,
    )  # fmt: skip
    assert len(database) == 2


def test_the_earliest_c_are_kept():
    times = ["2024-01-03", "2024-01-01", "2024-01-02", "2023-12-31"]
    assert split(times, "day", cap=2) == ["b", "d"]
    assert split(times, "gap:1h", cap=1) == ["d"]


def test_rows_without_a_time_are_dropped():
    assert split(["2024-01-01", "soon", None, "2024-01-02"], "day") == ["a", "d"]


def test_split_replaces_the_trajectory_column():
    table = pa.table({
        "uid": ["u"] * 2, "tid": ["x", "y"], "datetime": ["2024-01-01T10:00", "2024-01-01T11:00"],
        "location": ["a", "b"],
    })  # fmt: skip
    universe = Universe(LABELS)
    database = read_trajectories(table, universe, unit="uid", split="day")
    assert trajectories(database) == {(0, 1): 1}
    with pytest.raises(ParameterError, match="choose one"):
        read_trajectories(table, universe, unit="uid", trajectory="tid", split="day")
    with pytest.raises(ParameterError, match="order column"):
        read_trajectories(table.drop(["datetime"]), universe, unit="uid", split="day")
    lists = pa.table({"uid": ["u"], "location": [["a", "b"]]})
    with pytest.raises(ParameterError, match="one row per visit"):
        read_trajectories(lists, universe, unit="uid", split="day")


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("gap:1s", 1), ("gap:30min", 1800), ("gap:30 min", 1800), ("gap:2h", 7200), ("gap:1d", 86400)],
)
def test_rules_that_are_read(text, seconds):
    assert Split.parse(text).seconds == seconds
    assert " " not in Split.parse(text).written


@pytest.mark.parametrize(
    "text",
    ["", "gap", "gap:", "gap:0min", "gap:-1h", "gap:1.5h", "gap:30", "month", "Day", "gap:1w"],
)
def test_rules_that_are_refused(text):
    with pytest.raises(ParameterError, match="split by 'day', 'week'"):
        Split.parse(text)


def test_other_rules_that_are_refused():
    choices = {"split": "day", "time_zone": "UTC", "repeats": "auto", "by_point": False}
    with pytest.raises(ParameterError, match="no time zone 'Mars/Olympus'"):
        TripRules.choose(**choices | {"time_zone": "Mars/Olympus"})
    with pytest.raises(ParameterError, match="'keep' or 'collapse'"):
        TripRules.choose(**choices | {"repeats": "drop"})


def test_the_rules_in_words():
    def words(**changes):
        choices = {"split": "none", "time_zone": "UTC", "repeats": "auto", "by_point": False}
        return TripRules.choose(**choices | changes).sentences()

    kept = ["of a unit with more trajectories than are used, the first ones are used"]
    assert words() == kept
    assert words(time_zone="Europe/Paris") == kept
    assert words(split="whole") == ["all visits of a unit are one trajectory, in the order of time"]
    assert "a random sample" in words(keep="sample")[0]
    assert "a pause of more than 30min" in words(split="gap:30min")[0]
    assert words(split="week", time_zone="Europe/Paris")[0].endswith(
        "by the week (Monday to Sunday) in the time zone Europe/Paris"
    )
    assert len(words(by_point=True)) == 3  # points are collapsed
    assert len(words(by_point=True, repeats="keep")) == 2
    assert "count as one" in words(repeats="collapse")[0]


# Repeats


def collapsed(*paths):
    offsets = np.cumsum([0, *map(len, paths)])
    codes = np.array([code for path in paths for code in path], dtype=np.int32)
    found = collapse_repeats(BoundedTrajectories(offsets, codes, 0))
    bounds = zip(found.offsets[:-1], found.offsets[1:], strict=True)
    assert found.repeats == len(codes) - len(found.codes)
    return [found.codes[start:stop].tolist() for start, stop in bounds]


def test_repeats_are_collapsed_within_a_trajectory_only():
    assert collapsed([1, 1, 2, 2, 2, 1], [1], [1, 1]) == [[1, 2, 1], [1], [1]]
    assert collapsed([], [3, 3], []) == [[], [3], []]
    assert collapsed() == []


def test_named_locations_keep_their_repeats_unless_asked():
    table = pa.table({"uid": ["u"] * 3, "seq": [1, 2, 3], "location": ["a", "a", "b"]})
    reports = []
    for repeats, path in (("auto", (0, 0, 1)), ("keep", (0, 0, 1)), ("collapse", (0, 1))):
        database = read_trajectories(
            table, Universe(LABELS), unit="uid", repeats=repeats, report=reports.append
        )
        assert trajectories(database) == {path: 1}
    assert [report.repeats_collapsed for report in reports] == [0, 0, 1]


@pytest.mark.skipif(not MIBICI.exists(), reason="the shared data is not here")
def test_real_rides_split_by_the_week_are_the_weeks_that_the_data_was_grouped_by():
    """Rides over Sunday's midnight, and visits of one second, are all that may differ."""
    universe = Universe.read(MIBICI.parent / "universe.csv")
    choices = {"unit": "user_id", "location": "location", "max_trajectories_per_unit": 1000}
    given = read_trajectories(MIBICI, universe, trajectory="trajectory_id", order="seq", **choices)
    weeks = read_trajectories(
        MIBICI, universe, order="time", split="week", time_zone="America/Mexico_City", **choices
    )
    assert len(given) == 130_760
    assert abs(len(weeks) - len(given)) < 100
    assert (trajectories(given) & trajectories(weeks)).total() > 0.98 * len(given)
