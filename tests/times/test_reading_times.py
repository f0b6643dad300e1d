"""Times of visits: each rule of `pathveil.raw.visit_times` by itself, and all against an oracle."""

# ruff: noqa: DTZ001  (a reading of the wall clock has no zone)

from collections import Counter
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.times.oracle import trajectory

from pathveil.errors import ParameterError
from pathveil.raw.reading import read_trajectories
from pathveil.times.time_grid import TimeGrid
from pathveil.universe.universe import Universe

LABELS = ["A", "B", "C"]
UNIVERSE = Universe(LABELS)
MONTREAL = "America/Montreal"


def read(rows, grid, **options):
    """The timed trajectories of (unit, time, location) rows, one list of pairs per unit."""
    units, times, locations = zip(*rows, strict=True)
    table = pa.table({"who": units, "when": times, "where": locations})
    reports = []
    database = read_trajectories(
        table,
        UNIVERSE,
        unit="who",
        time="when",
        location="where",
        time_grid=grid,
        report=reports.append,
        **options,
    )
    return timed_rows(database), reports[0]


def timed_rows(database):
    size, labels = len(database.universe), database.universe.labels
    bounds = zip(database.offsets[:-1], database.offsets[1:], strict=True)
    return sorted(
        [
            (labels[code % size], database.time_grid.labels[code // size])
            for code in database.codes[start:stop].tolist()
        ]
        for start, stop in bounds
    )


def one(visits, grid, **options):
    """The trajectory of one person with (time, location) rows."""
    rows, report = read([("x", *visit) for visit in visits], grid, **options)
    return (rows[0] if rows else []), report


HOURS = TimeGrid.parse("1h", MONTREAL)
QUARTERS = TimeGrid.parse("15min", MONTREAL)
WEEK = TimeGrid.parse("weekday-hour", MONTREAL)


def test_a_time_with_an_offset_is_told_by_the_zones_wall_clock():
    visits = [("2024-01-15T12:00:00Z", "A"), ("2024-01-15T12:30-05:00", "B")]
    assert one(visits, HOURS)[0] == [("A", "07:00"), ("B", "12:00")]


def test_a_time_without_an_offset_is_a_reading_of_the_wall_clock():
    assert one([("2024-01-15T12:00:00", "A")], HOURS)[0] == [("A", "12:00")]
    assert one([("2024-01-15 12:00", "A")], TimeGrid.parse("1h"))[0] == [("A", "12:00")]


def test_times_with_and_without_an_offset_are_ordered_by_instant():
    visits = [("2024-01-15T07:30", "B"), ("2024-01-15T12:00Z", "A")]  # 07:00 on the wall clock
    assert one(visits, HOURS)[0] == [("A", "07:00"), ("B", "07:00")]


def test_native_timestamps_are_read_like_their_text():
    at = datetime(2024, 7, 1, 12, 30)
    for kind, expected in ((pa.timestamp("ms"), "12:00"), (pa.timestamp("us", "UTC"), "08:00")):
        table = pa.table({"who": ["x"], "when": pa.array([at], kind), "where": ["A"]})
        database = read_trajectories(
            table, UNIVERSE, unit="who", time="when", location="where", time_grid=HOURS
        )
        assert timed_rows(database) == [[("A", expected)]]


def test_an_hour_that_summer_time_skips_is_as_late_after_the_change():
    """On 10 March 2024 the clocks went from 02:00 to 03:00: 02:30 is read as 03:30."""
    visits = [("2024-03-10T01:59", "A"), ("2024-03-10T02:30", "B"), ("2024-03-10T04:00", "C")]
    assert one(visits, HOURS)[0] == [("A", "01:00"), ("B", "03:00"), ("C", "04:00")]


def test_times_around_the_skipped_hour_keep_their_order():
    visits = [("2024-03-10T06:59Z", "A"), ("2024-03-10T07:00Z", "B")]
    assert one(visits, HOURS)[0] == [("A", "01:00"), ("B", "03:00")]


def test_in_the_hour_that_happens_twice_no_slot_is_before_the_last():
    """On 3 November 2024 the clocks went from 02:00 back to 01:00."""
    visits = [
        ("2024-11-03T05:50Z", "A"),  # 01:50 summer time
        ("2024-11-03T06:10Z", "B"),  # 01:10 winter time: given 01:45, the slot of the visit before
        ("2024-11-03T06:50Z", "A"),  # 01:50 winter time
        ("2024-11-03T07:05Z", "C"),  # 02:05
    ]
    path, report = one(visits, QUARTERS)
    assert path == [("A", "01:45"), ("B", "01:45"), ("A", "01:45"), ("C", "02:00")]
    assert report.visits_past_the_grid == 0


def test_a_reading_of_the_hour_that_happens_twice_means_the_first():
    visits = [("2024-11-03T01:30", "B"), ("2024-11-03T06:10Z", "A")]  # 05:30Z and 06:10Z
    assert one(visits, QUARTERS)[0] == [("B", "01:30"), ("A", "01:30")]


def test_a_clock_that_is_set_back_over_midnight_does_not_end_the_day():
    """St John's changed at 00:01: on 29 October 2006 back to 23:01 of the day before."""
    grid = TimeGrid.parse("1h", "America/St_Johns")
    visits = [("2006-10-29T02:30:30Z", "A"), ("2006-10-29T02:31:30Z", "B")]
    assert one(visits, grid)[0] == [("A", "00:00"), ("B", "00:00")]


def test_the_29th_of_february_is_a_day_like_any_other():
    visits = [("2024-02-29T23:59:59", "A"), ("2024-02-29T08:00", "B"), ("2023-02-29T09:00", "C")]
    path, report = one(visits, HOURS)
    assert path == [("B", "08:00"), ("A", "23:00")]
    assert report.malformed_rows == 1  # there was none in 2023
    days = TimeGrid.of(["2024-02-28T00:00", "2024-02-29T00:00", "2024-03-01T00:00"])
    assert one([("2024-02-29T12:00", "A"), ("2024-03-01T00:00", "B")], days)[0] == [
        ("A", "2024-02-29T00:00"),
        ("B", "2024-03-01T00:00"),
    ]


def test_a_week_runs_from_monday_to_sunday_over_the_turn_of_the_year():
    """ISO week 53 of 2020: from Monday 28 December to Sunday 3 January 2021."""
    visits = [
        ("2020-12-28T00:00", "A"),
        ("2020-12-31T23:30", "B"),
        ("2021-01-03T23:59", "C"),
        ("2021-01-04T00:00", "A"),  # the next week
    ]
    path, report = one(visits, WEEK)
    assert path == [("A", "Mon 00:00"), ("B", "Thu 23:00"), ("C", "Sun 23:00")]
    assert report.visits_past_the_grid == 1


def test_a_trajectory_is_cut_where_the_day_ends():
    visits = [("2024-01-15T23:50", "A"), ("2024-01-16T00:10", "B"), ("2024-01-16T23:55", "C")]
    path, report = one(visits, HOURS)
    assert path == [("A", "23:00")]
    assert report.visits_past_the_grid == 2


def test_split_by_day_makes_a_trajectory_of_each_day():
    rows = [("x", "2024-01-15T23:50", "A"), ("x", "2024-01-16T00:10", "B")]
    paths, report = read(rows, HOURS, split="day", max_trajectories_per_unit=2)
    assert paths == [[("A", "23:00")], [("B", "00:00")]]
    assert report.visits_past_the_grid == 0


def test_events_out_of_order_are_sorted_by_instant():
    visits = [("2024-01-15T09:00", "C"), ("2024-01-15T07:00", "A"), ("2024-01-15T08:00", "B")]
    assert one(visits, HOURS)[0] == [("A", "07:00"), ("B", "08:00"), ("C", "09:00")]


def test_duplicated_events_are_kept_unless_repeats_are_collapsed():
    visits = [("2024-01-15T07:00", "A")] * 2 + [("2024-01-15T08:00", "A")]
    assert one(visits, HOURS)[0] == [("A", "07:00"), ("A", "07:00"), ("A", "08:00")]
    assert one(visits, HOURS, repeats="collapse")[0] == [("A", "07:00")]


def test_visits_at_one_instant_are_ordered_by_location():
    visits = [("2024-01-15T07:00", "C"), ("2024-01-15T12:00Z", "A")]
    assert one(visits, HOURS)[0] == [("A", "07:00"), ("C", "07:00")]


def test_several_visits_in_one_slot_are_all_kept():
    visits = [("2024-01-15T07:00", "B"), ("2024-01-15T07:59:59.9", "A")]
    assert one(visits, HOURS)[0] == [("B", "07:00"), ("A", "07:00")]


def test_visits_outside_the_window_are_dropped_like_visits_outside_the_universe():
    grid = TimeGrid.of(["06:00", "09:00", "16:00"], ["09:00", "12:00", "19:00"])
    visits = [
        ("2024-01-15T05:59", "A"),
        ("2024-01-15T06:00", "A"),
        ("2024-01-15T12:00", "B"),  # in the gap
        ("2024-01-15T18:59", "C"),
        ("2024-01-15T19:00", "C"),
    ]
    path, report = one(visits, grid)
    assert path == [("A", "06:00"), ("C", "16:00")]
    assert report.visits_outside_universe == 3


@pytest.mark.parametrize(
    "bad", ["", "12:30", "1705309200000", "-1e12", "tomorrow", "2024-01-15T25:00", None]
)
def test_a_bad_time_drops_its_row_alone(bad):
    path, report = one([("2024-01-15T07:00", "A"), (bad, "B")], HOURS)
    assert path == [("A", "07:00")]
    assert report.malformed_rows == 1


def test_a_date_is_its_midnight():
    assert one([("2024-01-15", "A")], HOURS)[0] == [("A", "00:00")]


def test_a_number_is_seconds_since_1970_in_utc():
    table = pa.table({"who": ["x"] * 2, "when": [1705323600, 1705309200], "where": ["B", "A"]})
    database = read_trajectories(
        table, UNIVERSE, unit="who", time="when", location="where", time_grid=HOURS
    )
    assert timed_rows(database) == [[("A", "04:00"), ("B", "08:00")]]
    mixed = [("1705323600.5", "B"), ("2024-01-15T12:59Z", "A"), ("2024-01-15T13:00:01Z", "C")]
    assert one(mixed, HOURS)[0] == [("A", "07:00"), ("B", "08:00"), ("C", "08:00")]


def test_what_can_not_be_asked_for_together():
    table = pa.table({"who": ["x"], "when": ["2024-01-15"], "seq": [1], "where": ["A"]})
    ask = {"unit": "who", "location": "where"}
    for wrong, match in (
        ({"time": "when"}, "both"),
        ({"time_grid": HOURS}, "both"),
        ({"time": "when", "time_grid": "1h"}, "TimeGrid.parse"),
        ({"time": "when", "time_grid": HOURS, "order": "seq"}, "leave the order"),
        ({"time": "when", "time_grid": HOURS, "time_zone": "Asia/Tokyo"}, "leave it out"),
    ):
        with pytest.raises(ParameterError, match=match):
            read_trajectories(table, UNIVERSE, **ask, **wrong)


def test_lists_have_no_times():
    table = pa.table({"who": ["x"], "when": ["2024-01-15"], "where": [["A", "B"]]})
    with pytest.raises(ParameterError, match="holds lists"):
        read_trajectories(
            table, UNIVERSE, unit="who", location="where", time="when", time_grid=HOURS
        )


def test_one_persons_times_do_not_change_anothers():
    steady = [("x", "2024-01-15T07:00", "A"), ("x", "2024-01-15T08:00", "B")]
    strange = [("y", "1850-01-01T00:00", "C"), ("y", "9999-12-31T23:59", "A"), ("y", "never", "B")]
    alone, _ = read(steady, HOURS)
    together, _ = read(strange + steady, HOURS)
    assert alone[0] in together


GRIDS = [
    HOURS,
    WEEK,
    TimeGrid.parse("15min", "America/St_Johns"),
    TimeGrid.parse("weekday-hour", "Australia/Lord_Howe"),  # summer time is half an hour
    TimeGrid.of(["07:00", "08:30", "17:00"], ["08:30", "10:00", "19:00"], time_zone="Europe/Paris"),
    TimeGrid.of(["2006-10-28T00:00", "2006-10-29T00:00", "2006-10-30T00:00"], time_zone=MONTREAL),
]
# Three days around two changes of clocks, by the minute.
MOMENTS = st.tuples(
    st.sampled_from([datetime(2006, 10, 28), datetime(2006, 4, 1)]), st.integers(0, 3 * 1440)
).map(lambda pair: pair[0] + timedelta(minutes=pair[1]))


@st.composite
def texts_of_times(draw):
    moment = draw(MOMENTS)
    if draw(st.booleans()):
        return moment.isoformat(sep=draw(st.sampled_from("T ")))
    return moment.replace(tzinfo=UTC).isoformat()


@settings(deadline=None, max_examples=200)
@given(
    st.lists(st.tuples(texts_of_times(), st.sampled_from([*LABELS, "elsewhere"])), max_size=8),
    st.sampled_from(GRIDS),
)
@example([("2006-10-29T02:30:30+00:00", "A"), ("2006-10-29T02:31:30+00:00", "B")], GRIDS[2])
def test_reading_times_is_pythons_calendar(visits, grid):
    expected = trajectory(visits, LABELS, grid)
    if visits:
        assert one(visits, grid)[0] == expected


VISITS = st.lists(st.tuples(texts_of_times(), st.sampled_from(LABELS)), min_size=1, max_size=6)


@settings(deadline=None, max_examples=50)
@given(VISITS, VISITS, st.sampled_from(GRIDS), st.integers(1, 3))
def test_a_unit_adds_at_most_c_trajectories_and_changes_no_other(mine, others, grid, cap):
    """The sensitivity of every count with times: what one unit does stays its own."""
    rows = [("other", *visit) for visit in others]
    options = {"split": "day", "max_trajectories_per_unit": cap}
    without, _ = read(rows, grid, **options)
    with_unit, _ = read([("me", *visit) for visit in mine] + rows, grid, **options)
    added = Counter(map(tuple, with_unit))
    added.subtract(map(tuple, without))
    assert min(added.values(), default=0) >= 0
    assert 0 <= added.total() <= cap
